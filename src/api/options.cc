// The table of training options; which of them go together is in api/option_rules.cc. A row is all there is to say
// about an option: the command line, its help, the documentation and the Python signatures read it from here.
#include "m4n/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/enum_names.h"
#include "core/message.h"
#include "core/option_values.h"
#include "losses/registry.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n {
namespace detail {
namespace {

constexpr auto some_tasks = OptionScope::some_tasks, every_task = OptionScope::every_task;
constexpr auto on_the_run = OptionEffect::on_the_run;
constexpr std::uint64_t most_iterations = 1'000'000;
constexpr double infinity = std::numeric_limits<double>::infinity();
const RealRange positive{0, infinity, false, false, "a positive number"};
const RealRange reject_range{-1e30, 1e30, true, true, "a number from -1e30 to 1e30"};
const RealRange lambda_range{smallest_lambda, largest_lambda, true, true, "a positive number from 1e-30 to 1e30"};
const RealRange smoothing_range{0, most_smoothing, true, true, "0, or a number from 1e-6 to 1e6"};
const RealRange fraction_range{0, 1, false, false, "a number between 0 and 1 (neither included)"};

// What there is to say about an option beside its values.
struct Entry {
  std::string name, value, fallback, help;
  OptionScope scope = OptionScope::every_task;
  OptionEffect effect = OptionEffect::on_results;
};

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? text_of(*value) : "";
  } else if constexpr (std::is_enum_v<Value>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "yes" : "no";
  } else {
    return fmt::format("{}", value);
  }
}

template <class Set, class Value>
OptionRow row(Entry entry, Set&& set, Value TrainOptions::*member) {
  return {std::move(entry.name),
          std::move(entry.value),
          std::move(entry.fallback),
          std::move(entry.help),
          std::forward<Set>(set),
          [member](const TrainOptions& o) { return o.*member != TrainOptions{}.*member; },
          [member](const TrainOptions& o) { return text_of(o.*member); },
          entry.scope,
          entry.effect};
}

template <class Enum>
std::vector<std::string> words_of(const std::vector<Enum>& values) {
  std::vector<std::string> out;
  for (const Enum value : values) out.emplace_back(to_string(value));
  return out;
}

// A row for a member that takes one of the values of an enumeration, written as to_string() writes them.
template <class Enum, class Member>
OptionRow choice(Entry entry, std::vector<Enum> values, Member TrainOptions::*member) {
  std::vector<std::string> words = words_of(values);
  entry.value = fmt::format("{}", fmt::join(words, "|"));
  return row(
      entry,
      [name = entry.name, values, words, member](TrainOptions& o, const std::string& text) {
        o.*member = values[parse_choice(name, text, words)];
      },
      member);
}

template <class Member>
OptionRow real(const Entry& entry, const RealRange& range, Member TrainOptions::*member) {
  return row(
      entry,
      [name = entry.name, range, member](TrainOptions& o, const std::string& text) {
        o.*member = parse_real(name, text, range);
      },
      member);
}

template <class Whole>
OptionRow whole(const Entry& entry, std::uint64_t low, std::uint64_t high, Whole TrainOptions::*member) {
  return row(
      entry,
      [name = entry.name, low, high, member](TrainOptions& o, const std::string& text) {
        o.*member = static_cast<Whole>(parse_whole(name, text, low, high));
      },
      member);
}

template <class Member>
OptionRow yes_no(Entry entry, Member TrainOptions::*member) {
  entry.value = "yes|no";
  return row(
      entry,
      [name = entry.name, member](TrainOptions& o, const std::string& text) { o.*member = parse_yes_no(name, text); },
      member);
}

OptionRow text(const Entry& entry, const char* expected, std::string TrainOptions::*member) {
  return row(
      entry,
      [name = entry.name, expected, member](TrainOptions& o, const std::string& value) {
        o.*member = parse_nonempty(name, value, expected);
      },
      member);
}

OptionRow column(Entry entry, std::string ReadOptions::*member) {
  entry.value = "COLUMN";
  const std::string name = entry.name;
  return {std::move(entry.name),
          std::move(entry.value),
          std::move(entry.fallback),
          std::move(entry.help),
          [name, member](TrainOptions& o, const std::string& value) {
            o.read.*member = parse_nonempty(name, value, "the name of a column");
          },
          [member](const TrainOptions& o) { return !(o.read.*member).empty(); },
          [member](const TrainOptions& o) { return o.read.*member; },
          entry.scope};
}

OptionRow ignore_row() {
  return {"ignore",
          "COLUMN,...",
          "none",
          "columns that are no features; costs may still name them",
          [](TrainOptions& o, const std::string& value) {
            o.read.ignore = split_list(value);
            for (const std::string& name : o.read.ignore) parse_nonempty("ignore", name, "names of columns a,b,...");
          },
          [](const TrainOptions& o) { return !o.read.ignore.empty(); },
          [](const TrainOptions& o) { return fmt::format("{}", fmt::join(o.read.ignore, ",")); },
          some_tasks};
}

OptionRow task_row() {
  std::vector<std::string> summaries;
  for (const Structure* structure : structures()) summaries.push_back(structure->traits().summary);
  const std::string last = summaries.back();
  summaries.pop_back();
  return row(
      {"task", fmt::format("{}", fmt::join(task_names(), "|")), "guessed from the data, and said",
       fmt::format("what is predicted: {}, or {}", fmt::join(summaries, ", "), last)},
      [](TrainOptions& o, const std::string& value) {
        const std::vector<std::string> names = task_names();
        o.task = names[parse_choice("task", value, names)];
      },
      &TrainOptions::task);
}

OptionRow format_row() {
  std::vector<std::string> words{"auto"};
  for (const Structure* structure : structures())
    for (const std::string& format : structure->traits().formats)
      if (std::find(words.begin(), words.end(), format) == words.end()) words.push_back(format);
  return {"format",
          fmt::format("{}", fmt::join(words, "|")),
          "auto",
          "format of the data file; auto looks at its content; any of them may be compressed with gzip",
          [words](TrainOptions& o, const std::string& value) {
            const std::size_t which = parse_choice("format", value, words);
            o.read.format = which == 0 ? "" : words[which];
          },
          [](const TrainOptions& o) { return !o.read.format.empty(); },
          [](const TrainOptions& o) { return o.read.format; },
          OptionScope::every_task,
          OptionEffect::on_the_run};
}

OptionRow surrogate_option() {
  std::vector<SurrogateKind> kinds;
  std::vector<std::string> words;
  for (const SurrogateRow& r : surrogate_rows()) {
    kinds.push_back(r.kind);
    words.emplace_back(r.help);
  }
  const std::string last = words.back();
  words.pop_back();
  return choice<SurrogateKind>(
      {"surrogate", "", "m4n", fmt::format("what is minimised: {}, or {}", fmt::join(words, ", "), last)}, kinds,
      &TrainOptions::surrogate);
}

// "zero-one; absolute for ordinal; hamming for ...": that of the usual task, then the others by their tasks.
std::string usual_losses() {
  std::vector<std::pair<std::string, std::vector<std::string>>> tasks_by_loss;
  for (const Structure* structure : structures()) {
    const std::string& loss = structure->traits().usual_loss;
    const auto same = std::find_if(tasks_by_loss.begin(), tasks_by_loss.end(),
                                   [&](const auto& entry) { return entry.first == loss; });
    if (same != tasks_by_loss.end())
      same->second.push_back(structure->name());
    else
      tasks_by_loss.push_back({loss, {structure->name()}});
  }
  std::string out = tasks_by_loss.front().first;
  for (std::size_t i = 1; i < tasks_by_loss.size(); ++i)
    out += fmt::format("; {} for {}", tasks_by_loss[i].first, fmt::join(tasks_by_loss[i].second, ", "));
  return out;
}

// Names, a name with a number in it, or a file.
OptionRow loss_row() {
  const std::vector<std::string> words = loss_names();
  std::vector<std::string> meanings;
  for (const NamedLoss& loss : named_losses())
    if (loss.can_be_learnt()) meanings.push_back(fmt::format("{} ({})", loss.shown_name(), loss.help));
  return row(
      {"loss", fmt::format("{}|tree:FILE|FILE.csv", fmt::join(words, "|")), usual_losses(),
       fmt::format(
           "what a mistake costs: {}. A sequence costs the mean over its tokens, a graph that over its nodes, a "
           "label set that over the labels. tree:FILE has rows child,parent,length, and a mistake costs the way from "
           "one "
           "class to the other. A file holds the matrix cost[true][predicted], for classes perhaps with more columns "
           "than rows: predictions that are no class; a cell may name a column of the data, whose numbers are then the "
           "costs of the examples; for label sets: rows label,miss,false_alarm[,unsure]; for rankings: one "
           "row of item weights, or costs[true rank][predicted rank]",
           fmt::join(meanings, ", "))},
      [words](TrainOptions& o, const std::string& value) {
        const bool tree = value.starts_with(tree_prefix);
        if (tree) parse_nonempty("loss", value.substr(std::string_view(tree_prefix).size()), "a file behind tree:");
        o.loss = tree || find_loss(value) ? value : parse_word_or_file("loss", value, words);
      },
      &TrainOptions::loss);
}

std::vector<OptionRow> make_table() {
  using T = TrainOptions;
  constexpr std::uint64_t max_int = std::numeric_limits<int>::max();
  std::vector<OptionRow> table;
  const auto add = [&table](OptionRow r) { table.push_back(std::move(r)); };

  add(task_row());
  add(surrogate_option());
  add(real(
      {"reject", "C", "off",
       "one more prediction, reject, which costs C whatever the truth; it is made where every class is expected to "
       "cost more. Of sequences and graphs a token or a node is rejected; of label sets a label is answered by unsure",
       some_tasks},
      reject_range, &T::reject));
  add(yes_no({"inner", "", "no", "with --loss tree:FILE: nodes that are no class may be predicted too", some_tasks},
             &T::inner));
  add(row(
      {"smoothing", "G", "0",
       "m4n only: subtract G |mu|^2 / 2 from the game, G from 1e-6 to 1e6 in units of the mean off-diagonal cost; 0 "
       "is plain m4n",
       some_tasks},
      [](T& o, const std::string& value) {
        const double smoothing = parse_real("smoothing", value, smoothing_range);
        if (smoothing != 0 && smoothing < least_smoothing) refuse_value("smoothing", value, smoothing_range.words);
        o.smoothing = smoothing;
      },
      &T::smoothing));
  add(choice<Decoder>(
      {"decode", "",
       "argmax (viterbi for sequences); adversary for m4n with an asymmetric cost; expected for crf and smoothed m4n",
       "from scores to a prediction: the largest score (of a whole output; viterbi: of a whole sequence), the min "
       "player's most likely answer (m4n), or the least expected cost under the model's distribution (crf; of classes "
       "and grades also qs and smoothed m4n)"},
      {Decoder::argmax, Decoder::adversary, Decoder::expected, Decoder::viterbi}, &T::decode));
  add(loss_row());
  add(real({"lambda", "X", "1/n; for m4n and m3n times the mean number of parts, divided by the mean cost of a mistake",
            "weight of |w|^2 / 2 beside the MEAN loss, from 1e-30 to 1e30, as 0.01, 1e-4 or 2^-13; the value used is "
            "printed"},
           lambda_range, &T::lambda));
  add(real({"tol", "X", "1e-3", "stop when the relative duality gap (P - D) / |P| is at most X"}, fraction_range,
           &T::tol));
  add(whole({"epochs", "N", "1000", "at most N passes over the data"}, 1, max_int, &T::epochs));
  add(real(
      {"time-limit", "SECONDS", "none",
       "stop solving after that long, with the best weights so far; in cv the limit of each fit, with --resume that "
       "of all runs together",
       every_task, on_the_run},
      positive, &T::time_limit));
  add(text({"checkpoint", "FILE.m4nc", "none",
            "keep in FILE where training stands, so that --resume can go on from there; cv keeps its fits by --out",
            every_task, on_the_run},
           "the name of a file", &T::checkpoint));
  add(real({"every", "SECONDS", "300", "how often --checkpoint is written, beside the end of training and Ctrl-C",
            every_task, on_the_run},
           RealRange{0, infinity, true, false, "a number of seconds, 0 or more"}, &T::every));
  add(text({"resume", "FILE.m4nc", "none",
            "go on where FILE, written by --checkpoint with the same data and options, says: the model is the same, "
            "byte by byte, as if training had never stopped; --time-limit and --epochs may be others",
            every_task, on_the_run},
           "the name of a file", &T::resume));
  add(text({"init", "FILE.m4nc", "from nothing",
            "start from the dual point of a checkpoint of an earlier fit, with new data, lambda or features"},
           "the name of a file", &T::init));
  add(choice<SolverKind>(
      {"solver", "", "auto",
       "prox: proximal dual ascent (for sequences with crf: exponentiated gradient); atoms: m4n and m3n on sequences, "
       "permutations and graphs, weights over whole outputs; smooth: L-BFGS on a smoothed surrogate, on all threads, "
       "for "
       "classes, grades and label sets; gbcfw: the paper's block-coordinate Frank-Wolfe; lbfgs: crf only. auto "
       "compares their paces where several can"},
      {SolverKind::automatic, SolverKind::prox, SolverKind::atoms, SolverKind::smooth, SolverKind::gbcfw,
       SolverKind::lbfgs},
      &T::solver));
  add(choice<OracleKind>(
      {"oracle", "", "exact",
       "how the max-min game of an example is solved: exactly, or by the paper's saddle-point mirror "
       "prox (gbcfw only)"},
      {OracleKind::exact, OracleKind::spmp}, &T::oracle));
  add(row(
      {"oracle-iterations", "N|Nx", "20", "iterations of the spmp oracle; 10x: 10 times the length of the sequence"},
      [](T& o, const std::string& value) {
        o.iterations_per_part = value.ends_with('x');
        o.oracle_iterations = static_cast<int>(
            parse_whole("oracle-iterations", o.iterations_per_part ? value.substr(0, value.size() - 1) : value, 1,
                        most_iterations));
      },
      &T::oracle_iterations));
  table.back().text = [](const T& o) {
    return fmt::format("{}{}", o.oracle_iterations, o.iterations_per_part ? "x" : "");
  };
  add(yes_no({"warm-start", "", "yes",
              "spmp on classes and grades: start every call of the oracle where the example's last one ended; on "
              "sequences it always starts at the uniform distribution"},
             &T::warm_start));
  add(yes_no({"average", "", "yes with --step paper", "gbcfw: return the weighted average of the iterates"},
             &T::average));
  add(choice<StepRule>({"step", "", "paper with spmp, line-search otherwise",
                        "gbcfw: the step 2n / (t + 2n), or the best step along the direction"},
                       {StepRule::paper, StepRule::line_search}, &T::step));
  add(column({"target", "", "label, else target", "column that holds the label or the raw target", some_tasks},
             &ReadOptions::target));
  add(column({"id", "", "none", "column that names the examples; carried along, never learnt from", some_tasks},
             &ReadOptions::id));
  add(ignore_row());
  add(whole({"bins", "N", "off", "ordinal: cut a raw numeric target into N grades", some_tasks}, 2, max_bins,
            &T::bins));
  add(choice<Binning>(
      {"binning", "", "quantile", "cut at quantiles of the training targets, or into intervals of equal width"},
      {Binning::quantile, Binning::width}, &T::binning));
  add(column({"weights", "", "all equal",
              "column with positive weights of the examples; for sequences, matchings and graphs a file with one "
              "weight per line",
              some_tasks},
             &ReadOptions::weights));
  add(row(
      {"class-weight", "balanced|FILE.csv", "all equal",
       "weight of the examples of each class: n / (k n_c), or rows class,weight of a file", some_tasks},
      [](T& o, const std::string& value) {
        o.class_weight = parse_word_or_file("class-weight", value, std::vector<std::string>{"balanced"});
      },
      &T::class_weight));
  add(choice<FeatureKind>({"features", "", "linear",
                           "what the scores are linear in: the columns; an exact kernel (rbf, laplacian, poly); "
                           "Gaussian bumps at training points, as in the authors' code; an approximation of the rbf "
                           "kernel by landmarks or by random waves",
                           some_tasks},
                          {FeatureKind::linear, FeatureKind::rbf, FeatureKind::laplacian, FeatureKind::poly,
                           FeatureKind::rbf_centers, FeatureKind::nystrom, FeatureKind::fourier},
                          &T::features));
  add(row(
      {"gamma", "X|median", "median",
       "rbf: exp(-X |x-y|^2), laplacian: exp(-X |x-y|_1), poly: (X x.y + 1)^degree; median takes it from the "
       "distances of training pairs (1/d for poly)"},
      [](T& o, const std::string& value) {
        if (value == "median")
          o.gamma.reset();
        else
          o.gamma = parse_real("gamma", value, positive);
      },
      &T::gamma));
  add(whole({"degree", "N", "3", "of the poly kernel"}, 1, 20, &T::degree));
  add(whole({"components", "N", "200 for rbf-centers, else 500", "centres, landmarks or waves"}, 1, 1'000'000,
            &T::components));
  add(choice<Landmarks>({"landmarks", "", "kmeans", "nystrom: rows far apart (k-means++ seeding), or any"},
                        {Landmarks::kmeans, Landmarks::uniform}, &T::landmarks));
  add(text({"template", "chunking|ner|pos|FILE", "none",
            "CoNLL columns: which attributes a token has, in the syntax of CRF++ and Wapiti", some_tasks},
           "chunking, ner, pos or the name of a file", &T::text_template));
  add(whole({"min-count", "N", "1", "sequences of text: keep attributes that at least N tokens have", some_tasks}, 1,
            std::numeric_limits<std::int64_t>::max(), &T::min_count));
  add(whole({"hash", "BITS", "off",
             "sequences of text: hash attributes to 2^BITS columns instead of keeping their names", some_tasks},
            1, 30, &T::hash_bits));
  add(text({"pixel-products", "HxW", "off", "format ocr: add the products of neighbouring pixels of an H x W picture",
            some_tasks},
           "HEIGHTxWIDTH such as 16x8", &T::pixel_products));
  add(text(
      {"constraints", "bio|bioes|FILE", "none",
       "sequences: transitions that do not exist, in training and in prediction: those that break chunks tagged B, "
       "I, O (or B, I, E, S, O), or those in the lines from,to of a file, where * is any label, START and END the "
       "ends of a sequence",
       some_tasks},
      "bio, bioes or the name of a file", &T::constraints));
  add(text({"edges", "none|tree|FILE", "none",
            "multilabel: labels that depend on each other: those of the tree in which they tell most about each other, "
            "or the pairs in the lines of a file",
            some_tasks},
           "none, tree or the name of a file", &T::edges));
  add(yes_no({"standardize", "", "yes for dense features, no for sequences",
              "scale every feature to mean 0 and variance 1 (sparse: no centring)"},
             &T::standardize));
  add(yes_no({"bias", "", "yes", "add a constant feature 1, regularised like the others"}, &T::bias));
  add(format_row());
  add(row(
      {"require-converged", "", "", "exit with 3 if the tolerance was not reached (the model is saved all the same)",
       every_task, on_the_run},
      [](T& o, const std::string&) { o.require_converged = true; }, &T::require_converged));
  add(whole({"seed", "S", "0", "seed of every random choice; same data, options and seed give the same bytes"}, 0,
            std::numeric_limits<std::uint64_t>::max(), &T::seed));
  return table;
}

}  // namespace
}  // namespace detail

const std::vector<OptionRow>& train_option_table() {
  static const std::vector<OptionRow> table = detail::make_table();
  return table;
}

}  // namespace m4n

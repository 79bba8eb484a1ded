// The table of training options; which of them go together is in option_rules.cc. A row is all there is to say about an
// option: the command line, its help, the documentation and the Python signatures read it from here.
#include "m4n/options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/enum_names.h"
#include "core/option_values.h"

namespace m4n {
namespace {

constexpr std::uint64_t most_iterations = 1'000'000;
constexpr double infinity = std::numeric_limits<double>::infinity();
const RealRange positive{0, infinity, false, false, "a positive number"};
const RealRange lambda_range{smallest_lambda, largest_lambda, true, true, "a positive number from 1e-30 to 1e30"};
const RealRange smoothing_range{0, most_smoothing, true, true, "0, or a number from 1e-6 to 1e6"};
const RealRange fraction{0, 1, false, false, "a number between 0 and 1 (neither included)"};

// A row for a member that takes one of the values of an enumeration, written as to_string() writes them.
template <class Enum, class Member>
OptionRow choice(std::string name, std::vector<Enum> values, std::string fallback, std::string help,
                 Member TrainOptions::*member) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(to_string(value));
  std::string shown = fmt::format("{}", fmt::join(words, "|"));
  auto set = [name, values, words, member](TrainOptions& o, const std::string& text) {
    o.*member = values[parse_choice(name, text, words)];
  };
  return {std::move(name), std::move(shown), std::move(fallback), std::move(help), std::move(set)};
}

template <class Member>
OptionRow real(std::string name, std::string value, std::string fallback, std::string help, const RealRange& range,
               Member TrainOptions::*member) {
  auto set = [name, range, member](TrainOptions& o, const std::string& text) {
    o.*member = parse_real(name, text, range);
  };
  return {std::move(name), std::move(value), std::move(fallback), std::move(help), std::move(set)};
}

template <class Whole>
OptionRow whole(std::string name, std::string value, std::string fallback, std::string help, std::uint64_t low,
                std::uint64_t high, Whole TrainOptions::*member) {
  auto set = [name, low, high, member](TrainOptions& o, const std::string& text) {
    o.*member = static_cast<Whole>(parse_whole(name, text, low, high));
  };
  return {std::move(name), std::move(value), std::move(fallback), std::move(help), std::move(set)};
}

template <class Member>
OptionRow yes_no(std::string name, std::string fallback, std::string help, Member TrainOptions::*member) {
  auto set = [name, member](TrainOptions& o, const std::string& text) { o.*member = parse_yes_no(name, text); };
  return {std::move(name), "yes|no", std::move(fallback), std::move(help), std::move(set)};
}

OptionRow word_or_file(std::string name, std::vector<std::string> words, std::string fallback, std::string help,
                       std::string TrainOptions::*member) {
  std::string shown = fmt::format("{}|FILE.csv", fmt::join(words, "|"));
  auto set = [name, words, member](TrainOptions& o, const std::string& text) {
    o.*member = parse_word_or_file(name, text, words);
  };
  return {std::move(name), std::move(shown), std::move(fallback), std::move(help), std::move(set)};
}

OptionRow column(std::string name, std::string fallback, std::string help, std::string ReadOptions::*member) {
  auto set = [name, member](TrainOptions& o, const std::string& text) {
    o.read.*member = parse_nonempty(name, text, "the name of a column");
  };
  return {std::move(name), "COLUMN", std::move(fallback), std::move(help), std::move(set)};
}

OptionRow format_row() {
  std::vector<Format> values;
  std::vector<std::string> words;
  for (const EnumName<Format>& format : enum_names<Format>()) {
    values.push_back(format.value);
    words.emplace_back(format.name);
  }
  return {"format", fmt::format("{}", fmt::join(words, "|")), "auto",
          "format of the data file; auto looks at its content; any of them may be compressed with gzip",
          [values, words](TrainOptions& o, const std::string& text) {
            o.read.format = values[parse_choice("format", text, words)];
          }};
}

// Names, a name with a number in it, or a file.
OptionRow loss_row() {
  const std::vector<std::string> words{"zero-one", "absolute", "squared", "hamming", "footrule", "spearman", "dcg"};
  const std::string precision = "precision@";
  return {
      "loss", fmt::format("{}|{}K|FILE.csv", fmt::join(words, "|"), precision),
      "zero-one; absolute for ordinal; hamming for all others",
      "what a mistake costs. Classes: a file holds the k x k matrix cost[true][predicted]; a sequence costs the mean "
      "over its tokens, hamming being that of zero-one, and a graph over its nodes. Label sets: mean over labels; a "
      "file "
      "with rows label,miss,false_alarm. Rankings: mean over items of being misplaced (hamming), of "
      "the distance of ranks (footrule) or its square (spearman); what the first K miss (precision@K); lost "
      "discounted gain (dcg); a file with one row of item weights, or costs[true rank][predicted rank]",
      [words, precision](TrainOptions& o, const std::string& text) {
        const std::string digits = text.starts_with(precision) ? text.substr(precision.size()) : "";
        const bool named = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
        std::vector<std::string> known = words;
        known.push_back(precision + "K");
        o.loss = named || text == "kendall" ? text : parse_word_or_file("loss", text, known);
      }};
}

std::vector<OptionRow> make_table() {
  using T = TrainOptions;
  constexpr std::uint64_t max_int = std::numeric_limits<int>::max();
  std::vector<OptionRow> table;
  const auto add = [&table](OptionRow row) { table.push_back(std::move(row)); };

  add(choice<Task>(
      "task",
      {Task::multiclass, Task::ordinal, Task::multilabel, Task::sequence, Task::ranking, Task::matching, Task::graph},
      "guessed from the data, and said",
      "what is predicted: classes without an order, ordered grades, sets of the labels y1, y2, .., a label for every "
      "token of a sequence, the order of the items r1, r2, .., which points of two sets belong together, or a label "
      "for "
      "every node of a graph",
      &T::task));
  add(choice<SurrogateKind>(
      "surrogate", {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}, "m4n",
      "what is minimised: max-min margin, max-margin, log-likelihood, or squared error of the costs", &T::surrogate));
  add({"smoothing", "G", "0",
       "m4n only: subtract G |mu|^2 / 2 from the game, G from 1e-6 to 1e6 in units of the mean off-diagonal cost; 0 is "
       "plain m4n",
       [](T& o, const std::string& text) {
         const double smoothing = parse_real("smoothing", text, smoothing_range);
         if (smoothing != 0 && smoothing < least_smoothing)
           throw UsageError(fmt::format("--smoothing: found '{}', expected {}", text, smoothing_range.words));
         o.smoothing = smoothing;
       }});
  add(choice<Decoder>(
      "decode", {Decoder::argmax, Decoder::adversary, Decoder::expected, Decoder::viterbi},
      "argmax (viterbi for sequences); adversary for m4n with an asymmetric cost; expected for crf and smoothed m4n",
      "from scores to a prediction: the largest score (of a whole output; viterbi: of a whole sequence), the min "
      "player's most likely "
      "answer (m4n), or the least expected cost under the model's distribution (crf; of classes and grades also qs and "
      "smoothed m4n)",
      &T::decode));
  add(loss_row());
  add(real("lambda", "X", "1/n; for m4n and m3n on outputs with several parts their mean number / n",
           "weight of |w|^2 / 2 beside the MEAN loss, from 1e-30 to 1e30, as 0.01, 1e-4 or 2^-13; the value used is "
           "printed",
           lambda_range, &T::lambda));
  add(real("tol", "X", "1e-3", "stop when the relative duality gap (P - D) / |P| is at most X", fraction, &T::tol));
  add(whole("epochs", "N", "1000", "at most N passes over the data", 1, max_int, &T::epochs));
  add(real("time-limit", "SECONDS", "none",
           "stop solving after that long, with the best weights so far; in cv the limit of each fit", positive,
           &T::time_limit));
  add(choice<SolverKind>(
      "solver", {SolverKind::automatic, SolverKind::prox, SolverKind::atoms, SolverKind::gbcfw, SolverKind::lbfgs},
      "auto",
      "prox: proximal dual ascent (for sequences with crf: exponentiated gradient); atoms: m4n and m3n on sequences "
      "and "
      "permutations and graphs, weights over whole outputs; gbcfw: the paper's block-coordinate Frank-Wolfe; lbfgs: "
      "crf only",
      &T::solver));
  add(choice<OracleKind>("oracle", {OracleKind::exact, OracleKind::spmp}, "exact",
                         "how the max-min game of an example is solved: exactly, or by the paper's saddle-point mirror "
                         "prox (gbcfw only)",
                         &T::oracle));
  add({"oracle-iterations", "N|Nx", "20", "iterations of the spmp oracle; 10x: 10 times the length of the sequence",
       [](T& o, const std::string& text) {
         o.iterations_per_part = text.ends_with('x');
         o.oracle_iterations = static_cast<int>(parse_whole(
             "oracle-iterations", o.iterations_per_part ? text.substr(0, text.size() - 1) : text, 1, most_iterations));
       }});
  add(yes_no(
      "warm-start", "yes",
      "spmp on classes and grades: start every call of the oracle where the example's last one ended; on sequences it "
      "always starts at the uniform distribution",
      &T::warm_start));
  add(yes_no("average", "yes with --step paper", "gbcfw: return the weighted average of the iterates", &T::average));
  add(choice<StepRule>("step", {StepRule::paper, StepRule::line_search}, "paper with spmp, line-search otherwise",
                       "gbcfw: the step 2n / (t + 2n), or the best step along the direction", &T::step));
  add(column("target", "label, else target", "column that holds the label or the raw target", &ReadOptions::target));
  add(column("id", "none", "column that names the examples; carried along, never learnt from", &ReadOptions::id));
  add(whole("bins", "N", "off", "ordinal: cut a raw numeric target into N grades", 2, max_bins, &T::bins));
  add(choice<Binning>("binning", {Binning::quantile, Binning::width}, "quantile",
                      "cut at quantiles of the training targets, or into intervals of equal width", &T::binning));
  add(column("weights", "all equal", "column with positive weights of the examples", &ReadOptions::weights));
  add(word_or_file("class-weight", {"balanced"}, "all equal",
                   "weight of the examples of each class: n / (k n_c), or rows class,weight of a file",
                   &T::class_weight));
  add(choice<FeatureKind>(
      "features",
      {FeatureKind::linear, FeatureKind::rbf, FeatureKind::laplacian, FeatureKind::poly, FeatureKind::rbf_centers,
       FeatureKind::nystrom, FeatureKind::fourier},
      "linear",
      "what the scores are linear in: the columns; an exact kernel (rbf, laplacian, poly); Gaussian "
      "bumps at training points, as in the authors' code; an approximation of the rbf kernel by "
      "landmarks or by random waves",
      &T::features));
  add({"gamma", "X|median", "median",
       "rbf: exp(-X |x-y|^2), laplacian: exp(-X |x-y|_1), poly: (X x.y + 1)^degree; median takes it from the distances "
       "of training pairs (1/d for poly)",
       [](T& o, const std::string& text) {
         if (text == "median") {
           o.gamma.reset();
         } else {
           o.gamma = parse_real("gamma", text, positive);
         }
       }});
  add(whole("degree", "N", "3", "of the poly kernel", 1, 20, &T::degree));
  add(whole("components", "N", "200 for rbf-centers, else 500", "centres, landmarks or waves", 1, 1'000'000,
            &T::components));
  add(choice<Landmarks>("landmarks", {Landmarks::kmeans, Landmarks::uniform}, "kmeans",
                        "nystrom: rows far apart (k-means++ seeding), or any", &T::landmarks));
  add({"template", "chunking|ner|pos|FILE", "none",
       "CoNLL columns: which attributes a token has, in the syntax of CRF++ and Wapiti",
       [](T& o, const std::string& text) {
         o.text_template = parse_nonempty("template", text, "chunking, ner, pos or the name of a file");
       }});
  add(whole("min-count", "N", "1", "sequences of text: keep attributes that at least N tokens have", 1,
            std::numeric_limits<std::int64_t>::max(), &T::min_count));
  add(whole("hash", "BITS", "off",
            "sequences of text: hash attributes to 2^BITS columns instead of keeping their names", 1, 30,
            &T::hash_bits));
  add({"pixel-products", "HxW", "off", "format ocr: add the products of neighbouring pixels of an H x W picture",
       [](T& o, const std::string& text) {
         o.pixel_products = parse_nonempty("pixel-products", text, "HEIGHTxWIDTH such as 16x8");
       }});
  add({"edges", "none|tree|FILE", "none",
       "multilabel: labels that depend on each other: those of the tree in which they tell most about each other, or "
       "the pairs in the lines of a file",
       [](T& o, const std::string& text) {
         o.edges = parse_nonempty("edges", text, "none, tree or the name of a file");
       }});
  add(yes_no("standardize", "yes for dense features, no for sequences",
             "scale every feature to mean 0 and variance 1 (sparse: no centring)", &T::standardize));
  add(yes_no("bias", "yes", "add a constant feature 1, regularised like the others", &T::bias));
  add(format_row());
  add({"require-converged", "", "", "exit with 3 if the tolerance was not reached (the model is saved all the same)",
       [](T& o, const std::string&) { o.require_converged = true; }});
  add(whole("seed", "S", "0", "seed of every random choice; same data, options and seed give the same bytes", 0,
            std::numeric_limits<std::uint64_t>::max(), &T::seed));
  return table;
}

}  // namespace

const std::vector<OptionRow>& train_option_table() {
  static const std::vector<OptionRow> table = make_table();
  return table;
}

}  // namespace m4n

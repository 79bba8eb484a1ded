// The table of training options and the rules about which of them go together. A row is all there is to say about an
// option: the command line, its help, the documentation and the Python signatures read it from here.
#include "m4n/options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/option_values.h"

namespace m4n {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const RealRange positive{0, infinity, false, false, "a positive number"};
const RealRange lambda_range{smallest_lambda, largest_lambda, true, true, "a positive number from 1e-30 to 1e30"};
constexpr double least_smoothing = 1e-6, most_smoothing = 1e6;
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
  const std::vector<Format> values{Format::automatic, Format::csv, Format::libsvm};
  std::vector<std::string> words;
  for (const Format value : values) words.emplace_back(to_string(value));
  return {"format", fmt::format("{}", fmt::join(words, "|")), "auto",
          "format of the data file; auto looks at its content; either may be compressed with gzip",
          [values, words](TrainOptions& o, const std::string& text) {
            o.read.format = values[parse_choice("format", text, words)];
          }};
}

std::vector<OptionRow> make_table() {
  using T = TrainOptions;
  constexpr std::uint64_t max_int = std::numeric_limits<int>::max();
  std::vector<OptionRow> table;
  const auto add = [&table](OptionRow row) { table.push_back(std::move(row)); };

  add(choice<Task>("task", {Task::multiclass, Task::ordinal}, "guessed from the columns, and said",
                   "what is predicted: classes without an order, or ordered grades", &T::task));
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
      "decode", {Decoder::argmax, Decoder::adversary, Decoder::expected},
      "argmax; adversary for m4n with an asymmetric cost; expected for crf and smoothed m4n",
      "from scores to a prediction: the largest score, the min player's most likely answer (m4n), or the "
      "least expected cost under the model's distribution (crf, qs, smoothed m4n)",
      &T::decode));
  add(word_or_file("loss", {"zero-one", "absolute", "squared"}, "zero-one; absolute for ordinal",
                   "what a mistake costs; a file holds the k x k matrix cost[true][predicted]", &T::loss));
  add(real("lambda", "X", "1/n",
           "weight of |w|^2 / 2 beside the MEAN loss, from 1e-30 to 1e30, as 0.01, 1e-4 or 2^-13; the value used is "
           "printed",
           lambda_range, &T::lambda));
  add(real("tol", "X", "1e-3", "stop when the relative duality gap (P - D) / |P| is at most X", fraction, &T::tol));
  add(whole("epochs", "N", "1000", "at most N passes over the data", 1, max_int, &T::epochs));
  add(real("time-limit", "SECONDS", "none",
           "stop solving after that long, with the best weights so far; in cv the limit of each fit", positive,
           &T::time_limit));
  add(choice<SolverKind>(
      "solver", {SolverKind::automatic, SolverKind::prox, SolverKind::gbcfw, SolverKind::lbfgs}, "auto",
      "prox: proximal dual ascent; gbcfw: the paper's block-coordinate Frank-Wolfe; lbfgs: crf only", &T::solver));
  add(choice<OracleKind>("oracle", {OracleKind::exact, OracleKind::spmp}, "exact",
                         "how the max-min game of an example is solved: exactly, or by the paper's saddle-point mirror "
                         "prox (gbcfw only)",
                         &T::oracle));
  add(whole("oracle-iterations", "N", "20", "iterations of the spmp oracle", 1, max_int, &T::oracle_iterations));
  add(yes_no("warm-start", "yes", "spmp: start every call of the oracle where the example's last one ended",
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
  add(yes_no("standardize", "yes for dense features",
             "scale every feature to mean 0 and variance 1 (sparse: no centring)", &T::standardize));
  add(yes_no("bias", "yes", "add a constant feature 1, regularised like the others", &T::bias));
  add(format_row());
  add({"require-converged", "", "", "exit with 3 if the tolerance was not reached (the model is saved all the same)",
       [](T& o, const std::string&) { o.require_converged = true; }});
  add(whole("seed", "S", "0", "seed of every random choice; same data, options and seed give the same bytes", 0,
            std::numeric_limits<std::uint64_t>::max(), &T::seed));
  return table;
}

// Values that did not come through the table (from a program) meet the same ranges.
void validate_ranges(const TrainOptions& o) {
  const auto check = [](bool fine, const char* option, double value, const char* allowed) {
    if (!fine) throw UsageError(fmt::format("{}: found {}, expected {}", option, value, allowed));
  };
  const auto is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  check(o.smoothing == 0 || (o.smoothing >= least_smoothing && o.smoothing <= most_smoothing), "smoothing", o.smoothing,
        "0, or a number from 1e-6 to 1e6");
  check(!o.lambda || (*o.lambda >= smallest_lambda && *o.lambda <= largest_lambda), "lambda", o.lambda.value_or(0),
        "a positive number from 1e-30 to 1e30");
  check(o.tol > 0 && o.tol < 1, "tol", o.tol, "a number between 0 and 1");
  check(!o.time_limit || is_positive(*o.time_limit), "time_limit", o.time_limit.value_or(0), "a positive number");
  check(o.epochs >= 1, "epochs", o.epochs, "at least 1");
  check(o.oracle_iterations >= 1, "oracle_iterations", o.oracle_iterations, "at least 1");
  check(!o.gamma || is_positive(*o.gamma), "gamma", o.gamma.value_or(0), "a positive number");
  check(o.degree >= 1 && o.degree <= 20, "degree", o.degree, "1 to 20");
  check(o.components >= 0, "components", o.components, "0 (the default number), or more");
  check(o.bins == 0 || (o.bins >= 2 && o.bins <= max_bins), "bins", o.bins, "0 (off), or 2 to 1000");
}

void validate_surrogate(const TrainOptions& o) {
  const std::string surrogate = to_string(o.surrogate);
  const bool m4n = o.surrogate == SurrogateKind::m4n;
  if (o.smoothing > 0 && !m4n)
    throw UsageError(
        fmt::format("--smoothing smooths the max-min game of --surrogate m4n; {} has none. Leave it out, or "
                    "use --surrogate m4n",
                    surrogate));
  if (o.decode == Decoder::adversary && !m4n)
    throw UsageError(
        fmt::format("--decode adversary answers with the min player of --surrogate m4n; {} has none. Leave "
                    "it out, or use --surrogate m4n",
                    surrogate));
  if (o.decode == Decoder::expected && m4n && o.smoothing <= 0)
    throw UsageError(
        "--decode expected needs a distribution over the classes, and the marginals of the plain max-min game "
        "are not unique. Use --decode adversary, or --smoothing 1 to make them unique");
  if (o.decode == Decoder::expected && o.surrogate == SurrogateKind::m3n)
    throw UsageError(
        "--decode expected needs a distribution over the classes, and m3n has none. Use --decode argmax, or "
        "another --surrogate");
}

void validate_solver(const TrainOptions& o) {
  const bool spmp = o.oracle == OracleKind::spmp;
  if (o.surrogate == SurrogateKind::qs && o.solver != SolverKind::automatic)
    throw UsageError(fmt::format("--solver {}: qs is solved in closed form (one linear system). Leave --solver out",
                                 to_string(o.solver)));
  if (o.solver == SolverKind::lbfgs && o.surrogate != SurrogateKind::crf)
    throw UsageError(
        fmt::format("--solver lbfgs needs a smooth objective, which only --surrogate crf has, not {}. Use "
                    "--solver auto",
                    to_string(o.surrogate)));
  if (spmp && o.surrogate != SurrogateKind::m4n)
    throw UsageError(fmt::format("--oracle spmp solves the max-min game of --surrogate m4n; {} has none. Leave it out",
                                 to_string(o.surrogate)));
  if (spmp && o.smoothing > 0)
    throw UsageError("--oracle spmp solves the unsmoothed game only. Leave out --smoothing, or use --oracle exact");
  if (spmp && o.solver != SolverKind::automatic && o.solver != SolverKind::gbcfw)
    throw UsageError(
        fmt::format("--oracle spmp is an oracle of --solver gbcfw, not of {}. Use --solver gbcfw, or --oracle "
                    "exact",
                    to_string(o.solver)));
  if (!spmp && o.oracle_iterations != TrainOptions{}.oracle_iterations)
    throw UsageError(
        "--oracle-iterations counts iterations of --oracle spmp; the exact oracle has none. Leave it out, or "
        "add --oracle spmp");
  if (!spmp && o.warm_start != TrainOptions{}.warm_start)
    throw UsageError(
        "--warm-start is about --oracle spmp; the exact oracle needs no start. Leave it out, or add --oracle spmp");
  // With spmp the automatic solver is gbcfw.
  const bool gbcfw = o.solver == SolverKind::gbcfw || (spmp && o.solver == SolverKind::automatic);
  if (!gbcfw && o.step != StepRule::automatic)
    throw UsageError(
        "--step belongs to --solver gbcfw; the other solvers choose their own steps. Leave it out, or add "
        "--solver gbcfw");
  if (!gbcfw && o.average)
    throw UsageError(
        "--average belongs to --solver gbcfw; the other solvers return the best weights they certified. Leave it out, "
        "or "
        "add --solver gbcfw");
}

void validate_features(const TrainOptions& o) {
  const std::string features = to_string(o.features);
  const TrainOptions usual;
  const bool sampled = o.features == FeatureKind::rbf_centers || o.features == FeatureKind::nystrom ||
                       o.features == FeatureKind::fourier;
  if (o.gamma && o.features == FeatureKind::linear)
    throw UsageError("--gamma belongs to a kernel, and linear features have none. Add --features rbf, or leave it out");
  if (o.degree != usual.degree && o.features != FeatureKind::poly)
    throw UsageError(fmt::format("--degree belongs to --features poly, not to {}. Leave it out", features));
  if (o.components != usual.components && !sampled)
    throw UsageError(
        fmt::format("--components counts the centres of rbf-centers, the landmarks of nystrom or the waves of fourier; "
                    "{} has none. "
                    "Leave it out",
                    features));
  if (o.landmarks != usual.landmarks && o.features != FeatureKind::nystrom)
    throw UsageError(fmt::format("--landmarks belongs to --features nystrom, not to {}. Leave it out", features));
  if (o.solver == SolverKind::lbfgs && o.features != FeatureKind::linear && !sampled)
    throw UsageError(fmt::format(
        "--solver lbfgs moves the weights of explicit features, and the kernel {} has none. Use --solver auto, or "
        "--features nystrom",
        features));
}

void validate_grades(const TrainOptions& o) {
  if (o.bins > 0 && o.task == Task::multiclass)
    throw UsageError(
        "--bins cuts a numeric target into ordered grades, which --task multiclass has not. Use --task "
        "ordinal, or leave out --bins");
  if (o.bins == 0 && o.binning != TrainOptions{}.binning)
    throw UsageError(
        "--binning says how --bins N cuts the target, and there is no --bins. Add --bins N, or leave it out");
}

}  // namespace

const std::vector<OptionRow>& train_option_table() {
  static const std::vector<OptionRow> table = make_table();
  return table;
}

void validate(const TrainOptions& options) {
  validate_ranges(options);
  validate_surrogate(options);
  validate_solver(options);
  validate_features(options);
  validate_grades(options);
}

}  // namespace m4n

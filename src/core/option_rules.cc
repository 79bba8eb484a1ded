// Which training options go together. A value that did not come through the table of options (from a program) meets the
// same ranges here.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/option_values.h"
#include "m4n/options.h"

namespace m4n {
namespace {

// Sets of tasks, one bit each.
using Tasks = unsigned;
constexpr Tasks bit(Task task) { return 1U << static_cast<unsigned>(task); }
constexpr Tasks classes = bit(Task::multiclass) | bit(Task::ordinal);
constexpr Tasks sequences = bit(Task::sequence);
constexpr Tasks rankings = bit(Task::ranking), matchings = bit(Task::matching), permutations = rankings | matchings;
constexpr Tasks label_sets = bit(Task::multilabel), graphs = bit(Task::graph);
constexpr Tasks tables = classes | rankings | label_sets;
constexpr Tasks several_parts = sequences | permutations | label_sets | graphs;

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
  check(o.oracle_iterations >= 1 && o.oracle_iterations <= 1'000'000, "oracle_iterations", o.oracle_iterations,
        "1 to 1000000");
  check(o.min_count >= 1, "min_count", static_cast<double>(o.min_count), "at least 1");
  check(o.hash_bits >= 0 && o.hash_bits <= 30, "hash_bits", o.hash_bits, "0 (off), or 1 to 30");
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
        fmt::format("--decode expected needs a distribution over the classes, and the marginals of the plain max-min "
                    "game are not unique. Use --decode adversary or --surrogate crf{}",
                    o.task && (bit(*o.task) & classes) == 0 ? "" : ", or for classes and grades --smoothing 1"));
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
  if (!spmp && (o.oracle_iterations != TrainOptions{}.oracle_iterations || o.iterations_per_part))
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

std::string words_for(Tasks tasks) {
  const std::pair<Tasks, const char*> words[] = {{classes, "classes and grades"},   {sequences, "--task sequence"},
                                                 {rankings, "--task ranking"},      {matchings, "--task matching"},
                                                 {label_sets, "--task multilabel"}, {graphs, "--task graph"}};
  std::vector<std::string> out;
  for (const auto& [set, word] : words)
    if ((set & tasks) != 0) out.emplace_back(word);
  return fmt::format("{}", fmt::join(out, ", "));
}

// An option that has another value than its default, and the tasks it is for.
struct Rule {
  const char* option;
  bool (*given)(const TrainOptions& o, const TrainOptions& usual);
  Tasks tasks;
};

// What is not for all tasks.
constexpr Rule rules[] = {
    {"--smoothing", [](const auto& o, const auto&) { return o.smoothing > 0; }, classes},
    {"--decode viterbi", [](const auto& o, const auto&) { return o.decode == Decoder::viterbi; }, sequences},
    {"--solver atoms", [](const auto& o, const auto&) { return o.solver == SolverKind::atoms; }, several_parts},
    {"--loss zero-one (for the parts of an output it is averaged, and called hamming)",
     [](const auto& o, const auto&) { return o.loss == "zero-one"; }, classes},
    {"--loss hamming (for classes it is called zero-one)",
     [](const auto& o, const auto&) { return o.loss == "hamming"; }, several_parts},
    {"--loss absolute (for rankings it is called footrule)",
     [](const auto& o, const auto&) { return o.loss == "absolute"; }, classes | sequences | graphs},
    {"--loss squared (for rankings it is called spearman)",
     [](const auto& o, const auto&) { return o.loss == "squared"; }, classes | sequences | graphs},
    {"--loss footrule, spearman, dcg, kendall or precision@K",
     [](const auto& o, const auto&) {
       return o.loss == "footrule" || o.loss == "spearman" || o.loss == "dcg" || o.loss == "kendall" ||
              o.loss.starts_with("precision@");
     },
     rankings},
    {"--oracle-iterations with an x", [](const auto& o, const auto&) { return o.iterations_per_part; }, sequences},
    {"--features other than linear", [](const auto& o, const auto&) { return o.features != FeatureKind::linear; },
     tables},
    {"--bins", [](const auto& o, const auto& usual) { return o.bins != usual.bins; }, classes},
    {"--class-weight", [](const auto& o, const auto&) { return !o.class_weight.empty(); }, classes},
    {"--target", [](const auto& o, const auto&) { return !o.read.target.empty(); }, classes},
    {"--weights", [](const auto& o, const auto&) { return !o.read.weights.empty(); }, tables},
    {"--id", [](const auto& o, const auto&) { return !o.read.id.empty(); }, tables},
    {"--template", [](const auto& o, const auto&) { return !o.text_template.empty(); }, sequences},
    {"--min-count", [](const auto& o, const auto& usual) { return o.min_count != usual.min_count; }, sequences},
    {"--hash", [](const auto& o, const auto& usual) { return o.hash_bits != usual.hash_bits; }, sequences},
    {"--edges", [](const auto& o, const auto&) { return !o.edges.empty() || !o.label_edges.empty(); }, label_sets},
    {"--pixel-products", [](const auto& o, const auto&) { return !o.pixel_products.empty(); }, sequences},
};

// How a surrogate of whole outputs can be solved.
void validate_structured_solver(const TrainOptions& o, const char* outputs, bool crf_by_prox, bool paper) {
  const bool crf = o.surrogate == SurrogateKind::crf;
  const SolverKind own = crf ? (crf_by_prox ? SolverKind::prox : SolverKind::lbfgs) : SolverKind::atoms;
  const bool fits = o.solver == SolverKind::automatic || o.solver == own || (crf && o.solver == SolverKind::lbfgs) ||
                    (paper && o.solver == SolverKind::gbcfw && o.oracle == OracleKind::spmp);
  if (!fits)
    throw UsageError(fmt::format("--solver {}: on {} {} is solved by {}. Leave --solver out", to_string(o.solver),
                                 outputs, to_string(o.surrogate),
                                 crf     ? (crf_by_prox ? "prox or lbfgs" : "lbfgs")
                                 : paper ? "atoms, or with m4n by gbcfw with --oracle spmp"
                                         : "atoms"));
}

void validate_task(const TrainOptions& o) {
  if (!o.task) return;
  const TrainOptions usual;
  for (const Rule& rule : rules)
    if ((rule.tasks & bit(*o.task)) == 0 && rule.given(o, usual))
      throw UsageError(fmt::format("{} belongs to {}, not to --task {}. Leave it out", rule.option,
                                   words_for(rule.tasks), to_string(*o.task)));
  if (o.task == Task::sequence) {
    if (o.surrogate == SurrogateKind::qs)
      throw UsageError(
          "--surrogate qs regresses onto the costs of all labellings of a sequence, of which there are too many. Use "
          "m4n, m3n or crf");
    validate_structured_solver(o, "sequences", true, true);
  }
  if (o.task == Task::graph || o.task == Task::multilabel) {
    const bool joined = o.task == Task::graph || has_edges(o);
    if (joined && o.surrogate == SurrogateKind::qs)
      throw UsageError(
          "--surrogate qs regresses every label on its own, so that edges between them would change nothing. Use m4n, "
          "m3n or crf");
    if (o.oracle == OracleKind::spmp || o.solver == SolverKind::gbcfw)
      throw UsageError(
          fmt::format("--oracle spmp and --solver gbcfw are not for --task {}, whose games are solved "
                      "exactly. Leave them out",
                      to_string(*o.task)));
    if (joined) validate_structured_solver(o, "labels that depend on each other", false, false);
    if (!joined && o.solver == SolverKind::atoms)
      throw UsageError("--solver atoms is for labels that depend on each other (--edges). Leave it out");
  }
  if (o.task == Task::ranking || o.task == Task::matching) {
    if (o.surrogate != SurrogateKind::qs) validate_structured_solver(o, "permutations", false, true);
    if (!o.warm_start)
      throw UsageError(
          "--warm-start no: on permutations the spmp oracle always starts at the uniform distribution. "
          "Leave it out");
  }
}

}  // namespace

void validate(const TrainOptions& options) {
  validate_ranges(options);
  validate_task(options);
  validate_surrogate(options);
  validate_solver(options);
  validate_features(options);
  validate_grades(options);
}

}  // namespace m4n

// Which training options go together, whatever the structure; a structure adds its own in Structure::check. A value
// that did not come through the table of options (from a program) meets the same ranges here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/message.h"
#include "losses/registry.h"
#include "m4n/options.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n {
namespace detail {
namespace {

void check_ranges(const TrainOptions& o) {
  const auto check = [](bool fine, const char* name, double value, const char* expected) {
    if (!fine) refuse_value(name, fmt::format("{}", value), expected);
  };
  const auto is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  check(o.smoothing == 0 || (o.smoothing >= least_smoothing && o.smoothing <= most_smoothing), "smoothing", o.smoothing,
        "0, or a number from 1e-6 to 1e6");
  check(!o.lambda || (*o.lambda >= smallest_lambda && *o.lambda <= largest_lambda), "lambda", o.lambda.value_or(0),
        "a positive number from 1e-30 to 1e30");
  check(o.tol > 0 && o.tol < 1, "tol", o.tol, "a number between 0 and 1");
  check(!o.time_limit || is_positive(*o.time_limit), "time-limit", o.time_limit.value_or(0), "a positive number");
  check(o.epochs >= 1, "epochs", o.epochs, "at least 1");
  check(o.oracle_iterations >= 1 && o.oracle_iterations <= 1'000'000, "oracle-iterations", o.oracle_iterations,
        "1 to 1000000");
  check(o.min_count >= 1, "min-count", static_cast<double>(o.min_count), "at least 1");
  check(o.hash_bits >= 0 && o.hash_bits <= 30, "hash", o.hash_bits, "0 (off), or 1 to 30");
  check(!o.gamma || is_positive(*o.gamma), "gamma", o.gamma.value_or(0), "a positive number");
  check(o.degree >= 1 && o.degree <= 20, "degree", o.degree, "1 to 20");
  check(o.components >= 0, "components", o.components, "0 (the default number), or more");
  check(o.bins == 0 || (o.bins >= 2 && o.bins <= max_bins), "bins", o.bins, "0 (off), or 2 to 1000");
}

void check_surrogate(const TrainOptions& o) {
  const std::string surrogate = to_string(o.surrogate);
  const bool m4n = o.surrogate == SurrogateKind::m4n;
  if (o.smoothing > 0 && !surrogate_row(o.surrogate).smoothing)
    throw UsageError(say(
        "--smoothing smooths the max-min game of --surrogate m4n; {} has none. => Leave it out, or use --surrogate m4n",
        surrogate));
  if (o.decode == Decoder::adversary && !m4n)
    throw UsageError(
        say("--decode adversary answers with the min player of --surrogate m4n; {} has none. => Leave it out, or use "
            "--surrogate m4n",
            surrogate));
  if (o.decode == Decoder::expected && m4n && o.smoothing <= 0) {
    const bool smoothable = o.task.empty() || structure_named(o.task).takes("smoothing");
    throw UsageError(
        say("--decode expected needs a distribution over the classes, and the marginals of the plain max-min game are "
            "not unique. => Use --decode adversary or --surrogate crf{}",
            smoothable ? say(", or for classes and grades --smoothing 1") : Message()));
  }
  if (o.decode == Decoder::expected && o.surrogate == SurrogateKind::m3n)
    throw UsageError(
        say("--decode expected needs a distribution over the classes, and m3n has none. => Use --decode argmax, or "
            "another --surrogate"));
}

void check_solver(const TrainOptions& o) {
  const bool spmp = o.oracle == OracleKind::spmp;
  if (surrogate_row(o.surrogate).closed_form && o.solver != SolverKind::automatic)
    throw UsageError(say("--solver {}: {} is solved in closed form (one linear system). => Leave --solver out",
                         to_string(o.solver), to_string(o.surrogate)));
  if (o.solver == SolverKind::lbfgs && o.surrogate != SurrogateKind::crf)
    throw UsageError(
        say("--solver lbfgs needs a smooth objective, which only --surrogate crf has, not {}. => Use --solver smooth",
            to_string(o.surrogate)));
  if (spmp && o.surrogate != SurrogateKind::m4n)
    throw UsageError(say("--oracle spmp solves the max-min game of --surrogate m4n; {} has none. => Leave it out",
                         to_string(o.surrogate)));
  if (spmp && o.smoothing > 0)
    throw UsageError(
        say("--oracle spmp solves the unsmoothed game only. => Leave out --smoothing, or use --oracle exact"));
  if (spmp && o.solver != SolverKind::automatic && o.solver != SolverKind::gbcfw)
    throw UsageError(
        say("--oracle spmp is an oracle of --solver gbcfw, not of {}. => Use --solver gbcfw, or --oracle exact",
            to_string(o.solver)));
  if (!spmp && (o.oracle_iterations != TrainOptions{}.oracle_iterations || o.iterations_per_part))
    throw UsageError(
        say("--oracle-iterations counts iterations of --oracle spmp; the exact oracle has none. => Leave it out, or "
            "add --oracle spmp"));
  if (!spmp && o.warm_start != TrainOptions{}.warm_start)
    throw UsageError(say(
        "--warm-start is about --oracle spmp; the exact oracle needs no start. => Leave it out, or add --oracle spmp"));
  // With spmp the automatic solver is gbcfw.
  const bool gbcfw = o.solver == SolverKind::gbcfw || (spmp && o.solver == SolverKind::automatic);
  if (!gbcfw && o.step != StepRule::automatic)
    throw UsageError(
        say("--step belongs to --solver gbcfw; the other solvers choose their own steps. => Leave it out, or add "
            "--solver gbcfw"));
  if (!gbcfw && o.average)
    throw UsageError(
        say("--average belongs to --solver gbcfw; the other solvers return the best weights they certified. => Leave "
            "it out, or add --solver gbcfw"));
}

void check_features(const TrainOptions& o) {
  const std::string features = to_string(o.features);
  const TrainOptions usual;
  const bool sampled = o.features == FeatureKind::rbf_centers || o.features == FeatureKind::nystrom ||
                       o.features == FeatureKind::fourier;
  if (o.gamma && o.features == FeatureKind::linear)
    throw UsageError(
        say("--gamma belongs to a kernel, and linear features have none. => Add --features rbf, or leave it out"));
  if (o.degree != usual.degree && o.features != FeatureKind::poly)
    throw UsageError(say("--degree belongs to --features poly, not to {}. => Leave it out", features));
  if (o.components != usual.components && !sampled)
    throw UsageError(
        say("--components counts the centres of rbf-centers, the landmarks of nystrom or the waves of fourier; {} has "
            "none. => Leave it out",
            features));
  if (o.landmarks != usual.landmarks && o.features != FeatureKind::nystrom)
    throw UsageError(say("--landmarks belongs to --features nystrom, not to {}. => Leave it out", features));
  if (o.bins == 0 && o.binning != usual.binning)
    throw UsageError(
        say("--binning says how --bins N cuts the target, and there is no --bins. => Add --bins N, or leave it out"));
}

// The tasks whose structures pass the test, as a user asks for them.
template <class Test>
Message tasks_with(Test&& test) {
  std::vector<std::string> names;
  for (const Structure* structure : structures())
    if (test(*structure)) names.push_back(structure->name());
  return say("--task {}", fmt::join(names, ", "));
}

template <class Test>
void require(const TrainOptions& o, bool given, const Message& what, Test&& takes) {
  if (given && !takes(structure_named(o.task)))
    throw UsageError(say("{} belongs to {}, not to --task {}. => Leave it out", what, tasks_with(takes), o.task));
}

// Options and values that are not for all structures.
void check_task(const TrainOptions& o) {
  if (o.task.empty()) return;
  for (const OptionRow& row : train_option_table())
    require(o, row.scope == OptionScope::some_tasks && row.given(o), option(row.name),
            [&](const Structure& s) { return s.takes(row.name); });
  require(o, !o.label_edges.empty(), say("--edges"), [](const Structure& s) { return s.takes("edges"); });
  require(o, !o.read.format.empty(), say("--format {}", o.read.format), [&](const Structure& s) {
    const std::vector<std::string>& formats = s.traits().formats;
    return std::find(formats.begin(), formats.end(), o.read.format) != formats.end();
  });
  require(o, o.decode == Decoder::viterbi, say("--decode viterbi"),
          [](const Structure& s) { return s.traits().largest == Decoder::viterbi; });
  require(o, o.solver == SolverKind::atoms, say("--solver atoms"),
          [](const Structure& s) { return s.traits().several_parts; });
  require(o, o.iterations_per_part, say("--oracle-iterations with an x"),
          [](const Structure& s) { return s.takes("oracle-iterations by part"); });
  if (const auto found = find_loss(o.loss))
    require(o, true,
            found->loss->elsewhere != nullptr ? say("--loss {} ({})", o.loss, found->loss->elsewhere)
                                              : say("--loss {}", o.loss),
            [&](const Structure& s) { return found->loss->is_of(s.traits().losses); });
  const Structure& structure = structure_named(o.task);
  if (!structure.traits().no_quadratic.empty()) refuse_quadratic(o, structure.traits().no_quadratic);
  structure.check_options(o);
}

}  // namespace
}  // namespace detail

void validate(const TrainOptions& options) {
  if (!options.task.empty()) detail::structure_named(options.task);  // refuses unknown ones
  detail::check_ranges(options);
  detail::check_task(options);
  detail::check_surrogate(options);
  detail::check_solver(options);
  detail::check_features(options);
}

TrainOptions completed(TrainOptions options) {
  if (options.task.empty()) options.task = detail::structure_named("").name();
  if (options.oracle == OracleKind::spmp && options.solver == SolverKind::automatic) options.solver = SolverKind::gbcfw;
  validate(options);
  return options;
}

}  // namespace m4n

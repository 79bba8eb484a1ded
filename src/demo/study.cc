// Part 1 of the demo: four surrogates on data with a known Bayes risk, for four costs and growing n.
//
// Why M3N fails on these data. It minimises the expected value of S(v, t) = max_p (cost[t][p] + v_p) - v_t.
//
// 0-1: if no class has probability above 1/2, v = 0 is the minimiser, the only one up to a constant: all classes tie.
//
// Grades: let the cost c satisfy c(t, p) <= c(t, m) + c(m, p), as |t - p| does and its asymmetric version. For scores
// v_p = -c(m, p) then S = c(t, m) + c(m, t): M3N weighs both directions of an error alike, and the m that is best for
// their sum is the median. That is right for |t - p|, where M3N is consistent (the cost is a distance along a line),
// and wrong when a grade too low costs three times a grade too high: best is the 3/4-quantile. For (t - p)^2, where the
// rounded mean is best, linear programs show that M3N finds the median of every region of the table too.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/parallel.h"
#include "data/input.h"
#include "data/table.h"
#include "demo/demo.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "structures/classes/labels.h"
#include "structures/classes/synthetic.h"

namespace m4n::detail {

namespace {

// Few examples make noisy rules: the mean over several samples is shown.
struct Size {
  std::size_t n, seeds;
};
constexpr std::array sizes{Size{100, 20}, Size{1'000, 20}, Size{10'000, 5}, Size{100'000, 2}};

// A grade too low costs 3 per step, a grade too high 1.
CostMatrix too_low_is_worse(const std::vector<std::string>& grades) {
  const std::size_t k = grades.size();
  std::vector<double> cost(k * k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p)
      cost[t * k + p] = p < t ? 3 * static_cast<double>(t - p) : static_cast<double>(p - t);
  return CostMatrix::from_values(cost, k, "matrix", grades, "the demo's cost matrix");
}

Study make_study(std::string name, std::string title, const SyntheticProblem& problem, CostMatrix cost) {
  Study study{std::move(name), std::move(title), problem.order(), std::move(cost), 0, {}};
  study.bayes_risk = problem.bayes_risk(study.cost);
  for (const Size& size : sizes)
    study.levels.push_back({size.n, size.seeds, lambda_factor / std::sqrt(static_cast<double>(size.n)), {}});
  return study;
}

std::vector<Study> planned_studies() {
  const SyntheticProblem classes(Order::none), grades(Order::grades);
  std::vector<Study> studies;
  studies.push_back(make_study("zero-one", "0-1: four classes, every mistake costs 1", classes, classes.usual_cost()));
  studies.push_back(make_study("squared", "squared: five grades, being off by s costs s^2", grades,
                               CostMatrix::named("squared", grades.k())));
  studies.push_back(make_study("asymmetric", "asymmetric: five grades, a step too low costs 3, a step too high 1",
                               grades, too_low_is_worse(grades.class_names())));
  studies.push_back(make_study("absolute", "absolute: five grades, being off by s costs s; here M3N is consistent too",
                               grades, grades.usual_cost()));
  return studies;
}

// One sample, to be learnt from by all surrogates.
struct Sample {
  Study* study;
  StudyLevel* level;
  std::uint64_t seed;
};

// Largest first, so that threads finish together.
std::vector<Sample> all_samples(std::vector<Study>& studies) {
  std::vector<Sample> samples;
  for (std::size_t l = sizes.size(); l-- > 0;)
    for (std::uint64_t seed = 0; seed < sizes[l].seeds; ++seed)
      for (Study& study : studies) samples.push_back({&study, &study.levels[l], seed});
  return samples;
}

// The expected cost of the model's rule. Scores of a margin have the unit of the costs; classes within a hundredth of
// the largest cost of the best score count as tied, and a tie is decided by chance: which of them a solver happens to
// leave in front says nothing about the surrogate.
double risk_of(const SyntheticProblem& problem, const CostMatrix& cost, const Model& model, const Context& context) {
  const SparseMatrix regions = problem.one_row_per_region();
  const std::vector<double> scores = model.scores(regions.view(), context);
  const std::vector<std::int32_t> first = model.decode_scores(scores, context);
  const double risk = problem.risk(cost, first);
  const bool margin = model.surrogate() == SurrogateKind::m3n || model.surrogate() == SurrogateKind::m4n;
  if (!margin || model.decode() != Decoder::argmax) return risk;
  const double tie = 0.01 * cost.largest();
  double out = risk;
  for (std::size_t r = 0; r < first.size(); ++r) {
    const std::span<const double> v = std::span(scores).subspan(r * model.k(), model.k());
    const double best = *std::max_element(v.begin(), v.end());
    double change = 0, tied = 0;
    for (std::size_t c = 0; c < v.size(); ++c) {
      if (v[c] < best - tie) continue;
      std::vector<std::int32_t> other = first;
      other[r] = static_cast<std::int32_t>(c);
      change += problem.risk(cost, other) - risk;
      ++tied;
    }
    out += change / tied;
  }
  return out;
}

StudyFit learn(const SyntheticProblem& problem, const Sample& sample, const Dataset& data, SurrogateKind surrogate,
               const Context& context) {
  TrainOptions options;
  options.task = problem.task();
  options.surrogate = surrogate;
  options.cost = sample.study->cost.values();
  options.lambda = sample.level->lambda;
  options.seed = sample.seed;
  const FitResult result = fit(data, options, context);
  const double risk = risk_of(problem, sample.study->cost, result.model, context);
  const Certificate& certificate = result.report.certificate;
  return {risk - sample.study->bayes_risk, certificate.relative_gap(), certificate.converged, result.report.epochs,
          result.report.seconds};
}

void add(StudyFit& sum, const StudyFit& fit, std::size_t seeds) {
  sum.excess += fit.excess / static_cast<double>(seeds);
  sum.relative_gap = std::max(sum.relative_gap, fit.relative_gap);
  sum.converged = sum.converged && fit.converged;
  sum.epochs = std::max(sum.epochs, fit.epochs);
  sum.seconds += fit.seconds;
}

}  // namespace

std::vector<Study> run_studies(const Context& context, const std::function<void(std::size_t, std::size_t)>& advance) {
  std::vector<Study> studies = planned_studies();
  const std::vector<Sample> samples = all_samples(studies);
  std::vector<PerSurrogate<StudyFit>> fits(samples.size());
  Context single = context;
  single.threads = 1;  // the samples share the threads
  std::mutex mutex;
  std::size_t done = 0;
  parallel_chunks(samples.size(), 1, context.threads, [&](std::size_t s, std::size_t, std::size_t, unsigned) {
    const SyntheticProblem problem(samples[s].study->order);
    const Dataset data = problem.sample(samples[s].level->n, samples[s].seed);
    for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
      if (context.cancelled && context.cancelled()) return;
      fits[s][j] = learn(problem, samples[s], data, demo_surrogates[j], single);
      const std::lock_guard lock(mutex);
      advance(++done, samples.size() * demo_surrogates.size());
    }
  });
  // Summed in the order of the samples: the result does not depend on who finished first.
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::size_t j = 0; j < demo_surrogates.size(); ++j)
      add(samples[s].level->fits[j], fits[s][j], samples[s].level->seeds);
  return studies;
}

// Part 2 of the demo: the iris flowers, 0-1 loss, four surrogates with the same lambda = 1/n.

namespace {

double error_rate(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
  std::size_t errors = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) errors += truth[i] != predicted[i] ? 1U : 0U;
  return static_cast<double>(errors) / static_cast<double>(truth.size());
}

}  // namespace

IrisResult run_iris(const Context& context) {
  Input input = Input::memory(iris_csv, "iris");
  LineReader lines(input);
  const Dataset flowers = label_for_training(read_table(lines, {}, Truth::required, nullptr), Order::none);
  std::vector<std::size_t> learnt, held_out;
  for (std::size_t i = 0; i < flowers.examples(); ++i) (i % 3 == 2 ? held_out : learnt).push_back(i);
  const Dataset train = subset(flowers, learnt);

  IrisResult result;
  result.train_size = train.examples();
  result.held_out = subset(flowers, held_out);
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    TrainOptions options;
    options.surrogate = demo_surrogates[j];
    const FitResult fitted = fit(train, options, context);
    IrisFit& out = result.fits[j];
    out.train_error = fitted.report.train_loss;
    out.predicted = fitted.model.predict(view(result.held_out.x), context);
    out.test_error = error_rate(result.held_out.label, out.predicted);
    out.relative_gap = fitted.report.certificate.relative_gap();
    out.converged = fitted.report.certificate.converged;
    out.epochs = fitted.report.epochs;
    out.seconds = fitted.report.seconds;
  }
  return result;
}

}  // namespace m4n::detail

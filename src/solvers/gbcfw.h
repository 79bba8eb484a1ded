// The paper's Algorithm 1, generalised block-coordinate Frank-Wolfe. With M3N it is BCFW, with CRF it is SDCA.
//
//   for t = 0, 1, ..: pick i at random; mu_hat = argmax(v_i); mu_i += step (mu_hat - mu_i)
//   step = 2n/(t + 2n)  (paper), or the line search of frank_wolfe_step.h
//
// Averaging (w_bar = (1 - r) w_bar + r w, r = 2/(t+2)) weighs the iterate after step t by t + 1. It is kept in the
// dual, lazily: mu_i only changes when i is picked, so its weighted sum is brought up to date then. The certificate is
// that of the averaged point: w_bar = w(mu_bar).
#pragma once
#include <optional>

#include "core/rng.h"
#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/frank_wolfe_step.h"

namespace m4n::detail {

struct GbcfwOptions {
  bool line_search = false, average = true;
};

// The running weighted mean of the dual iterates.
template <Surrogate S>
class DualAverage {
 public:
  explicit DualAverage(const DualPoint<S>& dual) : sum_(dual.mu.size(), 0.0), since_(dual.parts.count(), 0.0) {}
  // mu_i is about to change in step t (counted from 0): it has been the iterate after steps since_..t-1.
  void absorb(std::size_t i, double t, DualPoint<S>& dual) {
    const double weight = weight_before(t) - weight_before(since_[i]);
    const auto mu = dual.of(i);
    for (std::size_t j = 0; j < mu.size(); ++j) sum_[dual.parts.begin(i) + j] += weight * mu[j];
    since_[i] = t;
  }
  // Writes the average after t steps into mu.
  void after(double t, DualPoint<S>& dual, std::vector<double>& mu) {
    for (std::size_t i = 0; i < since_.size(); ++i) absorb(i, t, dual);
    const double total = weight_before(t);
    mu.resize(sum_.size());
    for (std::size_t j = 0; j < sum_.size(); ++j) mu[j] = sum_[j] / total;
  }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(sum_, since_);
  }

 private:
  static double weight_before(double t) { return 0.5 * t * (t + 1); }  // 1 + 2 + .. + t
  std::vector<double> sum_, since_;
};

template <class Scorer, Surrogate S>
SolveResult gbcfw(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, const SolverOptions& options,
                  const GbcfwOptions& rule, const Context& context) {
  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  SolveResult result;
  const std::size_t n = problem.examples(), length = problem.scorer->largest_padded_parts();
  AlignedVector<double> v_all(length), old_all(length), new_all(length), step_all(length);
  auto workspace = surrogate.workspace();
  const std::function<bool()> stop = [&] { return watch.expired(); };
  ask_to_stop(workspace, stop);
  Rng rng(options.seed, 1);
  std::optional<DualAverage<S>> average;
  if (rule.average) average.emplace(dual);
  CertificateSchedule schedule(n, options.tol);
  double t = 0;

  const auto visit = [&](std::size_t i) {
    const std::size_t size = problem.scorer->padded_parts(i);
    const std::span<double> v = std::span(v_all).first(size), old = std::span(old_all).first(size),
                            now = std::span(new_all).first(size), step = std::span(step_all).first(size);
    problem.scorer->scores(i, v);
    dual.load(i, old);
    std::copy(old.begin(), old.end(), now.begin());
    if (rule.line_search) {
      frank_wolfe_step(surrogate, v, problem.curvature(i), problem.y(i), now, step, dual.state_of(i), workspace);
    } else {
      surrogate.argmax(v, problem.y(i), step, dual.state_of(i), workspace);
      const auto examples = static_cast<double>(n);
      move_towards(step, 2 * examples / (t + 2 * examples), now);
    }
    if constexpr (ApproximateSurrogate<S>) {
      if (!rule.line_search && result.epochs + 1 == options.epochs)
        result.oracle_error = result.oracle_error.value_or(0) +
                              (surrogate.conjugate(v, problem.y(i), dual.state_of(i), workspace) -
                               surrogate.neg_omega(step, problem.y(i), workspace) -
                               kernels::dot(v.first(dual.of(i).size()), step.first(dual.of(i).size()))) /
                                  static_cast<double>(n);
    }
    ++result.oracle_calls;
    if (average) average->absorb(i, t, dual);
    ++t;
    if (kernels::difference(old, now, step) == 0) return;
    dual.store(i, now);
    problem.scorer->update(i, step, problem.weight[i] / problem.lambda);
  };
  // The certificate of the point that would be returned now: the average, or the iterate.
  BestPoint<Scorer> best;
  std::vector<double> mean;
  double certified_at = -1;
  // False where it was told to stop.
  const auto look = [&](const Watch* patience, bool hasty = false) {
    std::optional<Scorer> iterate;
    if (average) {
      iterate.emplace(*problem.scorer);
      average->after(t, dual, mean);
      dual.mu.swap(mean);
    }
    rebuild_weights(problem, surrogate, dual, context.threads);
    const std::optional<Certificate> found =
        certify<Scorer>(problem, surrogate, dual, context.threads, patience, nullptr, hasty);
    if (found) best.offer(*found, *problem.scorer);
    if (average) {
      dual.mu.swap(mean);
      *problem.scorer = *iterate;
    }
    if (!found) return false;
    certified_at = t;
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
    schedule.seen(t, result.certificate.relative_gap());
    return true;
  };

  std::size_t step = 0;  // of this epoch
  bool looking = false;  // an epoch is over, and a certificate is due
  const auto state = [&](auto& a) {
    a(watch, result, *problem.scorer, rng, schedule, t, step, looking, certified_at);
    if (average) a(*average);
    a.expect(step <= n);
    best.archive(a, *problem.scorer);
  };
  stage.begin(state);
  bool stopped = false;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    while (step < n && !looking && !stopped) {
      const auto i = static_cast<std::size_t>(rng.below(n));
      visit(i);
      ++step;
      stopped = watch.stopped(problem.scorer->work(i) + surrogate.work());
      stage.pause(state);
    }
    if (step == n) {
      step = 0;
      ++result.epochs;
      looking = schedule.due(t);
    }
    if (!looking || stopped) continue;
    stopped = !look(&watch);
    looking = stopped;
  }
  stage.pause_at_end(state);
  if (step > 0) ++result.epochs;
  if (certified_at != t && !(stopped && best.known())) look(nullptr, stopped);
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  result.solver = "gbcfw";
  return stage.finish(result);
}

}  // namespace m4n::detail

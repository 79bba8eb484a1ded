// Limited-memory BFGS in the primal, for smooth surrogates (CRF). Block ascent needs many passes when lambda is tiny;
// this does not care. Memory 10; the two-loop recursion; a step must satisfy the Armijo and the weak Wolfe condition,
// found by bisection. One evaluation costs about two epochs of scores. Cost O(n d k + 10 d k) per iteration.
#pragma once
#include <algorithm>
#include <cmath>
#include <deque>

#include "solvers/certificate.h"
#include "solvers/primal_loss.h"
#include "solvers/warm_start.h"

namespace m4n::detail {

template <class Scorer, class Loss>
SolveResult lbfgs(const Problem<Scorer>& problem, Loss& loss, const SolverOptions& options, const Context& context) {
  constexpr std::size_t memory = 10;
  struct Pair {
    AlignedVector<double> step, change;
    double inner;
  };
  Watch watch(context, options);
  SolveResult result;
  result.solver = "lbfgs";
  AlignedVector<double>& w = problem.scorer->raw();
  std::size_t pass_work = 0;
  for (std::size_t i = 0; i < problem.examples(); ++i) pass_work += 2 * problem.scorer->work(i);

  AlignedVector<double> gradient, direction, start, last_gradient;
  double value = loss.evaluate(gradient);
  std::deque<Pair> pairs;
  BestPoint<Scorer> best;
  const auto look = [&] {
    best.offer(loss.certificate(value, gradient), *problem.scorer);
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
  };
  look();
  bool stopped = false;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    direction = gradient;
    std::vector<double> alpha(pairs.size());
    for (std::size_t p = pairs.size(); p-- > 0;) {
      alpha[p] = kernels::dot(pairs[p].step, direction) / pairs[p].inner;
      for (std::size_t j = 0; j < w.size(); ++j) direction[j] -= alpha[p] * pairs[p].change[j];
    }
    const double scale = pairs.empty() ? 1 / std::max(1.0, std::sqrt(kernels::dot(gradient, gradient)))
                                       : pairs.back().inner / kernels::dot(pairs.back().change, pairs.back().change);
    for (double& x : direction) x *= scale;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double beta = alpha[p] - kernels::dot(pairs[p].change, direction) / pairs[p].inner;
      for (std::size_t j = 0; j < w.size(); ++j) direction[j] += beta * pairs[p].step[j];
    }
    double slope = -kernels::dot(direction, gradient);
    if (slope >= 0) {  // rounding has spoilt the memory: start again downhill
      pairs.clear();
      direction = gradient;
      slope = -kernels::dot(gradient, gradient);
    }

    start = w;
    last_gradient = gradient;
    const double start_value = value;
    double t = 1, low = 0, high = 0;
    bool accepted = false;
    for (int trial = 0; trial < 40; ++trial) {
      for (std::size_t j = 0; j < w.size(); ++j) w[j] = start[j] - t * direction[j];
      value = loss.evaluate(gradient);
      ++result.epochs;
      result.oracle_calls += problem.examples();
      stopped = watch.stopped(pass_work);
      const double rounding = 1e-15 * std::abs(start_value);
      if (!(value <= start_value + 1e-4 * t * slope + rounding)) {
        high = t;
      } else if (-kernels::dot(direction, gradient) < 0.9 * slope) {
        low = t;
      } else {
        accepted = true;
        break;
      }
      if (stopped || result.epochs == options.epochs) break;
      t = high > 0 ? 0.5 * (low + high) : 2 * t;
    }
    if (!accepted && !(value <= start_value)) {
      w = start;
      gradient = last_gradient;
      value = start_value;
    }
    look();
    if (!accepted) {
      if (pairs.empty()) break;  // even the gradient leads nowhere: the limit of double precision
      pairs.clear();
      continue;
    }
    Pair pair{start, gradient, 0};
    for (std::size_t j = 0; j < w.size(); ++j) {
      pair.step[j] = w[j] - start[j];
      pair.change[j] = gradient[j] - last_gradient[j];
    }
    pair.inner = kernels::dot(pair.step, pair.change);
    if (pair.inner > 0) pairs.push_back(std::move(pair));
    if (pairs.size() > memory) pairs.pop_front();
  }
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return result;
}

// The lambdas in turn, each from the weights of the one before, the first from those of an earlier fit if there is one.
// `slope` is what PrimalLoss takes.
template <class Scorer, class Slope>
void lbfgs_path(Problem<Scorer> problem, const Slope& slope, const PathRequest& request, const EmitResult& emit) {
  struct Weights {
    AlignedVector<double> raw;
  };
  AlignedVector<double>& own = problem.scorer->raw();
  if (const auto* earlier = earlier_point<Weights>(*request.context); earlier && earlier->raw.size() == own.size())
    own = earlier->raw;
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss loss(problem, slope);
    emit(lbfgs(problem, loss, solver_options(*request.options), *request.context));
  }
  leave_point(Weights{own}, *request.context);
}

}  // namespace m4n::detail

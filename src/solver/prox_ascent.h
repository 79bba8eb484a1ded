// The default solver: exact proximal block ascent on the dual (ALGORITHMS 4.2).
//
//   repeat, in a fresh random order every sweep:
//     mu_i <- argmax over M of  v_i.mu - Omega(mu) - (c_i/2)|mu - mu_i|^2       (surrogate.prox)
//     w    <- w + (p_i/lambda) Phi(x_i) (old mu_i - new mu_i)^T
//
// Each visit maximises the dual over its block: no step size, and the dual never falls. Blocks that do not move are
// left out of the next 1, 2, 4, .. 32 sweeps; the certificate, which ends the loop, always looks at all of them. An
// epoch is n visits, however many sweeps they take. A visit costs one score, one proximal step and, if the block moved,
// one update.
#pragma once
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "solver/certificate.h"
#include "solver/frank_wolfe_step.h"

namespace m4n {

template <class Scorer, ProxSurrogate S>
SolveResult prox_ascent(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual,
                        const SolverOptions& options, const Context& context) {
  constexpr double still = 1e-12;  // a block that moves less than this has not moved
  constexpr unsigned most_patience = 6;
  constexpr double flat = 1e-10;  // curvature, relative to the costs, below which a block is linear

  Watch watch(context, options);
  SolveResult result;
  const std::size_t n = problem.examples(), length = problem.scorer->largest_padded_parts();
  AlignedVector<double> v_all(length), old_all(length), new_all(length), step_all(length);
  auto workspace = surrogate.workspace();
  std::vector<double> curvature(n);
  for (std::size_t i = 0; i < n; ++i) curvature[i] = problem.curvature(i);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  struct Rest {
    std::uint8_t sweeps = 0, patience = 0;
  };
  std::vector<Rest> rest(n);
  Rng rng(options.seed, 1);
  CertificateSchedule schedule(n, options.tol);
  double visits = 0;

  const auto visit = [&](std::size_t i) {
    const std::size_t size = problem.scorer->padded_parts(i);
    const std::span<double> v = std::span(v_all).first(size), old = std::span(old_all).first(size),
                            now = std::span(new_all).first(size), step = std::span(step_all).first(size);
    problem.scorer->scores(i, v);
    dual.load(i, old);
    std::copy(old.begin(), old.end(), now.begin());
    if (curvature[i] > flat * surrogate.scale()) {
      surrogate.prox(v, curvature[i], problem.y(i), now, dual.state_of(i), workspace);
    } else {
      frank_wolfe_step(surrogate, v, curvature[i], problem.y(i), now, step, dual.state_of(i), workspace);
    }
    ++visits;
    ++result.oracle_calls;
    if (kernels::difference(old, now, step) <= still) {
      rest[i].patience = std::min<std::uint8_t>(rest[i].patience + 1, most_patience);
      rest[i].sweeps = static_cast<std::uint8_t>(1U << (rest[i].patience - 1));
      return;
    }
    rest[i].patience = 0;
    dual.store(i, now);
    const double scale = problem.weight[i] / problem.lambda;
    for (double& s : step) s *= scale;
    problem.scorer->update(i, step);
  };
  const auto look = [&] {
    result.certificate = certify(problem, surrogate, dual, context.threads);
    if (result.certificate.relative_gap() <= options.tol) {
      rebuild_weights(problem, surrogate, dual);
      result.certificate = certify(problem, surrogate, dual, context.threads);
      result.certificate.converged = result.certificate.relative_gap() <= options.tol;
    }
    watch.report(result.epochs, result.certificate);
    schedule.seen(visits, result.certificate.relative_gap());
  };

  bool stopped = false;
  double certified_at = -1;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    rng.shuffle(std::span(order));
    for (const std::uint32_t i : order) {
      if (rest[i].sweeps > 0) {
        --rest[i].sweeps;
        continue;
      }
      visit(i);
      if ((stopped = watch.stopped(problem.scorer->work(i) + 16 * length))) break;
    }
    result.epochs = static_cast<int>(std::ceil(visits / static_cast<double>(n)));
    if (!stopped && schedule.due(visits)) {
      look();
      certified_at = visits;
    }
  }
  if (certified_at != visits) look();
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  result.solver = "prox";
  return result;
}

}  // namespace m4n

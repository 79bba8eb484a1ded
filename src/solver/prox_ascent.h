// The default solver: exact proximal block ascent on the dual (docs/algorithms.md).
//
//   repeat, in a fresh random order every sweep:
//     mu_i <- argmax over M of  v_i.mu - Omega(mu) - (c_i/2)|mu - mu_i|^2       (surrogate.prox)
//     w    <- w + (p_i/lambda) Phi(x_i) (old mu_i - new mu_i)^T
//
// Each visit maximises the dual over its block: no step size, and the dual never falls. Blocks that do not move are
// left out of the next 1, 2, 4, .. 32 sweeps; the certificate, which ends the loop, always looks at all of them. An
// epoch is n visits, however many sweeps they take. A visit costs one score, one proximal step and, if the block moved,
// one update. Where rebuilding the weights costs more than a look at all examples (HasCoefficients), the solver first
// looks at the weights as they are, and rebuilds and certifies once that look says that it is worth it.
#pragma once
#include <cmath>

#include "core/rng.h"
#include "solver/certificate.h"
#include "solver/frank_wolfe_step.h"

namespace m4n {

template <class Scorer, ProxSurrogate S>
SolveResult prox_ascent(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual,
                        const SolverOptions& options, const Context& context) {
  constexpr double still = 1e-12;  // a block that moves less than this share of a full step has not moved
  constexpr unsigned most_patience = 6;
  constexpr std::size_t ahead = 4;  // visits between asking for an example's memory and reading it
  constexpr double flat = 1e-10;    // curvature, relative to the costs, below which a block is linear
  // Relative gap below which the rounding of a kernel's scores could matter.
  [[maybe_unused]] constexpr double worth_rebuilding = 1e-4;

  Watch watch(context, options);
  SolveResult result;
  const std::size_t n = problem.examples(), length = problem.scorer->largest_padded_parts();
  AlignedVector<double> v_all(length), old_all(length), new_all(length), step_all(length);
  auto workspace = surrogate.workspace();
  std::vector<double> curvature(n);
  for (std::size_t i = 0; i < n; ++i) curvature[i] = problem.curvature(i);
  std::vector<std::uint32_t> awake;
  awake.reserve(n);
  struct Rest {
    std::uint8_t sweeps = 0, patience = 0;
  };
  std::vector<Rest> rest(n);
  Rng rng(options.seed, 1);
  CertificateSchedule schedule(n, options.tol, HasCoefficients<Scorer> ? 1 : 2);
  double visits = 0;
  // A full step of a block has the size of the costs over its curvature.
  const double size_of_costs = surrogate.scale() > 0 ? surrogate.scale() : 1;

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
    const double moved = kernels::difference(old, now, step) * std::max(1.0, curvature[i] / size_of_costs);
    if (moved <= still) {
      rest[i].patience = std::min<std::uint8_t>(rest[i].patience + 1, most_patience);
      rest[i].sweeps = static_cast<std::uint8_t>(1U << (rest[i].patience - 1));
      return;
    }
    rest[i].patience = 0;
    dual.store(i, now);
    problem.scorer->update(i, step, problem.weight[i] / problem.lambda);
  };
  BestPoint<Scorer> best;
  double certified_at = -1;
  const auto look = [&](const Watch* patience) {
    rebuild_weights(problem, surrogate, dual, context.threads);
    const std::optional<Certificate> found = certify(problem, surrogate, dual, context.threads, patience);
    if (!found) return;
    certified_at = visits;
    best.offer(*found, *problem.scorer);
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
    schedule.seen(visits, result.certificate.relative_gap());
  };
  // Whether the weights as they are, rounded by all their updates, are still too far from a certificate. That is told
  // to the observer and to the schedule; only certificates count.
  const auto far_off = [&] {
    const std::optional<Certificate> found = certify(problem, surrogate, dual, context.threads, &watch);
    if (!found) return true;  // told to stop
    if (!(found->relative_gap() > std::max(options.tol, worth_rebuilding))) return false;
    watch.report(result.epochs, *found);
    schedule.seen(visits, found->relative_gap());
    return true;
  };

  bool stopped = false;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    awake.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (rest[i].sweeps == 0) {
        awake.push_back(static_cast<std::uint32_t>(i));
      } else {
        --rest[i].sweeps;
      }
    }
    rng.shuffle(std::span(awake));
    for (std::size_t place = 0; place < awake.size() && !stopped; ++place) {
      if (place + ahead < awake.size()) {
        problem.scorer->prefetch(awake[place + ahead]);
        kernels::prefetch(dual.of(awake[place + ahead]));
      }
      visit(awake[place]);
      stopped = watch.stopped(problem.scorer->work(awake[place]) + surrogate.work());
    }
    result.epochs = static_cast<int>(std::ceil(visits / static_cast<double>(n)));
    if (stopped || !schedule.due(visits)) continue;
    if constexpr (HasCoefficients<Scorer>) {
      if (far_off()) continue;
    }
    look(&watch);
  }
  // Whoever stops the solver gets the best certified weights at once, if there are any.
  if (certified_at != visits && !(stopped && best.known())) look(nullptr);
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  result.solver = "prox";
  return result;
}

}  // namespace m4n

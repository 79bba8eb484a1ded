// One Frank-Wolfe step of a block: towards the surrogate's argmax, with the step that maximises the bound
//   gain(t) >= t gap - (c/2) t^2 |delta|^2,   gap = [-Omega(mu_hat) + v.mu_hat] - [-Omega(mu) + v.mu],
// (equality for M3N; for concave -Omega the true gain is larger), so the dual never falls.
#pragma once
#include "solvers/problem.h"

namespace m4n::detail {

inline void move_towards(std::span<const double> target, double t, std::span<double> mu) {
  for (std::size_t j = 0; j < mu.size(); ++j) mu[j] += t * (target[j] - mu[j]);
}

template <Surrogate S>
void frank_wolfe_step(const S& surrogate, ScoreView v, double c, LabelView y, Marginals mu, std::span<double> target,
                      std::span<typename S::StateUnit> state, typename S::Workspace& ws) {
  surrogate.argmax(v, y, target, state, ws);
  double linear = 0, squared = 0;
  for (std::size_t j = 0; j < mu.size(); ++j) {
    const double delta = target[j] - mu[j];
    if (delta != 0) linear += v[j] * delta;
    squared += delta * delta;
  }
  const double gap = linear + surrogate.neg_omega(target, y, ws) - surrogate.neg_omega(mu, y, ws);
  if (gap <= 0 || squared == 0) return;
  move_towards(target, c * squared > gap ? gap / (c * squared) : 1.0, mu);
}

}  // namespace m4n::detail

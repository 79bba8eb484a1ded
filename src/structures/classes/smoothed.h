// Smoothed M4N: Omega_g(mu) = -h(mu) + (g/2)|mu|^2 (docs/math.md). The dual becomes strongly concave, and the
// maximiser mu(v) a sparse distribution that can be decoded by expected cost. Its proximal step is the plain one with
// other numbers:
//
//   h(mu) + v.mu - (g/2)|mu|^2 - (c/2)|mu - m|^2  =  h(mu) + (v - g m).mu - ((c+g)/2)|mu - m|^2 + constant.
//
// The constant (g/2)|phi(y)|^2 = g/2 is added to -Omega and Omega*, so that S >= 0.
#pragma once
#include "structures/classes/maxmin.h"

namespace m4n::detail {

template <class MaxMin>
class Smoothed {
 public:
  using StateUnit = typename MaxMin::StateUnit;
  struct Workspace {
    typename MaxMin::Workspace inner;
    AlignedVector<double> v, mu;
  };
  // g in units of the cost.
  Smoothed(MaxMin inner, double g) : inner_(std::move(inner)), g_(g) {}
  std::size_t state_size() const { return inner_.state_size(); }
  Workspace workspace() const {
    const AlignedVector<double> zero(space().padded_parts());
    return {inner_.workspace(), zero, zero};
  }
  const Simplex& space() const { return inner_.space(); }
  double scale() const { return inner_.scale(); }
  std::size_t work() const { return inner_.work(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    return inner_.neg_omega(mu, y, ws.inner) - 0.5 * g_ * kernels::dot(mu, mu) + 0.5 * g_;
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit> state, Workspace& ws) const {
    argmax(v, y, ws.mu, state, ws);
    const std::size_t k = space().parts();
    const double value = kernels::dot(v.first(k), std::span<const double>(ws.mu).first(k)) + neg_omega(ws.mu, y, ws);
    return inner_.smoothed_bound(v, g_, value - 0.5 * g_, ws.inner) + 0.5 * g_;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const std::size_t k = space().parts();
    std::fill(mu.begin(), mu.end(), 0.0);
    std::fill(mu.begin(), mu.begin() + static_cast<std::ptrdiff_t>(k), 1 / static_cast<double>(k));
    prox(v, 0, y, mu, state, ws);
  }
  void prox(ScoreView v, double c, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    for (std::size_t j = 0; j < v.size(); ++j) ws.v[j] = v[j] - g_ * mu[j];
    inner_.prox(ws.v, c + g_, y, mu, state, ws.inner);
  }

 private:
  MaxMin inner_;
  double g_;
};

}  // namespace m4n::detail

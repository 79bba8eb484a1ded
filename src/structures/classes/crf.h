// CRF (multinomial logistic regression): -Omega(mu) is the entropy, argmax the softmax. The block step is that of
// SDCA: from mu towards softmax(v), as far as maximises the block dual
//
//   f(t) = H(mu + t delta) + t v.delta - (c/2) t^2 |delta|^2,   delta = softmax(v) - mu,   0 <= t <= 1.
//
// f is concave with f'(1) = -c |delta|^2 <= 0; a Newton iteration kept inside a shrinking bracket finds f' = 0.
#pragma once
#include <cmath>

#include "core/aligned.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

class Crf {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> target, delta;
  };
  explicit Crf(std::size_t k) : space_(k) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const {
    const AlignedVector<double> zero(space_.padded_parts());
    return {zero, zero};
  }
  const Simplex& space() const { return space_; }
  double scale() const { return 0; }  // the line search needs no curvature
  std::size_t work() const { return 128 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const { return kernels::entropy(mu); }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace& ws) const {
    return space_.marginals(v, ws.target);
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace&) const { space_.marginals(v, mu); }
  void prox(ScoreView v, double c, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    space_.marginals(v, ws.target);
    if (kernels::difference(ws.target, mu, ws.delta) == 0) return;
    const std::size_t k = space_.parts();
    const double linear = kernels::dot(v.first(k), std::span<const double>(ws.delta).first(k));
    const double quadratic = c * kernels::dot(ws.delta, ws.delta);
    double low = 0, high = 1, t = 1 / (1 + c);
    for (int iteration = 0; iteration < 12; ++iteration) {
      const kernels::Slope s = kernels::entropy_slope(mu, ws.delta, t);
      const double first = s.first + linear - t * quadratic, second = s.second - quadratic;
      (first > 0 ? low : high) = t;
      double next = t - first / second;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const bool done = std::abs(next - t) <= 1e-3 * t;
      t = next;
      if (done) break;
    }
    for (std::size_t j = 0; j < mu.size(); ++j) mu[j] += t * ws.delta[j];
  }
  // S(v, y) and its gradient in v.
  double slope(ScoreView v, LabelView y, std::span<double> gradient) const {
    const double value = space_.marginals(v, gradient);
    gradient[static_cast<std::size_t>(y[0])] -= 1;
    return value - space_.score(v, y);
  }

 private:
  Simplex space_;
};

}  // namespace m4n::detail

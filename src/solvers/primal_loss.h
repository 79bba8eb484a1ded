// Smooth surrogates seen from the primal, for solvers that move w itself: value and gradient of
//
//   P(w) = sum_i p_i S(w^T Phi(x_i), y_i) + lambda/2 |w|^2.
//
// P is lambda-strongly convex, so D = P - |grad P|^2 / (2 lambda) is a lower bound of its minimum: it is the Fenchel
// dual at mu_i = grad Omega*(v_i). That makes a certificate of any w.
#pragma once
#include <span>
#include <type_traits>

#include "solvers/problem.h"

namespace m4n::detail {

// Value of the loss term and its gradient in v, for one example.
//   slope(v, y, gradient) -> S(v, y),  or  slope(i, v, y, gradient)  where it depends on which example it is
template <class Scorer, class Slope>
class PrimalLoss {
 public:
  PrimalLoss(const Problem<Scorer>& problem, Slope slope) : problem_(problem), slope_(std::move(slope)) {}

  // P at the scorer's weights; gradient has the shape of scorer->raw().
  double evaluate(AlignedVector<double>& gradient) {
    Scorer& scorer = *problem_.scorer;
    const std::size_t length = scorer.largest_padded_parts();
    AlignedVector<double> v(length), step(length);
    // The gradient is gathered by the scorer's own update, with the weights set aside meanwhile.
    AlignedVector<double>& w = scorer.raw();
    gradient.assign(w.size(), 0.0);
    double value = 0;
    for (std::size_t i = 0; i < problem_.examples(); ++i) {
      scorer.scores(i, v);
      value += problem_.weight[i] * slope_of(i, v, step);
      w.swap(gradient);
      scorer.update(i, step, problem_.weight[i]);
      w.swap(gradient);
    }
    for (std::size_t j = 0; j < w.size(); ++j) gradient[j] += problem_.lambda * w[j];
    return value + 0.5 * problem_.lambda * kernels::dot(w, w);
  }
  Certificate certificate(double value, const AlignedVector<double>& gradient) const {
    Certificate out;
    out.primal = value;
    out.dual = value - kernels::dot(gradient, gradient) / (2 * problem_.lambda);
    return out;
  }

 private:
  double slope_of(std::size_t i, std::span<const double> v, std::span<double> step) {
    if constexpr (std::is_invocable_v<Slope&, std::size_t, std::span<const double>, LabelView, std::span<double>>) {
      return slope_(i, v, problem_.y(i), step);
    } else {
      return slope_(v, problem_.y(i), step);
    }
  }

  Problem<Scorer> problem_;
  Slope slope_;
};

}  // namespace m4n::detail

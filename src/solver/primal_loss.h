// Smooth surrogates seen from the primal, for solvers that move w itself: value and gradient of
//
//   P(w) = sum_i p_i S(w^T Phi(x_i), y_i) + lambda/2 |w|^2.
//
// P is lambda-strongly convex, so D = P - |grad P|^2 / (2 lambda) is a lower bound of its minimum: it is the Fenchel
// dual at mu_i = grad Omega*(v_i). That makes a certificate of any w.
#pragma once
#include <span>

#include "solver/problem.h"

namespace m4n {

// Value of the loss term and its gradient in v, for one example.
//   slope(v, y, gradient) -> S(v, y)
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
      value += problem_.weight[i] * slope_(std::span<const double>(v), problem_.y(i), std::span<double>(step));
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
  Problem<Scorer> problem_;
  Slope slope_;
};

}  // namespace m4n

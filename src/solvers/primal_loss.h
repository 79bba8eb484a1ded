// Smooth surrogates seen from the primal, for solvers that move w itself: value and gradient of
//
//   P(w) = sum_i p_i S(w^T Phi(x_i), y_i) + lambda/2 |w|^2.
//
// P is lambda-strongly convex, so D = P - |grad P|^2 / (2 lambda) is a lower bound of its minimum: it is the Fenchel
// dual at mu_i = grad Omega*(v_i). That makes a certificate of any w.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "solvers/gradient_pass.h"
#include "solvers/problem.h"

namespace m4n::detail {

// A slope that knows S(0, y) without scores, where -Omega_y(phi(y)) = 0: then w = 0 has a certificate without a pass.
template <class Slope, class AtZero>
struct SlopeFromZero : Slope {
  AtZero zero;
  double at_zero(LabelView y) const { return zero(y); }
};
template <class Slope, class AtZero>
SlopeFromZero(Slope, AtZero) -> SlopeFromZero<Slope, AtZero>;

// Value of the loss term and its gradient in v, for one example; every thread has its own copy of `slope`.
//   slope(v, y, gradient) -> S(v, y),  or  slope(i, v, y, gradient)  where it depends on which example it is
template <class Scorer, class Slope>
class PrimalLoss {
 public:
  PrimalLoss(const Problem<Scorer>& problem, const Slope& slope, unsigned threads)
      : problem_(problem), pass_(problem_, threads), slope_(pass_.workers(), slope) {}
  PrimalLoss(const PrimalLoss&) = delete;  // the pass points to the problem
  PrimalLoss& operator=(const PrimalLoss&) = delete;
  ~PrimalLoss() = default;

  AlignedVector<double>& point() { return pass_.point(); }
  void settle() { pass_.settle(); }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    return pass_.inner(a, b);
  }

  // P and its gradient at the point. Nothing where the watch says stop.
  std::optional<double> evaluate(AlignedVector<double>& gradient, const Watch* watch) {
    std::array<double, 1> value{};
    const bool done = pass_.run(
        watch, value, gradient,
        [&](unsigned worker, std::size_t i, std::span<const double> v, std::span<double> step,
            std::array<double, 1>& sum) { sum[0] += problem_.weight[i] * slope_of(slope_[worker], i, v, step); });
    if (!done) return std::nullopt;
    pass_.add_point(problem_.lambda, gradient);
    return value[0] + 0.5 * problem_.lambda * inner(point(), point());
  }
  Certificate certificate(double value, const AlignedVector<double>& gradient) const {
    Certificate out;
    out.primal = value;
    out.dual = value - inner(gradient, gradient) / (2 * problem_.lambda);
    return out;
  }
  // That of w = 0, which is w(mu) for mu_i = phi(y_i); nothing where the slope does not know it.
  std::optional<Certificate> at_zero() const {
    if constexpr (requires(const Slope& slope, LabelView y) { slope.at_zero(y); }) {
      Certificate out;
      for (std::size_t i = 0; i < problem_.examples(); ++i)
        out.primal += problem_.weight[i] * slope_[0].at_zero(problem_.y(i));
      return out;
    } else {
      return std::nullopt;
    }
  }
  // It knows nothing but the point.
  template <class Archive>
  void archive(Archive& /*a*/) {}
  void remember() {}
  void take_back() {}
  // The loss is as sharp as it gets.
  bool sharpen(double /*value*/, const AlignedVector<double>& /*gradient*/) { return false; }

 private:
  double slope_of(Slope& slope, std::size_t i, std::span<const double> v, std::span<double> step) {
    if constexpr (std::is_invocable_v<Slope&, std::size_t, std::span<const double>, LabelView, std::span<double>>) {
      return slope(i, v, problem_.y(i), step);
    } else {
      return slope(v, problem_.y(i), step);
    }
  }

  Problem<Scorer> problem_;
  GradientPass<Scorer> pass_;
  std::vector<Slope> slope_;
};

}  // namespace m4n::detail

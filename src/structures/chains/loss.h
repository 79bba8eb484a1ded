// The loss of a chain over the flat parts of ChainSpace: the average over the positions of a cost matrix; transitions
// cost nothing.
//   apply            (1/M) A mu_m     at every position     O(M R^2)
//   apply_transposed (1/M) A^T nu_m   at every position     O(M R^2)
#pragma once
#include <algorithm>
#include <span>

#include "losses/simplex_loss.h"
#include "structures/chains/flat_space.h"

namespace m4n::detail {

class ChainLoss {
 public:
  ChainLoss(const SimplexLoss& loss, const ChainSpace& space) : loss_(&loss), space_(&space) {}

  void apply(std::span<const double> mu, std::span<double> out) const {
    each_position(mu, out, [&](auto in, auto result) { loss_->apply(in, result); });
  }
  void apply_transposed(std::span<const double> nu, std::span<double> out) const {
    each_position(nu, out, [&](auto in, auto result) { loss_->apply_transposed(in, result); });
  }
  // h(mu) = (1/M) sum_m min_y (A mu_m)_y; `scratch` receives A mu.
  double bayes_risk(std::span<const double> mu, std::span<double> scratch) const {
    apply(mu, scratch);
    double sum = 0;
    for (std::size_t m = 0; m < space_->length(); ++m) {
      const double* risk = space_->unary(scratch).row(m);
      sum += *std::min_element(risk, risk + space_->labels());
    }
    return sum;
  }

 private:
  template <class Product>
  void each_position(std::span<const double> in, std::span<double> out, Product&& product) const {
    std::fill(out.begin(), out.end(), 0.0);
    const double share = 1 / static_cast<double>(space_->length());
    for (std::size_t m = 0; m < space_->length(); ++m) {
      const std::span<double> row = space_->unary(out).padded_row(m);
      product(space_->unary(in).padded_row(m), row);
      for (double& x : row) x *= share;
    }
  }
  const SimplexLoss* loss_;
  const ChainSpace* space_;
};

}  // namespace m4n::detail

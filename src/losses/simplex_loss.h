// A cost matrix as the solvers see it: padded rows ready for vector instructions.
//   apply            A mu     expected cost of every prediction under mu     O(k^2)
//   apply_transposed A^T nu   expected cost of every truth under nu          O(k^2)
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "core/aligned.h"
#include "core/kernels.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

class SimplexLoss {
 public:
  explicit SimplexLoss(const CostMatrix& cost)
      : cost_(&cost), stride_(kernels::padded(cost.k())), truth_(cost.k() * stride_, 0.0), prediction_(truth_) {
    for (std::size_t t = 0; t < cost.k(); ++t)
      for (std::size_t p = 0; p < cost.k(); ++p) truth_[t * stride_ + p] = prediction_[p * stride_ + t] = cost(t, p);
  }
  const CostMatrix& cost() const { return *cost_; }
  std::size_t k() const { return cost_->k(); }

  // cost[t][.], padded with zeros.
  std::span<const double> of_truth(std::size_t t) const { return {truth_.data() + t * stride_, stride_}; }
  void apply(std::span<const double> mu, std::span<double> out) const {
    kernels::dense_scores(mu.first(k()), truth_.data(), nullptr, out);
  }
  void apply_transposed(std::span<const double> nu, std::span<double> out) const {
    kernels::dense_scores(nu.first(k()), prediction_.data(), nullptr, out);
  }
  // h(mu) = min_y (A mu)_y; `scratch` receives A mu.
  double bayes_risk(std::span<const double> mu, std::span<double> scratch) const {
    apply(mu, scratch);
    return *std::min_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(k()));
  }

 private:
  const CostMatrix* cost_;
  std::size_t stride_;
  AlignedVector<double> truth_, prediction_;
};

}  // namespace m4n::detail

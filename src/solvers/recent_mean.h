// The weights of about the last epoch, averaged. The w(mu) of an ascent in the dual circle around the optimum, where P
// has kinks; at their mean P is lower. P(w) is an upper bound at every w, so the certificate may look at the mean just
// as well.
//
//   mean <- mean + rate (w - mean),   rate = min(1, visits since the last time / n)
//
// This costs one multiply-add per weight after every sweep. Where a pass over all examples does not
// cost far more than that (sparse features of a large vocabulary), and for kernels, the present weights stand in.
#pragma once
#include <algorithm>
#include <optional>

#include "solvers/problem.h"

namespace m4n::detail {

template <class Scorer>
class RecentMean {
 public:
  // `whatever_it_costs`: for solvers whose passes cost far more than their multiply-adds.
  explicit RecentMean(const Problem<Scorer>& problem, bool whatever_it_costs = false) : present_(problem.scorer) {
    if constexpr (is_one_vector) {
      constexpr std::size_t sweeps = 200;  // of a solve's short late ones, all together a pass or more
      std::size_t pass = 0;
      for (std::size_t i = 0; i < problem.examples(); ++i) pass += present_->work(i);
      if (whatever_it_costs || pass >= sweeps * present_->raw().size()) mean_.emplace(*present_);
    }
  }

  // `visits`: how many were made, as a share of n.
  void follow(double visits) {
    if constexpr (is_one_vector) {
      if (!mean_) return;
      const double rate = std::min(1.0, visits);
      const auto& now = present_->raw();
      auto& mean = mean_->raw();
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += rate * (now[j] - mean[j]);
    }
  }

  Scorer& weights() { return mean_ ? *mean_ : *present_; }

 private:
  static constexpr bool is_one_vector = requires(Scorer & scorer) { scorer.raw(); };

  Scorer* present_;
  std::optional<Scorer> mean_;
};

}  // namespace m4n::detail

// The weights of about the last epoch, averaged. The w(mu) of an ascent in the dual circle around the optimum, where P
// has kinks; at their mean P is lower. P(w) is an upper bound at every w, so the certificate may look at the mean just
// as well.
//
//   mean <- mean + rate (w - mean),   rate = min(1, visits since the last time / n)
//
// This costs one multiply-add per weight after every sweep. Where a pass over all examples does not cost far more than
// that (sparse features of a large vocabulary) the present weights stand in, and so they do for kernels, unless passes
// cost far more than anything here: then the mean is one of coefficients, followed once a pass.
#pragma once
#include <algorithm>
#include <optional>

#include "solvers/certificate.h"
#include "solvers/problem.h"

namespace m4n::detail {

template <class Scorer>
class RecentMean {
 public:
  // `whatever_it_costs`: for solvers whose passes cost far more than their multiply-adds.
  explicit RecentMean(const Problem<Scorer>& problem, bool whatever_it_costs = false) : present_(problem.scorer) {
    bool wanted = whatever_it_costs;
    if constexpr (is_one_vector) {
      constexpr std::size_t sweeps = 200;  // of a solve's short late ones, all together a pass or more
      std::size_t pass = 0;
      for (std::size_t i = 0; i < problem.examples(); ++i) pass += present_->work(i);
      wanted = wanted || pass >= sweeps * present_->raw().size();
    }
    if constexpr (is_one_vector || HasCoefficients<Scorer>)
      if (wanted) mean_.emplace(*present_);
    if constexpr (HasCoefficients<Scorer>)
      if (wanted) coefficients_ = present_->coefficients();
  }

  // `visits`: how many were made, as a share of n.
  void follow(double visits) {
    if (!mean_) return;
    if constexpr (is_one_vector) {
      move(mean_->raw(), present_->raw(), std::min(1.0, visits));
    } else if constexpr (HasCoefficients<Scorer>) {
      late_ += visits;
      if (late_ < least_late) return;
      move(coefficients_, present_->coefficients(), std::min(1.0, late_));
      late_ = 0;
    }
  }

  template <class Archive>
  void archive(Archive& a) {
    a.fixed(coefficients_, late_);
    if (mean_) mean_->archive(a);
  }
  Scorer& weights(unsigned threads = 1) {
    if (!mean_) return *present_;
    if constexpr (HasCoefficients<Scorer>) mean_->set_coefficients(coefficients_, threads);
    return *mean_;
  }

 private:
  static constexpr bool is_one_vector = requires(Scorer & scorer) { scorer.raw(); };
  static constexpr double least_late = 0.33;  // a pass, for a mean of three

  static void move(AlignedVector<double>& mean, const AlignedVector<double>& now, double rate) {
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += rate * (now[j] - mean[j]);
  }

  Scorer* present_;
  std::optional<Scorer> mean_;
  AlignedVector<double> coefficients_;  // of the mean, for kernels: its scores are computed when they are asked for
  double late_ = 0;
};

}  // namespace m4n::detail

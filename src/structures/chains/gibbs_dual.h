// The dual point of a CRF on chains: the natural parameters of the Gibbs distribution of every sentence, in float. They
// define the distribution exactly as they are kept, so that nothing is lost by rounding them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/padded_rows.h"
#include "solvers/problem.h"

namespace m4n::detail {

// theta_i of all sentences, without padding, and their steps.
class GibbsDual {
 public:
  template <class Scorer>
  explicit GibbsDual(const Problem<Scorer>& problem) : labels_(problem.scorer->labels()) {
    begin_.push_back(0);
    for (std::size_t i = 0; i < problem.examples(); ++i)
      begin_.push_back(begin_.back() + (problem.y(i).size() + labels_) * labels_);
    theta_.assign(begin_.back(), 0.0F);
    step_.assign(problem.examples(), 0.0F);
  }
  std::size_t length(std::size_t i) const { return (begin_[i + 1] - begin_[i]) / labels_ - labels_; }
  // Into the flat layout, padded with 0; and back, rounding the flat values to what is kept.
  void load(std::size_t i, std::span<double> flat) const {
    const std::size_t stride = row_stride<double>(labels_), rows = length(i) + labels_;
    const float* from = theta_.data() + begin_[i];
    for (std::size_t r = 0; r < rows; ++r, from += labels_) {
      std::copy_n(from, labels_, flat.data() + r * stride);
      std::fill(flat.data() + r * stride + labels_, flat.data() + (r + 1) * stride, 0.0);
    }
  }
  void store(std::size_t i, std::span<const double> flat) {
    const std::size_t stride = row_stride<double>(labels_), rows = length(i) + labels_;
    float* to = theta_.data() + begin_[i];
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < labels_; ++k) *to++ = static_cast<float>(flat[r * stride + k]);
  }
  // The step of the next visit; 0 where there was none yet: then the dual variable is the truth itself, which has no
  // natural parameters.
  float& step(std::size_t i) { return step_[i]; }

 private:
  std::size_t labels_;
  std::vector<std::size_t> begin_;
  std::vector<float> theta_, step_;
};

// theta_i = v_i: the dual point that goes with weights found in the primal.
template <class Scorer>
void adopt_scores(const Problem<Scorer>& problem, GibbsDual& dual) {
  AlignedVector<double> v(problem.scorer->largest_padded_parts());
  for (std::size_t i = 0; i < problem.examples(); ++i) {
    problem.scorer->scores(i, v);
    dual.store(i, v);
    dual.step(i) = 1;
  }
}

}  // namespace m4n::detail

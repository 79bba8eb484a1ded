// The cost matrix by rows and by columns of A, each padded to whole vectors, for products with the few entries of a
// sparse mu or nu:  A mu in O(k |S|),  A^T nu in O(k |Y|).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernels.h"
#include "core/views.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

class PaddedCost {
 public:
  explicit PaddedCost(const CostMatrix& cost)
      : k_(cost.k()), stride_(kernels::padded(k_)), truth_(k_ * stride_, 0.0), prediction_(truth_) {
    read(cost);
  }
  // Other costs of the same size.
  void read(const CostMatrix& cost) {
    double least = cost(0, 0), most = least;
    for (std::size_t t = 0; t < k_; ++t) {
      for (std::size_t p = 0; p < k_; ++p) {
        truth_[t * stride_ + p] = prediction_[p * stride_ + t] = cost(t, p);
        least = std::min(least, cost(t, p));
        most = std::max(most, cost(t, p));
      }
    }
    magnitude_ = std::max(std::abs(least), std::abs(most));
    range_ = most > least ? most - least : magnitude_ > 0 ? magnitude_ : 1;
  }

  std::size_t k() const { return k_; }
  std::size_t stride() const { return stride_; }
  double range() const { return range_; }          // max A - min A; positive even if all costs are equal
  double magnitude() const { return magnitude_; }  // max |A|
  const double* of_truth(std::size_t t) const { return truth_.data() + t * stride_; }            // a column of A
  const double* of_prediction(std::size_t p) const { return prediction_.data() + p * stride_; }  // a row of A

  // out = A mu for mu with the given entries; out is padded.
  void apply(std::span<const std::uint32_t> classes, std::span<const double> mass, AlignedVector<double>& out) const {
    kernels::sparse_scores(classes, mass, truth_.data(), nullptr, out);
  }
  // out = A^T nu for nu with the given entries; out is padded.
  void apply_transposed(std::span<const std::uint32_t> rows, std::span<const double> weight,
                        AlignedVector<double>& out) const {
    kernels::sparse_scores(rows, weight, prediction_.data(), nullptr, out);
  }
  // out = base + A^T nu for nu with the given entries; base and out are padded.
  void add_transposed(std::span<const std::uint32_t> rows, std::span<const double> weight,
                      const AlignedVector<double>& base, AlignedVector<double>& out) const {
    kernels::sparse_scores(rows, weight, prediction_.data(), base.data(), out);
  }

 private:
  std::size_t k_, stride_;
  double range_ = 1, magnitude_ = 0;
  AlignedVector<double> truth_, prediction_;
};

}  // namespace m4n::detail

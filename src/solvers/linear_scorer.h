// Linear scores: v_i = w^T Phi(x_i), Phi(x) = (x, 1) with a bias and x without. w is stored feature by feature, the
// classes of one feature side by side and padded (core/kernels.h), so that a score is a sum of whole rows and the
// step  w += scale Phi(x_i) delta^T  touches the same rows. Both cost (non-zeros of x_i) x k.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/feature_rows.h"
#include "core/kernels.h"
#include "core/views.h"

namespace m4n::detail {

class LinearScorer {
 public:
  LinearScorer(const FeatureRows& x, std::size_t k, bool bias)
      : x_(x), k_(k), stride_(kernels::padded(k)), bias_(bias), w_((x.cols() + (bias ? 1 : 0)) * stride_, 0.0) {}

  std::size_t examples() const { return x_.rows(); }
  // Number of parts of example i, and the length of its score and step vectors.
  std::size_t parts(std::size_t /*i*/) const { return k_; }
  std::size_t padded_parts(std::size_t /*i*/) const { return stride_; }
  std::size_t largest_padded_parts() const { return stride_; }

  void scores(std::size_t i, std::span<double> v) const {
    x_.scores(i, w_.data(), bias_row(), v);
    for (std::size_t j = k_; j < stride_; ++j) v[j] = kernels::padding_score;
  }

  // Of examples first to first + count - 1, one behind the other.
  void scores(std::size_t first, std::size_t count, std::span<double> v) const {
    x_.scores(first, count, w_.data(), bias_row(), stride_, v.data());
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t j = k_; j < stride_; ++j) v[r * stride_ + j] = kernels::padding_score;
  }
  // w += sum over r of Phi(x_(first + r)) step_r^T
  void update(std::size_t first, std::size_t count, std::span<const double> step) {
    x_.update(first, count, step.data(), stride_, w_.data(), bias_ ? w_.data() + x_.cols() * stride_ : nullptr);
  }

  // Asks for what scores(i) will read of example i.
  void prefetch(std::size_t i) const { x_.prefetch(i); }

  // w += scale Phi(x_i) delta^T
  void update(std::size_t i, std::span<const double> delta, double scale) {
    x_.update(i, delta, scale, w_.data(), bias_ ? w_.data() + x_.cols() * stride_ : nullptr);
  }

  // |Phi(x_i)|^2
  double squared_norm(std::size_t i) const { return (bias_ ? 1 : 0) + x_.squared_norm(i); }

  // Multiply-adds of one score.
  std::size_t work(std::size_t i) const { return x_.entries(i) * stride_; }

  double norm_squared() const { return kernels::dot(w_, w_); }
  void reset() { std::fill(w_.begin(), w_.end(), 0.0); }

  // The weights without padding, (features + bias) x k.
  std::vector<double> weights() const {
    std::vector<double> out;
    out.reserve(w_.size() / stride_ * k_);
    for (std::size_t j = 0; j < w_.size(); j += stride_)
      out.insert(out.end(), w_.begin() + static_cast<std::ptrdiff_t>(j),
                 w_.begin() + static_cast<std::ptrdiff_t>(j + k_));
    return out;
  }

  const FeatureRows& features() const { return x_; }
  bool has_bias() const { return bias_; }

  template <class Archive>
  void archive(Archive& a) {
    a.fixed(w_);
  }
  // All of w with its padding, for solvers that move it as one vector.
  AlignedVector<double>& raw() { return w_; }
  const AlignedVector<double>& raw() const { return w_; }

 private:
  const double* bias_row() const { return bias_ ? w_.data() + x_.cols() * stride_ : nullptr; }

  FeatureRows x_;
  std::size_t k_, stride_;
  bool bias_;
  AlignedVector<double> w_;
};

}  // namespace m4n::detail

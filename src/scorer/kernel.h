// Scores of an exact kernel: v_i = sum_j K(x_i, x_j) a_j with one coefficient row a_j an example; the bias adds 1 to K.
// The solver sees the same Scorer as for linear features:
//
//   update(i, delta)   a_i += scale delta, remembered. After 32 of them ONE pass brings all scores V = K a up to date:
//   a rank-32
//                      product, n x 32 x k multiply-adds with the rows of K streaming through the cache. Same iterates
//                      as updating every time, at the speed of a matrix product.
//   scores(i)          row i of V plus what is remembered: at most 32 x k.
//
// K is kept in float (n^2 x 4 bytes), V and a in double, so scores do not drift. |w|^2 = sum_i a_i . v_i.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/kernels.h"

namespace m4n {

// K(x_i, x_j) of all pairs of training rows, bias included; shared by all fits on the same rows.
struct GramMatrix {
  std::size_t n = 0;
  std::vector<float> values;  // n x n, symmetric
  const float* row(std::size_t i) const { return values.data() + i * n; }
};

class KernelScorer {
 public:
  KernelScorer(const GramMatrix& gram, std::size_t k)
      : gram_(&gram),
        k_(k),
        stride_(kernels::padded(k)),
        v_(gram.n * stride_, 0.0),
        a_(v_),
        late_(block * stride_, 0.0) {}

  std::size_t examples() const { return gram_->n; }
  std::size_t parts(std::size_t /*i*/) const { return k_; }
  std::size_t padded_parts(std::size_t /*i*/) const { return stride_; }
  std::size_t largest_padded_parts() const { return stride_; }
  std::size_t work(std::size_t /*i*/) const { return (gram_->n + block) * stride_; }

  void scores(std::size_t i, std::span<double> v) const {
    double share[block];
    for (std::size_t p = 0; p < late_rows_.size(); ++p) share[p] = gram_->row(late_rows_[p])[i];
    kernels::dense_scores({share, late_rows_.size()}, late_.data(), v_.data() + i * stride_, v);
    for (std::size_t j = k_; j < stride_; ++j) v[j] = kernels::padding_score;
  }

  void prefetch(std::size_t i) const { kernels::prefetch(std::span(v_).subspan(i * stride_, stride_)); }

  void update(std::size_t i, std::span<const double> delta, double scale) {
    double* late = late_.data() + late_rows_.size() * stride_;
    for (std::size_t j = 0; j < stride_; ++j) {
      late[j] = scale * delta[j];
      a_[i * stride_ + j] += late[j];
    }
    late_rows_.push_back(i);
    if (late_rows_.size() == block) bring_up_to_date();
  }

  double squared_norm(std::size_t i) const { return gram_->row(i)[i]; }

  double norm_squared() {
    bring_up_to_date();
    return kernels::dot(a_, v_);
  }
  void reset() {
    std::fill(v_.begin(), v_.end(), 0.0);
    std::fill(a_.begin(), a_.end(), 0.0);
    late_rows_.clear();
  }

  // The coefficients without padding, n x k.
  std::vector<double> weights() const {
    std::vector<double> out;
    out.reserve(gram_->n * k_);
    for (std::size_t i = 0; i < gram_->n; ++i)
      out.insert(out.end(), a_.begin() + static_cast<std::ptrdiff_t>(i * stride_),
                 a_.begin() + static_cast<std::ptrdiff_t>(i * stride_ + k_));
    return out;
  }

 private:
  static constexpr std::size_t block = 32, tile = 64;

  void bring_up_to_date() {
    if (late_rows_.empty()) return;
    const std::size_t count = late_rows_.size();
    double share[tile * block];  // K of a tile of examples with the late rows, packed for the score kernel
    for (std::size_t first = 0; first < gram_->n; first += tile) {
      const std::size_t last = std::min(first + tile, gram_->n);
      for (std::size_t p = 0; p < count; ++p) {
        const float* row = gram_->row(late_rows_[p]);
        for (std::size_t i = first; i < last; ++i) share[(i - first) * block + p] = row[i];
      }
      for (std::size_t i = first; i < last; ++i) {
        double* v = v_.data() + i * stride_;
        kernels::dense_scores({share + (i - first) * block, count}, late_.data(), v, {v, stride_});
      }
    }
    late_rows_.clear();
  }

  const GramMatrix* gram_;
  std::size_t k_, stride_;
  AlignedVector<double> v_, a_, late_;
  std::vector<std::size_t> late_rows_;
};

}  // namespace m4n

// Linear scores of rankings, those of solvers/linear_scorer.h with one class a part: a cell (item, position) of the
// score matrix, or an item where the loss is of rank one. Atoms (structures/permutations/atoms.h) are kept as parts:
// with one feature row an example, <Phi(x) a^T, Phi(x) b^T> = |Phi(x)|^2 a.b.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "core/kernels.h"
#include "core/views.h"
#include "m4n/dataset.h"
#include "solvers/linear_scorer.h"

namespace m4n::detail {

template <class View>
class ItemScorer : public LinearScorer<View> {
 public:
  using Base = LinearScorer<View>;
  ItemScorer(View x, std::size_t parts, bool bias) : Base(x, parts, bias) {
    for (std::size_t i = 0; i < x.rows; ++i) scale_.push_back(Base::squared_norm(i));
  }

  std::size_t image_size(std::size_t i) const { return Base::padded_parts(i); }
  std::size_t largest_image() const { return Base::largest_padded_parts(); }
  double image_scale(std::size_t i) const { return scale_[i]; }
  void image(std::size_t i, std::span<const double> delta, std::span<double> out) const {
    std::copy_n(delta.begin(), Base::parts(i), out.begin());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(Base::parts(i)), out.end(), 0.0);
  }
  // What the image of an atom is multiplied with to give its score.
  std::span<const double> against(std::size_t i, std::span<double> scratch) const {
    Base::scores(i, scratch);
    return scratch;
  }
  void update_image(std::size_t i, std::span<const double> image, double scale) { Base::update(i, image, scale); }
  std::size_t image_work(std::size_t i) const { return Base::work(i); }

 private:
  std::vector<double> scale_;
};

// Linear scores of matchings, tied over pairs: S[i][j] = w . x_ij. Example e owns M x M rows of features, pair (i, j)
// in row i M + j; sizes may differ. A bias would add the same to every matching, so there is none.

template <class View>
class PairScorer {
 public:
  static constexpr bool sparse = std::is_same_v<View, SparseView>;

  // `pairs` says which rows of x belong to which example; their numbers are squares.
  PairScorer(View x, const Groups& pairs) : x_(x), pairs_(&pairs), w_(kernels::padded(x.cols), 0.0) {
    for (std::size_t e = 0; e < examples(); ++e) largest_ = std::max(largest_, padded_parts(e));
  }

  std::size_t examples() const { return pairs_->count(); }
  std::size_t parts(std::size_t e) const { return pairs_->end(e) - pairs_->begin(e); }
  std::size_t padded_parts(std::size_t e) const { return kernels::padded(parts(e)); }
  std::size_t largest_padded_parts() const { return largest_; }

  void scores(std::size_t e, std::span<double> v) const {
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) v[p] = product(first + p);
    for (std::size_t p = count; p < padded_parts(e); ++p) v[p] = kernels::padding_score;
  }
  // w += scale sum_p delta_p x_p
  void update(std::size_t e, std::span<const double> delta, double scale) {
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) add_row(first + p, scale * delta[p], w_);
  }

  // Atoms (structures/permutations/atoms.h) are kept as sums of features: their scores are products with w itself.
  std::size_t image_size(std::size_t /*e*/) const { return w_.size(); }
  std::size_t largest_image() const { return w_.size(); }
  double image_scale(std::size_t /*e*/) const { return 1; }
  void image(std::size_t e, std::span<const double> delta, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) add_row(first + p, delta[p], out);
  }
  std::span<const double> against(std::size_t /*e*/, std::span<double> /*scratch*/) const { return w_; }
  void update_image(std::size_t /*e*/, std::span<const double> image, double scale) {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += scale * image[j];
  }
  std::size_t image_work(std::size_t /*e*/) const { return 2 * w_.size(); }

  // An upper bound of |sum_p delta_p x_p|^2 / |delta|^2 over directions between matchings.
  double squared_norm(std::size_t e) const {
    double trace = 0;
    for (std::size_t p = pairs_->begin(e); p < pairs_->end(e); ++p) {
      if constexpr (sparse) {
        trace += kernels::dot(x_.row(p).value, x_.row(p).value);
      } else {
        trace += kernels::dot(x_.row(p), x_.row(p));
      }
    }
    return trace;
  }
  std::size_t work(std::size_t e) const {
    if constexpr (sparse) {
      return x_.row_start[pairs_->end(e)] - x_.row_start[pairs_->begin(e)];
    } else {
      return parts(e) * x_.cols;
    }
  }

  double norm_squared() const { return kernels::dot(w_, w_); }
  void reset() { std::fill(w_.begin(), w_.end(), 0.0); }
  std::vector<double> weights() const { return {w_.begin(), w_.begin() + static_cast<std::ptrdiff_t>(x_.cols)}; }
  // All of w with its padding, for solvers that move it as one vector.
  AlignedVector<double>& raw() { return w_; }
  const AlignedVector<double>& raw() const { return w_; }

 private:
  double product(std::size_t row) const {
    if constexpr (sparse) {
      const SparseRow r = x_.row(row);
      double sum = 0;
      for (std::size_t e = 0; e < r.column.size(); ++e) sum += r.value[e] * w_[r.column[e]];
      return sum;
    } else {
      return kernels::dot(x_.row(row), std::span(w_).first(x_.cols));
    }
  }
  void add_row(std::size_t row, double scale, std::span<double> out) const {
    if (scale == 0) return;
    if constexpr (sparse) {
      const SparseRow r = x_.row(row);
      for (std::size_t e = 0; e < r.column.size(); ++e) out[r.column[e]] += scale * r.value[e];
    } else {
      const std::span<const double> r = x_.row(row);
      for (std::size_t j = 0; j < r.size(); ++j) out[j] += scale * r[j];
    }
  }

  View x_;
  const Groups* pairs_;
  std::size_t largest_ = 0;
  AlignedVector<double> w_;
};

}  // namespace m4n::detail

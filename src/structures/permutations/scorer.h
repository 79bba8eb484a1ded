// Scores of permutations: ItemScorer and KernelItemScorer for rankings, PairScorer for matchings.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/feature_rows.h"
#include "core/kernels.h"
#include "core/views.h"
#include "m4n/dataset.h"
#include "solvers/kernel_scorer.h"
#include "solvers/linear_scorer.h"

namespace m4n::detail {

// Scores of rankings, with one class per part: a cell (item, position) of the score matrix, or an item where the loss
// is of rank one. Atoms (structures/permutations/atoms.h) are kept as parts: with one feature row per example,
// <Phi(x) a^T, Phi(x) b^T> = |Phi(x)|^2 a.b.
template <class Scorer>
class OneRowScorer : public Scorer {
 public:
  using Plain = Scorer;
  using Scorer::parts, Scorer::padded_parts;

  template <class... Arguments>
  explicit OneRowScorer(Arguments&&... arguments) : Scorer(std::forward<Arguments>(arguments)...) {
    for (std::size_t i = 0; i < this->examples(); ++i) scale_.push_back(this->squared_norm(i));
  }

  std::size_t image_size(std::size_t i) const { return padded_parts(i); }
  std::size_t largest_image() const { return this->largest_padded_parts(); }
  double image_scale(std::size_t i) const { return scale_[i]; }
  void image(std::size_t i, std::span<const double> delta, std::span<double> out) const {
    std::copy_n(delta.begin(), parts(i), out.begin());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(parts(i)), out.end(), 0.0);
  }
  // Of what images depend on beside the labels.
  std::uint64_t image_checksum(std::size_t /*i*/) const { return 0; }
  // What the image of an atom is multiplied with to give its score.
  std::span<const double> against(std::size_t i, std::span<double> scratch) const {
    this->scores(i, scratch);
    return scratch;
  }
  void update_image(std::size_t i, std::span<const double> image, double scale) { this->update(i, image, scale); }
  std::size_t image_work(std::size_t i) const {
    if constexpr (requires { this->step_work(); }) return this->step_work();
    return this->work(i);
  }

 private:
  std::vector<double> scale_;
};
using ItemScorer = OneRowScorer<LinearScorer>;
using KernelItemScorer = OneRowScorer<KernelScorer>;

// Linear scores of matchings, tied over pairs: S[i][j] = w . x_ij. Example e owns M x M rows of features, pair (i, j)
// in row i M + j; sizes may differ. A bias would add the same to every matching, so there is none.
class PairScorer {
 public:
  using Plain = PairScorer;

  // `pairs` says which rows of x belong to which example; their numbers are squares.
  PairScorer(const FeatureRows& x, const Groups& pairs) : x_(x), pairs_(&pairs), w_(kernels::padded(x.cols()), 0.0) {
    for (std::size_t e = 0; e < examples(); ++e) largest_ = std::max(largest_, padded_parts(e));
  }

  std::size_t examples() const { return pairs_->count(); }
  std::size_t parts(std::size_t e) const { return pairs_->end(e) - pairs_->begin(e); }
  std::size_t padded_parts(std::size_t e) const { return kernels::padded(parts(e)); }
  std::size_t largest_padded_parts() const { return largest_; }

  void scores(std::size_t e, std::span<double> v) const {
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) v[p] = x_.product(first + p, w_);
    for (std::size_t p = count; p < padded_parts(e); ++p) v[p] = kernels::padding_score;
  }
  // w += scale sum_p delta_p x_p
  void update(std::size_t e, std::span<const double> delta, double scale) {
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) x_.add(first + p, scale * delta[p], w_);
  }

  // Atoms (structures/permutations/atoms.h) are kept as sums of features: their scores are products with w itself.
  std::size_t image_size(std::size_t /*e*/) const { return w_.size(); }
  std::size_t largest_image() const { return w_.size(); }
  double image_scale(std::size_t /*e*/) const { return 1; }
  void image(std::size_t e, std::span<const double> delta, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    const std::size_t first = pairs_->begin(e), count = parts(e);
    for (std::size_t p = 0; p < count; ++p) x_.add(first + p, delta[p], out);
  }
  std::uint64_t image_checksum(std::size_t e) const { return x_.checksum(pairs_->begin(e), pairs_->end(e), 0); }
  std::span<const double> against(std::size_t /*e*/, std::span<double> /*scratch*/) const { return w_; }
  void update_image(std::size_t /*e*/, std::span<const double> image, double scale) {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += scale * image[j];
  }
  std::size_t image_work(std::size_t /*e*/) const { return 2 * w_.size(); }

  // An upper bound of |sum_p delta_p x_p|^2 / |delta|^2 over directions between matchings.
  double squared_norm(std::size_t e) const {
    double trace = 0;
    for (std::size_t p = pairs_->begin(e); p < pairs_->end(e); ++p) trace += x_.squared_norm(p);
    return trace;
  }
  std::size_t work(std::size_t e) const { return x_.entries(pairs_->begin(e), pairs_->end(e)); }

  double norm_squared() const { return kernels::dot(w_, w_); }
  void reset() { std::fill(w_.begin(), w_.end(), 0.0); }
  std::vector<double> weights() const { return {w_.begin(), w_.begin() + static_cast<std::ptrdiff_t>(x_.cols())}; }
  // All of w with its padding, for solvers that move it as one vector.
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(w_);
  }
  AlignedVector<double>& raw() { return w_; }
  const AlignedVector<double>& raw() const { return w_; }

 private:
  FeatureRows x_;
  const Groups* pairs_;
  std::size_t largest_ = 0;
  AlignedVector<double> w_;
};

}  // namespace m4n::detail

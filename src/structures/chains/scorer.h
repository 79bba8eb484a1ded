// Linear scores of chains. The weights, all regularised alike:
//
//   feature rows (d x R)   w_j of every feature, R labels side by side and padded; float or double (Weight)
//   tail, in double        the row of the bias, the R rows of the transitions, the row of the start, that of the end
//
// A sentence with M tokens scores  unary_m = bias + sum_j x_mj w_j,  M x (non-zeros of a token) x R  multiply-adds; a
// step  w += scale Psi(x_i) delta^T  touches the same rows. Parts of a chain are numbered in two runs: unary parts
// m * stride + k, and tail parts, the places of the tail behind the bias (transitions, start, end).
//
// For solvers that know nothing of chains, scores() and update() speak the flat layout of ChainSpace.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/kernels.h"
#include "core/sparse_rows.h"
#include "core/views.h"
#include "m4n/dataset.h"
#include "structures/chains/paper.h"
#include "structures/chains/space.h"

namespace m4n::detail {

template <class View, class Weight = double>
class ChainScorer {
 public:
  static constexpr bool sparse = std::is_same_v<View, SparseView>;
  static_assert(sparse || std::is_same_v<Weight, double>);

  // `tokens` says which rows of x belong to which sentence. `penalties`: of transitions, starts and ends, or none.
  ChainScorer(View x, const Groups& tokens, std::size_t labels, bool bias, std::vector<double> penalties = {})
      : x_(x),
        tokens_(&tokens),
        labels_(labels),
        stride_(row_stride<double>(labels)),
        bias_(bias),
        penalties_(std::move(penalties)) {
    const std::size_t features = x.cols * stride_;
    if constexpr (std::is_same_v<Weight, float>) narrow_.assign(features, 0.0F);
    tail_begin_ = std::is_same_v<Weight, float> ? 0 : features;
    w_.assign(tail_begin_ + (labels + 3) * stride_, 0.0);
    for (std::size_t i = 0; i < examples(); ++i) longest_ = std::max(longest_, length(i));
  }

  std::size_t examples() const { return tokens_->count(); }
  std::size_t labels() const { return labels_; }
  std::size_t stride() const { return stride_; }
  std::size_t features() const { return x_.cols; }
  std::size_t length(std::size_t i) const { return tokens_->end(i) - tokens_->begin(i); }
  std::size_t longest() const { return longest_; }

  // The scores of the tokens of sentence i, or of as many as `out` has rows from token m on; the padding stays finite.
  void unary(std::size_t i, PaddedRows<double> out, std::size_t token = 0) const {
    const std::size_t first = tokens_->begin(i) + token;
    if constexpr (sparse) {
      kernels::rows_scores(x_, first, feature_rows(), bias_row(), out);
    } else {
      for (std::size_t m = 0; m < out.rows(); ++m)
        kernels::dense_scores(x_.row(first + m), feature_rows(), bias_row(), out.padded_row(m));
    }
  }
  // Transitions, start and end, prepared; call again after their weights changed. Not for several threads at once,
  // which share what was prepared before.
  const Transitions& transitions() const {
    if (stale_) {
      transitions_.prepare(PaddedRows<const double>(tail().data(), labels_, labels_),
                           tail().subspan(labels_ * stride_, labels_), tail().subspan((labels_ + 1) * stride_, labels_),
                           penalties_);
      stale_ = false;
    }
    return transitions_;
  }
  const Transitions& prepared() const { return transitions_; }
  // The weights of the tail parts: R rows of transitions, start, end.
  std::span<const double> tail() const { return std::span(w_).subspan(tail_begin_ + stride_); }
  std::size_t start_part(std::size_t k) const { return labels_ * stride_ + k; }
  std::size_t end_part(std::size_t k) const { return (labels_ + 1) * stride_ + k; }

  // w += scale Psi_i delta for the unary parts, M padded rows.
  void update_unary(std::size_t i, PaddedRows<const double> delta, double scale) {
    const std::size_t first = tokens_->begin(i);
    if constexpr (sparse) kernels::rows_update(x_, first, delta, scale, feature_rows());
    for (std::size_t m = 0; m < delta.rows(); ++m) {
      if constexpr (!sparse)
        kernels::dense_update(x_.row(first + m), delta.padded_row(m), scale, feature_rows(), nullptr);
      double* bias = w_.data() + tail_begin_;
      for (std::size_t k = 0; bias_ && k < stride_; ++k) bias[k] += scale * delta.row(m)[k];
    }
  }
  void update_tail(std::size_t part, double amount) {
    w_[tail_begin_ + stride_ + part] += amount;
    stale_ = true;
  }

  // Phi(x_m) . Phi(x_m') of two tokens of a sentence.
  double gram(std::size_t i, std::size_t m, std::size_t other) const {
    const std::size_t first = tokens_->begin(i);
    const double own = bias_ ? 1 : 0;
    if constexpr (sparse) {
      return own + kernels::rows_dot(x_, first + m, first + other);
    } else {
      return own + kernels::dot(x_.row(first + m), x_.row(first + other));
    }
  }

  // An upper bound of |Psi_i delta|^2 / |delta|^2: the trace of the tokens' Gram matrix bounds the unary parts, each
  // transition counts once, start and end add at most 1 each.
  double squared_norm(std::size_t i) const {
    double trace = 2;
    for (std::size_t m = 0; m < length(i); ++m) trace += gram(i, m, m);
    return trace;
  }

  // Multiply-adds of the unary scores of a sentence.
  std::size_t work(std::size_t i) const {
    if constexpr (sparse) {
      return (x_.row_start[tokens_->end(i)] - x_.row_start[tokens_->begin(i)] + length(i)) * stride_;
    } else {
      return length(i) * (x_.cols + 1) * stride_;
    }
  }

  double norm_squared() const {
    double sum = kernels::dot(w_, w_);
    for (const float x : narrow_) sum += static_cast<double>(x) * x;
    return sum;
  }
  void reset() {
    std::fill(w_.begin(), w_.end(), 0.0);
    std::fill(narrow_.begin(), narrow_.end(), 0.0F);
    stale_ = true;
  }

  // w := sum over sentences of scale_i Psi_i delta_i, afresh and in double; returns |w|^2 before it is rounded to
  // Weight. `delta(i, unary, tail)` adds scale_i delta_i of a sentence to zeroed memory, M padded rows and the tail
  // without the bias; it may be asked several times, for the labels are done a few columns at a time where all of w in
  // double would be large.
  template <class Delta>
  double rebuild(Delta&& delta) {
    constexpr std::size_t roomy = std::size_t{1} << 21;  // doubles
    reset();
    const std::size_t width = x_.cols * stride_ <= roomy ? stride_ : kernels::lane_block;
    AlignedVector<double> rows, unary_memory(longest_ * stride_), slice(longest_ * width);
    const std::span<double> whole_tail = std::span(w_).subspan(tail_begin_ + stride_);
    AlignedVector<double> ignored(whole_tail.size());
    double squares = 0;
    for (std::size_t at = 0; at < stride_; at += width) {
      rows.assign(x_.cols * width, 0.0);
      for (std::size_t i = 0; i < examples(); ++i) {
        const PaddedRows<double> unary(unary_memory.data(), length(i), labels_);
        std::fill_n(unary.data(), unary.rows() * stride_, 0.0);
        delta(i, unary, at == 0 ? whole_tail : std::span(ignored));
        const PaddedRows<double> part(slice.data(), length(i), width);
        for (std::size_t m = 0; m < length(i); ++m) std::copy_n(unary.row(m) + at, width, part.row(m));
        const std::size_t first = tokens_->begin(i);
        if constexpr (sparse) {
          kernels::rows_update(x_, first, part, 1, rows.data());
        } else {
          for (std::size_t m = 0; m < length(i); ++m)
            kernels::dense_update(x_.row(first + m), part.padded_row(m), 1, rows.data(), nullptr);
        }
        for (std::size_t m = 0; bias_ && m < length(i); ++m)
          for (std::size_t k = 0; k < width; ++k) w_[tail_begin_ + at + k] += part.row(m)[k];
      }
      squares += kernels::dot(rows, rows);
      for (std::size_t j = 0; j < x_.cols; ++j)
        for (std::size_t k = 0; k < width; ++k)
          feature_rows()[j * stride_ + at + k] = static_cast<Weight>(rows[j * width + k]);
    }
    const std::span<const double> own = std::span<const double>(w_).subspan(tail_begin_);
    stale_ = true;
    return squares + kernels::dot(own, own);
  }

  // The weights without padding: features x R; and bias (or nothing), transitions R x R, start, end.
  std::vector<Weight> feature_weights() const { return unpadded<Weight>(feature_rows(), x_.cols); }
  std::vector<double> bias_weights() const { return unpadded<double>(w_.data() + tail_begin_, bias_ ? 1 : 0); }
  std::vector<double> tail_weights() const { return unpadded<double>(tail().data(), labels_ + 2); }

  // The flat layout of ChainSpace, in which start and end belong to the first and the last position.
  std::size_t parts(std::size_t i) const { return (length(i) + labels_) * stride_; }
  std::size_t padded_parts(std::size_t i) const { return parts(i); }
  std::size_t largest_padded_parts() const { return (longest_ + labels_) * stride_; }
  void scores(std::size_t i, std::span<double> v) const {
    const std::size_t last = length(i) - 1;
    unary(i, {v.data(), length(i), labels_});
    for (std::size_t m = 0; m <= last; ++m)
      std::fill(v.data() + m * stride_ + labels_, v.data() + (m + 1) * stride_, 0.0);
    for (std::size_t k = 0; k < labels_; ++k) {
      v[k] += tail()[start_part(k)];
      v[last * stride_ + k] += tail()[end_part(k)];
    }
    std::copy_n(tail().data(), labels_ * stride_, v.data() + length(i) * stride_);
    if (!penalties_.empty()) forbid(v, last);
  }
  void update(std::size_t i, std::span<const double> delta, double scale) {
    const std::size_t rows = length(i);
    update_unary(i, {delta.data(), rows, labels_}, scale);
    double* tail = w_.data() + tail_begin_ + stride_;
    for (std::size_t e = 0; e < labels_ * stride_; ++e) tail[e] += scale * delta[rows * stride_ + e];
    for (std::size_t k = 0; k < labels_; ++k) {
      tail[start_part(k)] += scale * delta[k];
      tail[end_part(k)] += scale * delta[(rows - 1) * stride_ + k];
    }
    stale_ = true;
  }

  template <class Archive>
  void archive(Archive& a) {
    a.fixed(narrow_, w_);
    if constexpr (Archive::loading) {  // decoders trust the padding
      clear_padding(narrow_);
      clear_padding(w_);
    }
    stale_ = true;
  }
  // All of w with its padding, for solvers that move it as one vector.
  AlignedVector<double>& raw() requires std::is_same_v<Weight, double> {
    stale_ = true;
    return w_;
  }
  const AlignedVector<double>& raw() const requires std::is_same_v<Weight, double> { return w_; }

 private:
  template <class Rows>
  void clear_padding(Rows& rows) const {
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (j % stride_ >= labels_) rows[j] = 0;
  }
  // The penalties in the flat layout.
  void forbid(std::span<double> v, std::size_t last) const {
    for (std::size_t k = 0; k < labels_; ++k) {
      v[k] += penalties_[labels_ * labels_ + k];
      v[last * stride_ + k] += penalties_[(labels_ + 1) * labels_ + k];
      for (std::size_t to = 0; to < labels_; ++to) v[(last + 1 + k) * stride_ + to] += penalties_[k * labels_ + to];
    }
  }
  Weight* feature_rows() {
    if constexpr (std::is_same_v<Weight, float>) {
      return narrow_.data();
    } else {
      return w_.data();
    }
  }
  const Weight* feature_rows() const { return const_cast<ChainScorer*>(this)->feature_rows(); }
  const double* bias_row() const { return bias_ ? w_.data() + tail_begin_ : nullptr; }
  template <class Real>
  std::vector<Real> unpadded(const Real* rows, std::size_t count) const {
    std::vector<Real> out;
    out.reserve(count * labels_);
    for (std::size_t j = 0; j < count; ++j) out.insert(out.end(), rows + j * stride_, rows + j * stride_ + labels_);
    return out;
  }

  View x_;
  const Groups* tokens_;
  std::size_t labels_, stride_, longest_ = 1;
  bool bias_;
  std::vector<double> penalties_;
  AlignedVector<float> narrow_;  // the feature rows, where Weight is float
  AlignedVector<double> w_;      // [the feature rows where Weight is double,] the tail
  std::size_t tail_begin_ = 0;
  mutable Transitions transitions_;
  mutable bool stale_ = true;
};

}  // namespace m4n::detail

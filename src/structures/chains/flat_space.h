// A chain of M positions as an output space over flat vectors of parts, for solvers that know nothing of chains: the
// unary parts, M padded rows of R, then the transitions, R padded rows of R. Start and end scores belong to the unary
// parts of the first and the last position.
//
// The padding may hold anything finite in scores; it is 0 in marginals. Methods share scratch: one object a thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "core/padded_rows.h"
#include "structures/chains/chain.h"
#include "structures/chains/marginals.h"

namespace m4n::detail {

class ChainSpace {
 public:
  ChainSpace(std::size_t length, std::size_t labels) : length_(length), labels_(labels) {}
  std::size_t length() const { return length_; }
  std::size_t labels() const { return labels_; }
  std::size_t parts() const { return (length_ + labels_) * row_stride<double>(labels_); }
  std::size_t padded_parts() const { return parts(); }

  // The two kinds of parts of a flat vector.
  template <class Real>
  PaddedRows<Real> unary(std::span<Real> flat) const {
    return {flat.data(), length_, labels_};
  }
  template <class Real>
  PaddedRows<Real> transitions(std::span<Real> flat) const {
    return {flat.data() + length_ * row_stride<double>(labels_), labels_, labels_};
  }

  // v as a flat vector.
  void flatten(const ChainScores& v, std::span<double> flat) const {
    std::fill(flat.begin(), flat.end(), 0.0);
    for (std::size_t m = 0; m < length_; ++m) std::copy_n(v.unary.row(m), labels_, unary(flat).row(m));
    for (std::size_t k = 0; k < labels_; ++k) {
      unary(flat)(0, k) += v.transitions->start(k);
      unary(flat)(length_ - 1, k) += v.transitions->end(k);
      std::copy_n(v.transitions->rows().from_to.row(k), labels_, transitions(flat).row(k));
    }
  }
  // mu = phi(y)
  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t m = 0; m < length_; ++m) unary(mu)(m, label(y, m)) = 1;
    for (std::size_t m = 1; m < length_; ++m) transitions(mu)(label(y, m - 1), label(y, m)) += 1;
  }
  // v . phi(y)
  double score(std::span<const double> v, LabelView y) const {
    double sum = 0;
    for (std::size_t m = 0; m < length_; ++m) sum += unary(v)(m, label(y, m));
    for (std::size_t m = 1; m < length_; ++m) sum += transitions(v)(label(y, m - 1), label(y, m));
    return sum;
  }
  // mu = gradient of log sum_y exp(theta . phi(y)); returns that logarithm.
  double marginals(std::span<const double> theta, std::span<double> mu) const {
    scores_.prepare(transitions(theta), {}, {});
    exp_.prepare(scores_);
    const ChainScores v{unary(theta), &scores_};
    const double log_partition = sum_product_.solve(v, exp_);
    const PaddedRows<const double> found = sum_product_.marginals();
    std::copy_n(found.data(), length_ * found.stride(), mu.data());
    sum_product_.transition_counts(v, exp_, transitions(mu));
    return log_partition;
  }
  // The marginals of the uniform distribution: where mirror prox starts.
  void uniform(std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    const double share = 1 / static_cast<double>(labels_);
    for (std::size_t m = 0; m < length_; ++m) std::fill_n(unary(mu).row(m), labels_, share);
    for (std::size_t j = 0; j < labels_; ++j)
      std::fill_n(transitions(mu).row(j), labels_, static_cast<double>(length_ - 1) * share * share);
  }

 private:
  static std::size_t label(LabelView y, std::size_t m) { return static_cast<std::size_t>(y[m]); }

  std::size_t length_, labels_;
  mutable Transitions scores_;
  mutable ExpTransitions exp_;
  mutable SumProduct sum_product_;
};

}  // namespace m4n::detail

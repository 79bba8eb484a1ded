// The Gibbs distribution of natural parameters theta in the flat layout of ChainSpace, for chains of any length:
// log-partition function and marginals.   O(M R^2)
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "core/padded_rows.h"
#include "structures/chains/chain.h"
#include "structures/chains/marginals.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once the longest chain was seen.
class ChainGibbs {
 public:
  // mu = gradient of log sum_y exp(theta . phi(y)), padded with 0; returns that logarithm.
  double marginals(std::span<const double> theta, std::size_t length, std::size_t labels, std::span<double> mu) {
    const std::size_t stride = row_stride<double>(labels);
    const ChainScores v = scores(theta, length, labels);
    const double log_partition = sum_product_.solve(v, exp_);
    std::copy_n(sum_product_.marginals().data(), length * stride, mu.data());
    sum_product_.transition_counts(v, exp_, {mu.data() + length * stride, labels, labels});
    return log_partition;
  }
  double log_partition(std::span<const double> theta, std::size_t length, std::size_t labels) {
    return sum_product_.solve(scores(theta, length, labels), exp_);
  }

 private:
  ChainScores scores(std::span<const double> theta, std::size_t length, std::size_t labels) {
    transitions_.prepare({theta.data() + length * row_stride<double>(labels), labels, labels}, {}, {});
    exp_.prepare(transitions_);
    return {{theta.data(), length, labels}, &transitions_};
  }
  Transitions transitions_;
  ExpTransitions exp_;
  SumProduct sum_product_;
};

}  // namespace m4n::detail

#include "structures/chains/viterbi.h"

#include <algorithm>
#include <limits>

namespace m4n::detail {

double Viterbi::solve(const ChainScores& v, std::span<std::int32_t> y) {
  const PaddedRows<double> forward = forward_.shape(v.length(), v.labels());
  kernels::max_plus(v.unary, v.transitions->rows(), forward);
  kernels::backtrack(forward, v.transitions->rows(), y);
  return score(v, y);
}

double Viterbi::solve_in_float(const ChainScores& v, const FloatTransitions& transitions, std::span<std::int32_t> y) {
  const PaddedRows<float> forward = forward_float_.shape(v.length(), v.labels());
  kernels::max_plus(v.unary, transitions.rows(), forward);
  kernels::backtrack(forward, transitions.rows(), y);
  return score(v, y);
}

template <class Shift>
void KBest::merge(std::size_t m, std::size_t limit, Shift&& shift, std::span<Partial> out) {
  std::fill(head_.begin(), head_.end(), std::size_t{0});
  for (std::size_t rank = 0; rank < limit; ++rank) {
    Partial best{-std::numeric_limits<double>::infinity(), -1, 0};
    for (std::size_t j = 0; j < labels_; ++j) {
      if (head_[j] == found_[m - 1]) continue;
      const double value = cell(m - 1, j)[head_[j]].value + shift(j);
      if (best.label < 0 || value > best.value)
        best = {value, static_cast<std::int32_t>(j), static_cast<std::int32_t>(head_[j])};
    }
    ++head_[static_cast<std::size_t>(best.label)];
    out[rank] = best;
  }
}

void KBest::solve(const ChainScores& v, std::size_t count) {
  const Transitions& t = *v.transitions;
  length_ = v.length();
  labels_ = v.labels();
  count_ = count;
  partial_.resize(length_ * labels_ * count_);
  last_.resize(count_);
  found_.resize(length_);
  head_.resize(labels_);
  found_[0] = std::min<std::size_t>(1, count_);
  for (std::size_t k = 0; k < labels_ && count_ > 0; ++k) cell(0, k)[0] = {t.start(k) + v.unary(0, k), -1, 0};
  for (std::size_t m = 1; m < length_; ++m) {
    found_[m] = std::min(count_, found_[m - 1] * labels_);
    for (std::size_t k = 0; k < labels_; ++k) {
      merge(
          m, found_[m], [&](std::size_t j) { return t(j, k); }, cell(m, k));
      for (Partial& partial : cell(m, k).first(found_[m])) partial.value += v.unary(m, k);
    }
  }
  const std::size_t size = std::min(count_, found_[length_ - 1] * labels_);
  merge(
      length_, size, [&](std::size_t j) { return t.end(j); }, last_);

  score_.resize(size);
  path_.resize(size * length_);
  for (std::size_t rank = 0; rank < size; ++rank) {
    Partial at = last_[rank];
    std::int32_t* y = path_.data() + rank * length_;
    for (std::size_t m = length_; m-- > 0;) {
      y[m] = at.label;
      at = cell(m, static_cast<std::size_t>(at.label))[static_cast<std::size_t>(at.rank)];
    }
    score_[rank] = detail::score(v, path(rank));
  }
}

}  // namespace m4n::detail

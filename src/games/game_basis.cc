// Rank-one updates of the inverse basis of a matrix game; the formulas are those of a bordered or exchanged inverse.
#include "games/game_basis.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace m4n::detail {

GameBasis::GameBasis(std::size_t k)
    : k_(k), stride_(k + 1), inverse_((k + 1) * (k + 1)), support_(k + 2), rows_(k + 2), order_(k + 1) {}

void GameBasis::set_single(std::size_t j, std::size_t y, double cost) {
  size_ = 1;
  support_[1] = static_cast<std::uint32_t>(j);
  rows_[1] = static_cast<std::uint32_t>(y);
  inverse(0)[0] = cost;
  inverse(0)[1] = -1;
  inverse(1)[0] = 1;
  inverse(1)[1] = 0;
}

bool GameBasis::read(std::span<const std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit) {
  std::size_t classes = 0, rows = 0;
  for (std::size_t j = 0; j < k_; ++j) {  // without branches: every entry is written, the counter moves on a set bit
    support_[classes + 1] = rows_[rows + 1] = static_cast<std::uint32_t>(j);
    classes += (state[j] & support_bit) != 0;
    rows += (state[j] & row_bit) != 0;
  }
  size_ = classes;
  return classes == rows && classes > 0;
}

void GameBasis::write(std::span<std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit) const {
  const auto keep = static_cast<std::uint8_t>(~(support_bit | row_bit));
  for (std::size_t j = 0; j < k_; ++j) state[j] &= keep;
  for (std::size_t i = 1; i <= size_; ++i) {
    state[support_[i]] |= support_bit;
    state[rows_[i]] |= row_bit;
  }
}

bool GameBasis::invert(const CostMatrix& cost) {
  const std::size_t n = size_ + 1;
  // B with its first two rows exchanged, so that the first pivot is the -1 of an active row.
  double largest = 0;
  for (std::size_t p = 1; p < n; ++p) {
    double* row = inverse(p == 1 ? 0 : p);
    const auto costs = cost.of_prediction(rows_[p]);
    row[0] = -1;
    for (std::size_t q = 1; q < n; ++q) {
      row[q] = costs[support_[q]];
      largest = std::max(largest, std::abs(row[q]));
    }
  }
  if (largest == 0) largest = 1;  // one class and one row of cost 0: any unit will do
  double* sum = inverse(1);
  sum[0] = 0;
  std::fill(sum + 1, sum + n, 1.0);
  for (std::size_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
  std::swap(order_[0], order_[1]);  // row i of the working matrix is row order_[i] of B
  for (std::size_t s = 0; s < n; ++s) {
    std::size_t best = s;
    // The sum row has no unit of cost; it competes for the pivot with its entries times the largest cost.
    const auto weight = [&](std::size_t i) { return std::abs(inverse(i)[s]) * (order_[i] == 0 ? largest : 1.0); };
    for (std::size_t i = s + 1; i < n; ++i) {
      if (s > 0 && weight(i) > weight(best)) best = i;
    }
    if (best != s) {
      std::swap_ranges(inverse(s), inverse(s) + n, inverse(best));
      std::swap(order_[s], order_[best]);
    }
    double* pivot_row = inverse(s);
    if (!(s == 0 || weight(s) > 1e-13 * largest)) return false;
    const double scale = 1 / pivot_row[s];
    pivot_row[s] = 1;
    for (std::size_t q = 0; q < n; ++q) pivot_row[q] *= scale;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == s) continue;
      double* row = inverse(i);
      const double factor = row[s];
      row[s] = 0;
      for (std::size_t q = 0; q < n; ++q) row[q] -= factor * pivot_row[q];
    }
  }
  // The columns of the inverse stand in the order in which the rows were used: bring them home by cycles.
  for (std::size_t i = 0; i < n; ++i) {
    while (order_[i] != i) {
      const std::size_t home = order_[i];
      for (std::size_t r = 0; r < n; ++r) std::swap(inverse(r)[i], inverse(r)[home]);
      std::swap(order_[i], order_[home]);
    }
  }
  return true;
}

void GameBasis::replace_class(std::size_t q, std::size_t j, const double* image) {
  const std::size_t n = size_ + 1;
  double* __restrict leaving = inverse(q);
  const double scale = 1 / image[q];
  for (std::size_t l = 0; l < n; ++l) leaving[l] *= scale;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == q) continue;
    double* __restrict row = inverse(i);
    const double factor = image[i];
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * leaving[l];
  }
  support_[q] = static_cast<std::uint32_t>(j);
}

void GameBasis::replace_row(std::size_t p, std::size_t y, const double* border) {
  const std::size_t n = size_ + 1;
  const double scale = 1 / border[p];
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse(i);
    const double factor = row[p] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * border[l];
    row[p] = factor;
  }
  rows_[p] = static_cast<std::uint32_t>(y);
}

void GameBasis::grow(std::size_t j, std::size_t y, const double* image, const double* border, double pivot) {
  const std::size_t n = size_ + 1;
  const double scale = 1 / pivot;
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse(i);
    const double factor = image[i] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] += factor * border[l];
    row[n] = -factor;
  }
  double* last = inverse(n);
  for (std::size_t l = 0; l < n; ++l) last[l] = -border[l] * scale;
  last[n] = scale;
  ++size_;
  support_[size_] = static_cast<std::uint32_t>(j);
  rows_[size_] = static_cast<std::uint32_t>(y);
}

void GameBasis::shrink(std::size_t q, std::size_t p) {
  const std::size_t n = size_ + 1;
  const double* leaving = inverse(q);
  const double scale = 1 / leaving[p];
  for (std::size_t i = 0; i < n; ++i) {
    if (i == q) continue;
    double* row = inverse(i);
    const double factor = row[p] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * leaving[l];
  }
  // The last row and column move into the gaps.
  if (q != size_) std::copy(inverse(size_), inverse(size_) + n, inverse(q));
  for (std::size_t i = 0; i < size_; ++i) inverse(i)[p] = inverse(i)[size_];
  support_[q] = support_[size_];
  rows_[p] = rows_[size_];
  --size_;
}

}  // namespace m4n::detail

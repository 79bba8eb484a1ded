// The sums over subsets of positions (gibbs.h).
#include "structures/permutations/gibbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/message.h"

namespace m4n::detail {

double PermutationGibbs::marginals(std::span<const double> scores, std::size_t size, std::span<double> p) {
  if (size > largest_size)
    throw UsageError(
        say("the exact distribution over permutations of {} items is out of reach; expected at most {}; => choose "
            "another surrogate, such as m4n or m3n",
            size, largest_size));
  assignment_.solve(scores, size);
  const auto u = assignment_.row_duals(), w = assignment_.column_duals();
  weight_.resize(size * size);
  double top = 0;
  for (std::size_t i = 0; i < size; ++i) {
    top += u[i] + w[i];
    for (std::size_t j = 0; j < size; ++j) weight_[i * size + j] = std::exp((scores[i * size + j] - u[i]) - w[j]);
  }
  const std::uint32_t all = (1U << size) - 1;
  forward_.resize(all + 1U);
  backward_.resize(all + 1U);
  forward_[0] = backward_[all] = 1;
  for (std::uint32_t set = 1; set <= all; ++set) {
    const double* row = weight_.data() + (static_cast<std::size_t>(std::popcount(set)) - 1) * size;
    double sum = 0;
    for (std::uint32_t left = set; left != 0; left &= left - 1)
      sum += row[std::countr_zero(left)] * forward_[set & ~(left & -left)];
    forward_[set] = sum;
  }
  // The sums of F B over the sets that leave a cell open, gathered on the way down.
  std::fill_n(p.begin(), size * size, 0.0);
  for (std::uint32_t set = all; set-- > 0;) {
    const std::size_t i = static_cast<std::size_t>(std::popcount(set)) * size;
    double sum = 0;
    for (std::uint32_t left = all & ~set; left != 0; left &= left - 1) {
      const auto j = static_cast<std::size_t>(std::countr_zero(left));
      const double next = backward_[set | (left & -left)];
      sum += weight_[i + j] * next;
      p[i + j] += forward_[set] * next;
    }
    backward_[set] = sum;
  }
  const double partition = forward_[all];
  for (std::size_t e = 0; e < size * size; ++e) p[e] *= weight_[e] / partition;
  return top + std::log(partition);
}

}  // namespace m4n::detail

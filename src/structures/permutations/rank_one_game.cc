// Sorting and pooling adjacent violators (rank_one_game.h).
#include "structures/permutations/rank_one_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assignment.h"
#include "core/message.h"

namespace m4n::detail {

Bounds RankOneGame::solve(std::span<const double> v, const PositionLoss& loss, std::span<double> m,
                          std::span<double> n) {
  const std::size_t size = loss.size();
  const auto gain = loss.gains(), discount = loss.discounts();
  for (std::size_t i = 0; i < size; ++i)
    if (!(std::abs(v[i]) <= Assignment::largest_score))
      throw Error(
          say("the score of item {} is {}; expected a number between -{} and {}; look for features or "
              "weights that are not finite or far too large (--standardize yes scales features)",
              i, v[i], Assignment::largest_score, Assignment::largest_score));
  order_.resize(size);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return v[a] > v[b] || (v[a] == v[b] && a < b); });
  block_.clear();
  for (std::uint32_t k = 0; k < size; ++k) {
    Block last{v[order_[k]] - discount[k], k, 1};
    while (!block_.empty() && block_.back().mean() <= last.mean()) {
      last = {block_.back().sum + last.sum, block_.back().first, block_.back().count + last.count};
      block_.pop_back();
    }
    block_.push_back(last);
  }
  Bounds out{loss.constant(), loss.constant()};
  risk_ = loss.constant();
  for (const Block& block : block_) {
    double mean_gain = 0;
    for (std::size_t k = block.first; k < block.first + block.count; ++k) mean_gain += gain[k] / block.count;
    const double residual = block.mean();
    for (std::size_t k = block.first; k < block.first + block.count; ++k) {
      const std::uint32_t i = order_[k];
      m[i] = mean_gain;
      n[i] = v[i] - residual;
      risk_ -= discount[k] * mean_gain;
      out.lower += (v[i] - discount[k]) * mean_gain;
      out.upper += residual * gain[k];
    }
  }
  out.upper = std::max(out.lower, out.upper);
  return out;
}

}  // namespace m4n::detail

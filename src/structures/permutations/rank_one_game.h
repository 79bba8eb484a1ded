// Max-min oracle for position losses of rank one, L = c0 - sum_i gain[t_i] discount[y_i]: a closed form.
//
// One score per item suffices, S[i][j] = v_i gain[j]: the truth is seen through m_i = the expected gain of item i, the
// prediction through n_i = its expected discount. Both lie in the permutahedron of their numbers, and the game is
//
//     max over m in Perm(gain)   min over n in Perm(discount)    c0 + (v - n).m
//
// With v and the discounts sorted, both falling, the nearest falling sequence to v - discount (pool adjacent violators)
// is the residual r = v - n of the best n: what it leaves is majorised by all others. Where r is constant, m is the
// mean of the gains there. O(M log M). Decode by sorting: the largest score goes to position 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "games/matrix_game.h"
#include "losses/position_loss.h"

namespace m4n::detail {

class RankOneGame {
 public:
  // Writes the expected gains m of the truth and the expected discounts n of the prediction, M numbers each. Throws
  // Error for a score that is not finite. `loss` must be of rank one. Allocates only when M is larger than before.
  Bounds solve(std::span<const double> v, const PositionLoss& loss, std::span<double> m, std::span<double> n);
  // c0 - max_n n.m at the m of the last call: the Bayes risk h(m).
  double risk() const { return risk_; }
  // Items from the largest score of the last call to the smallest; ties by index.
  std::span<const std::uint32_t> order() const { return order_; }

 private:
  struct Block {
    double sum;
    std::uint32_t first, count;
    double mean() const { return sum / count; }
  };
  double risk_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<Block> block_;
};

}  // namespace m4n::detail

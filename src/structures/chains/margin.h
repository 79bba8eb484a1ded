// Loss-augmented decoding of a chain, the oracle of M3N:
//
//     argmax_y  score(y) + (1/M) sum_m cost[truth_m][y_m]          one Viterbi, O(M R^2)
#pragma once
#include <cstdint>
#include <span>

#include "core/padded_rows.h"
#include "losses/simplex_loss.h"
#include "structures/chains/chain.h"
#include "structures/chains/viterbi.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once the longest chain was seen.
class ChainMargin {
 public:
  struct Answer {
    double value;  // score and loss
    double loss;   // (1/M) sum_m cost[truth_m][y_m]
  };
  // Writes the maximiser into y; ties as in Viterbi.
  Answer solve(const ChainScores& v, const SimplexLoss& loss, LabelView truth, std::span<std::int32_t> y) {
    const PaddedRows<double> augmented = augmented_.shape(v.length(), v.labels());
    const double share = 1 / static_cast<double>(v.length());
    for (std::size_t m = 0; m < v.length(); ++m) {
      const std::span<const double> cost = loss.of_truth(static_cast<std::size_t>(truth[m]));
      for (std::size_t k = 0; k < augmented.stride(); ++k) augmented.row(m)[k] = v.unary.row(m)[k] + share * cost[k];
    }
    const double value = viterbi_.solve({augmented, v.transitions}, y);
    double total = 0;
    for (std::size_t m = 0; m < v.length(); ++m)
      total += loss.cost()(static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(y[m]));
    return {value, share * total};
  }

 private:
  PaddedMatrix<double> augmented_;
  Viterbi viterbi_;
};

}  // namespace m4n::detail

// Loss-augmented decoding of a graph, the oracle of M3N:
//
//     argmax_y  score(y) + (1/M) sum_m cost_m[truth_m][y_m]          one max-product
#pragma once
#include <cstdint>
#include <span>

#include "core/padded_rows.h"
#include "losses/cost_matrix.h"
#include "structures/graphs/decode.h"
#include "structures/graphs/game.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once a shape as large was seen.
class GraphMargin {
 public:
  struct Answer {
    double value;  // score and loss
    double loss;   // (1/M) sum_m cost_m[truth_m][y_m]
  };
  // Writes the maximiser into y; ties as in GraphDecoder. costs[v.cost[m]] has as many labels as node m.
  Answer solve(const GraphGameScores& v, std::span<const CostMatrix> costs, LabelView truth,
               std::span<std::int32_t> y) {
    const PaddedRows<double> augmented = augmented_.shape(v.length(), v.unary.columns());
    const double share = 1 / static_cast<double>(v.length());
    for (std::size_t m = 0; m < v.length(); ++m) {
      const std::span<const double> cost = costs[v.cost[m]].of_truth(static_cast<std::size_t>(truth[m]));
      for (std::size_t k = 0; k < cost.size(); ++k) augmented(m, k) = v.unary(m, k) + share * cost[k];
    }
    const double value = decoder_.solve({v.tree, augmented, v.pairwise}, y);
    double total = 0;
    for (std::size_t m = 0; m < v.length(); ++m)
      total += costs[v.cost[m]](static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(y[m]));
    return {value, share * total};
  }

 private:
  PaddedMatrix<double> augmented_;
  GraphDecoder decoder_;
};

}  // namespace m4n::detail

// The max-min oracle of a graph of low treewidth: the labelling game of games/labelling_game.h with max-product on the
// junction tree as the decoder. Every node has one of several cost matrices, with as many labels as the node; the loss
// is averaged over the nodes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/labelling_game.h"
#include "losses/cost_matrix.h"
#include "solvers/labelling_atoms.h"
#include "structures/graphs/junction_tree.h"
#include "structures/graphs/space.h"

namespace m4n::detail {

// Scores whose unary rows have as many columns as the widest cost matrix of the game, and the number of the matrix of
// every node.
struct GraphGameScores : GraphScores {
  std::span<const std::uint32_t> cost;
};

struct GraphProblem {
  using Scores = GraphGameScores;
  using Decoder = GraphDecoder;
  static constexpr bool one_cost = false;

  static std::size_t cost_of(const GraphGameScores& v, std::size_t m) { return v.cost[m]; }
  // Throws Error unless every node has a cost matrix of its number of labels, and every edge a table.
  static const std::uint32_t* kinds(const GraphGameScores& v, const std::vector<UnitCosts>& costs);
  // Every table is constant.
  static bool apart(const GraphGameScores& v);
  static double own(const GraphGameScores& v, std::size_t m, std::size_t label) { return v.unary(m, label); }
  static double most(const GraphGameScores& v);
  static bool tree(const GraphGameScores& v, std::vector<TreeNode>& nodes);
  static double decode(GraphDecoder& decoder, const GraphGameScores& v, PaddedRows<const double> unary,
                       std::span<std::int32_t> y) {
    return decoder.solve({v.tree, unary, v.pairwise}, y);
  }
};

extern template class LabellingGame<GraphProblem>;

using GraphGame = LabellingGame<GraphProblem>;

}  // namespace m4n::detail

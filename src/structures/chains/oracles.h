// The max-min oracle of a chain: the labelling game of games/labelling_game.h with Viterbi as the decoder, one cost
// matrix for all positions, and the loss averaged over them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/labelling_game.h"
#include "structures/chains/space.h"

namespace m4n::detail {

struct ChainProblem {
  using Scores = ChainScores;
  using Decoder = Viterbi;
  static constexpr bool one_cost = true;

  static std::size_t cost_of(const ChainScores&, std::size_t) { return 0; }
  static const std::uint32_t* kinds(const ChainScores&, const std::vector<UnitCosts>&) { return nullptr; }
  // All transitions score alike.
  static bool apart(const ChainScores& v) { return v.transitions->constant(); }
  static double own(const ChainScores& v, std::size_t m, std::size_t label) {
    const Transitions& t = *v.transitions;
    return v.unary(m, label) + (m == 0 ? t.start(label) : 0) + (m + 1 == v.length() ? t.end(label) : 0);
  }
  static double most(const ChainScores& v);
  // From the last position to the first, which is the root.
  static bool tree(const ChainScores& v, std::vector<TreeNode>& nodes);
  static double decode(Viterbi& viterbi, const ChainScores& v, PaddedRows<const double> unary,
                       std::span<std::int32_t> y) {
    return viterbi.solve({unary, v.transitions}, y);
  }
};

extern template class LabellingGame<ChainProblem>;

using ChainGame = LabellingGame<ChainProblem>;

// The point that an answer is, as labellings or as masses: add(m, label, before, mass) for parts that are a label at
// position m and the one before it (any at the first position).
template <class Add>
void for_chain_parts(const GameAnswer& answer, Add&& add) {
  for (std::size_t j = 0; j < answer.size(); ++j) {
    const LabelView y = answer.labels(j);
    for (std::size_t m = 0; m < y.size(); ++m)
      add(m, static_cast<std::size_t>(y[m]), static_cast<std::size_t>(y[m == 0 ? 0 : m - 1]), answer.weight[j]);
  }
  for (const TreeMass& part : answer.mass)
    add(answer.nodes[part.node].position, std::size_t{part.label}, std::size_t{part.above}, part.mass);
}

}  // namespace m4n::detail

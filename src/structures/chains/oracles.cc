// The labelling game, compiled for chains (oracles.h).
#include "structures/chains/oracles.h"

#include <algorithm>
#include <limits>

#include "games/labelling_game_parts.h"

namespace m4n::detail {

bool ChainProblem::tree(const ChainScores& v, std::vector<TreeNode>& nodes) {
  const PaddedRows<const double> table = v.transitions->rows().to_from;
  for (std::size_t k = 0; k < table.rows(); ++k)
    for (std::size_t j = 0; j < table.columns(); ++j)
      if (kernels::is_forbidden(table(k, j))) return false;
  nodes.resize(v.length());
  for (std::size_t m = 0; m < v.length(); ++m) {
    TreeNode& node = nodes[v.length() - 1 - m];
    node.position = static_cast<std::uint32_t>(m);
    node.parent = m == 0 ? kernels::TreeBlock::none : static_cast<std::uint32_t>(v.length() - m);
    node.table = m == 0 ? nullptr : table.data();
    node.own_stride = m == 0 ? 0 : table.stride();
    node.parent_stride = m == 0 ? 0 : 1;
  }
  return true;
}

double ChainProblem::most(const ChainScores& v) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const PaddedRows<const double> table = v.transitions->rows().to_from;
  double sum = 0, step = none;
  for (std::size_t m = 0; m < v.length(); ++m) {
    double best = none;
    for (std::size_t k = 0; k < table.rows(); ++k) best = std::max(best, own(v, m, k));
    sum += best;
  }
  for (std::size_t k = 0; k < table.rows(); ++k)
    step = std::max(step, *std::max_element(table.row(k), table.row(k) + table.columns()));
  return sum + static_cast<double>(v.length() - 1) * step;
}

template class LabellingGame<ChainProblem>;

}  // namespace m4n::detail

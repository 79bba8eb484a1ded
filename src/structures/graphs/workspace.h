// What max-product and sum-product on a junction tree share: their memory.
#pragma once
#include <algorithm>
#include <vector>

#include "core/aligned.h"
#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

// Makes room in the arena, fills its start with what joins without effect, and lists the tables of scores as the plan
// numbers them: the nodes, then the edges.
inline kernels::GraphMemory graph_memory(const GraphScores& v, AlignedVector<double>& arena,
                                         std::vector<const double*>& outside, double neutral = 0) {
  const JunctionPlan& plan = v.tree->plan();
  if (arena.size() < plan.arena_size) arena.resize(plan.arena_size);
  std::fill_n(arena.begin(), kernels::padded(v.graph().widest()) + kernels::graph_slack, neutral);
  const std::size_t nodes = v.length(), edges = v.pairwise.size();
  if (outside.size() < nodes + edges) outside.resize(nodes + edges);
  for (std::size_t m = 0; m < nodes; ++m) outside[m] = v.unary.row(m);
  for (std::size_t e = 0; e < edges; ++e) outside[nodes + e] = v.pairwise[e].data();
  return {plan.index.data(), outside.data(), arena.data()};
}

}  // namespace m4n::detail

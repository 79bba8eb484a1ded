// The labelling game, compiled for graphs (oracles.h).
#include "structures/graphs/oracles.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/message.h"
#include "games/labelling_game_parts.h"

namespace m4n::detail {

const std::uint32_t* GraphProblem::kinds(const GraphGameScores& v, const std::vector<UnitCosts>& costs) {
  const FactorGraph& graph = v.graph();
  if (v.length() != graph.nodes() || v.cost.size() != graph.nodes() || v.pairwise.size() != graph.edges().size())
    throw Error(say("a graph of {} and {} was given {} of scores, {} and {}", counted(graph.nodes(), "node"),
                    counted(graph.edges().size(), "edge"), counted(v.length(), "row"),
                    counted(v.cost.size(), "cost matrix", "cost matrices"), counted(v.pairwise.size(), "table")));
  if (v.unary.stride() != costs[0].of_prediction(0).size())
    throw Error(say("the unary scores have {}; expected as many as the widest cost matrix",
                    counted(v.unary.columns(), "column")));
  for (std::size_t m = 0; m < graph.nodes(); ++m) {
    if (v.cost[m] >= costs.size())
      throw Error(say("node {} has cost matrix {}, but there are {}", m, v.cost[m],
                      counted(costs.size(), "cost matrix", "cost matrices")));
    if (costs[v.cost[m]].truths() != graph.labels(m))
      throw Error(say("node {} has {}, but its cost matrix {} has {}", m, counted(graph.labels(m), "label"), v.cost[m],
                      costs[v.cost[m]].truths()));
  }
  return v.cost.data();
}

bool GraphProblem::apart(const GraphGameScores& v) {
  return std::all_of(v.pairwise.begin(), v.pairwise.end(), [](const PaddedRows<const double>& table) {
    for (std::size_t j = 0; j < table.rows(); ++j)
      if (!std::all_of(table.row(j), table.row(j) + table.columns(), [&](double x) { return x == table(0, 0); }))
        return false;
    return true;
  });
}

double GraphProblem::most(const GraphGameScores& v) {
  double sum = 0;
  for (std::size_t m = 0; m < v.length(); ++m)
    sum += *std::max_element(v.unary.row(m), v.unary.row(m) + v.graph().labels(m));
  for (const PaddedRows<const double>& table : v.pairwise) {
    double best = table(0, 0);
    for (std::size_t k = 0; k < table.rows(); ++k)
      best = std::max(best, *std::max_element(table.row(k), table.row(k) + table.columns()));
    sum += best;
  }
  return sum;
}

bool GraphProblem::tree(const GraphGameScores& v, std::vector<TreeNode>& nodes) {
  if (v.tree->treewidth() > 1) return false;
  const std::vector<JunctionBucket>& buckets = v.tree->plan().buckets;
  nodes.assign(buckets.size(), {});
  std::vector<std::uint32_t> place(buckets.size());
  for (std::uint32_t c = 0; c < buckets.size(); ++c) place[buckets[c].node] = c;
  for (std::uint32_t c = 0; c < buckets.size(); ++c) {
    nodes[c].position = buckets[c].node;
    if (!buckets[c].separator.empty()) nodes[c].parent = place[buckets[c].separator[0]];
  }
  const std::span<const GraphEdge> edges = v.graph().edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const PaddedRows<const double>& table = v.pairwise[e];
    const bool forward = place[edges[e].u] < place[edges[e].v];  // the first end is the child
    TreeNode& node = nodes[place[forward ? edges[e].u : edges[e].v]];
    node.edge = static_cast<std::uint32_t>(e);
    node.table = table.data();
    node.own_stride = forward ? table.stride() : 1;
    node.parent_stride = forward ? 1 : table.stride();
  }
  return true;
}

template class LabellingGame<GraphProblem>;

}  // namespace m4n::detail

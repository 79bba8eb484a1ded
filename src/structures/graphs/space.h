// Inference on a graph: the best labelling (GraphDecoder), and below it the marginals (GraphSumProduct).
//
// The best labelling of a graph: max-product on its junction tree, O(sum of the tables) additions and maxima, values
// only; the labelling is found by going back through the order of elimination.
//
// Ties: of several best labellings the one in which the node eliminated last has the smallest label, then the node
// eliminated before it, and so on. In a chain with equally many labels everywhere that is Viterbi's rule: the last
// position decides first. (Sums that are equal on paper but not in double are no ties.)
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

// One object per thread; nothing is allocated once a shape as large was seen.
class GraphDecoder {
 public:
  // Writes the best labelling into y (one label per node) and returns its score.
  double solve(const GraphScores& v, std::span<std::int32_t> y);

 private:
  AlignedVector<double> arena_;
  std::vector<const double*> outside_;
};

// The Gibbs distribution p(y) ~ exp(score(y)) of a graph: log of its partition function and the marginals of all nodes
// and edges, that is the gradient of the log-partition function. Sum-product on the junction tree, O(sum of the
// tables).
//
// In linear space every table of scores is exponentiated once, relative to its largest entry, and every message is
// scaled to the largest entry 1: multiply-adds only. All factors of a product are then at most 1, so that nothing is
// lost as long as no sum over x falls below 1e-250; if one does, all is done again on logarithms, with an exponential
// for every entry of every table: exact up to rounding for scores of any size.

// One object per thread; nothing is allocated once a shape as large was seen.
class GraphSumProduct {
 public:
  // Returns log sum_y exp(score(y)). The tree must stay for as long as marginals are asked for.
  double solve(const GraphScores& v);
  // The same without marginals: leaves those of the last solve() undefined.
  double log_partition(const GraphScores& v);

  // Of the graph solved last: a row per node, padded with 0, and the table of an edge, labels(u) x labels(v).
  PaddedRows<const double> nodes() const { return node_.view(); }
  PaddedRows<const double> edge(std::size_t e) const;

  // Of the graph solved last: whether it needed logarithms.
  bool used_logarithms() const { return logarithmic_; }

 private:
  bool up_linear(const GraphScores& v, double& log_partition);
  double up_logarithmic(const GraphScores& v);
  double exponentiate(const GraphScores& v);
  void down(const GraphScores& v);

  const JunctionTree* tree_ = nullptr;
  bool logarithmic_ = false;
  AlignedVector<double> arena_, tables_, mass_;
  std::vector<const double*> outside_;
  PaddedMatrix<double> node_;
  // Exponentials of the scores, and views of them.
  PaddedMatrix<double> unary_;
  AlignedVector<double> pairwise_;
  std::vector<PaddedRows<const double>> view_;
  std::vector<double> largest_;  // by node: the largest sum of its bucket
};

// What max-product and sum-product on a junction tree share: their memory.

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

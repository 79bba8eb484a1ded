// The junction tree of a shape: everything about inference on it that does not depend on scores, made once and kept in
// a cache. A shape whose tables would take more memory than allowed is refused before anything is allocated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "core/padded_rows.h"
#include "structures/classes/space.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/junction_plan.h"

namespace m4n::detail {

class JunctionTree {
 public:
  static constexpr double default_limit = 256e6;  // bytes

  // Throws Error if the plan and the workspaces of one thread would take more than `limit` bytes.
  explicit JunctionTree(FactorGraph graph, double limit = default_limit);

  const FactorGraph& graph() const { return graph_; }
  const JunctionPlan& plan() const { return plan_; }
  std::size_t treewidth() const { return treewidth_; }  // of the order of elimination: an upper bound
  double bytes() const { return bytes_; }               // plan and workspaces
  double table_entries() const;                         // of all buckets: the additions and the maxima of one decoding

 private:
  FactorGraph graph_;
  std::size_t treewidth_ = 0;
  double bytes_ = 0;
  JunctionPlan plan_;
};

// Junction trees by shape. They stay where they are until the cache is destroyed. Not for several threads at once.
class JunctionTreeCache {
 public:
  explicit JunctionTreeCache(double limit = JunctionTree::default_limit) : limit_(limit) {}
  const JunctionTree& find(const FactorGraph& graph);
  std::size_t size() const { return trees_.size(); }

 private:
  double limit_;
  std::unordered_map<FactorGraph, std::unique_ptr<JunctionTree>, FactorGraphHash> trees_;
};

// The scores of one graph,
//
//     score(y) = sum_m unary[m][y_m] + sum_e pairwise[e][y_u][y_v],
//
// as views: `unary` has a row for every node and at least as many columns as the widest node has labels; the table of
// an edge (u, v) is labels(u) x labels(v), and edges may share tables. Scores are finite. The padding is read as
// numbers that are thrown away.
struct GraphScores {
  const JunctionTree* tree;
  PaddedRows<const double> unary;
  std::span<const PaddedRows<const double>> pairwise;

  const FactorGraph& graph() const { return tree->graph(); }
  std::size_t length() const { return unary.rows(); }
};

double score(const GraphScores& v, LabelView y);

}  // namespace m4n::detail

// From options to a solver of graphs, one call for a path of lambdas: each is started from the solution of the one
// before. Nodes have k labels each; v are the scores of all nodes and edges (structures/graphs/scorer.h), and
//
//   score(y) = sum over nodes m of v_m[y_m]  +  sum over edges (a, b) of v_ab[y_a][y_b].
//
// What is minimised over all weights w:
//
//   P(w) = sum_i p_i S(v_i, y_i) + lambda/2 |w|^2
//
//   M4N   S = max over mu of h(mu) + v.mu  -  score(y),   loss averaged over the nodes          atoms
//   M3N   S = max over y' of loss(y, y') + score(y')  -  score(y)                               atoms
//   CRF   S = log sum over y' of exp score(y')  -  score(y)                                     L-BFGS
//
// The oracles are exact: max-product or sum-product on a junction tree, so graphs must be of low treewidth. A
// multi-label problem whose labels depend on each other is an instance: one row of features an example, M nodes of two
// labels that share it, and the same edges everywhere (structures/graphs/edges.h, shared_edges).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/graphs/edges.h"
#include "structures/graphs/junction_tree.h"
#include "structures/training_set.h"

namespace m4n::detail {

struct GraphRequest {
  FeaturesView x;       // after transforms
  const Groups* rows;   // which rows of x belong to which example
  const Groups* nodes;  // which labels; as many as rows, or the same multiple of them everywhere
  const GraphStructure* structure;
  bool bias;  // of the nodes; edges always have a constant
  std::span<const std::int32_t> label;
  std::span<const double> weight;     // p_i, summing to 1
  std::span<const CostMatrix> costs;  // k x k each: one for all nodes, or one for every node of a row
  std::span<const double> lambdas;
  const TrainOptions* options;
  const Context* context;
  double memory_limit = JunctionTree::default_limit;  // bytes of the junction tree of one shape
};

struct GraphWeights {
  std::vector<double> node;  // by node type: (features + bias) x (nodes of a row) x k
  std::vector<double> edge;  // by edge type: (edge features + 1) x k x k
};

struct GraphSolution : Solution {
  GraphWeights weights;
};

// Hands over a solution a lambda, in their order. Throws UsageError for what cannot be trained, Error for data that do
// not fit together and for graphs of too large a treewidth.
void solve_graphs(const GraphRequest& request, const std::function<void(std::unique_ptr<GraphSolution>)>& emit);

}  // namespace m4n::detail

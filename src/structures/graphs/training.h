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
// multi-label problem whose labels depend on each other is an instance: one row of features per example, M nodes of two
// labels that share it, and the same edges everywhere (shared_edges in structures/graphs/factor_graph.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/graphs/factor_graph.h"
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

// Hands over one solution per lambda, in their order. Throws UsageError for what cannot be trained, Error for data that
// do not fit together and for graphs of too large a treewidth.
void solve_graphs(const GraphRequest& request, const std::function<void(std::unique_ptr<GraphSolution>)>& emit);

// Graphs to learn from: data and options to solutions.

class GraphTrainingSet : public RowTrainingSet {
 public:
  GraphTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss, const Context& context);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  // Weights as they apply to mapped rows of nodes, (features + bias) x outputs, and to features of edges as they came.
  struct Found : RowSolution {
    std::vector<double> edge_weights;
  };
  std::size_t outputs() const override { return structure_.node_types() * cost_.k(); }
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                      const TrainOptions& options, Decoder decode,
                                      const Context& context) const override;
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override;
  std::vector<double> by_feature(const std::vector<double>& by_type) const;
  std::vector<double> for_raw_edges(std::vector<double> weights) const;

  CostMatrix cost_;
  GraphStructure structure_;  // with edge features as they are solved
  Standardizer edge_standardizer_;
};

}  // namespace m4n::detail

// Labellings of graphs from the scores of their nodes and the weights of their edges, in parallel:
//
//   argmax      the best labelling of the scores: max-product
//   expected    usual for CRF: at every node the least expected cost under its marginal
//   adversary   of M4N, usual for costs that are not symmetric: at every node the min player's most likely label
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/oracles.h"

namespace m4n::detail {

struct GraphExamples {
  const Groups* rows;   // of features
  const Groups* nodes;  // as many as rows, or the same multiple of them everywhere
  const GraphStructure* structure;
};

class GraphPredictor {
 public:
  // `costs`: one for all nodes, or one for every node of a row; all of k labels. `edge_weights`: by edge type (edge
  // features + 1) x k x k, the constant last.
  GraphPredictor(std::vector<CostMatrix> costs, Decoder decode, std::vector<double> edge_weights,
                 std::size_t edge_features);

  // `scores`: for every row of features, by node type, the nodes of a row x k. One label per node.
  std::vector<std::int32_t> labellings(std::span<const double> scores, const GraphExamples& examples,
                                       const Context& context) const;
  // Under the Gibbs distribution: k per node.
  std::vector<double> marginals(std::span<const double> scores, const GraphExamples& examples,
                                const Context& context) const;

 private:
  class Worker;
  std::vector<CostMatrix> costs_;
  Decoder decode_;
  std::vector<double> edge_weights_;
  std::size_t edge_features_;
  GraphGame game_;
};

}  // namespace m4n::detail

// Predictions for graphs: scores from features and weights (scorer/graph.h), then the labelling,
//
//   argmax     argmax_y score(y), exactly, by max-product                                   (viterbi means the same)
//   expected   CRF: at every node the label of least expected cost under its marginals      sum-product
//   adversary  M4N: at every node the min player's most likely answer in the game at v      the game of the example
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/solve_graphs.h"

namespace m4n {

// What a user gets who asks for this decoder; automatic: the usual one.
Decoder graph_decoder(Decoder asked, SurrogateKind surrogate, std::span<const CostMatrix> costs);

struct GraphPredictionRequest {
  FeaturesView x;  // after transforms; as in GraphRequest
  const Groups* rows;
  const Groups* nodes;
  const GraphStructure* structure;  // types numbered as in training
  bool bias;
  const GraphWeights* weights;
  std::span<const CostMatrix> costs;
  Decoder decode;
  bool marginals;  // also those of all nodes, and the log-partition functions
  const Context* context;
  double memory_limit = JunctionTree::default_limit;
};

struct GraphPrediction {
  std::vector<std::int32_t> label;    // of every node
  std::vector<double> score;          // of every example: that of the labelling
  std::vector<double> marginals;      // nodes x k of the Gibbs distribution, where asked for
  std::vector<double> log_partition;  // of every example, where asked for
};

// In parallel over examples. Throws Error where the sizes of data and weights do not fit together, where an example's
// treewidth is too large and where scores are not finite, naming the example.
GraphPrediction predict_graphs(const GraphPredictionRequest& request);

}  // namespace m4n

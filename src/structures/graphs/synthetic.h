// Graphs whose best possible labelling is known. The labels A, B, C of a graph's nodes are drawn from
//
//   p(y) ~ prod over edges (u, v) of T[y_u][y_v],     T a fixed symmetric table, larger where neighbours agree,
//
// and each node shows one of six signs with probability E[label][sign], a fixed table in whole percents. A third of the
// graphs each are trees, grids and random partial 2-trees, of 4 to 16 nodes.
//
// Given the signs, the posterior of the labels is again such a product, and the best rule for the Hamming loss answers
// at every node its most likely label. Its expected loss, the mean over the nodes of  1 - max_k p(y_m = k | signs), is
// exact, by sum-product on the junction tree; no rule has a lower one on these signs. A model with a feature for each
// sign and one table for the edges contains that rule.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "m4n/dataset.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/space.h"
#include "structures/structure.h"

namespace m4n::detail {

class SyntheticGraphs {
 public:
  enum class Shape { tree, grid, partial_two_tree };

  explicit SyntheticGraphs(std::uint64_t seed);

  struct Graph {
    Shape shape;
    std::vector<GraphEdge> edge;
    std::vector<std::int32_t> label, sign;
    double best_loss;  // expected Hamming loss of the best rule, given the signs
  };
  // The same seed gives the same ones on every machine, and a longer run begins with a shorter one.
  Graph next();

  static std::size_t labels();
  static std::size_t signs();
  static const char* label_name(std::int32_t label);
  static int agreement(std::size_t a, std::size_t b);                  // T[a][b]
  static int percent(std::size_t label, std::size_t sign);             // E[label][sign]
  static DenseMatrix features(const std::vector<std::int32_t>& sign);  // one 0/1 column per sign
  // As structures/graphs/text.h reads it.
  static std::string text(const Graph& graph);

 private:
  std::vector<GraphEdge> draw_edges(Shape shape, std::uint32_t& nodes);
  // p(y_m = k) of all nodes, a row each, where the nodes from 0 to fixed.size() - 1 have these labels.
  PaddedRows<const double> marginals(const JunctionTree& tree, const std::vector<std::int32_t>& fixed,
                                     const std::vector<std::int32_t>& sign);

  Rng rng_;
  PaddedMatrix<double> unary_, table_;
  GraphSumProduct sums_;
};

// The graphs as text.
Generated write_synthetic_graphs(std::size_t n, std::uint64_t seed, TextSink& sink);

}  // namespace m4n::detail

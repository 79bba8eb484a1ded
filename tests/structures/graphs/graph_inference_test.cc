// Decoding, marginals and log-partition functions of graphs against the definition, by counting all labellings, and
// chains against the chain's own recursions.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "structures/chains/space.h"
#include "structures/graphs/space.h"
#include "support/random_graph.h"

namespace m4n::detail {
namespace {

using test::Graph;
using test::random_shape;
using test::score_styles;
using test::ScoreStyle;
using test::shape_kinds;
using test::ShapeKind;

class GraphInference : public ::testing::TestWithParam<ShapeKind> {};

double rounding_of(const Graph& graph) {
  return 1e-14 * graph.magnitude() * static_cast<double>(graph.shape().nodes() + graph.shape().edges().size());
}

TEST_P(GraphInference, DecodesTheBestLabellingAndTiesByTheRule) {
  std::mt19937_64 random(31);
  GraphDecoder decoder;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const ScoreStyle style = score_styles[repeat % 5];
    const double scale = std::array{1.0, 1e6, 1e-9}[static_cast<std::size_t>(repeat / 5 % 3)];
    // Integers times a power of two add up exactly: ties are ties.
    const Graph graph(random_shape(GetParam(), random), style == ScoreStyle::integer ? 0x1p-20 : scale, style, random);
    std::vector<std::int32_t> found(graph.shape().nodes()), best;
    const double value = decoder.solve(graph.scores(), found);
    long double top = -1e300L;
    graph.for_labellings([&](const std::vector<std::int32_t>& y) {
      const long double own = graph.score(y);
      if (own <= top) return;
      top = own;
      best = y;
    });
    EXPECT_NEAR(value, static_cast<double>(top), rounding_of(graph));
    EXPECT_NEAR(value, static_cast<double>(graph.score(found)), rounding_of(graph));
    if (style == ScoreStyle::integer || style == ScoreStyle::zero) {
      EXPECT_EQ(found, best);
    }
  }
}

TEST_P(GraphInference, MarginalsAndLogPartitionAreThoseOfTheDefinition) {
  std::mt19937_64 random(32);
  GraphSumProduct sum_product;
  int logarithmic = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const double scale = std::array{1.0, 100.0, 1e6, 1e-9}[static_cast<std::size_t>(repeat / 5 % 4)];
    const Graph graph(random_shape(GetParam(), random), scale, score_styles[repeat % 5], random);
    const FactorGraph& shape = graph.shape();
    long double top = -1e300L, total = 0;
    graph.for_labellings([&](const auto& y) { top = std::max(top, graph.score(y)); });
    PaddedMatrix<double> nodes;
    std::vector<PaddedMatrix<double>> edges(shape.edges().size());
    const auto clear = [](PaddedRows<double> rows) { std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0); };
    clear(nodes.shape(shape.nodes(), shape.widest()));
    for (std::size_t e = 0; e < edges.size(); ++e)
      clear(edges[e].shape(shape.labels(shape.edges()[e].u), shape.labels(shape.edges()[e].v)));
    graph.for_labellings([&](const auto& y) { total += std::exp(graph.score(y) - top); });
    graph.for_labellings([&](const auto& y) {
      const auto p = static_cast<double>(std::exp(graph.score(y) - top) / total);
      const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
      for (std::size_t m = 0; m < y.size(); ++m) nodes.view()(m, at(m)) += p;
      for (std::size_t e = 0; e < edges.size(); ++e)
        edges[e].view()(at(shape.edges()[e].u), at(shape.edges()[e].v)) += p;
    });
    const double slack = 1e-12 + 10 * rounding_of(graph);
    const auto expected = static_cast<double>(top + std::log(total));
    EXPECT_NEAR(sum_product.log_partition(graph.scores()), expected, 1e-13 * std::abs(expected) + slack);
    EXPECT_NEAR(sum_product.solve(graph.scores()), expected, 1e-13 * std::abs(expected) + slack);
    for (std::size_t m = 0; m < shape.nodes(); ++m)
      for (std::size_t k = 0; k < nodes.view().stride(); ++k)
        EXPECT_NEAR(sum_product.nodes().row(m)[k], k < shape.labels(m) ? nodes.view()(m, k) : 0, slack);
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (std::size_t j = 0; j < edges[e].view().rows(); ++j)
        for (std::size_t k = 0; k < edges[e].view().stride(); ++k)
          EXPECT_NEAR(sum_product.edge(e).row(j)[k], k < edges[e].view().columns() ? edges[e].view()(j, k) : 0, slack)
              << "edge " << e << " of " << edges.size();
    logarithmic += sum_product.used_logarithms();
  }
  // Both ways were taken; parts that do not hang together never need logarithms.
  EXPECT_LT(logarithmic, 300);
  if (GetParam() == ShapeKind::single || GetParam() == ShapeKind::no_edges) {
    EXPECT_EQ(logarithmic, 0);
  } else {
    EXPECT_GT(logarithmic, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GraphInference, ::testing::ValuesIn(shape_kinds));

// A hub that many leaves send messages to, against the closed form.
TEST(GraphInference, StarsOfManyLeaves) {
  constexpr std::uint32_t leaves = 30000;
  std::vector<GraphEdge> edges;
  for (std::uint32_t leaf = 1; leaf <= leaves; ++leaf) edges.push_back({0, leaf});
  const JunctionTree tree(FactorGraph(std::vector<std::uint32_t>(leaves + 1, 2), edges));
  EXPECT_EQ(tree.treewidth(), 1U);
  std::mt19937_64 random(35);
  std::normal_distribution<double> normal;
  PaddedMatrix<double> unary_memory, table_memory;
  const PaddedRows<double> unary = unary_memory.shape(leaves + 1, 2), table = table_memory.shape(2, 2);
  for (std::size_t m = 0; m <= leaves; ++m)
    for (std::size_t k = 0; k < 2; ++k) unary(m, k) = normal(random);
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t k = 0; k < 2; ++k) table(h, k) = normal(random) / 100;
  const std::vector<PaddedRows<const double>> pairwise(leaves, std::as_const(table_memory).view());
  long double sum[2], best[2];
  for (std::size_t h = 0; h < 2; ++h) {
    sum[h] = best[h] = unary(0, h);
    for (std::size_t leaf = 1; leaf <= leaves; ++leaf) {
      const long double a = unary(leaf, 0) + table(h, 0), b = unary(leaf, 1) + table(h, 1);
      sum[h] += std::log(std::exp(a) + std::exp(b));
      best[h] += std::max(a, b);
    }
  }
  const GraphScores v{&tree, std::as_const(unary_memory).view(), pairwise};
  const long double top = std::max(sum[0], sum[1]);
  const auto expected = static_cast<double>(top + std::log(std::exp(sum[0] - top) + std::exp(sum[1] - top)));
  EXPECT_NEAR(GraphSumProduct().log_partition(v), expected, 1e-10 * expected);
  std::vector<std::int32_t> y(leaves + 1);
  EXPECT_NEAR(GraphDecoder().solve(v, y), static_cast<double>(std::max(best[0], best[1])), 1e-10 * expected);
}

// The chain as a graph; start and end scores belong to its unary scores.
struct ChainAsGraph {
  explicit ChainAsGraph(const ChainScores& v)
      : tree(FactorGraph(std::vector<std::uint32_t>(v.length(), static_cast<std::uint32_t>(v.labels())),
                         path(v.length()))) {
    const PaddedRows<double> rows = unary.shape(v.length(), v.labels());
    for (std::size_t m = 0; m < v.length(); ++m)
      for (std::size_t k = 0; k < v.labels(); ++k)
        rows(m, k) =
            v.unary(m, k) + (m == 0 ? v.transitions->start(k) : 0) + (m + 1 == v.length() ? v.transitions->end(k) : 0);
    pairwise.assign(v.length() - 1, v.transitions->rows().from_to);
  }
  static std::vector<GraphEdge> path(std::size_t length) {
    std::vector<GraphEdge> edges;
    for (std::uint32_t m = 1; m < length; ++m) edges.push_back({m - 1, m});
    return edges;
  }
  GraphScores scores() const { return {&tree, unary.view(), pairwise}; }
  JunctionTree tree;
  PaddedMatrix<double> unary;
  std::vector<PaddedRows<const double>> pairwise;
};

TEST(GraphInference, ChainsAgreeWithTheChainEngine) {
  std::mt19937_64 random(33);
  for (const std::size_t length : {1, 2, 3, 8, 60}) {
    for (const std::size_t labels : {2, 3, 4, 7, 8, 26, 33}) {
      for (const ScoreStyle style : score_styles) {
        const double scale = style == ScoreStyle::integer ? 1 : 0.7;
        const test::Chain chain(length, labels, scale, style, random);
        const ChainAsGraph graph(chain.scores());
        EXPECT_EQ(graph.tree.treewidth(), length > 1 ? 1 : 0);
        std::vector<std::int32_t> expected(length), found(length);
        Viterbi viterbi;
        GraphDecoder decoder;
        EXPECT_NEAR(decoder.solve(graph.scores(), found), viterbi.solve(chain.scores(), expected), 1e-9);
        if (style == ScoreStyle::integer || style == ScoreStyle::zero) {
          EXPECT_EQ(found, expected);
        }
        ExpTransitions exp;
        exp.prepare(chain.transitions());
        SumProduct of_chain;
        GraphSumProduct of_graph;
        EXPECT_NEAR(of_graph.solve(graph.scores()), of_chain.solve(chain.scores(), exp), 1e-9);
        for (std::size_t m = 0; m < length; ++m)
          for (std::size_t k = 0; k < labels; ++k)
            EXPECT_NEAR(of_graph.nodes()(m, k), of_chain.marginals()(m, k), 1e-9);
        PaddedMatrix<double> count;
        of_chain.transition_counts(chain.scores(), exp, count.shape(labels, labels));
        for (std::size_t j = 0; j < labels; ++j) {
          for (std::size_t k = 0; k < labels; ++k) {
            double sum = 0;
            for (std::size_t e = 0; e + 1 < length; ++e) sum += of_graph.edge(e)(j, k);
            EXPECT_NEAR(sum, count.view()(j, k), 1e-9);
          }
        }
      }
    }
  }
}

// Larger than can be counted: the score of the labelling is checked, and no single change improves it; marginals are
// consistent, and the log-partition function is above the best score by at most the logarithm of the labellings.
TEST(GraphInference, LargeGraphsAreConsistent) {
  std::mt19937_64 random(34);
  GraphDecoder decoder;
  GraphSumProduct sum_product;
  for (const ShapeKind kind : {ShapeKind::tree, ShapeKind::grid, ShapeKind::k_tree, ShapeKind::forest}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      const auto nodes = static_cast<std::uint32_t>(60 + random() % 100);
      std::vector<std::uint32_t> labels(nodes);
      double logarithm = 0;
      for (std::uint32_t& count : labels) {
        count = 2 + static_cast<std::uint32_t>(random() % 4);
        logarithm += std::log(count);
      }
      const Graph graph({labels, test::random_edges(kind, nodes, random)}, 1, ScoreStyle::normal, random);
      std::vector<std::int32_t> y(nodes);
      const double value = decoder.solve(graph.scores(), y);
      EXPECT_NEAR(value, static_cast<double>(graph.score(y)), 1e-9);
      for (std::uint32_t m = 0; m < nodes; ++m) {
        std::vector<std::int32_t> other = y;
        for (std::uint32_t k = 0; k < labels[m]; ++k) {
          other[m] = static_cast<std::int32_t>(k);
          EXPECT_LE(graph.score(other), value + 1e-9);
        }
      }
      const double log_partition = sum_product.solve(graph.scores());
      EXPECT_GE(log_partition, value);
      EXPECT_LE(log_partition, value + logarithm);
      for (std::size_t e = 0; e < graph.shape().edges().size(); ++e) {
        const auto [u, v] = graph.shape().edges()[e];
        for (std::size_t j = 0; j < labels[u]; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < labels[v]; ++k) sum += sum_product.edge(e)(j, k);
          EXPECT_NEAR(sum, sum_product.nodes()(u, j), 1e-12);
        }
      }
    }
  }
}

// A node with very many neighbours: its messages are more than a step has room for.
TEST(GraphInference, StarsOfAnySize) {
  std::mt19937_64 random(35);
  for (const std::uint32_t leaves : {3, 4, 5, 8, 9, 500}) {
    std::vector<GraphEdge> edges;
    for (std::uint32_t m = 1; m <= leaves; ++m) edges.push_back(m % 2 == 0 ? GraphEdge{0, m} : GraphEdge{m, 0});
    const Graph graph({std::vector<std::uint32_t>(leaves + 1, 3), edges}, 1, ScoreStyle::normal, random);
    EXPECT_EQ(graph.tree().treewidth(), 1);
    double best = -1e300, total = 0;
    const auto pair = [&](std::size_t e, std::size_t hub, std::size_t leaf) {
      return edges[e].u == 0 ? graph.scores().pairwise[e](hub, leaf) : graph.scores().pairwise[e](leaf, hub);
    };
    for (std::size_t hub = 0; hub < 3; ++hub) {
      double value = graph.scores().unary(0, hub), logarithm = value;
      for (std::size_t m = 1; m <= leaves; ++m) {
        double top = -1e300, sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const double own = graph.scores().unary(m, k) + pair(m - 1, hub, k);
          top = std::max(top, own);
          sum += std::exp(own);
        }
        value += top;
        logarithm += std::log(sum);
      }
      best = std::max(best, value);
      total = hub == 0 ? logarithm : std::max(total, logarithm) + std::log1p(std::exp(-std::abs(total - logarithm)));
    }
    GraphDecoder decoder;
    GraphSumProduct sum_product;
    std::vector<std::int32_t> y(leaves + 1);
    EXPECT_NEAR(decoder.solve(graph.scores(), y), best, 1e-9);
    EXPECT_NEAR(sum_product.solve(graph.scores()), total, 1e-9);
  }
}

}  // namespace
}  // namespace m4n::detail

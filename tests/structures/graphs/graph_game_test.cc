// The max-min oracle of graphs against its own certificate, recomputed from the definition over all labellings; against
// linear programs over all labellings and over the local polytope; against the chain's oracle; and loss-augmented
// decoding by counting.
#include "solvers/labelling_oracles.h"
#include "structures/graphs/oracles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "m4n/error.h"
#include "structures/chains/oracles.h"
#include "support/clp_graph.h"
#include "support/random_costs.h"
#include "support/random_graph.h"

namespace m4n::detail {
namespace {

using test::cost_families;
using test::CostFamily;
using test::Graph;
using test::random_cost;
using test::random_shape;
using test::score_styles;
using test::ScoreStyle;
using test::shape_kinds;
using test::ShapeKind;

// A cost matrix for every number of labels from 2 to 5, twice: two families. Which of the two a node has is random.
struct Costs {
  Costs(CostFamily first, CostFamily second, double scale, std::mt19937_64& random) {
    for (const CostFamily family : {first, second})
      for (std::size_t k = 2; k <= 5; ++k) all.push_back(random_cost(family, k, scale, random));
    for (const CostMatrix& cost : all) largest = std::max(largest, test::magnitude(cost.values()));
  }
  std::vector<std::uint32_t> of(const FactorGraph& shape, std::mt19937_64& random) const {
    std::vector<std::uint32_t> kind;
    for (const std::uint32_t labels : shape.labels()) kind.push_back(labels - 2 + (random() % 2 == 0 ? 0 : 4));
    return kind;
  }
  std::vector<CostMatrix> all;
  double largest = 0;
};

// The scores of a graph with rows as long as the widest cost matrix.
struct Input {
  Input(const Graph& graph, const std::vector<std::uint32_t>& kinds) : kind(kinds) {
    const PaddedRows<const double> from = graph.scores().unary;
    const PaddedRows<double> rows = unary.shape(from.rows(), 5);
    for (std::size_t m = 0; m < from.rows(); ++m)
      for (std::size_t k = 0; k < rows.stride(); ++k) rows.row(m)[k] = k < from.columns() ? from(m, k) : 3e3;
    v = {{&graph.tree(), std::as_const(unary).view(), graph.scores().pairwise}, kind};
  }
  PaddedMatrix<double> unary;
  std::vector<std::uint32_t> kind;
  GraphGameScores v{};
};

// Solves, and proves the bounds from the definition: the lower at the weights, the upper over all labellings.
GameAnswer proven(const Graph& graph, const GraphGameScores& v, const Costs& costs, const GameLimits& limits,
                  GameSeeds& seeds, GraphGame::Workspace& workspace, const GraphGame& game) {
  const GameAnswer answer = game.solve(v, limits, seeds, workspace);
  const auto length = static_cast<double>(v.length());
  const double rounding = 1e-12 * costs.largest + 1e-14 * graph.magnitude() * (length + 30);
  const auto cost_of = [&](std::size_t m) -> const CostMatrix& { return costs.all[v.cost[m]]; };
  EXPECT_NEAR(std::accumulate(answer.weight.begin(), answer.weight.end(), 0.0), 1, 1e-12);
  double linear = 0, risk = 0;
  PaddedMatrix<double> mu;
  const PaddedRows<double> mass = mu.shape(v.length(), 5);
  std::fill_n(mass.data(), mass.rows() * mass.stride(), 0.0);
  for (std::size_t j = 0; j < answer.size(); ++j) {
    EXPECT_GT(answer.weight[j], 0);
    const std::vector<std::int32_t> y(answer.labels(j).begin(), answer.labels(j).end());
    linear += answer.weight[j] * static_cast<double>(graph.score(y));
    for (std::size_t m = 0; m < y.size(); ++m) mass(m, static_cast<std::size_t>(y[m])) += answer.weight[j];
  }
  std::vector<std::vector<double>> charge(v.length());
  for (std::size_t m = 0; m < v.length(); ++m) {
    const std::size_t labels = graph.shape().labels(m);
    double least = 1e300, total = 0;
    charge[m].assign(labels, 0);
    for (std::size_t y = 0; y < labels; ++y) {
      double expected = 0;
      for (std::size_t t = 0; t < labels; ++t) {
        expected += cost_of(m)(t, y) * mass(m, t);
        charge[m][t] += cost_of(m)(t, y) * answer.nu(m, y) / length;
      }
      least = std::min(least, expected);
      EXPECT_GE(answer.nu(m, y), 0);
      total += answer.nu(m, y);
    }
    EXPECT_NEAR(total, 1, 1e-12);
    risk += least / length;
  }
  long double best = -1e300L;
  graph.for_labellings([&](const std::vector<std::int32_t>& y) {
    long double value = graph.score(y);
    for (std::size_t m = 0; m < y.size(); ++m) value += charge[m][static_cast<std::size_t>(y[m])];
    best = std::max(best, value);
  });
  EXPECT_NEAR(answer.risk, risk, rounding);
  EXPECT_NEAR(answer.bounds.lower, risk + linear, rounding);
  EXPECT_NEAR(answer.bounds.upper, static_cast<double>(best), rounding);
  if (limits.stop == nullptr) {
    EXPECT_LE(answer.bounds.upper - answer.bounds.lower, limits.gap + 2 * rounding);
  }
  return answer;
}

class GraphGames : public ::testing::TestWithParam<ShapeKind> {};

TEST_P(GraphGames, BoundsAreProvenAndMeet) {
  std::mt19937_64 random(51);
  GraphGame::Workspace workspace;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const CostFamily first = cost_families[static_cast<std::size_t>(repeat) % std::size(cost_families)],
                     second = repeat % 3 == 0 ? first : cost_families[random() % std::size(cost_families)];
    const Costs costs(first, second, repeat % 7 == 6 ? 1e-3 : 1, random);
    const GraphGame game(costs.all);
    const FactorGraph shape = random_shape(GetParam(), random);
    const double relative = std::array{0.0, 1e-9, 0.1, 0.4, 1.0, 3.0, 1e6}[random() % 7];
    const Graph graph(shape, relative * costs.largest / static_cast<double>(shape.nodes()), score_styles[random() % 5],
                      random);
    const Input input(graph, costs.of(shape, random));
    GameLimits limits;
    limits.gap = 1e-6 * costs.largest;
    GameSeeds seeds;
    const Bounds cold = proven(graph, input.v, costs, limits, seeds, workspace, game).bounds;
    const Bounds warm = proven(graph, input.v, costs, limits, seeds, workspace, game).bounds;
    EXPECT_NEAR(cold.lower, warm.lower, limits.gap + 1e-12 * graph.magnitude());
    EXPECT_GE(LabellingMaxMin<GraphProblem>(costs.all).upper_at_once(input.v), cold.lower - 1e-12 * graph.magnitude());
    // Who is told to stop at once, or soon, has proven bounds all the same.
    for (const int steps : {0, 2}) {
      int asked = 0;
      const std::function<bool()> stop = [&] { return asked++ >= steps; };
      limits.stop = &stop;
      GameSeeds none;
      const Bounds early = proven(graph, input.v, costs, limits, none, workspace, game).bounds;
      EXPECT_LE(early.lower, cold.upper + 1e-12 * graph.magnitude());
      EXPECT_GE(early.upper, cold.lower - 1e-12 * graph.magnitude());
    }
  }
}

TEST_P(GraphGames, AgreesWithClpOverAllLabellings) {
  std::mt19937_64 random(52);
  GraphGame::Workspace workspace;
  for (int repeat = 0; repeat < 40;) {
    const FactorGraph shape = random_shape(GetParam(), random, 3);
    double labellings = 1;
    for (const std::uint32_t labels : shape.labels()) labellings *= labels;
    if (labellings > 500) continue;
    ++repeat;
    const Costs costs(cost_families[random() % std::size(cost_families)], CostFamily::asymmetric, 1, random);
    const GraphGame game(costs.all);
    const Graph graph(shape, std::array{0.1, 0.5, 2.0}[random() % 3] / static_cast<double>(shape.nodes()),
                      score_styles[random() % 5], random);
    const Input input(graph, costs.of(shape, random));
    GameLimits limits;
    limits.gap = 1e-9 * costs.largest;
    GameSeeds seeds;
    const Bounds bounds = game.solve(input.v, limits, seeds, workspace).bounds;
    const double truth = test::clp_labellings_value(graph, input.v, costs.all);
    EXPECT_NEAR(bounds.lower, truth, 1e-6 * costs.largest);
    EXPECT_NEAR(bounds.upper, truth, 1e-6 * costs.largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GraphGames, ::testing::ValuesIn(shape_kinds));

// Too many labellings to count: on forests the local polytope is exact.
TEST(GraphGame, ForestsAgreeWithClpOverTheLocalPolytope) {
  std::mt19937_64 random(53);
  GraphGame::Workspace workspace;
  for (int repeat = 0; repeat < 60; ++repeat) {
    const auto nodes = static_cast<std::uint32_t>(10 + random() % 20);
    std::vector<std::uint32_t> labels(nodes);
    for (std::uint32_t& count : labels) count = 2 + static_cast<std::uint32_t>(random() % 4);
    const FactorGraph shape(labels,
                            test::random_edges(repeat % 2 == 0 ? ShapeKind::tree : ShapeKind::forest, nodes, random));
    const Costs costs(cost_families[random() % std::size(cost_families)], CostFamily::asymmetric, 1, random);
    const GraphGame game(costs.all);
    const Graph graph(shape, std::array{0.3, 1.0, 3.0}[random() % 3] * costs.largest / nodes,
                      repeat % 5 == 0 ? ScoreStyle::no_transitions : ScoreStyle::normal, random);
    const Input input(graph, costs.of(shape, random));
    GameLimits limits;
    limits.gap = 1e-9 * costs.largest;
    GameSeeds seeds;
    const Bounds bounds = game.solve(input.v, limits, seeds, workspace).bounds;
    const double truth = test::clp_local_value(input.v, costs.all);
    EXPECT_NEAR(bounds.lower, truth, 1e-6 * costs.largest);
    EXPECT_NEAR(bounds.upper, truth, 1e-6 * costs.largest);
  }
}

TEST(GraphGame, ChainsAgreeWithTheChainOracle) {
  std::mt19937_64 random(54);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::size_t length = 1 + random() % 12, labels = 2 + random() % 9;
    const CostMatrix cost =
        random_cost(cost_families[static_cast<std::size_t>(repeat) % std::size(cost_families)], labels, 1, random);
    const test::Chain chain(length, labels, 0.7 / static_cast<double>(length), score_styles[random() % 5], random);
    std::vector<GraphEdge> edges;
    for (std::uint32_t m = 1; m < length; ++m) edges.push_back({m - 1, m});
    const JunctionTree tree(FactorGraph(std::vector<std::uint32_t>(length, static_cast<std::uint32_t>(labels)), edges));
    PaddedMatrix<double> unary;
    const PaddedRows<double> rows = unary.shape(length, labels);
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t k = 0; k < labels; ++k) rows(m, k) = ChainProblem::own(chain.scores(), m, k);
    const std::vector<PaddedRows<const double>> pairwise(length - 1, chain.transitions().rows().from_to);
    const std::vector<std::uint32_t> kind(length, 0);
    GameLimits limits;
    limits.gap = 1e-11;
    GameSeeds of_chain, of_graph;
    ChainGame::Workspace chain_workspace;
    GraphGame::Workspace graph_workspace;
    const Bounds expected = ChainGame(cost).solve(chain.scores(), limits, of_chain, chain_workspace).bounds;
    const GraphGameScores v{{&tree, std::as_const(unary).view(), pairwise}, kind};
    const Bounds found = GraphGame(cost).solve(v, limits, of_graph, graph_workspace).bounds;
    const double slack = 1e-9 + (expected.upper - expected.lower) + (found.upper - found.lower);
    EXPECT_LE(found.upper - found.lower, 1e-6);
    EXPECT_NEAR(found.lower, expected.lower, slack);
    EXPECT_NEAR(found.upper, expected.upper, slack);
  }
}

TEST(GraphGame, SeedsOfAnotherKindAreHarmless) {
  std::mt19937_64 random(55);
  GraphGame::Workspace workspace;
  const Costs costs(CostFamily::asymmetric, CostFamily::zero_one, 1, random);
  const GraphGame game(costs.all);
  const Graph graph({{2, 5, 3, 4}, {{0, 1}, {2, 1}, {2, 3}, {3, 0}}}, 0.1, ScoreStyle::normal, random);
  const Input input(graph, costs.of(graph.shape(), random));
  GameLimits limits;
  limits.gap = 1e-6;
  GameSeeds seeds;
  const Bounds exact = proven(graph, input.v, costs, limits, seeds, workspace, game).bounds;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::size_t size = 1 + random() % 5, nodes = repeat % 5 == 0 ? 3 : 4;
    seeds.clear();
    for (std::size_t e = 0; e < size * nodes; ++e) seeds.sequence.push_back(static_cast<std::uint16_t>(random() % 4));
    for (std::size_t m = 0; m < nodes; ++m) seeds.reference.push_back(static_cast<std::uint16_t>(random() % 3));
    for (std::size_t r = 0; r + 1 < size; ++r)
      seeds.row.push_back({static_cast<std::uint32_t>(random() % 5), static_cast<std::uint32_t>(random() % 4)});
    const Bounds bounds = proven(graph, input.v, costs, limits, seeds, workspace, game).bounds;
    EXPECT_NEAR(bounds.lower, exact.lower, 2e-6);
  }
}

TEST(GraphGame, InputThatDoesNotFitIsRefused) {
  std::mt19937_64 random(56);
  const Costs costs(CostFamily::asymmetric, CostFamily::zero_one, 1, random);
  const GraphGame game(costs.all);
  GraphGame::Workspace workspace;
  GameSeeds seeds;
  const Graph graph({{2, 3}, {{0, 1}}}, 1, ScoreStyle::normal, random);
  const auto message = [&](const GraphGameScores& v) -> std::string {
    try {
      game.solve(v, {}, seeds, workspace);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const Input good(graph, {0, 1}), unknown(graph, {0, 8}), other(graph, {1, 1});
  EXPECT_EQ(message(good.v), "accepted");
  EXPECT_THAT(message(unknown.v), ::testing::HasSubstr("node 1 has cost matrix 8, but there are 8"));
  EXPECT_THAT(message(other.v), ::testing::HasSubstr("node 0 has 2 labels, but its cost matrix 1 has 3"));
  GraphGameScores bare = good.v;
  bare.pairwise = {};
  EXPECT_THAT(message(bare), ::testing::HasSubstr("0 tables"));
}

TEST(GraphLossAugmentedDecoder, IsTheBestOfAllLabellings) {
  std::mt19937_64 random(57);
  LossAugmentedDecoder<GraphProblem> decoder;
  for (int repeat = 0; repeat < 500; ++repeat) {
    const FactorGraph shape =
        random_shape(shape_kinds[static_cast<std::size_t>(repeat) % std::size(shape_kinds)], random);
    const Costs costs(cost_families[random() % std::size(cost_families)], CostFamily::asymmetric, 1, random);
    const Graph graph(shape, std::array{0.0, 0.3, 1e3}[random() % 3], score_styles[random() % 5], random);
    const Input input(graph, costs.of(shape, random));
    std::vector<std::int32_t> truth, y(shape.nodes());
    for (const std::uint32_t labels : shape.labels()) truth.push_back(static_cast<std::int32_t>(random() % labels));
    const auto answer = decoder.solve(input.v, costs.all, truth, y);
    const auto loss = [&](const std::vector<std::int32_t>& labels) {
      double sum = 0;
      for (std::size_t m = 0; m < labels.size(); ++m)
        sum += costs.all[input.kind[m]](static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(labels[m]));
      return sum / static_cast<double>(labels.size());
    };
    double best = -1e300;
    graph.for_labellings(
        [&](const auto& labels) { best = std::max(best, static_cast<double>(graph.score(labels)) + loss(labels)); });
    const double slack = 1e-12 * (1 + graph.magnitude() * 30);
    EXPECT_NEAR(answer.value, best, slack);
    EXPECT_NEAR(answer.value, static_cast<double>(graph.score(y)) + loss(y), slack);
    EXPECT_NEAR(answer.loss, loss(y), 1e-12);
  }
}

}  // namespace
}  // namespace m4n::detail

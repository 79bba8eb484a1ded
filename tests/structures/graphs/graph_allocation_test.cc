// Once a workspace has seen a shape, the same work on it allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "solvers/labelling_oracles.h"
#include "structures/graphs/oracles.h"
#include "structures/graphs/space.h"
#include "support/count_allocations.h"
#include "support/random_graph.h"

namespace m4n::detail {
namespace {

// Allocations of the second of two calls.
template <class Body>
std::size_t allocated_again(Body&& body) {
  body();
  const std::size_t before = allocations;
  body();
  return allocations - before;
}

TEST(GraphAllocation, SecondCallsAllocateNothing) {
  std::mt19937_64 random(1);
  JunctionTreeCache cache;
  for (const double scale : {0.0, 0.05, 1.0, 1000.0}) {
    const test::Graph graph(
        {std::vector<std::uint32_t>(15, 4), test::random_edges(test::ShapeKind::k_tree, 15, random)}, scale,
        test::ScoreStyle::normal, random);
    const std::vector<std::uint32_t> kind(15, 0);
    const std::vector<std::int32_t> truth(15, 2);
    const GraphGameScores v{graph.scores(), kind};
    std::vector<std::int32_t> y(15);
    EXPECT_EQ(allocated_again([&] { cache.find(graph.shape()); }), 0);
    GraphDecoder decoder;
    EXPECT_EQ(allocated_again([&] { decoder.solve(v, y); }), 0);
    GraphSumProduct sum_product;
    EXPECT_EQ(allocated_again([&] { sum_product.solve(v); }), 0);
    EXPECT_EQ(sum_product.used_logarithms(), scale == 1000);
    const std::vector<CostMatrix> costs{CostMatrix::named("absolute", 4)};
    LossAugmentedDecoder<GraphProblem> augmented;
    EXPECT_EQ(allocated_again([&] { augmented.solve(v, costs, truth, y); }), 0);
    const GraphGame game(costs);
    GraphGame::Workspace workspace;
    GameSeeds seeds;
    EXPECT_EQ(allocated_again([&] {
                seeds.clear();
                game.solve(v, {}, seeds, workspace);  // cold
                game.solve(v, {}, seeds, workspace);  // warm
              }),
              0);
  }
}

}  // namespace
}  // namespace m4n::detail

// Once a workspace has seen a chain, the same work on it allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "solvers/labelling_oracles.h"
#include "structures/chains/oracles.h"
#include "structures/chains/space.h"
#include "support/count_allocations.h"
#include "support/random_chain.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::ScoreStyle;

// Allocations of the second of two calls.
template <class Body>
std::size_t allocated_again(Body&& body) {
  body();
  const std::size_t before = allocations;
  body();
  return allocations - before;
}

TEST(ChainAllocation, TheCounterCounts) {
  const std::size_t before = allocations;
  const std::vector<int> some(100);
  const AlignedVector<double> others(100);
  EXPECT_EQ(allocations - before, 2);
}

TEST(ChainAllocation, SecondCallsAllocateNothing) {
  std::mt19937_64 random(1);
  for (const double scale : {0.05, 1.0, 1000.0}) {
    const Chain chain(12, 9, scale, ScoreStyle::normal, random);
    const ChainScores v = chain.scores();
    std::vector<std::int32_t> y(v.length());
    const std::vector<std::int32_t> truth(v.length(), 2);
    FloatTransitions in_float;
    ExpTransitions exp;
    Viterbi viterbi;
    EXPECT_EQ(allocated_again([&] { viterbi.solve(v, y); }), 0);
    EXPECT_EQ(allocated_again([&] {
                in_float.prepare(chain.transitions());
                viterbi.solve_in_float(v, in_float, y);
              }),
              0);
    KBest best;
    EXPECT_EQ(allocated_again([&] { best.solve(v, 5); }), 0);
    SumProduct sum_product;
    PaddedMatrix<double> count;
    EXPECT_EQ(allocated_again([&] {
                exp.prepare(chain.transitions());
                sum_product.solve(v, exp);
                sum_product.transition_counts(v, exp, count.shape(9, 9));
              }),
              0);
    const CostMatrix cost = CostMatrix::named("absolute", 9);
    LossAugmentedDecoder<ChainProblem> augmented;
    EXPECT_EQ(allocated_again([&] { augmented.solve(v, {&cost, 1}, truth, y); }), 0);
    const ChainGame game(cost);
    ChainGame::Workspace workspace;
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

// Once an object has seen permutations of some size, the same work on as many or fewer items allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/birkhoff_mirror_prox.h"
#include "structures/permutations/gibbs.h"
#include "structures/permutations/rank_one_game.h"
#include "support/count_allocations.h"

namespace m4n::detail {
namespace {

TEST(PermutationAllocation, TheCounterCounts) {
  const std::size_t before = allocations;
  const std::vector<int> some(100);
  EXPECT_EQ(allocations - before, 1);
}

TEST(PermutationAllocation, LaterCallsAllocateNothing) {
  std::vector<double> scores(81), p(81), m(9), n(9);
  std::vector<PositionLoss> large{PositionLoss::hamming(9), PositionLoss::footrule(9), PositionLoss::squared(9)},
      small{PositionLoss::hamming(4), PositionLoss::footrule(4), PositionLoss::squared(4)};
  Assignment assignment;
  PermutationGibbs gibbs;
  RankOneGame closed_form;
  BirkhoffInterior interior;
  BirkhoffMirrorProx mirror;
  BirkhoffGame game;
  BirkhoffSeeds seeds;
  const auto work = [&](std::vector<PositionLoss>& losses) {
    const std::size_t size = losses[0].size();
    for (std::size_t e = 0; e < size * size; ++e) scores[e] = static_cast<double>(e * e % 17) / 20;
    const auto s = std::span<const double>(scores).first(size * size);
    assignment.solve(s, size);
    assignment.solve(s, size, assignment.column_duals());
    gibbs.marginals(s, size, p);
    closed_form.solve(s.first(size), losses[2], m, n);
    for (PositionLoss& loss : losses) {
      interior.solve(s, loss, {});
      interior.prox(s, loss, 0.1, p, {});
      mirror.solve(s, loss, {1e-2, 20});
      seeds.clear();
      seeds.skip = 0;
      game.solve(s, loss, {}, seeds);
    }
  };
  work(large);
  work(small);
  const std::size_t before = allocations;
  work(large);
  work(small);
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace m4n::detail

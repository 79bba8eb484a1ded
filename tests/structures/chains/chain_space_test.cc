// Chains as an output space over flat vectors, loss-augmented decoding, and the paper's mirror prox on chains.
#include "solvers/labelling_oracles.h"
#include "structures/chains/paper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "games/mirror_prox.h"
#include "structures/chains/oracles.h"
#include "support/random_chain.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::CostFamily;
using test::for_labellings;
using test::random_cost;
using test::ScoreStyle;

using Labels = std::vector<std::int32_t>;

static_assert(OutputSpace<ChainSpace>);

TEST(ChainSpace, ScoresOfFlatVectorsAreScoresOfTheChain) {
  std::mt19937_64 random(1);
  for (const auto& [length, labels] : {std::pair<std::size_t, std::size_t>{1, 3}, {4, 3}, {3, 9}}) {
    const Chain chain(length, labels, 1.0, ScoreStyle::normal, random);
    const ChainSpace space(length, labels);
    AlignedVector<double> v(space.parts()), phi(space.parts());
    space.flatten(chain.scores(), v);
    for_labellings(length, labels, [&](const Labels& y) {
      const auto expected = static_cast<double>(chain.score(y));
      EXPECT_NEAR(space.score(v, y), expected, 1e-12);
      space.embed(y, phi);
      EXPECT_NEAR(kernels::dot(v, phi), expected, 1e-12);
    });
  }
}

TEST(ChainSpace, MarginalsAreTheGradientOfTheLogPartitionFunction) {
  std::mt19937_64 random(2);
  const Chain chain(5, 3, 1.0, ScoreStyle::normal, random);
  const ChainSpace space(5, 3);
  AlignedVector<double> v(space.parts()), mu(space.parts()), other(space.parts());
  space.flatten(chain.scores(), v);
  space.marginals(v, mu);
  const double width = 1e-5;
  for (std::size_t e = 0; e < v.size(); ++e) {
    const double at = v[e];
    v[e] = at + width;
    const double above = space.marginals(v, other);
    v[e] = at - width;
    const double below = space.marginals(v, other);
    v[e] = at;
    EXPECT_NEAR(mu[e], (above - below) / (2 * width), 1e-9) << e;
  }
  // Without scores the distribution is uniform.
  std::fill(v.begin(), v.end(), 0.0);
  space.marginals(v, mu);
  space.uniform(other);
  for (std::size_t e = 0; e < mu.size(); ++e) EXPECT_NEAR(mu[e], other[e], 1e-14);
}

TEST(ChainLossAugmentedDecoder, FindsTheBestOfScoreAndLoss) {
  std::mt19937_64 random(3);
  LossAugmentedDecoder<ChainProblem> decoder;
  for (const CostFamily family : {CostFamily::zero_one, CostFamily::asymmetric, CostFamily::negative}) {
    for (const auto& shape : {std::pair<std::size_t, std::size_t>{1, 4}, {3, 9}, {6, 3}}) {
      const std::size_t length = shape.first, labels = shape.second;
      const CostMatrix cost = random_cost(family, labels, 1.0, random);
      const Chain chain(length, labels, 0.3, ScoreStyle::normal, random);
      Labels truth(length);
      for (auto& label : truth) label = static_cast<std::int32_t>(random() % labels);
      const auto loss_of = [&](const Labels& y) {
        double sum = 0;
        for (std::size_t m = 0; m < length; ++m)
          sum += cost(static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(y[m]));
        return sum / static_cast<double>(length);
      };
      double best = -INFINITY;
      for_labellings(length, labels,
                     [&](const Labels& y) { best = std::max(best, static_cast<double>(chain.score(y)) + loss_of(y)); });
      Labels y(length);
      const auto answer = decoder.solve(chain.scores(), {&cost, 1}, truth, y);
      EXPECT_NEAR(answer.value, best, 1e-12);
      EXPECT_NEAR(answer.loss, loss_of(y), 1e-13);
      EXPECT_NEAR(answer.value, score(chain.scores(), y) + loss_of(y), 1e-12);
    }
  }
}

// SP-MP closes in on the value of the game from both sides.
TEST(ChainMirrorProx, ConvergesToTheValueOfTheGame) {
  std::mt19937_64 random(4);
  for (const CostFamily family : {CostFamily::zero_one, CostFamily::asymmetric}) {
    const std::size_t length = 5, labels = 4;
    const CostMatrix cost = random_cost(family, labels, 1.0, random);
    const SimplexLoss simplex_loss(cost);
    const Chain chain(length, labels, 0.1, ScoreStyle::normal, random);
    const ChainSpace space(length, labels);
    const ChainLoss loss(simplex_loss, space);
    AlignedVector<double> v(space.parts()), mu(v), nu(v), scratch(v);
    space.flatten(chain.scores(), v);

    const ChainGame game(cost);
    ChainGame::Workspace workspace;
    GameSeeds seeds;
    const Bounds exact = game.solve(chain.scores(), {}, seeds, workspace).bounds;
    double last_gap = INFINITY;
    for (const int iterations : {20, 200, 2000}) {
      const MirrorProx<ChainSpace, ChainLoss> mirror(space, loss, cost.range() / static_cast<double>(length),
                                                     iterations);
      auto mirror_workspace = mirror.workspace();
      space.uniform(mu);
      space.uniform(nu);
      mirror.solve(v, mu, nu, mirror_workspace);
      const double lower = loss.bayes_risk(mu, scratch) + kernels::dot(v, mu);
      loss.apply_transposed(nu, scratch);
      for (std::size_t e = 0; e < v.size(); ++e) scratch[e] += v[e];
      Transitions transitions;
      transitions.prepare(space.transitions(std::span<const double>(scratch)), {}, {});
      Viterbi viterbi;
      Labels path(length);
      const double upper = viterbi.solve({space.unary(std::span<const double>(scratch)), &transitions}, path);
      EXPECT_LE(lower, exact.upper + 1e-9);
      EXPECT_GE(upper, exact.lower - 1e-9);
      EXPECT_LT(upper - lower, 0.5 * last_gap);
      last_gap = upper - lower;
    }
    EXPECT_LT(last_gap, 0.02);
  }
}

}  // namespace
}  // namespace m4n::detail

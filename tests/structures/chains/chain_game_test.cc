// The max-min oracle of chains against a linear program over the marginal polytope, against the matrix game, and
// against its own certificate, recomputed here from the definition.
#include "structures/chains/oracles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "games/matrix_game.h"
#include "solvers/labelling_oracles.h"
#include "support/clp_chain.h"
#include "support/random_chain.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::clp_chain_value;
using test::cost_families;
using test::CostFamily;
using test::random_cost;
using test::score_styles;
using test::ScoreStyle;

// The unit in which errors are judged.
double unit_of(const CostMatrix& cost) {
  const double range = test::spread(cost.values());
  return range > 0 ? range : 1;
}

struct Player {
  explicit Player(const CostMatrix& c) : cost(c), game(c) {}

  // Solves from the seeds and checks what can be checked without another solver.
  GameAnswer solve(const ChainScores& v, const GameLimits& limits) {
    const GameAnswer answer = game.solve(v, limits, seeds, workspace);
    const std::size_t length = v.length(), labels = v.labels();
    top = viterbi_score(v);
    // Sums of huge scores carry their rounding, whatever cancels.
    double largest = test::magnitude(cost.values());
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t k = 0; k < labels; ++k) largest = std::max(largest, std::abs(v.unary(m, k)));
    rounding = static_cast<double>(length) * (1e-12 * unit_of(cost) + 1e-14 * (std::abs(top) + largest));
    EXPECT_LE(answer.bounds.lower, answer.bounds.upper);
    // lower = h(mu) + v.mu at weights that are a distribution, or masses that are a point of the polytope
    std::vector<double> mu(length * labels), entered(length * labels);
    double linear = 0;
    if (answer.mass.empty()) {
      EXPECT_NEAR(std::accumulate(answer.weight.begin(), answer.weight.end(), 0.0), 1, 1e-12);
    }
    for (const TreeMass& part : answer.mass) {
      const std::size_t m = answer.nodes[part.node].position;
      EXPECT_GT(part.mass, 0);
      linear += part.mass * (v.unary(m, part.label) + (m + 1 == length ? v.transitions->end(part.label) : 0) +
                             (m == 0 ? v.transitions->start(part.label) : (*v.transitions)(part.above, part.label)));
      mu[m * labels + part.label] += part.mass;
      if (m > 0) entered[(m - 1) * labels + part.above] += part.mass;
    }
    for (std::size_t e = 0; !answer.mass.empty() && e + labels < mu.size(); ++e) EXPECT_NEAR(entered[e], mu[e], 1e-12);
    for (std::size_t j = 0; j < answer.size(); ++j) {
      EXPECT_GT(answer.weight[j], 0);
      linear += answer.weight[j] * score(v, answer.labels(j));
      for (std::size_t m = 0; m < length; ++m)
        mu[m * labels + static_cast<std::size_t>(answer.labels(j)[m])] += answer.weight[j];
    }
    double risk = 0;
    PaddedMatrix<double> augmented;
    augmented.shape(length, labels);
    for (std::size_t m = 0; m < length; ++m) {
      double least = INFINITY, mass = 0;
      for (std::size_t y = 0; y < labels; ++y) {
        double expected = 0;
        for (std::size_t t = 0; t < labels; ++t) expected += cost(t, y) * mu[m * labels + t];
        least = std::min(least, expected);
        EXPECT_GE(answer.nu(m, y), 0);
        mass += answer.nu(m, y);
      }
      EXPECT_NEAR(mass, 1, 1e-12);
      risk += least / static_cast<double>(length);
      for (std::size_t t = 0; t < labels; ++t) {
        double charge = 0;
        for (std::size_t y = 0; y < labels; ++y) charge += cost(t, y) * answer.nu(m, y);
        augmented.view()(m, t) = v.unary(m, t) + charge / static_cast<double>(length);
      }
    }
    EXPECT_NEAR(answer.risk, risk, rounding);
    EXPECT_NEAR(answer.bounds.lower, risk + linear, rounding);
    // upper = the best response to nu
    EXPECT_NEAR(answer.bounds.upper, viterbi_score({std::as_const(augmented).view(), v.transitions}), rounding);
    return answer;
  }
  static double viterbi_score(const ChainScores& v) {
    Viterbi viterbi;
    std::vector<std::int32_t> path(v.length());
    return viterbi.solve(v, path);
  }

  const CostMatrix& cost;
  ChainGame game;
  ChainGame::Workspace workspace;
  GameSeeds seeds;
  double top = 0, rounding = 0;
};

// How exact an answer must be, in units of the costs. Costs that differ by less than 1e-6 of their range may be taken
// for equal where they spoil the basis.
double precision_of(CostFamily family) { return family == CostFamily::near_duplicate ? 1e-6 : 2e-9; }

// Scores of this many times the mean cost, divided by the length as the loss is.
double scale_of(const CostMatrix& cost, double relative, std::size_t length) {
  return relative * std::max(cost.mean_off_diagonal(), 0.1) / static_cast<double>(length);
}
GameLimits tight(const CostMatrix& cost) {
  GameLimits limits;
  limits.gap = 1e-9 * unit_of(cost);
  return limits;
}

class ChainGameFamily : public ::testing::TestWithParam<CostFamily> {};

TEST_P(ChainGameFamily, AgreesWithClp) {
  std::mt19937_64 random(21);
  struct Shape {
    std::size_t length, labels;
  };
  for (const auto& [length, labels] :
       {Shape{1, 1}, Shape{1, 2}, Shape{1, 6}, Shape{2, 1}, Shape{2, 2}, Shape{2, 5}, Shape{3, 3}, Shape{3, 8},
        Shape{4, 2}, Shape{4, 4}, Shape{5, 3}, Shape{7, 2}, Shape{9, 3}}) {
    for (const double relative : {1e-9, 0.1, 0.4, 1.0, 3.0, 1e6}) {
      for (const ScoreStyle style : score_styles) {
        const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
        const double scale = scale_of(cost, relative, length);
        const Chain chain(length, labels, scale, style, random);
        Player player(cost);
        const GameAnswer answer = player.solve(chain.scores(), tight(cost));
        const double truth = clp_chain_value(cost, chain.scores(), player.top);
        const double slack = precision_of(GetParam()) * unit_of(cost) + player.rounding;
        EXPECT_NEAR(answer.bounds.lower, truth, slack) << length << " x " << labels << " scale " << scale;
        EXPECT_NEAR(answer.bounds.upper, truth, slack) << length << " x " << labels << " scale " << scale;
      }
    }
  }
}

// Longer than the simplex method takes on.
TEST_P(ChainGameFamily, LongChainsAgreeWithClp) {
  std::mt19937_64 random(29);
  constexpr std::size_t length = 300;
  for (const std::size_t labels : {2, 3}) {
    for (const double relative : {0.1, 1.0}) {
      const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
      const Chain chain(length, labels, scale_of(cost, relative, length), ScoreStyle::normal, random);
      Player player(cost);
      GameLimits limits;
      limits.gap = 1e-4 * unit_of(cost);
      const GameAnswer answer = player.solve(chain.scores(), limits);
      EXPECT_FALSE(answer.mass.empty());
      EXPECT_LE(answer.bounds.upper - answer.bounds.lower, limits.gap);
      const double truth = clp_chain_value(cost, chain.scores(), player.top);
      EXPECT_LE(answer.bounds.lower, truth + limits.gap);
      EXPECT_GE(answer.bounds.upper, truth - limits.gap);
      // Who is told to stop at once, or soon, has proven bounds all the same.
      for (const int questions : {0, 3}) {
        int asked = 0;
        const std::function<bool()> stop = [&] { return asked++ >= questions; };
        limits.stop = &stop;
        const Bounds early = player.solve(chain.scores(), limits).bounds;
        EXPECT_LE(early.lower, truth + limits.gap);
        EXPECT_GE(early.upper, truth - limits.gap);
      }
    }
  }
}

TEST_P(ChainGameFamily, NoLabellingScoresMoreThanTheSumOfTheLargestScores) {
  std::mt19937_64 random(30);
  for (const ScoreStyle style : score_styles) {
    const CostMatrix cost = random_cost(GetParam(), 3, 1.0, random);
    const LabellingMaxMin<ChainProblem> oracle({&cost, 1});
    const Chain chain(7, 3, scale_of(cost, 1, 7), style, random);
    Player player(cost);
    const GameAnswer answer = player.solve(chain.scores(), tight(cost));
    EXPECT_GE(oracle.upper_at_once(chain.scores()), answer.bounds.lower - player.rounding);
  }
}

TEST_P(ChainGameFamily, CostsOfAnyScaleAreHeldToTheirOwnDigits) {
  std::mt19937_64 random(22);
  for (const double scale : {1e-9, 1e-3, 1e6}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const CostMatrix cost = random_cost(GetParam(), 4, scale, random);
      const Chain chain(3, 4, scale_of(cost, 0.4, 3), ScoreStyle::normal, random);
      // What is asked for is absolute; costs of 1e-9 are told apart only if the gap is.
      Player player(cost);
      const GameAnswer answer = player.solve(chain.scores(), tight(cost));
      const double truth = clp_chain_value(cost, chain.scores(), player.top);
      EXPECT_NEAR(answer.bounds.lower, truth, precision_of(GetParam()) * unit_of(cost) + player.rounding);
      EXPECT_NEAR(answer.bounds.upper, truth, precision_of(GetParam()) * unit_of(cost) + player.rounding);
    }
  }
}

TEST_P(ChainGameFamily, OnePositionIsTheMatrixGame) {
  std::mt19937_64 random(23);
  for (const std::size_t labels : {1, 2, 3, 7, 26}) {
    for (const double relative : {0.0, 0.3, 1.0, 10.0}) {
      const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
      Chain chain(1, labels, scale_of(cost, relative, 1), ScoreStyle::normal, random);
      Player player(cost);
      const GameAnswer answer = player.solve(chain.scores(), tight(cost));
      std::vector<double> v(labels), mu(labels), nu(labels);
      for (std::size_t k = 0; k < labels; ++k)
        v[k] = chain.scores().unary(0, k) + chain.transitions().start(k) + chain.transitions().end(k);
      std::vector<std::uint8_t> state(labels);
      const MatrixGame game(cost);
      MatrixGame::Workspace workspace(labels);
      const Bounds expected = game.solve(v, mu, nu, state, workspace);
      EXPECT_NEAR(answer.bounds.lower, expected.lower, precision_of(GetParam()) * unit_of(cost));
      EXPECT_NEAR(answer.bounds.upper, expected.upper, precision_of(GetParam()) * unit_of(cost));
    }
  }
}

TEST_P(ChainGameFamily, StaysExactFromTheSeedsOfTheLastVisit) {
  std::mt19937_64 random(24);
  std::normal_distribution<double> normal;
  for (const auto& [length, labels] : {std::pair<std::size_t, std::size_t>{3, 4}, {6, 7}, {8, 26}}) {
    const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
    const double scale = scale_of(cost, 1.0, length);
    Chain chain(length, labels, scale, ScoreStyle::normal, random);
    Player player(cost), cold(cost);
    for (int step = 0; step < 30; ++step) {
      const double jump = (step % 10 == 9 ? 2.0 : 0.1) * scale;
      for (std::size_t m = 0; m < length; ++m)
        for (std::size_t k = 0; k < labels; ++k)
          chain.unary()(m, k) = 0.95 * chain.unary()(m, k) + jump * normal(random);
      for (std::size_t j = 0; j < labels; ++j)
        for (std::size_t k = 0; k < labels; ++k) chain.table()(j, k) += 0.1 * jump * normal(random);
      chain.prepare();
      cold.seeds.clear();
      const Bounds warm = player.solve(chain.scores(), tight(cost)).bounds;
      const Bounds fresh = cold.solve(chain.scores(), tight(cost)).bounds;
      EXPECT_LE(warm.upper - warm.lower, precision_of(GetParam()) * unit_of(cost));
      EXPECT_NEAR(warm.lower, fresh.lower, precision_of(GetParam()) * unit_of(cost))
          << length << " x " << labels << " step " << step;
    }
  }
}

TEST_P(ChainGameFamily, BoundsHoldWhereverItStops) {
  std::mt19937_64 random(25);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const std::size_t length = 1 + random() % 8, labels = 2 + random() % 8;
    const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
    const Chain chain(length, labels, scale_of(cost, 0.3, length), ScoreStyle::normal, random);
    Player player(cost);
    const Bounds exact = player.solve(chain.scores(), tight(cost)).bounds;
    const double slack = precision_of(GetParam()) * unit_of(cost);
    for (const int rounds : {1, 2, 3, 5, 8}) {
      player.seeds.clear();
      GameLimits limits = tight(cost);
      limits.rounds = rounds;
      const GameAnswer answer = player.solve(chain.scores(), limits);
      EXPECT_LE(answer.rounds, rounds);
      EXPECT_LE(answer.bounds.lower, exact.upper + slack);
      EXPECT_GE(answer.bounds.upper, exact.lower - slack);
    }
    for (const double relative : {0.1, 0.5}) {
      player.seeds.clear();
      GameLimits limits = tight(cost);
      limits.relative = relative;
      limits.current = exact.lower - 0.2 * unit_of(cost);
      const Bounds bounds = player.solve(chain.scores(), limits).bounds;
      EXPECT_LE(bounds.upper - bounds.lower, relative * (bounds.upper - limits.current) + slack);
      EXPECT_LE(bounds.lower, exact.upper + slack);
      EXPECT_GE(bounds.upper, exact.lower - slack);
    }
  }
}

TEST_P(ChainGameFamily, SeedsOfAnotherKindAreHarmless) {
  std::mt19937_64 random(26);
  const std::size_t length = 4, labels = 5;
  const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
  const Chain chain(length, labels, scale_of(cost, 0.5, length), ScoreStyle::normal, random);
  Player player(cost);
  const Bounds exact = player.solve(chain.scores(), tight(cost)).bounds;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::size_t size = 1 + random() % 6, of_length = repeat % 4 == 0 ? 3 : length;
    player.seeds.clear();
    for (std::size_t e = 0; e < size * of_length; ++e)
      player.seeds.sequence.push_back(static_cast<std::uint16_t>(random() % (labels + (repeat % 5 == 0))));
    for (std::size_t m = 0; m < of_length; ++m)
      player.seeds.reference.push_back(static_cast<std::uint16_t>(random() % labels));
    for (std::size_t r = 0; r + 1 < size; ++r)
      player.seeds.row.push_back({static_cast<std::uint32_t>(random() % (length + (repeat % 7 == 0))),
                                  static_cast<std::uint32_t>(random() % (labels + (repeat % 3 == 0)))});
    const Bounds bounds = player.solve(chain.scores(), tight(cost)).bounds;
    EXPECT_NEAR(bounds.lower, exact.lower, precision_of(GetParam()) * unit_of(cost));
    EXPECT_NEAR(bounds.upper, exact.upper, precision_of(GetParam()) * unit_of(cost));
  }
}

// Equal transitions are solved position by position; a hair's breadth away the simplex method must find the same.
TEST_P(ChainGameFamily, EqualAndAlmostEqualTransitionsGiveTheSameValue) {
  std::mt19937_64 random(27);
  for (const auto& [length, labels] : {std::pair<std::size_t, std::size_t>{2, 3}, {4, 6}, {7, 4}}) {
    for (const double relative : {0.0, 0.01, 0.5}) {
      const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
      Chain chain(length, labels, scale_of(cost, relative, length), ScoreStyle::no_transitions, random);
      Player apart(cost), joint(cost);
      ASSERT_TRUE(chain.transitions().constant());
      const Bounds expected = apart.solve(chain.scores(), tight(cost)).bounds;
      chain.table()(0, 1) = 1e-13;
      chain.prepare();
      ASSERT_FALSE(chain.transitions().constant());
      const Bounds found = joint.solve(chain.scores(), tight(cost)).bounds;
      EXPECT_NEAR(found.lower, expected.lower, precision_of(GetParam()) * unit_of(cost));
      EXPECT_NEAR(found.upper, expected.upper, precision_of(GetParam()) * unit_of(cost));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Costs, ChainGameFamily, ::testing::ValuesIn(cost_families));

TEST(ChainGame, LongChainsAreSolvedExactly) {
  std::mt19937_64 random(28);
  const CostMatrix zero_one = CostMatrix::named("zero-one", 9),
                   mixed = random_cost(CostFamily::asymmetric, 9, 1, random);
  for (const CostMatrix* cost : {&zero_one, &mixed}) {
    for (const double scale : {0.2, 1.0, 10.0}) {
      const Chain chain(200, 9, scale, ScoreStyle::normal, random);
      Player player(*cost);
      const Bounds bounds = player.solve(chain.scores(), tight(*cost)).bounds;
      EXPECT_LE(bounds.upper - bounds.lower, 2e-9);
    }
  }
}

// Scores that hardly differ and costs with symmetries: most steps of the simplex method have no length, and it must
// find its way out of all of them. Longer chains of few labels add ties of another kind.
TEST(ChainGame, StallsAreOvercome) {
  std::mt19937_64 random(30);
  for (const auto& [length, labels, repeats] : {std::array<std::size_t, 3>{3, 8, 100}, {20, 3, 4}, {30, 2, 4}}) {
    for (const CostFamily family : {CostFamily::one_dear, CostFamily::zero_one, CostFamily::integer}) {
      for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
        const CostMatrix cost = random_cost(family, labels, 1, random);
        const double scale = scale_of(cost, repeat % 2 == 0 ? 1e-9 : 1e-4, length);
        const Chain chain(length, labels, scale, repeat % 4 < 2 ? ScoreStyle::normal : ScoreStyle::integer, random);
        Player player(cost);
        const Bounds bounds = player.solve(chain.scores(), tight(cost)).bounds;
        EXPECT_LE(bounds.upper - bounds.lower, 2e-9 * unit_of(cost)) << length << " x " << labels << " scale " << scale;
      }
    }
  }
}

TEST(ChainGame, TheSameCallGivesTheSameBitsInAnyWorkspace) {
  std::mt19937_64 random(29);
  const CostMatrix zero_one = CostMatrix::named("zero-one", 9), absolute = CostMatrix::named("absolute", 9);
  for (const CostMatrix* cost : {&zero_one, &absolute}) {
    const Chain other(30, 9, 0.3, ScoreStyle::normal, random);
    for (int repeat = 0; repeat < 10; ++repeat) {
      const Chain chain(12, 9, 0.05, ScoreStyle::normal, random);
      Player first(*cost), second(*cost);
      second.solve(other.scores(), {});
      second.seeds.clear();
      const GameAnswer a = first.solve(chain.scores(), {}), b = second.solve(chain.scores(), {});
      EXPECT_EQ(a.bounds.lower, b.bounds.lower);
      EXPECT_EQ(a.bounds.upper, b.bounds.upper);
      EXPECT_EQ(std::vector(a.weight.begin(), a.weight.end()), std::vector(b.weight.begin(), b.weight.end()));
      EXPECT_EQ(std::vector(a.sequence.begin(), a.sequence.end()), std::vector(b.sequence.begin(), b.sequence.end()));
      EXPECT_EQ(first.seeds.sequence, second.seeds.sequence);
    }
  }
}

}  // namespace
}  // namespace m4n::detail

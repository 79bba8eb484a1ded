// The generic max-min oracle against Clp and against its own certificate, recomputed here from the definition.
#include "games/matrix_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "support/clp_game.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::clp_game_value;
using test::cost_families;
using test::CostFamily;
using test::random_cost;
using test::random_scores;

void expect_distribution(const std::vector<double>& p) {
  for (const double x : p) EXPECT_GE(x, 0);
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-14);
}

// lower = min_y (A mu)_y + v.mu and upper = max_j v_j + (A^T nu)_j, summed in long double.
Bounds bounds_by_definition(const CostMatrix& cost, const std::vector<double>& v, const std::vector<double>& mu,
                            const std::vector<double>& nu) {
  long double lower = INFINITY, upper = -INFINITY, score = 0;
  for (std::size_t a = 0; a < cost.k(); ++a) {
    long double risk = 0, gain = v[a];
    for (std::size_t b = 0; b < cost.k(); ++b) {
      risk += static_cast<long double>(cost(b, a)) * mu[b];
      gain += static_cast<long double>(cost(a, b)) * nu[b];
    }
    lower = std::min(lower, risk);
    upper = std::max(upper, gain);
    score += static_cast<long double>(v[a]) * mu[a];
  }
  return {static_cast<double>(lower + score), static_cast<double>(upper)};
}

struct Player {
  explicit Player(const CostMatrix& c) : cost(c), game(c), workspace(c.k()), mu(c.k()), nu(c.k()), state(c.k()) {}

  // Solves at v from the current state and checks all that can be checked without another solver.
  Bounds solve(const std::vector<double>& v) {
    const Bounds bounds = game.solve(v, mu, nu, state, workspace);
    unit = test::unit_of(cost, v);
    expect_distribution(mu);
    expect_distribution(nu);
    EXPECT_LE(bounds.lower, bounds.upper);
    EXPECT_LE(bounds.upper - bounds.lower, 1e-9 * unit + 1e-15 * test::magnitude(v));
    const Bounds defined = bounds_by_definition(cost, v, mu, nu);
    // Values as large as the scores carry the rounding of the scores.
    const double rounding = 1e-15 * test::magnitude(v);
    EXPECT_NEAR(bounds.lower, defined.lower, 1e-12 * unit + rounding);
    EXPECT_NEAR(bounds.upper, defined.upper, 1e-12 * unit + rounding);
    return bounds;
  }

  const CostMatrix& cost;
  MatrixGame game;
  MatrixGame::Workspace workspace;
  std::vector<double> mu, nu;
  std::vector<std::uint8_t> state;
  double unit = 1;
};

class MatrixGameFamily : public ::testing::TestWithParam<CostFamily> {};

TEST_P(MatrixGameFamily, AgreesWithClpFromACold) {
  std::mt19937_64 random(11);
  for (const std::size_t k : {1, 2, 3, 4, 5, 7, 8, 9, 13, 26, 50}) {
    for (const double scale : {1.0, 1e-6, 1e6}) {
      const CostMatrix cost = random_cost(GetParam(), k, scale, random);
      Player player(cost);
      for (const double relative : {0.0, 1e-9, 0.1, 1.0, 3.0, 1e12}) {
        for (int style = 0; style < 4; ++style) {
          if (relative == 0 && style >= 2) continue;
          const double width = relative * scale * std::max(cost.mean_off_diagonal() / scale, 0.1);
          const auto v = random_scores(k, width, style, random);
          std::fill(player.state.begin(), player.state.end(), 0);
          const Bounds bounds = player.solve(v);
          const double truth = clp_game_value(cost, v);
          EXPECT_NEAR(bounds.lower, truth, 1e-9 * player.unit + 1e-15 * std::abs(truth))
              << "k " << k << " scale " << scale << " spread " << width;
        }
      }
    }
  }
}

TEST_P(MatrixGameFamily, StaysExactAlongARandomWalkOfScores) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  for (const std::size_t k : {2, 3, 6, 10, 17, 26, 50}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    Player player(cost);
    std::vector<double> v(k);
    for (int step = 0; step < 60; ++step) {
      const double jump = (step % 10 == 9 ? 3.0 : 0.2) * cost.mean_off_diagonal();
      for (double& x : v) x = 0.9 * x + jump * normal(random);
      const Bounds bounds = player.solve(v);
      if (step % 5 == 4) {
        EXPECT_NEAR(bounds.lower, clp_game_value(cost, v), 1e-9 * player.unit) << "k " << k << " step " << step;
      }
    }
  }
}

TEST_P(MatrixGameFamily, GarbageInTheStateIsHarmless) {
  std::mt19937_64 random(13);
  std::uniform_int_distribution<int> byte(0, 255);
  for (const std::size_t k : {1, 2, 3, 5, 10, 26}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    Player clean(cost), dirty(cost);
    for (int repeat = 0; repeat < 60; ++repeat) {
      const auto v = random_scores(k, cost.mean_off_diagonal() + 0.1, repeat % 3, random);
      std::fill(clean.state.begin(), clean.state.end(), 0);
      for (auto& s : dirty.state) s = static_cast<std::uint8_t>(repeat == 0 ? 255 : byte(random));
      if (repeat % 2 == 1) {  // as many classes as rows: gets past the count, is mostly infeasible or singular
        for (auto& s : dirty.state) s = static_cast<std::uint8_t>(s & ~3);
        for (std::size_t i = 0; i < k; ++i) {
          if (byte(random) % 3 != 0) continue;
          dirty.state[i] |= state_support;
          dirty.state[k - 1 - i] |= state_row;
        }
      }
      const double value = clean.solve(v).lower;
      EXPECT_NEAR(dirty.solve(v).lower, value, 1e-9 * clean.unit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixGameFamily, ::testing::ValuesIn(cost_families));

TEST(MatrixGame, ZeroOneAtEqualScoresIsUniform) {
  const std::size_t k = 40;
  const CostMatrix cost = CostMatrix::named("zero-one", k);
  Player player(cost);
  const Bounds bounds = player.solve(std::vector<double>(k, 7.0));
  EXPECT_NEAR(bounds.lower, 7 + 39.0 / 40, 1e-12);
  for (const double x : player.mu) EXPECT_NEAR(x, 1.0 / 40, 1e-12);
}

// cost[true][predicted] = ((0, 1), (10, 0)): a wrong answer on class 1 costs ten times more. At v = 0 the risks
// of the two predictions are 10 mu_1 and mu_0, equal at mu = (10, 1)/11; the adversary must make both truths equally
// dear, nu_1 = 10 nu_0. A transposed matrix would exchange the two.
TEST(MatrixGame, AsymmetricCostsAreReadByTruth) {
  const CostMatrix cost = CostMatrix::from_values({0, 1, 10, 0}, 2, "matrix", {}, "test");
  Player player(cost);
  const Bounds bounds = player.solve({0, 0});
  EXPECT_NEAR(bounds.lower, 10.0 / 11, 1e-14);
  EXPECT_NEAR(player.mu[0], 10.0 / 11, 1e-14);
  EXPECT_NEAR(player.nu[1], 10.0 / 11, 1e-14);
}

TEST(MatrixGame, TheStateHoldsABasisAndSparesOtherBits) {
  std::mt19937_64 random(14);
  const CostMatrix cost = random_cost(CostFamily::asymmetric, 12, 1.0, random);
  Player player(cost);
  for (auto& s : player.state) s = 0xF0 | 4;
  player.solve(random_scores(12, 0.5, 0, random));
  int support = 0, rows = 0;
  for (std::size_t j = 0; j < 12; ++j) {
    EXPECT_EQ(player.state[j] & ~3, 0xF0 | 4);
    support += (player.state[j] & state_support) != 0;
    rows += (player.state[j] & state_row) != 0;
    EXPECT_TRUE(player.mu[j] == 0 || (player.state[j] & state_support) != 0);
    EXPECT_TRUE(player.nu[j] == 0 || (player.state[j] & state_row) != 0);
  }
  EXPECT_EQ(support, rows);
  EXPECT_GT(support, 0);
}

// Pairs of classes that differ by 1e-6 to 1e-10: the inverse basis is as large as 1e10 and the first answer is
// sometimes wrong in the eighth digit, which the certificate must notice and the further attempts repair.
TEST(MatrixGame, NearlyEqualClassesAreRepaired) {
  std::mt19937_64 random(16);
  std::normal_distribution<double> normal;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const std::size_t k = 6 + random() % 20;
    const double tiny = std::pow(10.0, -6 - repeat % 5), width = std::pow(10.0, repeat % 3 - 2);
    auto values = random_cost(CostFamily::asymmetric, k, 1.0, random).values();
    for (std::size_t a = 0; a < 6; a += 2) {
      for (std::size_t t = 0; t < k; ++t) values[t * k + a + 1] = values[t * k + a];
      for (std::size_t p = 0; p < k; ++p) values[(a + 1) * k + p] = values[a * k + p];
      values[a * k + a] = values[(a + 1) * k + a + 1] = 0;
      values[a * k + a + 1] = values[(a + 1) * k + a] = tiny;
    }
    const CostMatrix cost = CostMatrix::from_values(values, k, "matrix", {}, "test");
    Player player(cost);
    std::vector<double> v(k);
    for (int step = 0; step < 20; ++step) {
      for (double& x : v) x = 0.9 * x + 0.3 * width * normal(random);
      player.solve(v);  // checks the certificate
    }
  }
}

TEST(MatrixGame, HundredsOfClasses) {
  std::mt19937_64 random(15);
  for (const CostFamily family : {CostFamily::asymmetric, CostFamily::integer, CostFamily::squared}) {
    const CostMatrix cost = random_cost(family, 200, 1.0, random);
    Player player(cost);
    for (const double width : {0.02, 0.5}) {
      const auto v = random_scores(200, width * cost.mean_off_diagonal(), 0, random);
      const Bounds bounds = player.solve(v);
      EXPECT_NEAR(bounds.lower, clp_game_value(cost, v), 1e-9 * player.unit);
    }
  }
}

TEST(MatrixGame, ScoresOfMinusInfinityExcludeAClass) {
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  Player player(cost);
  const std::vector<double> v = {0, -INFINITY, 0};
  const Bounds bounds = player.game.solve(v, player.mu, player.nu, player.state, player.workspace);
  EXPECT_NEAR(bounds.lower, 0.5, 1e-15);
  EXPECT_NEAR(bounds.upper, 0.5, 1e-15);
  EXPECT_EQ(player.mu[1], 0);
}

// A warm start from a vertex: S = Y = {y} with a zero on the diagonal has an inverse like any other single basis.
TEST(MatrixGame, AVertexIsABasisWhateverItsCost) {
  for (const double shift : {0.0, 3.0, -1.0}) {
    const CostMatrix cost = CostMatrix::from_values({shift, 1 + shift, 2 + shift, shift}, 2, "matrix", {}, "test");
    GameBasis basis(2);
    std::vector<std::uint8_t> state = {0, state_support | state_row};
    ASSERT_TRUE(basis.read(state, state_support, state_row));
    ASSERT_TRUE(basis.invert(cost)) << shift;
    EXPECT_EQ(basis.level(), shift);
    EXPECT_EQ(basis.mass(1), 1);
    EXPECT_EQ(basis.inverse(0)[1], -1);
    EXPECT_EQ(basis.inverse(1)[1], 0);
  }
}

// Scores that are not numbers: the answer is still a pair of distributions, and the bounds say that nothing is known.
TEST(MatrixGame, NoBoundComesFromScoresThatAreNoNumbers) {
  std::mt19937_64 random(17);
  const CostMatrix cost = random_cost(CostFamily::asymmetric, 5, 1.0, random);
  Player player(cost);
  for (const double bad : {std::nan(""), -std::nan(""), static_cast<double>(INFINITY)}) {
    for (std::size_t where = 0; where < 5; ++where) {
      std::vector<double> v = {0.1, -0.2, 0.3, 0.0, 0.2};
      player.solve(v);  // leaves a warm start
      v[where] = bad;
      const Bounds bounds = player.game.solve(v, player.mu, player.nu, player.state, player.workspace);
      EXPECT_EQ(bounds.lower, -INFINITY);
      EXPECT_EQ(bounds.upper, INFINITY);
      expect_distribution(player.mu);
      expect_distribution(player.nu);
    }
  }
}

}  // namespace
}  // namespace m4n::detail

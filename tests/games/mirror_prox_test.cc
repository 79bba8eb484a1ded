// Saddle-point mirror prox against the exact gap of the pair it returns,
//     gap(mu, nu) = max_j (v_j + (A^T nu)_j) - [min_y (A mu)_y + v.mu]  >= 0,
// which is computed here from the definition and is zero only at a saddle point.
#include "games/mirror_prox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "games/matrix_game.h"
#include "losses/cost_matrix.h"
#include "structures/classes/space.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::CostFamily;
using test::random_cost;
using test::random_scores;
using Vector = AlignedVector<double>;

struct Oracle {
  explicit Oracle(const CostMatrix& c)
      : cost(c), space(c.k()), loss(c), mu(space.padded_parts(), 0.0), nu(mu), uniform(mu) {
    std::fill_n(uniform.begin(), c.k(), 1 / static_cast<double>(c.k()));
    forget();
  }
  void forget() { mu = nu = uniform; }
  // K iterations from the current pair; returns the gap of the new one.
  double solve(const std::vector<double>& scores, int iterations) {
    const std::size_t k = cost.k();
    Vector v(mu.size(), kernels::padding_score);
    std::copy(scores.begin(), scores.end(), v.begin());
    const MirrorProx<Simplex, SimplexLoss> oracle(space, loss, test::spread(cost.values()), iterations);
    auto ws = oracle.workspace();
    oracle.solve(v, mu, nu, ws);
    double lower = INFINITY, upper = -INFINITY, score = 0, mass = 0, weight = 0;
    for (std::size_t a = 0; a < k; ++a) {
      double risk = 0, gain = v[a];
      for (std::size_t b = 0; b < k; ++b) {
        risk += cost(b, a) * mu[b];
        gain += cost(a, b) * nu[b];
      }
      lower = std::min(lower, risk);
      upper = std::max(upper, gain);
      score += v[a] * mu[a];
      mass += mu[a];
      weight += nu[a];
      EXPECT_GE(mu[a], 0);
      EXPECT_GE(nu[a], 0);
    }
    for (std::size_t j = k; j < mu.size(); ++j) EXPECT_EQ(mu[j] + nu[j], 0);
    EXPECT_NEAR(mass, 1, 1e-12);
    EXPECT_NEAR(weight, 1, 1e-12);
    return upper - lower - score;
  }

  const CostMatrix& cost;
  Simplex space;
  SimplexLoss loss;
  Vector mu, nu, uniform;
};

class MirrorProxFamily : public ::testing::TestWithParam<CostFamily> {};

// The bound for the mean of K iterates from the uniform pair is (log k + log k) / (eta K), eta = 1 / (2 range), plus as
// much for the scores; a factor of 4 in K must make the gap smaller by about 4.
TEST_P(MirrorProxFamily, TheGapFallsLikeOneOverK) {
  std::mt19937_64 random(41);
  double before = 0, after = 0;
  for (const std::size_t k : {2, 3, 7, 12}) {
    for (const double scale : {1.0, 1e-5, 1e5}) {
      const CostMatrix cost = random_cost(GetParam(), k, scale, random);
      const double range = test::spread(cost.values());
      for (int style = 0; style < 3; ++style) {
        const std::vector<double> v = random_scores(k, 0.5 * range, style, random);
        for (const int iterations : {64, 256, 1024, 4096}) {
          Oracle oracle(cost);
          const double gap = oracle.solve(v, iterations);
          EXPECT_GE(gap, -1e-12 * range);
          EXPECT_LE(gap, 8 * std::log(static_cast<double>(k)) * range / iterations) << "k " << k;
          if (iterations == 64) before += gap / range;
          if (iterations == 4096) after += gap / range;
        }
      }
    }
  }
  EXPECT_LE(after, before / 30);  // 64 times as many iterations
}

// Scores that drift a little, as they do in training: a few iterations from the last pair are worth many from afar.
TEST_P(MirrorProxFamily, WarmStartsHelp) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> normal;
  double warm_gap = 0, cold_gap = 0;
  for (const std::size_t k : {3, 6, 12}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    const double range = test::spread(cost.values());
    std::vector<double> v = random_scores(k, 0.3 * range, 0, random);
    Oracle warm(cost), cold(cost);
    for (int visit = 0; visit < 60; ++visit) {
      for (double& x : v) x += 0.01 * range * normal(random);
      cold.forget();
      const double w = warm.solve(v, 20), c = cold.solve(v, 20);
      if (visit < 20) continue;
      warm_gap += w / range;
      cold_gap += c / range;
    }
  }
  EXPECT_LT(warm_gap, 0.5 * cold_gap);
}

INSTANTIATE_TEST_SUITE_P(All, MirrorProxFamily, ::testing::ValuesIn(test::cost_families));

// The averaged pair meets the exact oracle's value from both sides.
TEST(MirrorProx, FindsTheValueOfTheGame) {
  std::mt19937_64 random(43);
  for (const CostFamily family : {CostFamily::asymmetric, CostFamily::negative, CostFamily::absolute}) {
    const CostMatrix cost = random_cost(family, 6, 1.0, random);
    const std::vector<double> v = random_scores(6, 0.5, 0, random);
    const MatrixGame game(cost);
    MatrixGame::Workspace ws(6);
    std::vector<double> mu(6), nu(6);
    std::vector<std::uint8_t> state(6);
    const double value = game.solve(v, mu, nu, state, ws).upper;
    Oracle oracle(cost);
    const double gap = oracle.solve(v, 2000);
    double lower = INFINITY;
    for (std::size_t p = 0; p < 6; ++p) {
      double risk = 0;
      for (std::size_t t = 0; t < 6; ++t) risk += (cost(t, p) + v[t]) * oracle.mu[t];
      lower = std::min(lower, risk);
    }
    EXPECT_LE(lower, value + 1e-12);
    EXPECT_GE(lower, value - gap - 1e-12);
  }
}

TEST(MirrorProx, DegenerateScores) {
  const CostMatrix zero_one = CostMatrix::named("zero-one", 5);
  // Equal scores, large or not: the uniform pair is the saddle point, and the start already.
  for (const double level : {0.0, 1.0, -1e6, 1e6}) {
    Oracle oracle(zero_one);
    EXPECT_LE(oracle.solve(std::vector<double>(5, level), 10), 1e-9);
    for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(oracle.mu[j], 0.2, 1e-9);
  }
  // One class far above the rest: all the mass of mu goes there at once, that of nu within a few iterations, which
  // weigh a few parts in 50 in the mean.
  Oracle far(zero_one);
  EXPECT_LE(far.solve({0, 0, 1e4, 0, 0}, 50), 0.15);
  EXPECT_NEAR(far.mu[2], 1, 1e-12);
  // From a pair on the boundary, which a warm start can reach by underflow: the zero masses are not stuck.
  Oracle stuck(zero_one);
  stuck.mu.assign(stuck.mu.size(), 0.0);
  stuck.nu = stuck.mu;
  stuck.mu[0] = stuck.nu[1] = 1;
  stuck.solve({0, 0, 1e4, 0, 0}, 100);
  EXPECT_GT(stuck.mu[2], 0.9);
}

}  // namespace
}  // namespace m4n::detail

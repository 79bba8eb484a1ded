// The generic proximal step against its optimality conditions and its dual, both written here from the definition, and
// against the closed forms of the zero-one and the absolute loss.
#include "games/matrix_prox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "support/clp_game.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::cost_families;
using test::CostFamily;
using test::random_cost;
using test::random_scores;
using Vector = std::vector<double>;

Vector random_distribution(std::size_t k, int style, std::mt19937_64& random) {
  std::exponential_distribution<double> exponential;
  Vector p(k, 0.0);
  if (style == 0) {
    p[random() % k] = 1;
  } else {
    for (double& x : p) x = style == 1 || random() % 3 == 0 ? exponential(random) : 0.0;
    p[random() % k] += 0.5;
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= sum;
  return p;
}

// The threshold with sum_j (u_j - tau)_+ = mass, by sorting; in long double, because u can be as large as v/c.
long double threshold(std::vector<long double> u, long double mass) {
  std::sort(u.begin(), u.end(), std::greater<>());
  long double sum = 0, tau = 0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    sum += u[j];
    const long double candidate = (sum - mass) / static_cast<long double>(j + 1);
    if (u[j] > candidate) tau = candidate;
  }
  return tau;
}

// The Euclidean projection onto the simplex.
Vector project(const std::vector<long double>& u) {
  const long double tau = threshold(u, 1);
  Vector out(u.size());
  for (std::size_t j = 0; j < u.size(); ++j) out[j] = static_cast<double>(std::max(u[j] - tau, 0.0L));
  return out;
}

Vector risks(const CostMatrix& cost, const Vector& mu) {
  Vector out(mu.size(), 0.0);
  for (std::size_t y = 0; y < mu.size(); ++y)
    for (std::size_t t = 0; t < mu.size(); ++t) out[y] += cost(t, y) * mu[t];
  return out;
}

struct Problem {
  const CostMatrix& cost;
  Vector v;
  double c;
  Vector old;

  double linear(const Vector& mu, const Vector& weight) const {
    double value = 0;
    for (std::size_t j = 0; j < mu.size(); ++j) {
      const double move = mu[j] - old[j];
      value += (v[j] + weight[j]) * mu[j] - 0.5 * c * move * move;
    }
    return value;
  }
  double objective(const Vector& mu) const {
    const Vector risk = risks(cost, mu);
    return *std::min_element(risk.begin(), risk.end()) + linear(mu, Vector(mu.size(), 0.0));
  }
  // A^T nu
  Vector prices(const Vector& nu) const {
    Vector out(nu.size(), 0.0);
    for (std::size_t t = 0; t < nu.size(); ++t)
      for (std::size_t y = 0; y < nu.size(); ++y) out[t] += cost(t, y) * nu[y];
    return out;
  }
  // max over the simplex of nu^T A mu + v.mu - (c/2)|mu - old|^2: an upper bound of the optimum for every nu.
  double dual(const Vector& nu) const {
    const Vector price = prices(nu);
    std::vector<long double> u(nu.size());
    for (std::size_t j = 0; j < u.size(); ++j) u[j] = old[j] + (static_cast<long double>(v[j]) + price[j]) / c;
    return linear(project(u), price);
  }
  // Errors of values and slopes are judged by the costs and the spread of the scores, and never by c: a slope that is
  // off by e means a mu that is off by e / c.
  double unit() const { return test::unit_of(cost, v); }
  double rounding() const { return 1e-14 * test::magnitude(v); }
};

struct Stepper {
  explicit Stepper(const CostMatrix& cost) : prox(cost), workspace(cost.k()), nu(cost.k()), state(cost.k()) {}
  bool step(const Vector& v, double c, Vector& mu, int max_solves) {
    return prox.step(v, c, mu, nu, state, max_solves, workspace);
  }
  MatrixProx prox;
  MatrixProx::Workspace workspace;
  Vector nu;
  std::vector<std::uint8_t> state;
};

void expect_distribution(const Vector& p) {
  for (const double x : p) EXPECT_GE(x, 0);
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-14);
}

// Stationarity: g = v - c (mu - old) + A^T nu equals theta where mu > 0 and is at most theta elsewhere; nu lives on the
// rows of least risk.
void expect_optimal(const Problem& problem, const Vector& mu, const Vector& nu) {
  expect_distribution(mu);
  expect_distribution(nu);
  // c (mu - old) carries the rounding of mu.
  const double tolerance = 1e-9 * problem.unit() + problem.rounding() + 1e-15 * problem.c;
  const Vector price = problem.prices(nu), risk = risks(problem.cost, mu);
  Vector g(mu.size());
  for (std::size_t j = 0; j < g.size(); ++j) g[j] = problem.v[j] - problem.c * (mu[j] - problem.old[j]) + price[j];
  const double theta = *std::max_element(g.begin(), g.end());
  const double level = *std::min_element(risk.begin(), risk.end());
  for (std::size_t j = 0; j < g.size(); ++j) {
    EXPECT_TRUE(mu[j] == 0 || g[j] >= theta - tolerance) << theta - g[j];
    EXPECT_TRUE(nu[j] == 0 || risk[j] <= level + tolerance) << risk[j] - level;
  }
}

class MatrixProxFamily : public ::testing::TestWithParam<CostFamily> {};

TEST_P(MatrixProxFamily, SatisfiesTheOptimalityConditions) {
  std::mt19937_64 random(21);
  for (const std::size_t k : {1, 2, 3, 4, 6, 9, 16, 26}) {
    for (const double scale : {1.0, 1e-4, 1e4}) {
      const CostMatrix cost = random_cost(GetParam(), k, scale, random);
      Stepper stepper(cost);
      const double typical = std::max(cost.mean_off_diagonal(), 0.1 * scale);
      for (const double relative : {1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6}) {
        for (int style = 0; style < 9; ++style) {
          const double c = relative * typical;
          const Problem problem{cost, random_scores(k, typical * (style < 6 ? 1.0 : 0.05), style % 3, random), c,
                                random_distribution(k, style / 3, random)};
          Vector mu = problem.old;
          ASSERT_TRUE(stepper.step(problem.v, c, mu, 2000)) << "k " << k << " c " << c << " style " << style;
          SCOPED_TRACE(::testing::Message()
                       << "k " << k << " scale " << scale << " c " << relative << " style " << style);
          expect_optimal(problem, mu, stepper.nu);
          EXPECT_GE(problem.objective(mu),
                    problem.objective(problem.old) - 1e-14 * problem.unit() - problem.rounding());
          EXPECT_NEAR(problem.dual(stepper.nu), problem.objective(mu), 1e-9 * problem.unit() + problem.rounding());
        }
      }
    }
  }
}

TEST_P(MatrixProxFamily, CappedVisitsNeverDescendAndGetThere) {
  std::mt19937_64 random(22);
  for (const std::size_t k : {2, 5, 12, 26}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    const double typical = cost.mean_off_diagonal();
    for (int repeat = 0; repeat < 12; ++repeat) {
      Stepper exact(cost), capped(cost);
      const Problem problem{cost, random_scores(k, typical, repeat % 3, random), 0.3 * typical,
                            random_distribution(k, repeat % 3, random)};
      Vector best = problem.old, mu = problem.old;
      ASSERT_TRUE(exact.step(problem.v, problem.c, best, 2000));
      // Visits with one move each, on the same quadratic: v - c (x - old) = (v - c (mu - old)) - c (x - mu).
      double before = problem.objective(mu);
      bool optimal = false;
      for (int visit = 0; visit < 2000 && !optimal; ++visit) {
        Vector v = problem.v;
        for (std::size_t j = 0; j < k; ++j) v[j] -= problem.c * (mu[j] - problem.old[j]);
        optimal = capped.step(v, problem.c, mu, 1);
        expect_distribution(mu);
        expect_distribution(capped.nu);
        const double after = problem.objective(mu);
        EXPECT_GE(after, before - 1e-13 * problem.unit() - problem.rounding());
        before = after;
      }
      EXPECT_TRUE(optimal);
      for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(mu[j], best[j], 1e-7);
    }
  }
}

TEST_P(MatrixProxFamily, RepeatedStepsReachTheValueOfTheGame) {
  std::mt19937_64 random(23);
  for (const std::size_t k : {2, 3, 8, 20}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    const double typical = cost.mean_off_diagonal();
    for (int style = 0; style < 3; ++style) {
      Stepper stepper(cost);
      const Vector v = random_scores(k, 0.7 * typical, style, random);
      Vector mu = random_distribution(k, style, random);
      // The curvature shrinks because the gain along nearly equal classes is small: it takes long steps to collect it.
      double c = 0.1 * typical;
      for (int step = 0; step < 200; ++step, c *= 0.9) stepper.step(v, c, mu, 8);  // to 1e-10 typical
      const Problem still{cost, v, 0.0, mu};
      EXPECT_NEAR(still.objective(mu), test::clp_game_value(cost, v), 1e-9 * still.unit() + still.rounding())
          << "k " << k;
    }
  }
}

// max h(mu) + v.mu - (g/2)|mu|^2, asked for as a step with v - g mu_old and c = g from three different starts.
TEST_P(MatrixProxFamily, SmoothedArgmaxDoesNotDependOnTheStart) {
  std::mt19937_64 random(24);
  for (const std::size_t k : {1, 2, 7, 26, 40}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    const double typical = std::max(cost.mean_off_diagonal(), 0.1);
    for (const double g : {0.01 * typical, typical, 4 * typical}) {
      const Vector v = random_scores(k, typical, 0, random);
      Vector first;
      for (int start = 0; start < 3; ++start) {
        Stepper stepper(cost);
        Vector mu = start == 0 ? Vector(k, 1.0 / static_cast<double>(k)) : random_distribution(k, start - 1, random);
        Vector shifted = v;
        for (std::size_t j = 0; j < k; ++j) shifted[j] -= g * mu[j];
        ASSERT_TRUE(stepper.step(shifted, g, mu, 5000));
        if (start == 0) first = mu;
        for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(mu[j], first[j], 1e-9);
      }
    }
  }
}

// Along a drifting v, as in training, with garbage in the state now and then and with foreign bits that must survive.
TEST_P(MatrixProxFamily, WarmStartsAndGarbageInTheStateAreHarmless) {
  std::mt19937_64 random(25);
  std::normal_distribution<double> normal;
  for (const std::size_t k : {2, 4, 10, 26}) {
    const CostMatrix cost = random_cost(GetParam(), k, 1.0, random);
    const double typical = cost.mean_off_diagonal(), c = 0.5 * typical;
    Stepper stepper(cost);
    Vector v(k, 0.0), mu = random_distribution(k, 0, random);
    for (int visit = 0; visit < 80; ++visit) {
      for (double& x : v) x = 0.9 * x + 0.3 * typical * normal(random);
      if (visit % 4 == 3)
        for (auto& s : stepper.state) s = static_cast<std::uint8_t>(random());
      const auto before = stepper.state;
      const Problem problem{cost, v, c, mu};
      ASSERT_TRUE(stepper.step(v, c, mu, 2000));
      expect_optimal(problem, mu, stepper.nu);
      for (std::size_t j = 0; j < k; ++j) {
        EXPECT_EQ(stepper.state[j] & ~state_prox_row, before[j] & ~state_prox_row);
        EXPECT_TRUE(stepper.nu[j] == 0 || (stepper.state[j] & state_prox_row) != 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProxFamily, ::testing::ValuesIn(cost_families));

// Small integer costs and many classes: dozens of rows meet the level at once.
TEST(MatrixProx, ManyTiesDoNotTrapIt) {
  std::mt19937_64 random(27);
  for (const std::size_t k : {30, 60}) {
    const CostMatrix cost = random_cost(CostFamily::integer, k, 1.0, random);
    Stepper stepper(cost);
    for (int repeat = 0; repeat < 30; ++repeat) {
      const double c = std::pow(10.0, repeat % 7 - 4);
      const Problem problem{cost, random_scores(k, 0.02, repeat % 3, random), c,
                            random_distribution(k, repeat % 3, random)};
      Vector mu = problem.old;
      ASSERT_TRUE(stepper.step(problem.v, c, mu, 5000)) << "k " << k << " c " << c;
      expect_optimal(problem, mu, stepper.nu);
    }
  }
}

TEST(MatrixProx, ZeroOneAgreesWithItsClosedForm) {
  std::mt19937_64 random(26);
  for (const std::size_t k : {2, 3, 10, 26}) {
    const CostMatrix cost = CostMatrix::named("zero-one", k);
    for (const double c : {1e-3, 0.1, 1.0, 30.0}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        Stepper stepper(cost);
        const Vector v = random_scores(k, 1.0, repeat % 3, random);
        Vector mu = random_distribution(k, repeat % 3, random);
        std::vector<long double> u(k);
        for (std::size_t j = 0; j < k; ++j) u[j] = static_cast<long double>(v[j]) / c + mu[j];
        const long double cut = threshold(u, 1 / static_cast<long double>(c));
        for (long double& x : u) x = std::min(x, cut);
        const Vector expected = project(u);
        ASSERT_TRUE(stepper.step(v, c, mu, 2000));
        for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(mu[j], expected[j], 1e-11 + 1e-14 / c);
      }
    }
  }
}

// Two classes and cost[true][predicted] = ((0, 1), (10, 0)): h(x, 1 - x) = min(10 (1 - x), x). At v = 0 and from the
// vertex (0, 1) the step climbs to x = 1/(2c), since the distance is 2 x^2, or to the kink at 10/11.
TEST(MatrixProx, AsymmetricCostsAreReadByTruth) {
  const CostMatrix cost = CostMatrix::from_values({0, 1, 10, 0}, 2, "matrix", {}, "test");
  for (const double c : {0.1, 0.5, 4.0}) {
    Stepper stepper(cost);
    Vector mu = {0, 1};
    ASSERT_TRUE(stepper.step({0, 0}, c, mu, 100));
    EXPECT_NEAR(mu[0], std::min(10.0 / 11, 1 / (2 * c)), 1e-14);
  }
}

}  // namespace
}  // namespace m4n::detail

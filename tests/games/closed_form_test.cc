// The closed-form oracles against Clp and their own certificates; the closed-form proximal steps against the active-set
// QP of games/matrix_prox.h, an unrelated algorithm for the same problem, and against random feasible points.
#include "games/closed_form.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "core/views.h"
#include "games/matrix_prox.h"
#include "losses/cost_matrix.h"
#include "support/clp_game.h"

namespace m4n::detail {
namespace {

struct Case {
  CostMatrix cost;
  AlignedVector<double> v;
};

Case random_case(Rng& rng, const char* name, std::size_t k) {
  const double scale = rng.below(3) == 0 ? std::exp(rng.uniform(-5, 5)) : 1.0;
  std::vector<double> values = CostMatrix::named(name, k).values();
  for (double& x : values) x *= scale;
  std::vector<std::string> classes;
  for (std::size_t j = 0; j < k; ++j) classes.push_back(std::to_string(j));
  Case out{CostMatrix::from_values(values, k, "matrix", classes, "test"),
           AlignedVector<double>(kernels::padded(k), kernels::padding_score)};
  const auto kind = rng.below(6);
  for (std::size_t j = 0; j < k; ++j) {
    double x = scale * rng.normal();
    if (kind == 1) x = scale * std::floor(2 * rng.normal());  // ties
    if (kind == 2) x = 0;
    if (kind == 3) x *= 1e6;
    if (kind == 4) x *= 1e-6;
    if (kind == 5) x *= static_cast<double>(k);
    out.v[j] = x;
  }
  return out;
}

// What errors are judged by: the costs and the scores, and never 1 for its own sake.
double unit_of(std::span<const double> v, std::size_t k, const CostMatrix& cost) {
  double top = 0;
  for (std::size_t j = 0; j < k; ++j) top = std::max(top, std::abs(v[j]));
  return top + cost.largest();
}

// value = min_y (A mu)_y + v.mu = max_j v_j + (A^T nu)_j, within rounding: both players can do no better.
void expect_saddle(const Case& c, double value, std::span<const double> mu, std::span<const double> nu) {
  const std::size_t k = c.cost.k();
  const double eps = 1e-12 * unit_of(c.v, k, c.cost);
  const SimplexLoss loss(c.cost);
  AlignedVector<double> out(mu.size());
  EXPECT_NEAR(std::accumulate(mu.begin(), mu.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(std::accumulate(nu.begin(), nu.end(), 0.0), 1, 1e-12);
  double lower = loss.bayes_risk(mu, out), upper = -1e300;
  loss.apply_transposed(nu, out);
  for (std::size_t j = 0; j < k; ++j) {
    EXPECT_GE(mu[j], 0);
    EXPECT_GE(nu[j], 0);
    lower += c.v[j] * mu[j];
    upper = std::max(upper, c.v[j] + out[j]);
  }
  EXPECT_NEAR(lower, value, eps);
  EXPECT_NEAR(upper, value, eps);
}

TEST(ClosedForm, ZeroOneOracle) {
  Rng rng(1);
  for (int trial = 0; trial < 1500; ++trial) {
    const std::size_t k = 2 + rng.below(40);
    const Case c = random_case(rng, "zero-one", k);
    ASSERT_EQ(c.cost.kind(), LossKind::zero_one);
    AlignedVector<double> mu(c.v.size()), nu(c.v.size());
    const double value = closed_form::zero_one(c.v, c.cost.scale(), mu, nu);
    EXPECT_EQ(value, closed_form::zero_one_value(c.v, c.cost.scale()));
    expect_saddle(c, value, mu, nu);
    if (trial < 300) {
      EXPECT_NEAR(value, test::clp_game_value(c.cost, std::span(c.v).first(k)), 1e-9 * unit_of(c.v, k, c.cost));
    }
  }
}

TEST(ClosedForm, AbsoluteOracle) {
  Rng rng(2);
  for (int trial = 0; trial < 1500; ++trial) {
    const std::size_t k = 2 + rng.below(40);
    const Case c = random_case(rng, "absolute", k);
    ASSERT_EQ(c.cost.kind(), k == 2 ? LossKind::zero_one : LossKind::absolute);  // for two classes they are the same
    AlignedVector<double> mu(c.v.size()), nu(c.v.size());
    const double value = closed_form::absolute(c.v, c.cost.scale(), k, mu);
    EXPECT_EQ(value, closed_form::absolute_value(c.v, c.cost.scale(), k));
    closed_form::absolute_adversary(c.v, c.cost.scale(), k, nu);
    expect_saddle(c, value, mu, nu);
    const SimplexLoss loss(c.cost);
    AlignedVector<double> scratch(c.v.size());
    EXPECT_NEAR(closed_form::absolute_bayes_risk(mu, c.cost.scale(), k), loss.bayes_risk(mu, scratch),
                1e-12 * c.cost.largest());
    if (trial < 300) {
      EXPECT_NEAR(value, test::clp_game_value(c.cost, std::span(c.v).first(k)), 1e-9 * unit_of(c.v, k, c.cost));
    }
  }
}

// With two classes and v = (v1 - v2)/2 the max-min loss is the paper's max(|v|, 1/2) - (+-v) + 1/2 - ...: its conjugate
// part is mean(v) + max(|v|, 1/2).
TEST(ClosedForm, TwoClassesAreThePapersBinaryLoss) {
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    AlignedVector<double> v(8, kernels::padding_score);
    v[0] = rng.uniform(-2, 2);
    v[1] = rng.uniform(-2, 2);
    const double half = 0.5 * (v[0] - v[1]), mean = 0.5 * (v[0] + v[1]);
    EXPECT_NEAR(closed_form::zero_one_value(v, 1.0), mean + std::max(std::abs(half), 0.5), 1e-14);
  }
}

double objective(const Case& c, double curvature, std::span<const double> old, std::span<const double> mu) {
  const SimplexLoss loss(c.cost);
  AlignedVector<double> scratch(mu.size());
  double out = loss.bayes_risk(mu, scratch);
  for (std::size_t j = 0; j < c.cost.k(); ++j)
    out += c.v[j] * mu[j] - 0.5 * curvature * (mu[j] - old[j]) * (mu[j] - old[j]);
  return out;
}

class ProxStep : public ::testing::TestWithParam<const char*> {};

TEST_P(ProxStep, IsOptimal) {
  Rng rng(4);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t k = 2 + rng.below(30);
    const Case c = random_case(rng, GetParam(), k);
    const double curvature = c.cost.scale() * std::exp(rng.uniform(-8, 8));
    AlignedVector<double> old(c.v.size(), 0.0);
    if (rng.below(2) == 0) {
      old[rng.below(k)] = 1;
    } else {
      AlignedVector<double> u(c.v.size(), kernels::padding_score);
      for (std::size_t j = 0; j < k; ++j) u[j] = 0.3 * rng.normal();
      kernels::project_simplex(u, old);
    }
    AlignedVector<double> mu = old, scratch(2 * c.v.size());
    if (std::string(GetParam()) == "zero-one") {
      closed_form::zero_one_prox(c.v, c.cost.scale(), curvature, mu, std::span(scratch).first(c.v.size()));
    } else {
      closed_form::absolute_prox(c.v, c.cost.scale(), curvature, k, mu, scratch);
    }
    EXPECT_NEAR(std::accumulate(mu.begin(), mu.end(), 0.0), 1, 1e-12);
    for (const double m : mu) EXPECT_GE(m, 0);

    const MatrixProx reference(c.cost);
    MatrixProx::Workspace ws(k);
    std::vector<double> best(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(k)), nu(k);
    std::vector<std::uint8_t> state(k, 0);
    const bool optimal = reference.step(std::span(c.v).first(k), curvature, best, nu, state, 10000, ws);
    best.resize(c.v.size(), 0.0);
    const double found = objective(c, curvature, old, mu);
    const double unit = unit_of(c.v, k, c.cost), eps = 1e-10 * unit;
    EXPECT_TRUE(optimal);
    EXPECT_NEAR(found, objective(c, curvature, old, best), eps);
    // An error e in the slopes of the block is one of e / c in mu.
    for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(mu[j], best[j], 1e-12 + 1e-9 * unit / curvature);
    EXPECT_GE(found, objective(c, curvature, old, old) - eps);
    for (int probe = 0; probe < 5; ++probe) {
      AlignedVector<double> other = mu;
      const double t = std::exp(rng.uniform(-12, 0));
      for (double& m : other) m *= 1 - t;
      other[rng.below(k)] += t;
      EXPECT_GE(found, objective(c, curvature, old, other) - eps);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, ProxStep, ::testing::Values("zero-one", "absolute"),
                         [](const auto& p) { return std::string(p.param) == "absolute" ? "absolute" : "zero_one"; });

}  // namespace
}  // namespace m4n::detail

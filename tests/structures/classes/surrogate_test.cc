// Every surrogate on the simplex against its definition: Fenchel-Young, the proximal step, the Frank-Wolfe step.
// -Omega is written here a second time, from the cost matrix; the proximal steps are compared with a projection by
// sorting (M3N), with a search along the segment (CRF) and with the active-set QP and feasible probes (M4N).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/rng.h"
#include "solvers/frank_wolfe_step.h"
#include "structures/classes/surrogates.h"

namespace m4n::detail {
namespace {

using Vector = AlignedVector<double>;

CostMatrix cost_of(const std::string& name, std::size_t k, Rng& rng) {
  const double scale = rng.below(3) == 0 ? std::exp(rng.uniform(-6, 6)) : 1.0;
  std::vector<double> values(k * k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) {
      const double distance = std::abs(static_cast<double>(t) - static_cast<double>(p));
      double c = t == p ? 0 : rng.uniform(0.2, 3);
      if (name == "zero-one") c = t == p ? 0 : 1;
      if (name == "absolute") c = distance;
      if (name == "squared") c = distance * distance;
      if (name == "negative") c = t == p ? -3.5 : c - 3.2;
      values[t * k + p] = scale * c;
    }
  return CostMatrix::from_values(values, k, "matrix", {}, "test");
}

Vector random_scores(Rng& rng, std::size_t k, double size) {
  Vector v(kernels::padded(k), kernels::padding_score);
  const auto style = rng.below(4);
  for (std::size_t j = 0; j < k; ++j) {
    v[j] = size * rng.normal();
    if (style == 1) v[j] = size * std::floor(2 * rng.normal());  // ties
    if (style == 2) v[j] = 0;
    if (style == 3) v[j] *= 20;
  }
  return v;
}

Vector random_marginals(Rng& rng, std::size_t k) {
  Vector mu(kernels::padded(k), 0.0);
  const auto style = rng.below(3);
  if (style == 0) {
    mu[rng.below(k)] = 1;
    return mu;
  }
  double total = 0;
  for (std::size_t j = 0; j < k; ++j)
    if (style == 1 || rng.below(3) == 0) total += mu[j] = -std::log(1 - rng.uniform());
  if (total == 0) total = mu[0] = 1;
  for (double& m : mu) m /= total;
  return mu;
}

// One example of a surrogate, with the definition of what it should compute.
struct Case {
  std::size_t k;
  Vector v, old;
  std::int32_t label;
  double c, unit;  // errors are judged by the unit: the costs and the spread of the scores
  std::function<double(const Vector&)> neg_omega;

  LabelView y() const { return {&label, 1}; }
  double value(const Vector& mu) const {
    double sum = neg_omega(mu);
    for (std::size_t j = 0; j < k; ++j) sum += v[j] * mu[j];
    return sum;
  }
  double block(const Vector& mu) const {
    double sum = value(mu);
    for (std::size_t j = 0; j < k; ++j) sum -= 0.5 * c * (mu[j] - old[j]) * (mu[j] - old[j]);
    return sum;
  }
};

double bayes_risk(const CostMatrix& cost, const Vector& mu) {
  double least = INFINITY;
  for (std::size_t p = 0; p < cost.k(); ++p) {
    double risk = 0;
    for (std::size_t t = 0; t < cost.k(); ++t) risk += cost(t, p) * mu[t];
    least = std::min(least, risk);
  }
  return least;
}
double entropy(const Vector& mu) {
  double sum = 0;
  for (const double m : mu)
    if (m > 0) sum -= m * std::log(m);
  return sum;
}
double squared(const Vector& mu) {
  double sum = 0;
  for (const double m : mu) sum += m * m;
  return sum;
}

// The projection onto the simplex by sorting, in long double.
Vector project(const Vector& v, const std::vector<long double>& u) {
  std::vector<long double> sorted = u;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  long double sum = 0, tau = 0;
  for (std::size_t j = 0; j < sorted.size(); ++j) {
    sum += sorted[j];
    const long double candidate = (sum - 1) / static_cast<long double>(j + 1);
    if (sorted[j] > candidate) tau = candidate;
  }
  Vector out(v.size(), 0.0);
  for (std::size_t j = 0; j < u.size(); ++j) out[j] = static_cast<double>(std::max(u[j] - tau, 0.0L));
  return out;
}

template <class S>
Vector prox_of(const S& surrogate, const Case& c) {
  auto ws = surrogate.workspace();
  std::vector<typename S::StateUnit> state(surrogate.state_size());
  Vector mu = c.old;
  surrogate.prox(c.v, c.c, c.y(), mu, state, ws);
  double total = 0;
  for (const double share : mu) {
    EXPECT_GE(share, 0);
    total += share;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  return mu;
}

// max h(mu) + v.mu - (g/2)|mu|^2 - (c/2)|mu - old|^2 by the active-set QP: with g the scores and the curvature change.
void expect_the_qp_agrees(const CostMatrix& cost, double g, const Case& c, const Vector& mu) {
  const MatrixProx qp(cost);
  MatrixProx::Workspace ws(c.k);
  std::vector<double> v(c.k), best(c.old.begin(), c.old.begin() + static_cast<std::ptrdiff_t>(c.k)), nu(c.k);
  std::vector<std::uint8_t> state(c.k);
  for (std::size_t j = 0; j < c.k; ++j) v[j] = c.v[j] - g * c.old[j];
  ASSERT_TRUE(qp.step(v, c.c + g, best, nu, state, 10'000, ws));
  for (std::size_t j = 0; j < c.k; ++j) EXPECT_NEAR(mu[j], best[j], 1e-11 + 1e-9 * c.unit / (c.c + g));
}

void expect_no_probe_is_better(const Case& c, const Vector& mu, Rng& rng) {
  const double found = c.block(mu);
  EXPECT_GE(found, c.block(c.old) - 1e-11 * c.unit);
  for (int probe = 0; probe < 20; ++probe) {
    Vector other = random_marginals(rng, c.k);
    const double t = std::exp(rng.uniform(-14, 0));
    for (std::size_t j = 0; j < c.k; ++j) other[j] = mu[j] + t * (other[j] - mu[j]);
    EXPECT_GE(found, c.block(other) - 1e-11 * c.unit);
  }
}

template <class S>
void expect_fenchel_young(const S& surrogate, const Case& c, Rng& rng) {
  auto ws = surrogate.workspace();
  std::vector<typename S::StateUnit> state(surrogate.state_size());
  const double conjugate = surrogate.conjugate(c.v, c.y(), state, ws);
  for (int probe = 0; probe < 15; ++probe) {
    const Vector mu = random_marginals(rng, c.k);
    EXPECT_NEAR(surrogate.neg_omega(mu, c.y(), ws), c.neg_omega(mu), 1e-12 * c.unit);
    EXPECT_GE(conjugate, c.value(mu) - 1e-12 * c.unit);
  }
  Vector best(c.v.size(), -1.0);
  surrogate.argmax(c.v, c.y(), best, state, ws);
  double total = 0;
  for (const double m : best) {
    EXPECT_GE(m, 0);
    total += m;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_NEAR(conjugate, c.value(best), 1e-10 * c.unit);
  // Once more, warm.
  EXPECT_NEAR(surrogate.conjugate(c.v, c.y(), state, ws), conjugate, 1e-10 * c.unit);
}

template <class S>
void expect_frank_wolfe_ascends(const S& surrogate, const Case& c) {
  auto ws = surrogate.workspace();
  std::vector<typename S::StateUnit> state(surrogate.state_size());
  Vector mu = c.old, target(c.v.size());
  frank_wolfe_step(surrogate, c.v, c.c, c.y(), mu, target, state, ws);
  double total = 0;
  for (const double m : mu) {
    EXPECT_GE(m, 0);
    total += m;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_GE(c.block(mu), c.block(c.old) - 1e-12 * c.unit);
}

class SurrogateTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Runs `body(cost, case)` on random examples; `neg_omega` of the case is for the body to set.
  template <class Body>
  void repeat(int times, Body&& body) {
    for (int trial = 0; trial < times; ++trial) {
      const std::size_t k = 2 + rng_.below(trial % 10 == 0 ? 25 : 8);
      const CostMatrix cost = cost_of(GetParam(), k, rng_);
      double least = INFINITY, most = -INFINITY, lowest = INFINITY, highest = -INFINITY;
      for (const double x : cost.values()) least = std::min(least, x), most = std::max(most, x);
      const double range = most - least;
      Case c{k,
             random_scores(rng_, k, range),
             random_marginals(rng_, k),
             static_cast<std::int32_t>(rng_.below(k)),
             range * std::exp(rng_.uniform(-7, 7)),
             0,
             {}};
      for (std::size_t j = 0; j < k; ++j) lowest = std::min(lowest, c.v[j]), highest = std::max(highest, c.v[j]);
      c.unit = std::max(range, std::abs(least)) + highest - lowest + std::max(std::abs(highest), std::abs(lowest));
      SCOPED_TRACE(::testing::Message() << "trial " << trial << " k " << k << " range " << range << " c " << c.c);
      body(cost, c);
    }
  }
  // Runs `body(surrogate)` with the max-min surrogates that exist for this cost.
  template <class Body>
  static void for_each_maxmin(const CostMatrix& cost, Body&& body) {
    if (cost.kind() == LossKind::zero_one) body(ZeroOneMaxMin(cost));
    if (cost.kind() == LossKind::absolute) body(AbsoluteMaxMin(cost));
    body(MatrixMaxMin(cost, 10'000));
  }
  Rng rng_{31};
};

TEST_P(SurrogateTest, Margin) {
  repeat(150, [&](const CostMatrix& cost, Case& c) {
    const auto y = static_cast<std::size_t>(c.label);
    c.neg_omega = [&](const Vector& mu) {
      double sum = 0;
      for (std::size_t j = 0; j < c.k; ++j) sum += cost(y, j) * mu[j];
      return sum;
    };
    const Margin margin(cost);
    expect_fenchel_young(margin, c, rng_);
    expect_frank_wolfe_ascends(margin, c);
    const Vector mu = prox_of(margin, c);
    std::vector<long double> u(c.k);
    for (std::size_t j = 0; j < c.k; ++j) u[j] = c.old[j] + (static_cast<long double>(c.v[j]) + cost(y, j)) / c.c;
    const Vector expected = project(c.v, u);
    for (std::size_t j = 0; j < c.k; ++j) EXPECT_NEAR(mu[j], expected[j], 1e-13 + 1e-14 * c.unit / c.c);
    expect_no_probe_is_better(c, mu, rng_);
  });
}

// The step of the CRF is the best point of the segment from mu to softmax(v), not of the whole simplex.
TEST_P(SurrogateTest, Crf) {
  repeat(150, [&](const CostMatrix&, Case& c) {
    c.neg_omega = entropy;
    c.unit += 1 + std::log(static_cast<double>(c.k));  // the entropy has a unit of its own
    const Crf crf(c.k);
    expect_fenchel_young(crf, c, rng_);
    expect_frank_wolfe_ascends(crf, c);
    const Vector mu = prox_of(crf, c);
    Vector target(c.v.size()), point(c.v.size());
    crf.space().marginals(c.v, target);
    double best = c.block(c.old);
    const double start = best;
    for (int grid = 0; grid <= 2000; ++grid) {
      const double share = grid / 1000.0, t = grid <= 1000 ? share : std::pow(10.0, -10 * (share - 1));
      for (std::size_t j = 0; j < c.k; ++j) point[j] = c.old[j] + t * (target[j] - c.old[j]);
      best = std::max(best, c.block(point));
    }
    // The search ends when t is known to a thousandth, which costs at most that share of the gain.
    EXPECT_GE(c.block(mu), best - 1.1e-3 * (best - start) - 1e-13 * c.unit);
    double t = 0;
    for (std::size_t j = 0, widest = 0; j < c.k; ++j) {
      if (std::abs(target[j] - c.old[j]) < std::abs(target[widest] - c.old[widest])) continue;
      widest = j;
      t = target[j] == c.old[j] ? 0 : (mu[j] - c.old[j]) / (target[j] - c.old[j]);
    }
    EXPECT_GE(t, 0);
    EXPECT_LE(t, 1 + 1e-12);
    for (std::size_t j = 0; j < c.k; ++j) EXPECT_NEAR(mu[j], c.old[j] + t * (target[j] - c.old[j]), 1e-12);
  });
}

TEST_P(SurrogateTest, MaxMin) {
  repeat(120, [&](const CostMatrix& cost, Case& c) {
    c.neg_omega = [&](const Vector& mu) { return bayes_risk(cost, mu); };
    for_each_maxmin(cost, [&](const auto& maxmin) {
      expect_fenchel_young(maxmin, c, rng_);
      expect_frank_wolfe_ascends(maxmin, c);
      const Vector mu = prox_of(maxmin, c);
      expect_the_qp_agrees(cost, 0, c, mu);
      expect_no_probe_is_better(c, mu, rng_);
    });
  });
}

TEST_P(SurrogateTest, Smoothed) {
  repeat(120, [&](const CostMatrix& cost, Case& c) {
    const double g = cost.mean_off_diagonal() * std::exp(rng_.uniform(-4, 3));
    c.neg_omega = [&](const Vector& mu) { return bayes_risk(cost, mu) - 0.5 * g * squared(mu) + 0.5 * g; };
    c.unit += g;
    for_each_maxmin(cost, [&](const auto& maxmin) {
      const Smoothed smoothed(maxmin, g);
      expect_fenchel_young(smoothed, c, rng_);
      expect_frank_wolfe_ascends(smoothed, c);
      const Vector mu = prox_of(smoothed, c);
      expect_the_qp_agrees(cost, g, c, mu);
      expect_no_probe_is_better(c, mu, rng_);
      // The maximiser of the conjugate beats its neighbours too: a block with c = 0.
      Case still = c;
      still.c = 0;
      auto ws = smoothed.workspace();
      std::vector<std::uint8_t> state(smoothed.state_size());
      smoothed.argmax(c.v, c.y(), still.old, state, ws);
      expect_no_probe_is_better(still, still.old, rng_);
    });
  });
}

// A capped visit of the matrix step (as training makes them) may stop early, but never below where it began.
TEST_P(SurrogateTest, CappedMatrixStepsAscend) {
  repeat(100, [&](const CostMatrix& cost, Case& c) {
    c.neg_omega = [&](const Vector& mu) { return bayes_risk(cost, mu); };
    for (const int solves : {1, 2, 6}) {
      const Vector mu = prox_of(MatrixMaxMin(cost, solves), c);
      EXPECT_GE(c.block(mu), c.block(c.old) - 1e-12 * c.unit);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Losses, SurrogateTest,
                         ::testing::Values("zero-one", "absolute", "squared", "random", "negative"),
                         [](const auto& p) { return std::string(p.param) == "zero-one" ? "zero_one" : p.param; });

}  // namespace
}  // namespace m4n::detail

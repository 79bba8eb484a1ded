// Consistency of max-margin and the constants of the comparison inequalities, against linear programs of Clp and fine
// grids of probabilities and scores.
#include "games/loss_analysis.h"

#include <gtest/gtest.h>

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/dense_lp.h"
#include "core/rng.h"

namespace m4n::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

CostMatrix matrix(std::vector<double> values, std::size_t k) {
  std::vector<std::string> classes;
  for (std::size_t t = 1; t <= k; ++t) classes.push_back(std::to_string(t));
  return CostMatrix::from_values(std::move(values), k, "matrix", classes, "test");
}

CostMatrix random_costs(Rng& rng, std::size_t k, bool symmetric, bool whole) {
  std::vector<double> values(k * k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) {
      if (t == p) continue;
      const double c = whole ? 1 + static_cast<double>(rng.below(3)) : rng.uniform(0.1, 2);
      values[t * k + p] = symmetric && p < t ? values[p * k + t] : c;
    }
  return matrix(std::move(values), k);
}

double expected(const CostMatrix& cost, std::size_t y, const std::vector<double>& p) {
  double sum = 0;
  for (std::size_t t = 0; t < p.size(); ++t) sum += p[t] * cost(t, y);
  return sum;
}
double risk(const CostMatrix& cost, const std::vector<double>& p) {
  double least = infinite;
  for (std::size_t y = 0; y < cost.predictions(); ++y) least = std::min(least, expected(cost, y, p));
  return least;
}

// Of rows: low <= row . x <= high, free or bounded variables; the least value of gain . x.
struct Program {
  std::vector<double> gain, lower, upper, row_low, row_high;
  std::vector<int> row, column;
  std::vector<double> element;
  int variable(double g, double low, double high) {
    gain.push_back(g);
    lower.push_back(low);
    upper.push_back(high);
    return static_cast<int>(gain.size()) - 1;
  }
  void put(int c, double value) {
    row.push_back(static_cast<int>(row_low.size()));
    column.push_back(c);
    element.push_back(value);
  }
  void close(double low, double high) {
    row_low.push_back(low);
    row_high.push_back(high);
  }
  double minimum() const {
    const CoinPackedMatrix rows(true, row.data(), column.data(), element.data(), static_cast<int>(element.size()));
    ClpSimplex solver;
    solver.setLogLevel(0);
    solver.loadProblem(rows, lower.data(), upper.data(), gain.data(), row_low.data(), row_high.data());
    solver.setPrimalTolerance(1e-10);
    solver.setDualTolerance(1e-10);
    solver.primal();
    EXPECT_EQ(solver.status(), 0);
    return solver.objectiveValue();
  }
};

// min over scores of sum_t p_t max_y (L(y, t) + v_y) - p.v, with j among the largest scores if there is one.
double max_margin_risk(const CostMatrix& cost, const std::vector<double>& p, std::optional<std::size_t> j) {
  const std::size_t k = p.size();
  Program lp;
  std::vector<int> v, u;
  // Scores beyond the largest cost change nothing.
  const double reach = 2 * static_cast<double>(k) * cost.range();
  for (std::size_t y = 0; y < k; ++y) v.push_back(lp.variable(-p[y], -reach, reach));
  for (std::size_t t = 0; t < k; ++t) u.push_back(lp.variable(p[t], -infinite, infinite));
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t y = 0; y < k; ++y) {
      lp.put(u[t], 1);
      lp.put(v[y], -1);
      lp.close(cost(t, y), infinite);
    }
  for (std::size_t y = 0; y < k && j; ++y) {
    if (y == *j) continue;
    lp.put(v[*j], 1);
    lp.put(v[y], -1);
    lp.close(0, infinite);
  }
  return lp.minimum();
}

// How far the risk of M4N with j among the largest scores lies above the least one: min over v of Omega*(v) - v.p -
// h(p), Omega*(v) = min over nu of max_t (A^T nu)_t + v_t.
double max_min_gap(const CostMatrix& cost, const std::vector<double>& p, std::size_t j) {
  const std::size_t k = p.size();
  Program lp;
  std::vector<int> v, nu;
  const double reach = 2 * static_cast<double>(k) * cost.range();
  for (std::size_t y = 0; y < k; ++y) v.push_back(lp.variable(-p[y], -reach, reach));
  for (std::size_t y = 0; y < k; ++y) nu.push_back(lp.variable(0, 0, 1));
  const int level = lp.variable(1, -infinite, infinite);
  for (std::size_t t = 0; t < k; ++t) {
    lp.put(level, 1);
    lp.put(v[t], -1);
    for (std::size_t y = 0; y < k; ++y)
      if (cost(t, y) != 0) lp.put(nu[y], -cost(t, y));
    lp.close(0, infinite);
  }
  for (std::size_t y = 0; y < k; ++y) lp.put(nu[y], 1);
  lp.close(1, 1);
  for (std::size_t y = 0; y < k; ++y) {
    if (y == j) continue;
    lp.put(v[j], 1);
    lp.put(v[y], -1);
    lp.close(0, infinite);
  }
  return lp.minimum() - risk(cost, p);
}

// All distributions whose entries are multiples of 1 / steps.
void each_distribution(std::size_t k, int steps, const std::function<void(const std::vector<double>&)>& body) {
  std::vector<int> parts(k);
  const std::function<void(std::size_t, int)> go = [&](std::size_t at, int left) {
    if (at + 1 == k) {
      parts[at] = left;
      std::vector<double> p;
      for (const int part : parts) p.push_back(static_cast<double>(part) / steps);
      body(p);
      return;
    }
    for (int part = 0; part <= left; ++part) {
      parts[at] = part;
      go(at + 1, left - part);
    }
  };
  go(0, steps);
}

bool misleads(const CostMatrix& cost, const std::vector<double>& p, std::size_t j) {
  return expected(cost, j, p) > risk(cost, p) + 1e-6 &&
         max_margin_risk(cost, p, j) <= max_margin_risk(cost, p, std::nullopt) + 1e-7;
}

TEST(LossAnalysis, ZeroOneIsAsInThePaper) {
  for (std::size_t k = 2; k <= 7; ++k) {
    const LossAnalysis found = analyse_loss(CostMatrix::named("zero-one", k));
    EXPECT_EQ(found.m3n_consistent, k == 2);
    EXPECT_NEAR(found.m4n->upper, static_cast<double>(k), 1e-9);  // C = k
    EXPECT_TRUE(found.m4n->exact());
    EXPECT_NEAR(found.theorem.upper, static_cast<double>(k), 1e-9);
    EXPECT_NEAR(found.crf.upper, std::sqrt(2.0), 1e-12);
    EXPECT_TRUE(found.crf.exact() && found.qs.exact());
  }
  const LossAnalysis large = analyse_loss(CostMatrix::named("zero-one", 20));
  EXPECT_EQ(large.m3n_consistent, false);
  EXPECT_NEAR(large.m4n->upper, 20, 1e-6);
  EXPECT_LE(large.m4n->lower, 20);
  EXPECT_GE(large.m4n->lower, 3 - 1e-9);
}

TEST(LossAnalysis, DistancesOnALineAreConsistentForMaxMargin) {
  for (const std::size_t k : {2UL, 3UL, 5UL, 9UL, 30UL}) {
    EXPECT_EQ(analyse_loss(CostMatrix::named("absolute", k)).m3n_consistent, true) << k;
    EXPECT_EQ(analyse_loss(CostMatrix::named("squared", k)).m3n_consistent, k == 2) << k;
  }
  // Points at random places, in random order: by all sets of labels, and beyond those by the rule.
  Rng rng(3);
  for (const std::size_t k : {4UL, 6UL, 8UL, 15UL, 40UL}) {
    std::vector<double> place(k), values(k * k);
    for (double& x : place) x = 10 * rng.uniform();
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) values[a * k + b] = std::abs(place[a] - place[b]);
    EXPECT_EQ(analyse_loss(matrix(values, k)).m3n_consistent, true) << k;
  }
}

// The truth is one of two leaves of a star with equal chances: the nearest third leaf may have the largest score. By
// hand, with ways of 1.2 and 1.3 to the two and 1.1 to the third: scores 0, 0 and 0.1 attain the least risk.
TEST(LossAnalysis, TreesThatBranchMisleadMaxMargin) {
  for (const std::size_t k : {4UL, 17UL})
    for (const double longer : {0.0, 0.1}) {
      std::vector<double> values(k * k);
      const auto way = [&](std::size_t t) { return t == 0 ? 0.0 : 1 + longer * static_cast<double>(t); };
      for (std::size_t a = 0; a < k; ++a)
        for (std::size_t b = 0; b < k; ++b) values[a * k + b] = a == b ? 0 : way(a) + way(b);
      const LossAnalysis found = analyse_loss(matrix(values, k));
      EXPECT_EQ(found.m3n_consistent, false);
      ASSERT_EQ(found.counterexample.size(), k);
      EXPECT_NE(found.wrong, 0U);  // the middle is always a best answer
      EXPECT_EQ(found.counterexample[found.wrong], 0);
    }
}

// Two parts of two labels each, as four outputs: a square. By parts it is 0-1 with k = 2, C = 2.
TEST(LossAnalysis, HammingOfTwoParts) {
  std::vector<double> values;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) values.push_back(((a & 1) != (b & 1) ? 0.5 : 0) + ((a & 2) != (b & 2) ? 0.5 : 0));
  const LossAnalysis outputs = analyse_loss(matrix(values, 4)), part = analyse_loss(CostMatrix::named("hamming", 2));
  EXPECT_EQ(outputs.m3n_consistent, true);
  EXPECT_EQ(part.m3n_consistent, true);
  EXPECT_NEAR(part.m4n->upper, 2, 1e-9);
  EXPECT_EQ(outputs.theorem.upper, infinite);  // opposite corners make all four optimal without the other two
}

TEST(LossAnalysis, ActionsHaveNoMaxMargin) {
  const CostMatrix cost = CostMatrix::named("zero-one", 3).with_reject(0.3, {"1", "2", "3"});
  const LossAnalysis found = analyse_loss(cost);
  EXPECT_FALSE(found.m3n_consistent.has_value() || found.m4n.has_value());
  EXPECT_GT(found.crf.upper, 0);
}

// The verdict on random losses against linear programs over a grid; a counterexample misleads.
TEST(LossAnalysis, MaxMarginAgainstLinearPrograms) {
  Rng rng(7);
  int consistent = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t k = 2 + rng.below(3);
    const CostMatrix cost = random_costs(rng, k, round % 2 == 0, round % 3 == 0);
    const LossAnalysis found = analyse_loss(cost);
    ASSERT_TRUE(found.m3n_consistent.has_value());
    consistent += *found.m3n_consistent;
    if (!*found.m3n_consistent) {
      EXPECT_TRUE(misleads(cost, found.counterexample, found.wrong)) << round;
      continue;
    }
    each_distribution(k, k == 4 ? 6 : 12, [&](const std::vector<double>& p) {
      for (std::size_t j = 0; j < k; ++j) EXPECT_FALSE(misleads(cost, p, j)) << round;
    });
  }
  EXPECT_GT(consistent, 5);
  EXPECT_LT(consistent, 55);
}

// On a fine grid no ratio is above the constant, and some ratio is near it.
TEST(LossAnalysis, MaxMinConstantAgainstAGrid) {
  Rng rng(11);
  std::vector<CostMatrix> losses{CostMatrix::named("zero-one", 3), CostMatrix::named("absolute", 3),
                                 CostMatrix::named("squared", 3)};
  for (int round = 0; round < 8; ++round) losses.push_back(random_costs(rng, 3, round % 2 == 0, round % 4 == 0));
  for (const CostMatrix& cost : losses) {
    const LossAnalysis found = analyse_loss(cost);
    ASSERT_TRUE(found.m4n && found.m4n->exact());
    const double constant = found.m4n->upper;
    double largest = 0;
    each_distribution(3, 24, [&](const std::vector<double>& p) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double excess = expected(cost, j, p) - risk(cost, p);
        if (excess < 1e-9) continue;
        const double gap = max_min_gap(cost, p, j);
        if (std::isfinite(constant)) {
          EXPECT_LE(excess, constant * gap + 1e-6);
        }
        largest = std::max(largest, gap > 1e-7 ? excess / gap : infinite);
      }
    });
    if (std::isfinite(constant)) {
      EXPECT_GE(largest, 0.8 * constant);
    }
    if (cost.symmetric()) {
      EXPECT_LE(constant, found.theorem.upper * (1 + 1e-9));
    }
  }
}

TEST(LossAnalysis, SmoothConstantsAgainstAGrid) {
  Rng rng(13);
  for (int round = 0; round < 10; ++round) {
    const CostMatrix cost =
        round == 0 ? CostMatrix::named("absolute", 3) : random_costs(rng, 3, round % 2 == 0, round % 3 == 0);
    const LossAnalysis found = analyse_loss(cost);
    double crf = 0, qs = 0;
    constexpr int steps = 30;
    each_distribution(3, steps, [&](const std::vector<double>& q) {
      if (*std::min_element(q.begin(), q.end()) < 1e-9) return;
      std::vector<std::size_t> best;
      for (std::size_t y = 0; y < 3; ++y)
        if (expected(cost, y, q) <= risk(cost, q) + 1e-9) best.push_back(y);
      each_distribution(3, steps, [&](const std::vector<double>& p) {
        double divergence = 0, distance = 0;
        for (std::size_t t = 0; t < 3; ++t) {
          if (p[t] > 0) divergence += p[t] * std::log(p[t] / q[t]);
          const double off = expected(cost, t, p) - expected(cost, t, q);
          distance += off * off;
        }
        if (divergence < 1e-12) return;
        for (const std::size_t j : best) {
          const double excess = expected(cost, j, p) - risk(cost, p);
          crf = std::max(crf, excess / std::sqrt(divergence));
          if (distance > 1e-12) qs = std::max(qs, excess / std::sqrt(distance));
        }
      });
    });
    EXPECT_LE(crf, found.crf.upper * (1 + 1e-9)) << round;
    EXPECT_LE(qs, found.qs.upper * (1 + 1e-9)) << round;
    if (found.crf.exact()) {
      EXPECT_GE(crf, 0.8 * found.crf.upper) << round;
    }
  }
}

TEST(DenseLp, AgainstClp) {
  Rng rng(17);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + rng.below(6), m = 1 + rng.below(8);
    std::vector<double> gain, rows, bound;
    for (std::size_t c = 0; c < n; ++c) gain.push_back(static_cast<double>(rng.below(7)) - 3);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) rows.push_back(static_cast<double>(rng.below(5)) - 1);
      bound.push_back(static_cast<double>(rng.below(3)));
    }
    // A row that bounds all.
    rows.insert(rows.end(), n, 1.0);
    bound.push_back(4);
    Program lp;
    for (std::size_t c = 0; c < n; ++c) lp.variable(-gain[c], 0, infinite);
    for (std::size_t r = 0; r <= m; ++r) {
      for (std::size_t c = 0; c < n; ++c)
        if (rows[r * n + c] != 0) lp.put(static_cast<int>(c), rows[r * n + c]);
      lp.close(-infinite, bound[r]);
    }
    EXPECT_NEAR(maximise_dense(gain, rows, bound), -lp.minimum(), 1e-8) << round;
  }
  EXPECT_EQ(maximise_dense(std::vector<double>{1}, std::vector<double>{-1}, std::vector<double>{1}), infinite);
}

}  // namespace
}  // namespace m4n::detail

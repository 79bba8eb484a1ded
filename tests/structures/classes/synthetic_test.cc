// Synthetic data: the table is what is drawn, and the Bayes risk is the minimum over all rules.
#include "structures/classes/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "m4n/options.h"

namespace m4n::detail {
namespace {

constexpr Order orders[] = {Order::none, Order::grades};

// A step too low costs 3, a step too high 1.
CostMatrix asymmetric(std::size_t k) {
  std::vector<double> cost(k * k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p)
      cost[t * k + p] = p < t ? 3.0 * static_cast<double>(t - p) : static_cast<double>(p - t);
  return CostMatrix::from_values(cost, k, "matrix", SyntheticProblem(Order::grades).class_names(), "test");
}

std::vector<CostMatrix> costs_for(std::size_t k) {
  std::vector<CostMatrix> costs{CostMatrix::named("zero-one", k), CostMatrix::named("absolute", k),
                                CostMatrix::named("squared", k)};
  if (k == 5) costs.push_back(asymmetric(k));
  return costs;
}

TEST(Synthetic, TableRowsAreDistributions) {
  for (const Order order : orders) {
    const SyntheticProblem problem(order);
    for (std::size_t r = 0; r < problem.regions(); ++r) {
      int sum = 0;
      for (std::size_t t = 0; t < problem.k(); ++t) {
        EXPECT_GT(problem.percent(r, t), 0);
        sum += problem.percent(r, t);
      }
      EXPECT_EQ(sum, 100) << "region " << r;
    }
  }
}

TEST(Synthetic, SixRegionsHaveNoMajorityAndTheBestClassLeads) {
  const SyntheticProblem problem(Order::none);
  std::size_t without_majority = 0;
  for (std::size_t r = 0; r < problem.regions(); ++r) {
    std::vector<int> p;
    for (std::size_t t = 0; t < problem.k(); ++t) p.push_back(problem.percent(r, t));
    std::sort(p.rbegin(), p.rend());
    if (p[0] < 50) ++without_majority;
    EXPECT_GE(p[0] - p[1], 15) << "region " << r;
  }
  EXPECT_EQ(without_majority, 6U);
}

TEST(Synthetic, OrdinalBestRulesAreMedianMeanAndQuantile) {
  const SyntheticProblem problem(Order::grades);
  const std::vector<std::int32_t> absolute = problem.best_rule(CostMatrix::named("absolute", 5)),
                                  squared = problem.best_rule(CostMatrix::named("squared", 5)),
                                  quantile = problem.best_rule(asymmetric(5));
  for (std::size_t r = 0; r < problem.regions(); ++r) {
    int cumulative = 0, sum = 0;
    std::int32_t median = -1, three_quarters = -1;
    for (int t = 0; t < 5; ++t) {
      const int p = problem.percent(r, static_cast<std::size_t>(t));
      cumulative += p;
      sum += t * p;
      if (median < 0 && cumulative > 50) median = t;
      if (three_quarters < 0 && cumulative > 75) three_quarters = t;
    }
    EXPECT_EQ(absolute[r], median) << "region " << r;
    EXPECT_EQ(squared[r], std::lround(sum / 100.0)) << "region " << r;
    EXPECT_EQ(quantile[r], three_quarters) << "region " << r;
    EXPECT_FALSE(absolute[r] == squared[r] && squared[r] == quantile[r]) << "region " << r;
  }
}

// Every one of the k^R rules, as digits of a number in base k.
TEST(Synthetic, BayesRiskIsTheMinimumOverAllRules) {
  for (const Order order : orders) {
    const SyntheticProblem problem(order);
    const std::size_t k = problem.k(), regions = problem.regions();
    ASSERT_GE(k, 2U);
    for (const CostMatrix& cost : costs_for(k)) {
      std::vector<double> expected(regions * k);
      for (std::size_t r = 0; r < regions; ++r)
        for (std::size_t p = 0; p < k; ++p)
          for (std::size_t t = 0; t < k; ++t) expected[r * k + p] += problem.percent(r, t) / 100.0 * cost(t, p);
      double best = std::numeric_limits<double>::infinity();
      const auto rules = static_cast<std::size_t>(std::lround(std::pow(k, regions)));
      for (std::size_t rule = 0; rule < rules; ++rule) {
        double risk = 0;
        for (std::size_t r = 0, digits = rule; r < regions; ++r, digits /= k) risk += expected[r * k + digits % k];
        best = std::min(best, risk / static_cast<double>(regions));
      }
      EXPECT_NEAR(problem.bayes_risk(cost), best, 1e-12) << problem.task() << ' ' << cost.name();
    }
  }
  EXPECT_DOUBLE_EQ(SyntheticProblem(Order::none).bayes_risk(CostMatrix::named("zero-one", 4)), 0.53125);
  EXPECT_DOUBLE_EQ(SyntheticProblem(Order::grades).bayes_risk(CostMatrix::named("absolute", 5)), 0.91875);
}

// The costs that the risk adds up are those of predicting, not of being: constant rules tell them apart.
TEST(Synthetic, RiskOfAConstantRuleIsTheMeanCostOfThatPrediction) {
  const SyntheticProblem problem(Order::grades);
  const CostMatrix cost = asymmetric(5);
  std::vector<double> share(5);
  for (std::size_t r = 0; r < problem.regions(); ++r)
    for (std::size_t t = 0; t < 5; ++t) share[t] += problem.percent(r, t) / 800.0;
  for (std::int32_t p = 0; p < 5; ++p) {
    double expected = 0;
    for (int t = 0; t < 5; ++t) expected += share[static_cast<std::size_t>(t)] * (p < t ? 3 * (t - p) : p - t);
    EXPECT_NEAR(problem.risk(cost, std::vector<std::int32_t>(problem.regions(), p)), expected, 1e-12);
  }
}

TEST(Synthetic, SameSeedSameDataAndLongerRunsBeginAlike) {
  for (const Order order : orders)
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, std::numeric_limits<std::uint64_t>::max()}) {
      const SyntheticProblem problem(order);
      const Dataset a = problem.sample(500, seed), b = problem.sample(500, seed), longer = problem.sample(700, seed);
      const auto& xa = std::get<SparseMatrix>(a.x);
      const auto& xb = std::get<SparseMatrix>(b.x);
      const auto& xl = std::get<SparseMatrix>(longer.x);
      EXPECT_EQ(a.label, b.label);
      EXPECT_EQ(xa.column, xb.column);
      EXPECT_TRUE(std::equal(a.label.begin(), a.label.end(), longer.label.begin()));
      EXPECT_TRUE(std::equal(xa.column.begin(), xa.column.end(), xl.column.begin()));
      EXPECT_NE(a.label, problem.sample(500, seed + 1).label);
    }
}

TEST(Synthetic, SampleIsAWellFormedDataset) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{300}}) {
    const SyntheticProblem problem(Order::grades);
    const Dataset data = problem.sample(n, 3);
    const auto& x = std::get<SparseMatrix>(data.x);
    EXPECT_EQ(data.examples(), n);
    EXPECT_EQ(data.feature_rows.count(), n);
    EXPECT_EQ(data.label.size(), n);
    EXPECT_EQ(x.rows, n);
    EXPECT_EQ(x.cols, data.feature_names.size());
    EXPECT_EQ(data.class_names.size(), problem.k());
    for (std::size_t i = 0; i < n; ++i) {
      const SparseRow row = x.view().row(i);
      ASSERT_EQ(row.column.size(), 1U);
      EXPECT_LT(row.column[0], problem.regions());
      EXPECT_EQ(row.value[0], 1.0);
    }
  }
}

// Counts within 4.5 standard deviations of what the table says (80 cells: one in 2000 seeds would fail; this one is
// fixed).
TEST(Synthetic, FrequenciesMatchTheTable) {
  constexpr std::size_t n = 400'000;
  for (const Order order : orders) {
    const SyntheticProblem problem(order);
    const std::size_t k = problem.k();
    const Dataset data = problem.sample(n, 11);
    const auto& x = std::get<SparseMatrix>(data.x);
    std::vector<double> count(problem.regions() * k);
    for (std::size_t i = 0; i < n; ++i) count[x.column[i] * k + static_cast<std::size_t>(data.label[i])] += 1;
    for (std::size_t r = 0; r < problem.regions(); ++r)
      for (std::size_t t = 0; t < k; ++t) {
        const double p = problem.percent(r, t) / 100.0 / static_cast<double>(problem.regions());
        EXPECT_NEAR(count[r * k + t], p * n, 4.5 * std::sqrt(n * p * (1 - p))) << "region " << r << " label " << t;
      }
  }
}

TEST(Synthetic, OneRowPerRegionIsTheIdentity) {
  const SyntheticProblem problem(Order::none);
  const SparseMatrix x = problem.one_row_per_region();
  ASSERT_EQ(x.rows, problem.regions());
  for (std::size_t r = 0; r < x.rows; ++r) {
    const SparseRow row = x.view().row(r);
    ASSERT_EQ(row.column.size(), 1U);
    EXPECT_EQ(row.column[0], r);
    EXPECT_EQ(row.value[0], 1.0);
  }
}

}  // namespace
}  // namespace m4n::detail

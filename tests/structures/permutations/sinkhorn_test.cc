// Scaling and rounding into the doubly stochastic matrices.
#include "structures/permutations/sinkhorn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"

namespace m4n::detail {
namespace {

struct Errors {
  double rows = 0, columns = 0;
};

Errors errors_of(const std::vector<double>& p, std::size_t m) {
  Errors out;
  for (std::size_t i = 0; i < m; ++i) {
    double row = -1, column = -1;
    for (std::size_t j = 0; j < m; ++j) {
      row += p[i * m + j];
      column += p[j * m + i];
    }
    out.rows += std::abs(row);
    out.columns += std::abs(column);
  }
  return out;
}

TEST(Sinkhorn, SweepsConvergeAndKeepTheFormOfAScaling) {
  Rng rng(1);
  for (const std::size_t m : {1, 2, 5, 12}) {
    std::vector<double> start(m * m), scratch(m);
    for (double& x : start) x = std::exp(rng.normal());
    auto p = start;
    double error = 1;
    for (int sweep = 0; sweep < 500 && error > 1e-13; ++sweep) error = sinkhorn_sweep(p, m, scratch);
    EXPECT_LE(error, 1e-13);
    const Errors left = errors_of(p, m);
    EXPECT_LE(left.rows + left.columns, 1e-12 * static_cast<double>(m));
    // p_ij = r_i start_ij c_j: all 2 x 2 minors of the ratios vanish.
    for (std::size_t i = 1; i < m; ++i)
      for (std::size_t j = 1; j < m; ++j) {
        const auto ratio = [&](std::size_t a, std::size_t b) { return p[a * m + b] / start[a * m + b]; };
        EXPECT_NEAR(ratio(i, j) * ratio(0, 0) / (ratio(i, 0) * ratio(0, j)), 1, 1e-11);
      }
  }
}

TEST(Sinkhorn, TheErrorReturnedIsThatOfTheRowsBefore) {
  std::vector<double> p{0.5, 0.75, 0.5, 0.5}, scratch(2);
  EXPECT_DOUBLE_EQ(sinkhorn_sweep(p, 2, scratch), 0.25);
}

TEST(Sinkhorn, RoundingIsFeasibleAndNear) {
  Rng rng(2);
  for (const std::size_t m : {1, 2, 5, 30}) {
    for (const double noise : {0.0, 1e-12, 0.1, 10.0}) {
      std::vector<double> p(m * m), rows(m), columns(m);
      for (double& x : p) x = (1 + noise * rng.uniform()) / static_cast<double>(m);
      const auto before = p;
      const Errors error = errors_of(p, m);
      round_to_birkhoff(p, m, rows, columns);
      const Errors left = errors_of(p, m);
      EXPECT_LE(left.rows + left.columns, 1e-13 * static_cast<double>(m));
      double moved = 0;
      for (std::size_t e = 0; e < m * m; ++e) {
        EXPECT_GE(p[e], 0);
        moved += std::abs(p[e] - before[e]);
      }
      EXPECT_LE(moved, 2 * (error.rows + error.columns) + 1e-12);
    }
  }
}

TEST(Sinkhorn, RoundingFillsWhatIsMissing) {
  std::vector<double> p(9), rows(3), columns(3);
  round_to_birkhoff(p, 3, rows, columns);
  for (const double x : p) EXPECT_DOUBLE_EQ(x, 1.0 / 3);
}

// log P = S + a_i + b_j: second differences of log P are those of S, wherever they can be seen.
TEST(SinkhornScaling, IsAScalingOfExpOfTheScores) {
  Rng rng(3);
  SinkhornScaling scaling;
  for (const std::size_t m : {1, 2, 3, 8, 25})
    for (const double scale : {0.0, 0.1, 1.0, 5.0, 50.0, 1e4, 1e70}) {
      std::vector<double> s(m * m), p(m * m);
      for (double& x : s) x = scale * rng.normal();
      EXPECT_LE(scaling.solve(s, m, 1e-9, 1000, p), 1e-9) << m << " " << scale;
      EXPECT_LE(errors_of(p, m).rows, 1e-13 * static_cast<double>(m));
      EXPECT_LE(errors_of(p, m).columns, 1e-9 * static_cast<double>(m));
      const auto second = [m](const std::vector<double>& x, std::size_t i, std::size_t j) {
        return x[0] + x[i * m + j] - x[i * m] - x[j];
      };
      std::vector<double> logs(m * m);
      for (std::size_t e = 0; e < m * m; ++e) logs[e] = std::log(p[e]);
      for (std::size_t i = 1; i < m; ++i)
        for (std::size_t j = 1; j < m; ++j)
          if (std::min({p[0], p[i * m + j], p[i * m], p[j]}) > 1e-250) {
            EXPECT_NEAR(second(logs, i, j), second(s, i, j), 1e-9 * std::max(1.0, scale));
          }
    }
}

// Two parts that only weak links join: [[x, 1-x], [1-x, x]] with x / (1 - x) = exp(s / 2).
TEST(SinkhornScaling, WeakLinksAreFound) {
  SinkhornScaling scaling;
  std::vector<double> p(4);
  for (const double score : {-40.0, -1.0, 0.0, 1.0, 10.0, 30.0, 40.0}) {
    const std::vector<double> s{score, 0, 0, 0};
    EXPECT_LE(scaling.solve(s, 2, 1e-12, 1000, p), 1e-12);
    EXPECT_NEAR(p[1], 1 / (1 + std::exp(score / 2)), 1e-11);
    EXPECT_NEAR(p[2], 1 / (1 + std::exp(score / 2)), 1e-11);
  }
}

TEST(SinkhornScaling, SaysHowFarItCame) {
  SinkhornScaling scaling;
  std::vector<double> p(4);
  const std::vector<double> s{30, 0, 0, 0};
  EXPECT_GT(scaling.solve(s, 2, 1e-12, 1, p), 1e-3);
}

}  // namespace
}  // namespace m4n::detail

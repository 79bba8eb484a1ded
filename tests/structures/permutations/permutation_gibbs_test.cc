// The Gibbs distribution over permutations against enumeration.
#include "structures/permutations/gibbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "m4n/error.h"
#include "support/birkhoff_reference.h"

namespace m4n::detail {
namespace {

using test::position_scores;

// log Z and the marginals in long double, relative to the best permutation.
struct Enumerated {
  double log_partition;
  std::vector<double> p;
};

Enumerated enumerate(const std::vector<double>& s, std::size_t m) {
  const auto all = test::all_permutations(m);
  double top = test::score_of(s, all[0]);
  for (const auto& y : all) top = std::max(top, test::score_of(s, y));
  long double total = 0;
  std::vector<long double> mass(m * m);
  for (const auto& y : all) {
    const long double weight = std::exp(static_cast<long double>(test::score_of(s, y) - top));
    total += weight;
    for (std::size_t i = 0; i < m; ++i) mass[i * m + static_cast<std::size_t>(y[i])] += weight;
  }
  Enumerated out{top + static_cast<double>(std::log(total)), std::vector<double>(m * m)};
  for (std::size_t e = 0; e < m * m; ++e) out.p[e] = static_cast<double>(mass[e] / total);
  return out;
}

TEST(PermutationGibbs, EqualsEnumeration) {
  Rng rng(1);
  PermutationGibbs gibbs;
  for (std::size_t m = 1; m <= 8; ++m) {
    for (const double scale : {0.0, 1e-8, 1.0, 30.0, 1e5}) {
      for (int style = 0; style < (m < 8 ? 4 : 2); ++style) {
        const auto s = position_scores(m, scale, style, rng);
        std::vector<double> p(m * m);
        const double value = gibbs.marginals(s, m, p);
        const Enumerated expected = enumerate(s, m);
        const double rounding = 1e-12 + 1e-14 * scale * static_cast<double>(m);
        EXPECT_NEAR(value, expected.log_partition, rounding) << m << ' ' << scale;
        for (std::size_t e = 0; e < m * m; ++e) EXPECT_NEAR(p[e], expected.p[e], rounding) << m << ' ' << scale;
      }
    }
  }
}

// The recurrence set by set in long double, where there are too many permutations to enumerate.
TEST(PermutationGibbs, EqualsThePlainRecurrence) {
  Rng rng(3);
  PermutationGibbs gibbs;
  for (const std::size_t m : {9, 10, 13}) {
    for (const double scale : {0.1, 3.0, 200.0}) {
      const auto s = position_scores(m, scale, 0, rng);
      std::vector<double> p(m * m);
      const double value = gibbs.marginals(s, m, p);
      const std::size_t all = (std::size_t{1} << m) - 1;
      std::vector<long double> forward(all + 1, 0), backward(all + 1, 0), mass(m * m, 0);
      const auto weight = [&](std::size_t i, std::size_t j) {
        return std::exp(static_cast<long double>(s[i * m + j] - value / static_cast<double>(m)));
      };
      forward[0] = backward[all] = 1;
      for (std::size_t set = 1; set <= all; ++set)
        for (std::size_t j = 0; j < m; ++j)
          if ((set >> j & 1) == 1)
            forward[set] +=
                weight(static_cast<std::size_t>(std::popcount(set)) - 1, j) * forward[set ^ std::size_t{1} << j];
      for (std::size_t set = all; set-- > 0;)
        for (std::size_t j = 0; j < m; ++j)
          if (const std::size_t i = static_cast<std::size_t>(std::popcount(set)); (set >> j & 1) == 0) {
            const long double way = weight(i, j) * backward[set | std::size_t{1} << j];
            backward[set] += way;
            mass[i * m + j] += forward[set] * way;
          }
      EXPECT_NEAR(static_cast<double>(std::log(forward[all])), 0, 1e-12 * (1 + scale)) << m << ' ' << scale;
      for (std::size_t e = 0; e < m * m; ++e)
        EXPECT_NEAR(p[e], static_cast<double>(mass[e] / forward[all]), 1e-12) << m << ' ' << scale;
    }
  }
}

// Beyond enumeration: doubly stochastic, and the gradient of log Z.
TEST(PermutationGibbs, MarginalsAreTheGradientOfTheLogPartition) {
  Rng rng(2);
  PermutationGibbs gibbs;
  for (const std::size_t m : {11, 16}) {
    auto s = position_scores(m, 2.0, 0, rng);
    std::vector<double> p(m * m), ignored(m * m);
    gibbs.marginals(s, m, p);
    for (std::size_t i = 0; i < m; ++i) {
      double row = 0, column = 0;
      for (std::size_t j = 0; j < m; ++j) {
        row += p[i * m + j];
        column += p[j * m + i];
      }
      EXPECT_NEAR(row, 1, 1e-12);
      EXPECT_NEAR(column, 1, 1e-12);
    }
    for (int cell = 0; cell < 5; ++cell) {
      const std::size_t e = rng.below(m * m);
      const double h = 1e-5, before = s[e];
      s[e] = before + h;
      const double up = gibbs.marginals(s, m, ignored);
      s[e] = before - h;
      const double down = gibbs.marginals(s, m, ignored);
      s[e] = before;
      EXPECT_NEAR((up - down) / (2 * h), p[e], 1e-8);
    }
  }
}

TEST(PermutationGibbs, EqualScoresAreUniform) {
  PermutationGibbs gibbs;
  std::vector<double> p(36);
  EXPECT_NEAR(gibbs.marginals(std::vector<double>(36, -4.0), 6, p), -24 + std::log(720.0), 1e-12);
  for (const double x : p) EXPECT_NEAR(x, 1.0 / 6, 1e-14);
}

TEST(PermutationGibbs, WhatIsOutOfReachIsRefused) {
  PermutationGibbs gibbs;
  std::vector<double> p(17 * 17);
  try {
    gibbs.marginals(p, 17, p);
    FAIL() << "expected an error";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("17 items"));
    EXPECT_THAT(e.what(), ::testing::HasSubstr("at most 16"));
  }
  p[1] = std::nan("");
  EXPECT_THROW(gibbs.marginals(p, 2, p), Error);
}

}  // namespace
}  // namespace m4n::detail

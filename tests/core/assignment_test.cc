// The assignment solver against brute force over all permutations, and against its own duals: a feasible dual of the
// same value proves a permutation best.
#include "core/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "m4n/error.h"

namespace m4n::detail {
namespace {

enum class Style { normal, integers, constant, diagonal, nearly_tied, column_constant };
constexpr Style styles[] = {Style::normal,   Style::integers,    Style::constant,
                            Style::diagonal, Style::nearly_tied, Style::column_constant};

std::vector<double> random_scores(std::size_t m, Style style, double scale, Rng& rng) {
  std::vector<double> out(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      double& s = out[i * m + j];
      switch (style) {
        case Style::normal:
          s = rng.normal();
          break;
        case Style::integers:
          s = static_cast<double>(rng.below(3));
          break;
        case Style::constant:
          s = -0.75;
          break;
        case Style::diagonal:
          s = i == j ? 1 : 0;
          break;
        case Style::nearly_tied:
          s = 1 + 1e-15 * static_cast<double>(rng.below(4));
          break;
        case Style::column_constant:
          s = static_cast<double>(j) / 3;
          break;
      }
      s *= scale;
    }
  }
  return out;
}

double score(const std::vector<double>& s, std::span<const std::int32_t> y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += s[i * y.size() + static_cast<std::size_t>(y[i])];
  return sum;
}

double brute_force(const std::vector<double>& s, std::size_t m) {
  std::vector<std::int32_t> y(m);
  std::iota(y.begin(), y.end(), 0);
  double best = -std::numeric_limits<double>::infinity();
  do best = std::max(best, score(s, y));
  while (std::next_permutation(y.begin(), y.end()));
  return best;
}

double magnitude(const std::vector<double>& s) {
  double out = 0;
  for (const double x : s) out = std::max(out, std::abs(x));
  return out;
}

// A permutation, with its inverse, its value, and duals that prove it best to rounding.
void expect_certified(const Assignment& lap, const std::vector<double>& s, std::size_t m, double value) {
  const auto y = lap.position();
  const auto u = lap.row_duals(), w = lap.column_duals();
  ASSERT_EQ(y.size(), m);
  std::vector<int> seen(m);
  for (std::size_t i = 0; i < m; ++i) {
    ASSERT_GE(y[i], 0);
    ASSERT_LT(y[i], static_cast<std::int32_t>(m));
    EXPECT_EQ(lap.item()[static_cast<std::size_t>(y[i])], static_cast<std::int32_t>(i));
    ++seen[static_cast<std::size_t>(y[i])];
  }
  EXPECT_THAT(seen, ::testing::Each(1));
  EXPECT_EQ(value, score(s, y));
  const double rounding = 1e-14 * static_cast<double>(m) * magnitude(s);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) ASSERT_GE(u[i] + w[j] - s[i * m + j], -rounding) << i << ' ' << j;
  EXPECT_GE(lap.bound(), value - rounding);
  EXPECT_LE(lap.bound(), value + rounding * static_cast<double>(m));
}

TEST(Assignment, EqualsBruteForce) {
  Rng rng(1);
  Assignment lap;
  for (std::size_t m = 1; m <= 7; ++m) {
    for (const Style style : styles) {
      for (const double scale : {1.0, 1e-300, 1e-12, 1e12, 1e299}) {
        for (int repeat = 0; repeat < (m < 6 ? 8 : 2); ++repeat) {
          const auto s = random_scores(m, style, scale, rng);
          const double value = lap.solve(s, m);
          EXPECT_NEAR(value, brute_force(s, m), 1e-14 * magnitude(s)) << m << ' ' << scale;
          expect_certified(lap, s, m, value);
        }
      }
    }
  }
}

TEST(Assignment, DualsProveLargeAnswersBest) {
  Rng rng(2);
  Assignment lap;
  for (const std::size_t m : {8, 13, 20, 33, 50, 100})
    for (const Style style : styles)
      for (const double scale : {1.0, 1e-9, 1e9}) {
        const auto s = random_scores(m, style, scale, rng);
        expect_certified(lap, s, m, lap.solve(s, m));
      }
}

TEST(Assignment, AnyStartGivesTheSameValue) {
  Rng rng(3);
  for (const std::size_t m : {1, 2, 5, 10, 40}) {
    for (const Style style : styles) {
      auto s = random_scores(m, style, 1, rng);
      Assignment warm, cold;
      warm.solve(s, m);
      for (int step = 0; step < 10; ++step) {
        for (double& x : s) x += (step < 5 ? 0.05 : 2.0) * rng.normal();
        const double value = warm.solve(s, m, warm.column_duals());
        expect_certified(warm, s, m, value);
        EXPECT_NEAR(value, cold.solve(s, m), 1e-13 * static_cast<double>(m) * magnitude(s));
      }
      std::vector<double> garbage(m);
      for (double& w : garbage) w = 100 * rng.normal();
      garbage[0] = std::nan("");
      garbage[m - 1] = std::numeric_limits<double>::infinity();
      const double value = warm.solve(s, m, garbage);
      EXPECT_NEAR(value, cold.solve(s, m), 1e-12 * static_cast<double>(m) * (1 + magnitude(s)));
    }
  }
}

TEST(Assignment, TiesAreBrokenTheSameWayEveryTime) {
  Rng rng(4);
  for (const Style style : {Style::integers, Style::constant, Style::column_constant}) {
    const auto s = random_scores(30, style, 1, rng);
    Assignment first, second;
    first.solve(random_scores(50, Style::normal, 1, rng), 50);  // what came before must not matter
    first.solve(s, 30);
    second.solve(s, 30);
    EXPECT_TRUE(std::ranges::equal(first.position(), second.position()));
  }
  Assignment lap;
  lap.solve(std::vector<double>(9, 2.0), 3);
  EXPECT_THAT(lap.position(), ::testing::ElementsAre(0, 1, 2));
}

TEST(Assignment, ScoresThatAreNoNumbersAreRefused) {
  Assignment lap;
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1.7e308, -2e300}) {
    for (const std::size_t at : {0, 7, 24}) {
      std::vector<double> s(25, 1.0);
      s[at] = bad;
      try {
        lap.solve(s, 5);
        FAIL() << "expected an error for " << bad;
      } catch (const Error& e) {
        EXPECT_THAT(e.what(),
                    ::testing::HasSubstr("item " + std::to_string(at / 5) + " at position " + std::to_string(at % 5)));
      }
      EXPECT_THROW(lap.solve(s, 5, lap.column_duals()), Error);
    }
  }
  EXPECT_EQ(lap.solve(std::vector<double>(4, 1e300), 2), 2e300);  // many large ones are no error
}

}  // namespace
}  // namespace m4n::detail

// Scores of an exact kernel against the plain product K a.
#include "solvers/kernel_scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace m4n::detail {
namespace {

GramMatrix random_gram(Rng& rng, std::size_t n) {
  GramMatrix gram(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) gram.row(i)[j] = gram.row(j)[i] = static_cast<float>(rng.normal());
  return gram;
}

// sum_j K_ij a_jc, and the sum of the absolute values, to measure rounding by.
std::pair<double, double> plain(const GramMatrix& gram, const AlignedVector<double>& a, std::size_t stride,
                                std::size_t i, std::size_t c) {
  double sum = 0, size = 0;
  for (std::size_t j = 0; j < gram.n(); ++j) {
    const double term = static_cast<double>(gram.row(i)[j]) * a[j * stride + c];
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}

// All of the rows, some or none have entries; in all of the classes or in some.
AlignedVector<double> random_coefficients(Rng& rng, std::size_t n, std::size_t k) {
  const std::size_t stride = kernels::padded(k);
  const double rows = rng.uniform(-0.2, 1.2), classes = rng.uniform(0, 1.5);
  AlignedVector<double> a(n * stride, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < k && rng.uniform() < rows; ++c)
      if (rng.uniform() < classes) a[i * stride + c] = rng.normal();
  return a;
}

constexpr std::size_t sizes[] = {1, 2, 31, 33, 64, 127, 128, 129, 200, 300};

TEST(KernelScorer, CoefficientsGiveScoresInDouble) {
  Rng rng(1);
  for (const std::size_t n : sizes)
    for (const std::size_t k : {1, 2, 7, 8, 9, 26, 33}) {
      const GramMatrix gram = random_gram(rng, n);
      const std::size_t stride = kernels::padded(k);
      const AlignedVector<double> a = random_coefficients(rng, n, k);
      KernelScorer scorer(gram, k);
      scorer.set_coefficients(a, 1);
      EXPECT_EQ(times(gram, a, stride, 1), times(gram, a, stride, 3));
      AlignedVector<double> v(stride);
      double norm = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i) {
        scorer.scores(i, v);
        for (std::size_t c = 0; c < stride; ++c) {
          const auto [expected, scale] = plain(gram, a, stride, i, c);
          if (c < k) {
            ASSERT_NEAR(v[c], expected, 1e-14 * (1 + scale));
          } else {
            ASSERT_EQ(v[c], kernels::padding_score);
          }
          norm += a[i * stride + c] * expected;
          size += std::abs(a[i * stride + c]) * scale;
        }
      }
      EXPECT_NEAR(scorer.norm_squared(), norm, 1e-13 * (1 + size));
    }
}

TEST(KernelScorer, UpdatesAddUp) {
  Rng rng(2);
  for (const std::size_t n : sizes)
    for (const std::size_t k : {1, 3, 8, 26}) {
      const GramMatrix gram = random_gram(rng, n);
      const std::size_t stride = kernels::padded(k);
      const AlignedVector<double> start = random_coefficients(rng, n, k);
      AlignedVector<double> a = start, v(stride), delta(stride), steps(a.size(), 0.0);
      KernelScorer scorer(gram, k);
      scorer.set_coefficients(start, 1);
      for (int step = 0; step < 100; ++step) {
        const std::size_t i = rng.below(n);
        const double scale = rng.uniform(0, 2e-3), share = rng.uniform(0.1, 1.5);
        for (std::size_t c = 0; c < k; ++c) {
          delta[c] = rng.uniform() < share ? rng.normal() : 0.0;
          a[i * stride + c] += scale * delta[c];
          steps[i * stride + c] += std::abs(scale * delta[c]);
        }
        scorer.update(i, delta, scale);
        const std::size_t seen = rng.below(n);
        scorer.scores(seen, v);
        for (std::size_t c = 0; c < k; ++c) {
          const auto [expected, size] = plain(gram, a, stride, seen, c);
          // In float relative to the steps, not to the scores.
          const double moved = plain(gram, steps, stride, seen, c).second;
          ASSERT_NEAR(v[c], expected, 1e-5 * moved + 1e-14 * (1 + size));
        }
      }
      const std::vector<double> weights = scorer.weights();
      double norm = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < k; ++c) {
          EXPECT_NEAR(weights[i * k + c], a[i * stride + c], 1e-14);
          const auto [expected, scale] = plain(gram, a, stride, i, c);
          norm += a[i * stride + c] * expected;
          size += std::abs(a[i * stride + c]) * scale;
        }
      EXPECT_NEAR(scorer.norm_squared(), norm, 1e-6 * (1 + size));
      // Steps taken before must not survive new coefficients, scaled or not.
      for (const double factor : {1.0, 3.0, 0.1}) {
        AlignedVector<double> scaled = a;
        for (double& x : scaled) x *= factor;
        scorer.set_coefficients(scaled, 1);
        scorer.scores(n - 1, v);
        for (std::size_t c = 0; c < k; ++c) {
          const auto [expected, sum] = plain(gram, scaled, stride, n - 1, c);
          EXPECT_NEAR(v[c], expected, 1e-14 * (1 + sum));
        }
      }
      scorer.reset();
      scorer.scores(0, v);
      for (std::size_t c = 0; c < k; ++c) EXPECT_EQ(v[c], 0);
      EXPECT_EQ(scorer.norm_squared(), 0);
    }
}

// Coefficients most of which are one number in every row, as long as the column is used at all.
TEST(KernelScorer, KnowsRowsOfOneNumber) {
  Rng rng(4);
  for (const std::size_t n : {1, 33, 150})
    for (const std::size_t k : {2, 3, 8, 26}) {
      const GramMatrix gram = random_gram(rng, n);
      const std::size_t stride = kernels::padded(k);
      AlignedVector<double> a(n * stride, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double common = rng.uniform() < 0.2 ? 0 : rng.normal();
        for (std::size_t c = 0; c < k; ++c) a[i * stride + c] = rng.uniform() < 0.8 ? common : rng.normal();
        if (k > 3) a[i * stride + 1] = 0;
      }
      const AlignedVector<double> found = times(gram, a, stride, 1);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < stride; ++c) {
          const auto [expected, size] = plain(gram, a, stride, i, c);
          double spread = 0;  // of what the class shares with others
          for (std::size_t other = 0; other < k; ++other)
            spread = std::max(spread, plain(gram, a, stride, i, other).second);
          EXPECT_NEAR(found[i * stride + c], expected, 1e-14 * (1 + size + spread));
          if (c >= k || (k > 3 && c == 1)) {
            EXPECT_EQ(found[i * stride + c], 0);
          }
        }
    }
}

// Steps inside a group are the same as steps one by one.
TEST(KernelScorer, GroupsAddUp) {
  Rng rng(5);
  for (const std::size_t n : {1, 5, 33, 100})
    for (const std::size_t k : {2, 9}) {
      const GramMatrix gram = random_gram(rng, n);
      const std::size_t stride = kernels::padded(k);
      const AlignedVector<double> start = random_coefficients(rng, n, k);
      KernelScorer together(gram, k), alone(gram, k);
      together.set_coefficients(start, 1);
      alone.set_coefficients(start, 1);
      AlignedVector<double> v(stride), expected(stride), delta(stride);
      std::vector<std::uint32_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
      for (int round = 0; round < 4; ++round) {
        rng.shuffle(std::span(order));
        const std::span<const std::uint32_t> own = std::span(order).first(std::min(n, KernelScorer::group));
        for (std::size_t p = 0; p <= own.size(); ++p) together.prefetch(own, p);
        together.open(own);
        for (int step = 0; step < 60; ++step) {
          const std::size_t i = own[rng.below(own.size())];
          for (std::size_t c = 0; c < k; ++c) delta[c] = rng.uniform() < 0.5 ? rng.normal() : 0.0;
          together.update(i, delta, 0.01);
          alone.update(i, delta, 0.01);
          const std::size_t seen = own[rng.below(own.size())];
          together.scores(seen, v);
          alone.scores(seen, expected);
          for (std::size_t c = 0; c < k; ++c) EXPECT_NEAR(v[c], expected[c], 1e-4);
          for (std::size_t c = k; c < stride; ++c) EXPECT_EQ(v[c], kernels::padding_score);
        }
        together.close();
        for (std::size_t i = 0; i < n; ++i) {
          together.scores(i, v);
          alone.scores(i, expected);
          for (std::size_t c = 0; c < k; ++c) EXPECT_NEAR(v[c], expected[c], 1e-4);
        }
      }
      const std::vector<double> a = together.weights(), b = alone.weights();
      for (std::size_t e = 0; e < a.size(); ++e) EXPECT_NEAR(a[e], b[e], 1e-12);
      EXPECT_NEAR(together.norm_squared(), alone.norm_squared(), 1e-4 * (1 + std::abs(alone.norm_squared())));
    }
}

// All examples, in groups whose members are nearer to each other than to others.
TEST(KernelScorer, ArrangesNeighbours) {
  Rng rng(6);
  constexpr std::size_t n = 200;
  GramMatrix gram(n);
  std::vector<double> place;
  for (std::size_t i = 0; i < n; ++i) place.push_back(rng.uniform(0, 10));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      gram.row(i)[j] = static_cast<float>(std::exp(-0.1 * std::pow(place[i] - place[j], 2)));
  const KernelScorer scorer(gram, 2);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < n; i += 2) order.push_back(i);
  const std::vector<std::uint32_t> before = order;
  scorer.arrange(order, rng);
  double apart = 0, within = 0;
  for (std::size_t e = 0; e + 1 < order.size(); ++e) within += std::abs(place[order[e]] - place[order[e + 1]]);
  for (std::size_t e = 0; e + 1 < order.size(); ++e) apart += std::abs(place[before[e]] - place[before[e + 1]]);
  EXPECT_LT(within, 0.7 * apart);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, before);
}

// A second row of coefficients that is almost, not quite, a multiple of the first is no multiple.
TEST(KernelScorer, AlmostTheSameCoefficientsAreOthers) {
  Rng rng(3);
  const GramMatrix gram = random_gram(rng, 50);
  AlignedVector<double> a = random_coefficients(rng, 50, 8), v(8);
  a[0] = 1;
  KernelScorer scorer(gram, 8);
  scorer.set_coefficients(a, 1);
  AlignedVector<double> other = a;
  for (double& x : other) x *= 2;
  other[49 * 8 + 5] += 1e-9;
  scorer.set_coefficients(other, 1);
  for (std::size_t i = 0; i < 50; ++i) {
    scorer.scores(i, v);
    const auto [expected, size] = plain(gram, other, 8, i, 5);
    EXPECT_NEAR(v[5], expected, 1e-14 * (1 + size));
  }
}

}  // namespace
}  // namespace m4n::detail

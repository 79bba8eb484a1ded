// Position losses against their definitions, written out here once more, over all pairs of permutations.
#include "losses/position_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "m4n/error.h"

namespace m4n::detail {
namespace {

using Permutation = std::vector<std::int32_t>;

std::vector<Permutation> all_permutations(std::size_t m) {
  Permutation y(m);
  std::iota(y.begin(), y.end(), 0);
  std::vector<Permutation> out;
  do out.push_back(y);
  while (std::next_permutation(y.begin(), y.end()));
  return out;
}

// The loss equals `definition`, its extremes are attained, and both products are the expected costs of mixtures.
void expect_loss(const PositionLoss& loss,
                 const std::function<double(const Permutation&, const Permutation&)>& definition) {
  const std::size_t m = loss.size();
  const auto all = all_permutations(m);
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& t : all) {
    for (const auto& y : all) {
      const double expected = definition(t, y);
      ASSERT_NEAR(loss(t, y), expected, 1e-12 * (1 + std::abs(expected))) << loss.name() << " M = " << m;
      least = std::min(least, expected);
      most = std::max(most, expected);
    }
    EXPECT_NEAR(loss(t, t), loss.minimum(), 1e-12 * (1 + loss.maximum()));
  }
  EXPECT_NEAR(loss.minimum(), least, 1e-12 * (1 + most));
  EXPECT_NEAR(loss.maximum(), most, 1e-12 * (1 + most));

  Rng rng(7);
  const auto random = [&]() -> const Permutation& { return all[rng.below(all.size())]; };
  const Permutation &t1 = random(), &t2 = random(), &y1 = random(), &y2 = random();
  const auto matrix = [&](const Permutation& a, const Permutation& b) {  // 0.3 a + 0.7 b
    std::vector<double> out(m * m);
    for (std::size_t i = 0; i < m; ++i) {
      out[i * m + static_cast<std::size_t>(a[i])] += 0.3;
      out[i * m + static_cast<std::size_t>(b[i])] += 0.7;
    }
    return out;
  };
  const auto p = matrix(t1, t2), q = matrix(y1, y2);
  std::vector<double> ap(m * m), aq(m * m);
  loss.apply(p, ap);
  loss.apply_transposed(q, aq);
  const double expected =
      0.09 * definition(t1, y1) + 0.21 * definition(t1, y2) + 0.21 * definition(t2, y1) + 0.49 * definition(t2, y2);
  EXPECT_NEAR(loss.constant() + std::inner_product(q.begin(), q.end(), ap.begin(), 0.0), expected, 1e-12 * (1 + most));
  EXPECT_NEAR(loss.constant() + std::inner_product(p.begin(), p.end(), aq.begin(), 0.0), expected, 1e-12 * (1 + most));
}

// Sum over items of f(true, predicted), divided by `share`.
template <class F>
auto mean_of(F f) {
  return [f](const Permutation& t, const Permutation& y) {
    double sum = 0;
    for (std::size_t i = 0; i < t.size(); ++i) sum += f(i, t[i], y[i]);
    return sum / static_cast<double>(t.size());
  };
}

TEST(PositionLoss, EveryLossIsItsDefinition) {
  Rng rng(1);
  for (std::size_t m = 1; m <= 5; ++m) {
    std::vector<double> weights(m), gains(m), costs(m * m);
    for (double& w : weights) w = rng.uniform(0, 3);
    weights[0] = 0;
    for (std::size_t j = 0; j < m; ++j) gains[j] = std::exp2(static_cast<double>(m - j)) - 1;
    for (std::size_t e = 0; e < m * m; ++e) costs[e] = e / m == e % m ? -0.5 : rng.uniform(-0.5, 4);
    expect_loss(PositionLoss::hamming(m), mean_of([](std::size_t, int t, int y) { return t != y ? 1.0 : 0.0; }));
    expect_loss(PositionLoss::weighted_hamming(weights),
                mean_of([&](std::size_t i, int t, int y) { return t != y ? weights[i] : 0.0; }));
    expect_loss(PositionLoss::footrule(m), mean_of([](std::size_t, int t, int y) { return std::abs(t - y); }));
    expect_loss(PositionLoss::squared(m), mean_of([](std::size_t, int t, int y) { return (t - y) * (t - y); }));
    expect_loss(PositionLoss::matrix(costs, m), mean_of([&](std::size_t, int t, int y) {
                  return costs[static_cast<std::size_t>(t) * m + static_cast<std::size_t>(y)];
                }));
    for (std::size_t k = 1; k <= m; ++k)
      expect_loss(PositionLoss::precision_at(m, k), [&](const Permutation& t, const Permutation& y) {
        double hits = 0;
        for (std::size_t i = 0; i < m; ++i) hits += t[i] < static_cast<int>(k) && y[i] < static_cast<int>(k);
        return 1 - hits / static_cast<double>(k);
      });
    expect_loss(PositionLoss::dcg(gains), [&](const Permutation& t, const Permutation& y) {
      double got = 0, best = 0;
      for (std::size_t i = 0; i < m; ++i) {
        got += gains[static_cast<std::size_t>(t[i])] / std::log2(2.0 + y[i]);
        best += gains[i] / std::log2(2.0 + static_cast<double>(i));
      }
      return 1 - got / best;
    });
  }
}

TEST(PositionLoss, FormsAreRecognised) {
  EXPECT_EQ(PositionLoss::hamming(3).form(), PositionLoss::Form::hamming);
  EXPECT_EQ(PositionLoss::footrule(3).form(), PositionLoss::Form::general);
  const PositionLoss squared = PositionLoss::squared(4);
  EXPECT_EQ(squared.form(), PositionLoss::Form::rank_one);
  EXPECT_TRUE(std::ranges::is_sorted(squared.gains(), std::greater{}));
  EXPECT_TRUE(std::ranges::is_sorted(squared.discounts(), std::greater{}));
}

TEST(PositionLoss, BadNumbersAreRefused) {
  const auto message = [](const auto& make) {
    try {
      make();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message([] { PositionLoss::hamming(0); }), HasSubstr("at least one item"));
  EXPECT_THAT(message([] {
                PositionLoss::weighted_hamming(std::vector<double>{1, -2});
              }),
              HasSubstr("weight of item 1 is -2"));
  EXPECT_THAT(message([] { PositionLoss::weighted_hamming(std::vector<double>{std::nan("")}); }), HasSubstr("nan"));
  EXPECT_THAT(message([] { PositionLoss::precision_at(3, 4); }), HasSubstr("from 1 to 3"));
  EXPECT_THAT(message([] { PositionLoss::dcg(std::vector<double>{1, 2}); }), HasSubstr("gain of position 1 is 2"));
  EXPECT_THAT(message([] { PositionLoss::dcg(std::vector<double>{0, 0}); }), HasSubstr("above 0"));
  EXPECT_THAT(message([] { PositionLoss::matrix(std::vector<double>{1, 0, 0, 1}, 2); }), HasSubstr("diagonal"));
  EXPECT_THAT(message([] {
                PositionLoss::matrix(std::vector<double>{0, 1, HUGE_VAL, 0}, 2);
              }),
              HasSubstr("position 0 for the true position 1"));
  EXPECT_THAT(message([] { PositionLoss::matrix(std::vector<double>{0, 1, 1}, 2); }), HasSubstr("expected 4"));
}

}  // namespace
}  // namespace m4n::detail

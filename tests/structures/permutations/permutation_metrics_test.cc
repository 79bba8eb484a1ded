// Metrics of permutations against their definitions, pair by pair, against values worked out by hand and against the
// losses of the same name.
#include "structures/permutations/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "losses/position_loss.h"

namespace m4n::detail {
namespace {

using Permutation = std::vector<std::int32_t>;

Permutation identity(std::size_t size) {
  Permutation y(size);
  std::iota(y.begin(), y.end(), 0);
  return y;
}
Permutation random_permutation(Rng& rng, std::size_t size) {
  Permutation y = identity(size);
  rng.shuffle(std::span(y));
  return y;
}

double tau_by_pairs(const Permutation& t, const Permutation& y) {
  double sum = 0, pairs = 0;
  for (std::size_t i = 0; i < t.size(); ++i)
    for (std::size_t j = i + 1; j < t.size(); ++j, ++pairs) sum += (t[i] < t[j]) == (y[i] < y[j]) ? 1 : -1;
  return sum / pairs;
}

double correlation(const Permutation& t, const Permutation& y) {
  const auto n = static_cast<double>(t.size());
  double mean_t = 0, mean_y = 0, ty = 0, tt = 0, yy = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    mean_t += t[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < t.size(); ++i) {
    ty += (t[i] - mean_t) * (y[i] - mean_y);
    tt += (t[i] - mean_t) * (t[i] - mean_t);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return ty / std::sqrt(tt * yy);
}

// Discounted gains read off the predicted order, over the largest of all orders, which are tried one by one.
double ndcg_by_orders(const Permutation& t, const Permutation& y) {
  const auto dcg = [&](const Permutation& position) {
    double sum = 0;
    for (std::size_t rank = 0; rank < t.size(); ++rank)
      for (std::size_t i = 0; i < t.size(); ++i)
        if (position[i] == static_cast<std::int32_t>(rank))
          sum += static_cast<double>(t.size() - 1 - static_cast<std::size_t>(t[i])) /
                 std::log2(2.0 + static_cast<double>(rank));
    return sum;
  };
  double best = 0;
  Permutation order = identity(t.size());
  do best = std::max(best, dcg(order));
  while (std::next_permutation(order.begin(), order.end()));
  return dcg(y) / best;
}

TEST(PermutationMetrics, AreTheirDefinitions) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = 2 + rng.below(5);
    const Permutation t = random_permutation(rng, size), y = random_permutation(rng, size);
    const PermutationMetrics m = permutation_metrics(t, y);
    EXPECT_NEAR(m.hamming, PositionLoss::hamming(size)(t, y), 1e-12);
    EXPECT_NEAR(m.footrule, PositionLoss::footrule(size)(t, y), 1e-12);
    EXPECT_NEAR(m.kendall_tau, tau_by_pairs(t, y), 1e-12);
    EXPECT_NEAR(m.spearman_rho, correlation(t, y), 1e-12);
    EXPECT_NEAR(m.ndcg, ndcg_by_orders(t, y), 1e-12);
    EXPECT_EQ(m.top1, std::find(t.begin(), t.end(), 0) - t.begin() == std::find(y.begin(), y.end(), 0) - y.begin());
    EXPECT_EQ(m.match_accuracy(), 1 - m.hamming);
  }
}

TEST(PermutationMetrics, OfManyItems) {
  Rng rng(2);
  for (const std::size_t size : {63, 64, 65, 500}) {
    const Permutation t = random_permutation(rng, size), y = random_permutation(rng, size);
    EXPECT_NEAR(kendall_tau(t, y), tau_by_pairs(t, y), 1e-12);
    EXPECT_NEAR(spearman_rho(t, y), correlation(t, y), 1e-12);
  }
  // Pairs and squares beyond 32 bits.
  const Permutation up = identity(100000), down(up.rbegin(), up.rend());
  EXPECT_DOUBLE_EQ(kendall_tau(up, down), -1);
  EXPECT_NEAR(spearman_rho(up, down), -1, 1e-12);
  EXPECT_DOUBLE_EQ(footrule(up, down), 50000);
}

TEST(PermutationMetrics, ByHand) {
  const Permutation t{0, 1, 2, 3}, y{1, 0, 2, 3};  // the first two are swapped
  const PermutationMetrics m = permutation_metrics(t, y);
  EXPECT_DOUBLE_EQ(m.hamming, 0.5);
  EXPECT_DOUBLE_EQ(m.match_accuracy(), 0.5);
  EXPECT_DOUBLE_EQ(m.footrule, 0.5);
  EXPECT_DOUBLE_EQ(m.kendall_tau, 4.0 / 6);
  EXPECT_DOUBLE_EQ(m.spearman_rho, 0.8);
  EXPECT_EQ(m.top1, 0);
  const double third = 1 / std::log2(3.0);
  EXPECT_DOUBLE_EQ(m.ndcg, (3 * third + 2 + 0.5) / (3 + 2 * third + 0.5));
  // Positions of items and items at positions are told apart: 0 -> 1 -> 2 -> 0 is not its inverse.
  const Permutation truth{2, 0, 1}, cycle{0, 1, 2};
  EXPECT_DOUBLE_EQ(kendall_tau(truth, cycle), -1.0 / 3);
  EXPECT_DOUBLE_EQ(ndcg(truth, cycle), (2 * third + 0.5) / (2 + third));
}

TEST(PermutationMetrics, RightAndReversed) {
  Rng rng(3);
  for (const std::size_t size : {1, 2, 3, 20}) {
    const Permutation t = random_permutation(rng, size);
    const PermutationMetrics right = permutation_metrics(t, t);
    EXPECT_EQ(right.hamming, 0);
    EXPECT_EQ(right.footrule, 0);
    EXPECT_EQ(right.kendall_tau, 1);
    EXPECT_EQ(right.spearman_rho, 1);
    EXPECT_EQ(right.top1, 1);
    EXPECT_EQ(right.ndcg, 1);
    if (size == 1) continue;
    Permutation reversed(t);
    for (std::int32_t& p : reversed) p = static_cast<std::int32_t>(size) - 1 - p;
    EXPECT_DOUBLE_EQ(kendall_tau(t, reversed), -1);
    EXPECT_NEAR(spearman_rho(t, reversed), -1, 1e-12);
    EXPECT_EQ(top1(t, reversed), 0);
    EXPECT_LT(ndcg(t, reversed), 1);
  }
}

TEST(PermutationMeans, WeighExamplesOfAnySize) {
  const Permutation a{0, 1, 2, 3}, b{1, 0, 2, 3}, single{0}, up{0, 1}, down{1, 0};
  PermutationMeans means;
  means.add(a, b, 0.5);
  means.add(single, single, 1.5);
  means.add(up, down, 2);
  const PermutationMetrics m = means.mean();
  EXPECT_EQ(means.examples(), 3U);
  EXPECT_DOUBLE_EQ(m.hamming, (0.5 * 0.5 + 2) / 4);
  EXPECT_DOUBLE_EQ(m.footrule, (0.5 * 0.5 + 2) / 4);
  EXPECT_NEAR(m.kendall_tau, (0.5 * 4.0 / 6 + 1.5 - 2) / 4, 1e-15);
  EXPECT_NEAR(m.spearman_rho, (0.5 * 0.8 + 1.5 - 2) / 4, 1e-15);
  EXPECT_DOUBLE_EQ(m.top1, 1.5 / 4);
  EXPECT_DOUBLE_EQ(m.ndcg, (0.5 * ndcg(a, b) + 1.5 + 2 / std::log2(3.0)) / 4);
  PermutationMeans equal;
  equal.add(a, b);
  equal.add(up, up);
  EXPECT_DOUBLE_EQ(equal.mean().match_accuracy(), 0.75);
}

}  // namespace
}  // namespace m4n::detail

// The closed form for losses of rank one against the game over all pairs of permutations and against Clp, with scores
// v_i gain[j] spread over the cells.
#include "structures/permutations/rank_one_game.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "m4n/error.h"
#include "support/birkhoff_reference.h"

namespace m4n::detail {
namespace {

std::vector<PositionLoss> rank_one_losses(std::size_t m) {
  std::vector<double> gains(m), flat(m, 1.0);
  for (std::size_t j = 0; j < m; ++j) gains[j] = std::exp2(static_cast<double>(m - j) / 2) - 1;
  return {PositionLoss::squared(m),         PositionLoss::precision_at(m, 1),
          PositionLoss::precision_at(m, m), PositionLoss::precision_at(m, (m + 1) / 2),
          PositionLoss::dcg(gains),         PositionLoss::dcg(flat)};
}

std::vector<double> item_scores(std::size_t m, double scale, int style, Rng& rng) {
  std::vector<double> v(m);
  for (double& x : v)
    x = style == 0 ? scale * rng.normal() : style == 1 ? scale * static_cast<double>(rng.below(3)) : scale;
  return v;
}

std::vector<double> spread(const std::vector<double>& v, const PositionLoss& loss) {
  const std::size_t m = v.size();
  std::vector<double> s(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) s[i * m + j] = v[i] * loss.gains()[j];
  return s;
}

// x is majorised by y: its largest k numbers never sum to more, and all sum to the same.
void expect_majorised(std::vector<double> x, std::span<const double> y, double rounding) {
  std::sort(x.begin(), x.end(), std::greater{});
  double sum_x = 0, sum_y = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum_x += x[k];
    sum_y += y[k];
    EXPECT_LE(sum_x, sum_y + rounding);
  }
  EXPECT_NEAR(sum_x, sum_y, rounding);
}

void expect_solved(const std::vector<double>& v, const PositionLoss& loss, double value) {
  const std::size_t m = v.size();
  std::vector<double> gain(m), discount(m);
  RankOneGame game;
  const Bounds bounds = game.solve(v, loss, gain, discount);
  double size = 0;
  for (const double x : v) size = std::max(size, std::abs(x));
  const double sum_gains = std::accumulate(loss.gains().begin(), loss.gains().end(), 0.0);
  const double rounding =
      1e-9 * (loss.range() + std::abs(loss.constant())) + 1e-14 * size * sum_gains * static_cast<double>(m);
  EXPECT_NEAR(bounds.lower, value, rounding);
  EXPECT_NEAR(bounds.upper, value, rounding);
  EXPECT_LE(bounds.lower, bounds.upper);
  expect_majorised(gain, loss.gains(), 1e-12 * sum_gains);
  expect_majorised(discount, loss.discounts(), 1e-12 + 1e-14 * size * static_cast<double>(m));
  // Both bounds by definition, from the points returned.
  auto sorted = gain;
  std::sort(sorted.begin(), sorted.end(), std::greater{});
  std::vector<double> residual(m);
  double risk = loss.constant(), linear = 0, upper = loss.constant();
  for (std::size_t i = 0; i < m; ++i) {
    risk -= sorted[i] * loss.discounts()[i];
    linear += v[i] * gain[i];
    residual[i] = v[i] - discount[i];
  }
  std::sort(residual.begin(), residual.end(), std::greater{});
  for (std::size_t i = 0; i < m; ++i) upper += residual[i] * loss.gains()[i];
  EXPECT_NEAR(game.risk(), risk, rounding);
  EXPECT_NEAR(bounds.lower, linear + risk, rounding);
  EXPECT_NEAR(bounds.upper, upper, rounding);
}

TEST(RankOneGame, EqualsTheGameOverAllPermutations) {
  Rng rng(1);
  for (std::size_t m = 1; m <= 5; ++m)
    for (const PositionLoss& loss : rank_one_losses(m))
      for (const double scale : {0.0, 1e-6, 0.3, 2.0, 30.0, 1e9})
        for (int style = 0; style < 3; ++style) {
          SCOPED_TRACE(loss.name() + ", M = " + std::to_string(m) + ", scale " + std::to_string(scale));
          const auto v = item_scores(m, scale, style, rng);
          expect_solved(v, loss, test::brute_force_game(loss, spread(v, loss)));
        }
}

TEST(RankOneGame, EqualsClpOnLargerGames) {
  Rng rng(2);
  for (const std::size_t m : {7, 12})
    for (const PositionLoss& loss : rank_one_losses(m))
      for (const double scale : {0.1, 1.0}) {
        SCOPED_TRACE(loss.name() + ", M = " + std::to_string(m));
        const auto v = item_scores(m, scale, 0, rng);
        expect_solved(v, loss, test::clp_birkhoff_value(loss, spread(v, loss)));
      }
}

TEST(RankOneGame, ItemsAreOrderedByScoreThenIndex) {
  RankOneGame game;
  std::vector<double> m(4), n(4);
  game.solve(std::vector<double>{1, 3, 1, 2}, PositionLoss::squared(4), m, n);
  EXPECT_THAT(game.order(), ::testing::ElementsAre(1, 3, 0, 2));
}

TEST(RankOneGame, ScoresThatAreNoNumbersAreRefused) {
  RankOneGame game;
  std::vector<double> m(2), n(2);
  for (const double bad : {std::nan(""), HUGE_VAL})
    EXPECT_THROW(game.solve(std::vector<double>{0, bad}, PositionLoss::squared(2), m, n), Error);
}

}  // namespace
}  // namespace m4n::detail

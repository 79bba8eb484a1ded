// The game with growing sets of moves against Clp, after every move.
#include "games/growing_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "support/birkhoff_reference.h"

namespace m4n::detail {
namespace {

double clp_value(const std::vector<std::vector<double>>& payoff) {
  test::LinearProgram lp;
  const int level = lp.variable(1, -COIN_DBL_MAX), mass = lp.constraint(1, 1);
  for (std::size_t c = 0; c < payoff[0].size(); ++c) lp.put(mass, lp.variable(0, 0), 1);
  for (const auto& row : payoff) {
    const int r = lp.constraint(0, COIN_DBL_MAX);
    lp.put(r, level, -1);
    for (std::size_t c = 0; c < row.size(); ++c) lp.put(r, static_cast<int>(c) + 1, row[c]);
  }
  return lp.maximum();
}

// Both mixtures guarantee the same value.
void expect_saddle(const GrowingGame& game, const std::vector<std::vector<double>>& payoff, double value) {
  std::vector<double> x(payoff.size()), y(payoff[0].size());
  game.row_weights(x);
  game.column_weights(y);
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& row : payoff) {
    double sum = 0;
    for (std::size_t c = 0; c < y.size(); ++c) sum += row[c] * y[c];
    least = std::min(least, sum);
  }
  for (std::size_t c = 0; c < y.size(); ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < x.size(); ++r) sum += payoff[r][c] * x[r];
    most = std::max(most, sum);
  }
  EXPECT_NEAR(least, value, 1e-9);
  EXPECT_NEAR(most, value, 1e-9);
}

TEST(GrowingGame, EqualsClpAfterEveryMove) {
  Rng rng(1);
  GrowingGame game;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const bool tied = repeat % 2 == 1;
    const auto number = [&] { return tied ? 1.5 + static_cast<double>(rng.below(3)) : rng.uniform(1.5, 4); };
    game.clear(30);
    std::vector<std::vector<double>> payoff{{number()}};
    game.add_row({});
    game.add_column(payoff[0]);
    for (int move = 0; move < 24; ++move) {
      ASSERT_TRUE(game.solve());
      expect_saddle(game, payoff, clp_value(payoff));
      if (rng.below(2) == 0) {
        std::vector<double> column(payoff.size());
        for (std::size_t r = 0; r < payoff.size(); ++r) payoff[r].push_back(column[r] = number());
        game.add_column(column);
      } else {
        std::vector<double> row(payoff[0].size());
        for (double& x : row) x = number();
        payoff.push_back(row);
        game.add_row(row);
      }
    }
  }
}

}  // namespace
}  // namespace m4n::detail

// The max-min oracles over the Birkhoff polytope against the game over all pairs of permutations and against Clp, and
// every certificate recomputed from the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "m4n/error.h"
#include "structures/permutations/birkhoff_double.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/birkhoff_interior.h"
#include "structures/permutations/birkhoff_mirror_prox.h"
#include "support/birkhoff_reference.h"

namespace m4n::detail {
namespace {

using test::expect_doubly_stochastic;
using test::losses;
using test::magnitude;
using test::position_scores;

// Everything that holds of an answer whatever its gap. `moderate`: no score is so far off that it was cut.
void expect_certified(const BirkhoffAnswer& answer, const std::vector<double>& s, const PositionLoss& loss,
                      double value, bool moderate) {
  const std::size_t m = loss.size();
  expect_doubly_stochastic(answer.p, m);
  expect_doubly_stochastic(answer.q, m);
  const double rounding = 1e-9 * loss.range() + 1e-13 * static_cast<double>(m) * magnitude(s) + 1e-14;
  EXPECT_LE(answer.bounds.lower, value + rounding);
  EXPECT_GE(answer.bounds.upper, value - rounding);
  EXPECT_LE(answer.bounds.lower, answer.bounds.upper);
  // By definition, with the best answer of the other player found anew.
  std::vector<double> work(m * m);
  Assignment lap;
  loss.apply(answer.p, work);
  for (double& x : work) x = -x;
  const double risk = loss.constant() - lap.solve(work, m);
  EXPECT_NEAR(answer.risk, risk, rounding);
  double linear = 0;
  for (std::size_t e = 0; e < m * m; ++e) linear += s[e] * answer.p[e];
  if (moderate) {
    EXPECT_NEAR(answer.bounds.lower, linear + risk, rounding);
  }
  loss.apply_transposed(answer.q, work);
  for (std::size_t e = 0; e < m * m; ++e) work[e] += s[e];
  EXPECT_GE(answer.bounds.upper, loss.constant() + lap.solve(work, m) - rounding);
}

struct Named {
  std::string name;
  double gap;          // what it must reach on small games, as a share of the range of the loss
  double gap_general;  // the same on larger ones, for losses other than Hamming
  std::function<BirkhoffAnswer(const std::vector<double>&, const PositionLoss&)> solve;
};

class Oracles {
 public:
  std::vector<Named> all() {
    return {{"double oracle", 1e-6, 1e-6,
             [this](const auto& s, const auto& l) {
               BirkhoffSeeds cold;
               return double_.solve(s, l, {1e-6, 2000}, 2000, cold);
             }},
            {"mirror prox", 0.1, 0.5,
             [this](const auto& s, const auto& l) {
               return mirror_.solve(s, l, {1e-2, 400});
             }},
            {"interior point", 1e-4, 1e-3,
             [this](const auto& s, const auto& l) {
               return interior_.solve(s, l, {1e-6, 100});
             }},
            {"game", 1e-6, 1e-6, [this](const auto& s, const auto& l) {
               BirkhoffSeeds cold;
               return game_.solve(s, l, {}, cold);
             }}};
  }

 private:
  BirkhoffDouble double_;
  BirkhoffMirrorProx mirror_;
  BirkhoffInterior interior_;
  BirkhoffGame game_;
};

TEST(BirkhoffOracle, EqualsTheGameOverAllPermutations) {
  Rng rng(1);
  Oracles oracles;
  for (std::size_t m = 1; m <= 5; ++m) {
    for (const PositionLoss& loss : losses(m, rng)) {
      for (const double scale : {0.0, 1e-9, 0.3, 3.0, 1e8}) {
        for (int style = 0; style < 4; ++style) {
          if (scale == 0 && style > 0) continue;
          if (m == 5 && (style > 1 || scale == 1e-9)) continue;
          const auto s = position_scores(m, scale * std::max(loss.range(), 0.1) / static_cast<double>(m), style, rng);
          const double value = test::brute_force_game(loss, s);
          for (const Named& oracle : oracles.all()) {
            SCOPED_TRACE(oracle.name + ", " + loss.name() + ", M = " + std::to_string(m) + ", scale " +
                         std::to_string(scale) + ", style " + std::to_string(style));
            const BirkhoffAnswer answer = oracle.solve(s, loss);
            expect_certified(answer, s, loss, value, scale <= 0.3);
            const double allowed = oracle.gap * loss.range() + 1e-13 * magnitude(s);
            EXPECT_LE(answer.bounds.upper - answer.bounds.lower, allowed);
          }
        }
      }
    }
  }
}

TEST(BirkhoffOracle, EqualsClpOnLargerGames) {
  Rng rng(2);
  Oracles oracles;
  for (const std::size_t m : {6, 8, 12, 20}) {
    for (const PositionLoss& loss : losses(m, rng)) {
      for (const double scale : {0.5, 4.0, 20.0}) {
        if (m == 20 && scale != 4.0) continue;
        const auto s = position_scores(m, scale * loss.range() / static_cast<double>(m), m == 8 ? 1 : 0, rng);
        const double value = test::clp_birkhoff_value(loss, s);
        for (const Named& oracle : oracles.all()) {
          // Where many permutations carry weight, the double oracle is not the one to ask.
          if (oracle.name == "double oracle" && m > 8 && scale < 10) continue;
          SCOPED_TRACE(oracle.name + ", " + loss.name() + ", M = " + std::to_string(m) + ", scale " +
                       std::to_string(scale));
          const BirkhoffAnswer answer = oracle.solve(s, loss);
          expect_certified(answer, s, loss, value, false);
          const bool hamming = loss.form() == PositionLoss::Form::hamming;
          const double allowed = hamming && oracle.gap < 0.1 ? 1e-6 : oracle.gap_general;
          EXPECT_LE(answer.bounds.upper - answer.bounds.lower, allowed * loss.range());
        }
      }
    }
  }
}

// Whoever has no time asks for any gap: one round, and bounds that hold.
TEST(BirkhoffOracle, AnyGapIsReachedInOneRound) {
  Rng rng(7);
  BirkhoffGame game;
  for (std::size_t m = 1; m <= 5; ++m)
    for (const PositionLoss& loss : losses(m, rng))
      for (const double scale : {0.0, 0.3, 3.0}) {
        const auto s = position_scores(m, scale * std::max(loss.range(), 0.1) / static_cast<double>(m), 0, rng);
        BirkhoffSeeds cold;
        const BirkhoffAnswer answer = game.solve(s, loss, {.gap = 1e300}, cold);
        SCOPED_TRACE(loss.name() + ", M = " + std::to_string(m) + ", scale " + std::to_string(scale));
        EXPECT_EQ(answer.rounds, 1);
        expect_certified(answer, s, loss, test::brute_force_game(loss, s), true);
      }
}

// Told to stop at once, or after a few questions, whoever asks has bounds that hold.
TEST(BirkhoffOracle, BoundsHoldWhereverItIsStopped) {
  Rng rng(9);
  BirkhoffGame game;
  BirkhoffInterior interior;
  for (const std::size_t m : {2, 4, 5})
    for (const PositionLoss& loss : losses(m, rng))
      for (const int questions : {0, 1, 4, 9}) {
        const auto s = position_scores(m, 0.3 * std::max(loss.range(), 0.1) / static_cast<double>(m), 0, rng);
        const double value = test::brute_force_game(loss, s);
        int asked = 0;
        const std::function<bool()> stop = [&] { return asked++ >= questions; };
        const BirkhoffLimits limits{.gap = 0, .stop = &stop};
        SCOPED_TRACE(loss.name() + ", M = " + std::to_string(m) + ", questions " + std::to_string(questions));
        BirkhoffSeeds cold;
        expect_certified(game.solve(s, loss, limits, cold), s, loss, value, true);
        asked = 0;
        expect_certified(interior.solve(s, loss, limits), s, loss, value, true);
        EXPECT_GT(asked, 0);
      }
}

TEST(BirkhoffOracle, NoPermutationScoresMoreThanItemsWhereTheyLikeBestToBe) {
  Rng rng(10);
  for (const std::size_t m : {2, 4, 5})
    for (const PositionLoss& loss : losses(m, rng)) {
      const auto s = position_scores(m, loss.range() / static_cast<double>(m), 0, rng);
      EXPECT_GE(PermutationParts().most(s, m) + loss.maximum(), test::brute_force_game(loss, s));
    }
}

TEST(BirkhoffOracle, ScoresThatAreNoNumbersAreRefused) {
  Oracles oracles;
  const PositionLoss loss = PositionLoss::hamming(3);
  std::vector<double> s(9);
  s[4] = std::nan("");
  for (const Named& oracle : oracles.all()) EXPECT_THROW(oracle.solve(s, loss), Error) << oracle.name;
}

// At equal scores the Hamming game has the value S + 1 - 1/M: no prediction does better than chance.
TEST(BirkhoffOracle, HammingAtEqualScoresIsChance) {
  BirkhoffInterior oracle;
  for (const std::size_t m : {1, 2, 7, 40}) {
    const PositionLoss loss = PositionLoss::hamming(m);
    const BirkhoffAnswer answer = oracle.solve(std::vector<double>(m * m, 2.0), loss, {});
    const auto size = static_cast<double>(m);
    EXPECT_NEAR(answer.bounds.lower, 2 * size + 1 - 1 / size, 1e-6);
    EXPECT_NEAR(answer.bounds.upper, 2 * size + 1 - 1 / size, 1e-6);
  }
}

TEST(BirkhoffDouble, WarmStartsChangeTheTimeAndNotTheValue) {
  Rng rng(3);
  BirkhoffDouble warm, cold;
  int warm_rounds = 0, cold_rounds = 0;
  for (const std::size_t m : {2, 5, 9}) {
    for (const PositionLoss& loss : losses(m, rng)) {
      auto s = position_scores(m, 5 * loss.range() / static_cast<double>(m), 0, rng);
      BirkhoffSeeds seeds;
      for (int visit = 0; visit < 8; ++visit) {
        for (double& x : s) x += (visit == 5 ? 5.0 : 0.1) * loss.range() / static_cast<double>(m) * rng.normal();
        BirkhoffSeeds none;
        const BirkhoffAnswer a = warm.solve(s, loss, {1e-9, 500}, 500, seeds),
                             b = cold.solve(s, loss, {1e-9, 500}, 500, none);
        EXPECT_NEAR(a.bounds.lower, b.bounds.lower, 2e-9 * loss.range() + 1e-12) << loss.name() << ' ' << m;
        EXPECT_NEAR(a.bounds.upper, b.bounds.upper, 2e-9 * loss.range() + 1e-12) << loss.name() << ' ' << m;
        if (visit > 0 && visit != 5) {
          warm_rounds += a.rounds;
          cold_rounds += b.rounds;
        }
      }
    }
  }
  EXPECT_LT(warm_rounds, cold_rounds);
}

// Visits in a row, diffuse games among them: the seeds lead to other ways, never to other values.
TEST(BirkhoffGame, VisitsInARowStayExact) {
  Rng rng(8);
  BirkhoffGame game;
  BirkhoffInterior reference;
  for (const std::size_t m : {1, 2, 6, 10}) {
    const PositionLoss loss = PositionLoss::hamming(m);
    std::vector<double> s(m * m);
    BirkhoffSeeds seeds;
    for (int visit = 0; visit < 25; ++visit) {
      const double scale = visit < 12 ? 0.3 : 6;
      for (double& x : s) x = 0.9 * x + 0.4 * scale / static_cast<double>(m) * rng.normal();
      const BirkhoffAnswer answer = game.solve(s, loss, {}, seeds);
      EXPECT_LE(answer.bounds.upper - answer.bounds.lower, 1e-6);
      const Bounds other = reference.solve(s, loss, {}).bounds;
      EXPECT_LE(answer.bounds.lower, other.upper + 1e-12);
      EXPECT_GE(answer.bounds.upper, other.lower - 1e-12);
      expect_doubly_stochastic(answer.p, m);
    }
  }
}

TEST(BirkhoffDouble, GarbageInTheSeedsIsHarmless) {
  Rng rng(4);
  const std::size_t m = 5;
  const PositionLoss loss = PositionLoss::footrule(m);
  const auto s = position_scores(m, 1.0, 0, rng);
  BirkhoffDouble oracle;
  BirkhoffSeeds none;
  const double value = oracle.solve(s, loss, {}, 200, none).bounds.lower;
  for (const std::vector<std::uint16_t>& junk : std::vector<std::vector<std::uint16_t>>{
           {0, 1, 2}, {0, 0, 1, 2, 3}, {9, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, std::vector<std::uint16_t>(5000, 1)}) {
    BirkhoffSeeds seeds{junk, junk, 0};
    EXPECT_NEAR(oracle.solve(s, loss, {}, 200, seeds).bounds.lower, value, 1e-5);
    BirkhoffSeeds half{none.truth, junk, 0};
    EXPECT_NEAR(oracle.solve(s, loss, {}, 200, half).bounds.lower, value, 1e-5);
  }
}

// Too little room: the gap stays open, the bounds hold.
TEST(BirkhoffDouble, GivesUpWithBoundsThatHold) {
  Rng rng(5);
  const PositionLoss loss = PositionLoss::hamming(10);
  const auto s = position_scores(10, 0.02, 0, rng);
  const double value = test::clp_birkhoff_value(loss, s);
  BirkhoffSeeds seeds;
  BirkhoffDouble oracle;
  const BirkhoffAnswer answer = oracle.solve(s, loss, {}, 6, seeds);
  expect_certified(answer, s, loss, value, false);
  EXPECT_GT(answer.bounds.upper - answer.bounds.lower, 1e-3);
}

}  // namespace
}  // namespace m4n::detail

// The max-min oracles over the Birkhoff polytope against the game over all pairs of permutations and against Clp, and
// every certificate recomputed from the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "m4n/error.h"
#include "oracle/birkhoff_double.h"
#include "oracle/birkhoff_game.h"
#include "oracle/birkhoff_interior.h"
#include "oracle/birkhoff_mirror_prox.h"
#include "support/birkhoff_reference.h"

namespace m4n {
namespace {

using test::position_scores;

double magnitude(const std::vector<double>& s) {
  double out = 0;
  for (const double x : s) out = std::max(out, std::abs(x));
  return out;
}

void expect_doubly_stochastic(std::span<const double> p, std::size_t m) {
  ASSERT_EQ(p.size(), m * m);
  for (std::size_t i = 0; i < m; ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < m; ++j) {
      EXPECT_GE(p[i * m + j], 0);
      row += p[i * m + j];
      column += p[j * m + i];
    }
    EXPECT_NEAR(row, 1, 1e-12);
    EXPECT_NEAR(column, 1, 1e-12);
  }
}

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

std::vector<PositionLoss> losses(std::size_t m, Rng& rng) {
  std::vector<double> weights(m), gains(m), costs(m * m);
  for (double& w : weights) w = rng.uniform(0.1, 3);
  weights[0] = m > 2 ? 0 : 1;
  for (std::size_t j = 0; j < m; ++j) gains[j] = std::exp2(static_cast<double>(std::min<std::size_t>(m - j, 6))) - 1;
  for (std::size_t e = 0; e < m * m; ++e) costs[e] = e / m == e % m ? 0 : rng.uniform(0.1, 4);
  return {PositionLoss::hamming(m),      PositionLoss::weighted_hamming(weights),    PositionLoss::footrule(m),
          PositionLoss::squared(m),      PositionLoss::precision_at(m, (m + 1) / 2), PositionLoss::dcg(gains),
          PositionLoss::matrix(costs, m)};
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
    const double size = static_cast<double>(m);
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

// The proximal step against the gradient inequality that characterises it, and its certificate against other points.
TEST(BirkhoffInterior, ProximalStepIsTheBestOfManyPoints) {
  Rng rng(6);
  BirkhoffInterior interior;
  Assignment lap;
  for (const std::size_t m : {1, 2, 4, 9}) {
    for (const double scale : {0.0, 1.0, 1e7}) {
      for (const double kappa : {1e-3, 0.3, 50.0}) {
        const PositionLoss loss = losses(m, rng)[rng.below(7)];
        const auto s = position_scores(m, scale / static_cast<double>(m), 0, rng);
        std::vector<double> centre(m * m, 0.0), point(m * m), work(m * m);
        lap.solve(position_scores(m, 1, 0, rng), m);
        for (std::size_t i = 0; i < m; ++i) centre[i * m + static_cast<std::size_t>(lap.position()[i])] += 0.5;
        for (double& x : centre) x += 0.5 / static_cast<double>(m);
        const BirkhoffAnswer answer = interior.prox(s, loss, kappa, centre, {1e-7, 100});
        const auto objective = [&](std::span<const double> p) {
          loss.apply(p, work);
          double sum = loss.constant();
          for (std::size_t e = 0; e < m * m; ++e) {
            work[e] = -work[e];
            sum += s[e] * p[e] - kappa / 2 * (p[e] - centre[e]) * (p[e] - centre[e]);
          }
          return sum - lap.solve(work, m);
        };
        const double rounding = 1e-10 * (1 + kappa) + 1e-13 * static_cast<double>(m) * magnitude(s);
        expect_doubly_stochastic(answer.p, m);
        expect_doubly_stochastic(answer.q, m);
        const double gap = loss.form() == PositionLoss::Form::hamming ? 1e-7 : 1e-5;
        EXPECT_LE(answer.bounds.upper - answer.bounds.lower, gap * std::max(loss.range(), kappa) + rounding);
        if (scale <= 1) {
          EXPECT_NEAR(objective(answer.p), answer.bounds.lower, rounding);
        }
        EXPECT_LE(objective(centre), answer.bounds.upper + rounding);
        for (int other = 0; other < 20; ++other) {
          lap.solve(position_scores(m, 1, 0, rng), m);
          const double step = rng.uniform();
          for (std::size_t e = 0; e < m * m; ++e) point[e] = (1 - step) * answer.p[e];
          for (std::size_t i = 0; i < m; ++i) point[i * m + static_cast<std::size_t>(lap.position()[i])] += step;
          EXPECT_LE(objective(point), answer.bounds.upper + rounding) << m << ' ' << scale << ' ' << kappa;
        }
      }
    }
  }
}

// Without scores and weights the proximal step is the Euclidean projection, which Dykstra's alternating projections
// onto the row simplices and the column simplices find too.
TEST(BirkhoffInterior, ProximalStepProjects) {
  Rng rng(7);
  BirkhoffInterior interior;
  for (const std::size_t m : {2, 5, 11}) {
    const PositionLoss none = PositionLoss::weighted_hamming(std::vector<double>(m, 0.0));
    const std::vector<double> zero(m * m);
    for (const double scale : {0.1, 1.0, 20.0}) {
      const auto centre = position_scores(m, scale, 0, rng);
      std::vector<double> p = centre, correction[2] = {zero, zero}, line(m);
      for (int sweep = 0; sweep < 4000; ++sweep) {
        std::vector<double>& kept = correction[sweep % 2];
        for (std::size_t i = 0; i < m; ++i) {
          const auto at = [&](std::size_t j) { return sweep % 2 == 0 ? i * m + j : j * m + i; };
          for (std::size_t j = 0; j < m; ++j) line[j] = p[at(j)] + kept[at(j)];
          auto sorted = line;
          std::sort(sorted.begin(), sorted.end(), std::greater{});
          double sum = 0, threshold = 0;
          for (std::size_t j = 0; j < m; ++j) {
            sum += sorted[j];
            const double next = (sum - 1) / static_cast<double>(j + 1);
            if (sorted[j] > next) threshold = next;
          }
          for (std::size_t j = 0; j < m; ++j) {
            p[at(j)] = std::max(line[j] - threshold, 0.0);
            kept[at(j)] = line[j] - p[at(j)];
          }
        }
      }
      const BirkhoffAnswer answer = interior.prox(zero, none, 1, centre, {1e-9, 100});
      for (std::size_t e = 0; e < m * m; ++e) EXPECT_NEAR(answer.p[e], p[e], 1e-4) << m << ' ' << scale;
    }
  }
}

}  // namespace
}  // namespace m4n

// The proximal step over the Birkhoff polytope: against many other points, and against alternating projections.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "structures/permutations/birkhoff_interior.h"
#include "support/birkhoff_reference.h"

namespace m4n::detail {
namespace {

using test::expect_doubly_stochastic;
using test::losses;
using test::magnitude;
using test::position_scores;

// No other point has a larger objective, and the certificate says so.
TEST(BirkhoffProx, IsTheBestOfManyPoints) {
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
TEST(BirkhoffProx, ProjectsWithoutScoresAndWeights) {
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
}  // namespace m4n::detail

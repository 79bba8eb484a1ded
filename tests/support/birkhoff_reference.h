// Independent references for the tests of permutations: all of them, the max-min game over all pairs of them (M <= 5),
// and the game over doubly stochastic matrices as a linear program (M <= 20), both solved by Clp.
#pragma once
#include <gtest/gtest.h>

#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/rng.h"
#include "losses/position_loss.h"

namespace m4n::detail::test {

using Permutation = std::vector<std::int32_t>;

inline std::vector<Permutation> all_permutations(std::size_t m) {
  Permutation y(m);
  std::iota(y.begin(), y.end(), 0);
  std::vector<Permutation> out;
  do out.push_back(y);
  while (std::next_permutation(y.begin(), y.end()));
  return out;
}

inline double score_of(std::span<const double> s, const Permutation& y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += s[i * y.size() + static_cast<std::size_t>(y[i])];
  return sum;
}

// Scores of standard deviation `scale`: independent, with many ties, all equal, one permutation far above the others.
inline std::vector<double> position_scores(std::size_t m, double scale, int style, Rng& rng) {
  std::vector<double> out(m * m);
  for (std::size_t e = 0; e < m * m; ++e) {
    if (style == 0) out[e] = scale * rng.normal();
    if (style == 1) out[e] = scale * static_cast<double>(rng.below(3));
    if (style == 2) out[e] = scale;
    if (style == 3) out[e] = scale * (rng.normal() + (e / m == e % m ? 3 : 0));
  }
  return out;
}

inline double magnitude(const std::vector<double>& s) {
  double out = 0;
  for (const double x : s) out = std::max(out, std::abs(x));
  return out;
}

inline void expect_doubly_stochastic(std::span<const double> p, std::size_t m) {
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

// One of every kind; the weights have a zero among them from M = 3 on.
inline std::vector<PositionLoss> losses(std::size_t m, Rng& rng) {
  std::vector<double> weights(m), gains(m), costs(m * m);
  for (double& w : weights) w = rng.uniform(0.1, 3);
  weights[0] = m > 2 ? 0 : 1;
  for (std::size_t j = 0; j < m; ++j) gains[j] = std::exp2(static_cast<double>(std::min<std::size_t>(m - j, 6))) - 1;
  for (std::size_t e = 0; e < m * m; ++e) costs[e] = e / m == e % m ? 0 : rng.uniform(0.1, 4);
  return {PositionLoss::hamming(m),      PositionLoss::weighted_hamming(weights),    PositionLoss::footrule(m),
          PositionLoss::squared(m),      PositionLoss::precision_at(m, (m + 1) / 2), PositionLoss::dcg(gains),
          PositionLoss::matrix(costs, m)};
}

class LinearProgram {
 public:
  int variable(double objective, double lower) {
    gain_.push_back(objective);
    lower_.push_back(lower);
    return static_cast<int>(gain_.size()) - 1;
  }
  int constraint(double low, double high) {
    row_lower_.push_back(low);
    row_upper_.push_back(high);
    return static_cast<int>(row_lower_.size()) - 1;
  }
  void put(int r, int c, double value) {
    row_.push_back(r);
    column_.push_back(c);
    element_.push_back(value);
  }
  double maximum() const {
    CoinPackedMatrix matrix(true, row_.data(), column_.data(), element_.data(), static_cast<int>(element_.size()));
    matrix.setDimensions(static_cast<int>(row_lower_.size()), static_cast<int>(gain_.size()));
    const std::vector<double> upper(gain_.size(), COIN_DBL_MAX);
    ClpSimplex solver;
    solver.setLogLevel(0);
    solver.loadProblem(matrix, lower_.data(), upper.data(), gain_.data(), row_lower_.data(), row_upper_.data());
    solver.setOptimizationDirection(-1);
    solver.setPrimalTolerance(1e-10);
    solver.setDualTolerance(1e-10);
    solver.dual();
    return solver.objectiveValue();
  }

 private:
  std::vector<int> row_, column_;
  std::vector<double> element_, gain_, lower_, row_lower_, row_upper_;
};

// max over mixtures of truths of the least expected score + loss over predictions, in units of the range of the loss
// and relative to the best score; truths that no mixture would use are left out.
inline double brute_force_game(const PositionLoss& loss, std::span<const double> s) {
  const auto all = all_permutations(loss.size());
  double top = score_of(s, all[0]);
  for (const auto& y : all) top = std::max(top, score_of(s, y));
  const double unit = loss.range() > 0 ? loss.range() : 1;
  LinearProgram lp;
  const int mass = lp.constraint(1, 1), level = lp.variable(1, -COIN_DBL_MAX);
  std::vector<int> row;
  for (std::size_t r = 0; r < all.size(); ++r) {
    row.push_back(lp.constraint(0, COIN_DBL_MAX));
    lp.put(row.back(), level, -1);
  }
  for (const auto& truth : all) {
    const double gain = (score_of(s, truth) - top) / unit;
    if (gain < -1.5) continue;
    const int c = lp.variable(0, 0);
    lp.put(mass, c, 1);
    for (std::size_t r = 0; r < all.size(); ++r)
      lp.put(row[r], c, gain + (loss(truth, all[r]) - loss.minimum()) / unit);
  }
  return top + loss.minimum() + unit * lp.maximum();
}

// max <S, P> + c0 + sum a + sum b   s.t.  a_i + b_j <= (A P)_ij,  P doubly stochastic;  in units of the range.
inline double clp_birkhoff_value(const PositionLoss& loss, std::span<const double> s) {
  const std::size_t m = loss.size();
  const double unit = loss.range() > 0 ? loss.range() : 1;
  LinearProgram lp;
  std::vector<int> a, b, rows, columns;
  for (std::size_t i = 0; i < m; ++i) {
    a.push_back(lp.variable(1, -COIN_DBL_MAX));
    b.push_back(lp.variable(1, i == 0 ? 0 : -COIN_DBL_MAX));
    rows.push_back(lp.constraint(1, 1));
    columns.push_back(lp.constraint(1, 1));
  }
  std::vector<int> cell(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) {
      cell[i * m + j] = lp.constraint(0, COIN_DBL_MAX);
      lp.put(cell[i * m + j], a[i], -1);
      lp.put(cell[i * m + j], b[j], -1);
    }
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = 0; k < m; ++k) {
      const int p = lp.variable(s[i * m + k] / unit, 0);
      lp.put(rows[i], p, 1);
      lp.put(columns[k], p, 1);
      for (std::size_t j = 0; j < m; ++j) lp.put(cell[i * m + j], p, loss.weights()[i] * loss.cost(k, j) / unit);
    }
  return loss.constant() + unit * lp.maximum();
}

}  // namespace m4n::detail::test

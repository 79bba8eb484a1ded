// An independent reference for the tests: the max-min game as a linear program, solved by Clp.
//     max t + v.mu   s.t.   sum_j A_yj mu_j - t >= 0 for every y,   sum mu = 1,   mu >= 0,   t free
#pragma once
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"

namespace m4n::detail::test {

// The value of the game at scores v, of any number of predictions. Clp's tolerances are absolute, so it is given the
// game in its own unit: the largest score and the smallest cost are taken out, the rest is divided by the range of the
// costs, and all is put back.
inline double clp_game_value(const CostMatrix& cost, std::span<const double> v) {
  const int k = static_cast<int>(cost.k()), width = static_cast<int>(cost.predictions());
  const double top = *std::max_element(v.begin(), v.end());
  const auto [least, most] = std::minmax_element(cost.values().begin(), cost.values().end());
  const double base = *least, unit = *most - base;
  if (unit == 0) return top + base;  // every prediction costs the same
  std::vector<int> row, column;
  std::vector<double> element;
  const auto put = [&](int r, int c, double value) {
    row.push_back(r);
    column.push_back(c);
    element.push_back(value);
  };
  for (int y = 0; y < width; ++y) {
    for (int j = 0; j < k; ++j)
      put(y, j, (cost(static_cast<std::size_t>(j), static_cast<std::size_t>(y)) - base) / unit);
    put(y, k, -1.0);
  }
  for (int j = 0; j < k; ++j) put(width, j, 1.0);
  const CoinPackedMatrix matrix(true, row.data(), column.data(), element.data(), static_cast<int>(element.size()));
  std::vector<double> lower(cost.k() + 1, 0.0), upper(cost.k() + 1, COIN_DBL_MAX), gain(cost.k() + 1, 1.0);
  lower.back() = -COIN_DBL_MAX;  // t is free
  for (std::size_t j = 0; j < cost.k(); ++j) gain[j] = (v[j] - top) / unit;
  std::vector<double> row_lower(cost.predictions() + 1, 0.0), row_upper(cost.predictions() + 1, COIN_DBL_MAX);
  row_lower.back() = row_upper.back() = 1.0;

  ClpSimplex solver;
  solver.setLogLevel(0);
  solver.loadProblem(matrix, lower.data(), upper.data(), gain.data(), row_lower.data(), row_upper.data());
  solver.setOptimizationDirection(-1);
  solver.setPrimalTolerance(1e-10);
  solver.setDualTolerance(1e-10);
  solver.primal();
  return top + base + unit * solver.objectiveValue();
}

}  // namespace m4n::detail::test

// An independent reference for the tests: the min player's side of the game of a chain, with all R^M labellings
// written out, solved by Clp. One distribution nu_m over predictions per position:
//
//     min u   s.t.   score(t) + (1/M) sum_m sum_y cost[t_m][y] nu_m(y) <= u   for every labelling t
//
// optionally with nu_m(y_m) >= nu_m(k) for all k: the best the player can do whose most likely answer is y. Where that
// is as good as without, y is an answer of an optimal player, of whom there may be several.
#pragma once
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "m4n/model.h"

namespace m4n::detail::test {

// `labellings`: every one with its score.
inline double clp_reply_value(const std::vector<double>& cost, std::size_t k, std::size_t length,
                              const std::vector<std::pair<std::vector<std::int32_t>, double>>& labellings,
                              const std::vector<std::int32_t>* answer) {
  std::vector<int> row, column;
  std::vector<double> element, row_lower, row_upper;
  const auto put = [&](std::size_t c, double value) {
    row.push_back(static_cast<int>(row_lower.size()));
    column.push_back(static_cast<int>(c));
    element.push_back(value);
  };
  const auto end_row = [&](double low, double high) {
    row_lower.push_back(low);
    row_upper.push_back(high);
  };
  const std::size_t u = length * k;
  for (const auto& [t, score] : labellings) {
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t y = 0; y < k; ++y)
        put(m * k + y, cost[static_cast<std::size_t>(t[m]) * k + y] / static_cast<double>(length));
    put(u, -1);
    end_row(-COIN_DBL_MAX, -score);
  }
  for (std::size_t m = 0; m < length; ++m) {
    for (std::size_t y = 0; y < k; ++y) put(m * k + y, 1);
    end_row(1, 1);
    for (std::size_t y = 0; answer != nullptr && y < k; ++y) {
      const auto own = static_cast<std::size_t>((*answer)[m]);
      if (y == own) continue;
      put(m * k + own, 1);
      put(m * k + y, -1);
      end_row(0, COIN_DBL_MAX);
    }
  }
  const CoinPackedMatrix matrix(true, row.data(), column.data(), element.data(), static_cast<int>(element.size()));
  std::vector<double> lower(u + 1, 0.0), upper(u + 1, COIN_DBL_MAX), price(u + 1, 0.0);
  lower[u] = -COIN_DBL_MAX;
  price[u] = 1;
  ClpSimplex solver;
  solver.setLogLevel(0);
  solver.loadProblem(matrix, lower.data(), upper.data(), price.data(), row_lower.data(), row_upper.data());
  solver.setPrimalTolerance(1e-9);
  solver.setDualTolerance(1e-9);
  solver.primal();
  return solver.objectiveValue();
}

}  // namespace m4n::detail::test

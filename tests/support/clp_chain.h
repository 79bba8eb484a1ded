// An independent reference for the tests: the max-min game of a chain as a linear program over the marginal polytope,
// solved by Clp. Variables: the flow p_m(j, k) on every edge, from a source through M layers of R labels, and the
// levels t_m; the flow conserves mass at every label.
//     max  scores . p + (1/M) sum_m t_m    s.t.   t_m <= sum_l A[y][l] mu_m(l)  for all y,   p a unit flow
#pragma once
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "losses/cost_matrix.h"
#include "structures/chains/space.h"

namespace m4n::detail::test {

// As in clp_game.h, Clp sees the game in its own unit. The best labelling is made to score 0 and every edge at most 0:
// what a label still has ahead of it, at best, is added to the edges that enter it and taken from those that leave it,
// which changes no labelling. A labelling that scores less than -M in units of range/M has no weight in any solution,
// so edges are cut off at -2 M, and huge scores leave no rounding. `top` is the score of the best labelling.
inline double clp_chain_value(const CostMatrix& cost, const ChainScores& v, double top) {
  const std::size_t length = v.length(), labels = v.labels();
  const double least = *std::min_element(cost.values().begin(), cost.values().end()),
               most = *std::max_element(cost.values().begin(), cost.values().end());
  const double range = most > least ? most - least : 1, unit = range / static_cast<double>(length);
  std::vector<double> ahead(length * labels);
  for (std::size_t m = length; m-- > 0;) {
    for (std::size_t j = 0; j < labels; ++j) {
      double best = m + 1 < length ? -1e300 : v.transitions->end(j);
      for (std::size_t k = 0; m + 1 < length && k < labels; ++k)
        best = std::max(best, (*v.transitions)(j, k) + v.unary(m + 1, k) + ahead[(m + 1) * labels + k]);
      ahead[m * labels + j] = best;
    }
  }
  std::vector<int> row, column;
  std::vector<double> element, gain, lower, row_lower, row_upper;
  const auto variable = [&](double objective, double bound) {
    gain.push_back(objective);
    lower.push_back(bound);
    return static_cast<int>(gain.size()) - 1;
  };
  const auto constraint = [&](double low, double high) {
    row_lower.push_back(low);
    row_upper.push_back(high);
    return static_cast<int>(row_lower.size()) - 1;
  };
  const auto put = [&](int r, int c, double value) {
    row.push_back(r);
    column.push_back(c);
    element.push_back(value);
  };
  const int mass = constraint(1, 1);
  std::vector<int> conserved(length * labels), level(length);
  for (int& r : conserved) r = constraint(0, 0);
  std::vector<int> risk(length * labels);
  for (std::size_t m = 0; m < length; ++m) {
    level[m] = variable(1, -COIN_DBL_MAX);
    for (std::size_t y = 0; y < labels; ++y) {
      risk[m * labels + y] = constraint(0, COIN_DBL_MAX);
      put(risk[m * labels + y], level[m], -1);
    }
  }
  // An arrival at label k of position m: score, mass and the risks of the position.
  const auto arrive = [&](std::size_t m, std::size_t k, double score) {
    const double edge = score + v.unary(m, k) + ahead[m * labels + k];
    const int p = variable(std::clamp(edge / unit, -2.0 * static_cast<double>(length), 0.0), 0);
    for (std::size_t y = 0; y < labels; ++y) put(risk[m * labels + y], p, (cost(k, y) - least) / range);
    if (m == 0) put(mass, p, 1);
    if (m + 1 < length) put(conserved[m * labels + k], p, 1);
    return p;
  };
  for (std::size_t k = 0; k < labels; ++k) arrive(0, k, v.transitions->start(k) - top);
  for (std::size_t m = 1; m < length; ++m)
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k)
        put(conserved[(m - 1) * labels + j], arrive(m, k, (*v.transitions)(j, k) - ahead[(m - 1) * labels + j]), -1);

  const CoinPackedMatrix matrix(true, row.data(), column.data(), element.data(), static_cast<int>(element.size()));
  const std::vector<double> upper(gain.size(), COIN_DBL_MAX);
  ClpSimplex solver;
  solver.setLogLevel(0);
  CoinPackedMatrix sized = matrix;
  sized.setDimensions(static_cast<int>(row_lower.size()), static_cast<int>(gain.size()));
  solver.loadProblem(sized, lower.data(), upper.data(), gain.data(), row_lower.data(), row_upper.data());
  solver.setOptimizationDirection(-1);
  solver.setPrimalTolerance(1e-10);
  solver.setDualTolerance(1e-10);
  solver.primal();
  return top + least + unit * solver.objectiveValue();
}

}  // namespace m4n::detail::test

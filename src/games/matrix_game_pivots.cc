// Primal simplex method for the matrix game: pricing, ratio test, pivot. The basis and its inverse are in
// matrix_game.cc.
//
// With W the inverse basis, (t, mu_S) = W e_0 and the multipliers are (theta, -nu_Y) = (1, v_S) W. The basis is optimal
// when r_j = v_j + (A^T nu)_j - theta <= 0 for every class and nu >= 0. Otherwise the worst of them enters: a class, or
// the slack of an active row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "games/matrix_game.h"

namespace m4n::detail {

namespace {
constexpr double feasibility_tolerance = 1e-13;   // slack and mass may be that much below zero
constexpr double pivot_tolerance = 1e-11;         // a smaller coefficient does not block ...
constexpr double careful_pivot_tolerance = 1e-8;  // ... nor one that may be nothing but rounding in a large inverse
constexpr int stalls_before_bland = 12;
}  // namespace

struct MatrixGame::Entering {
  bool found = false, is_class = false;
  std::size_t index = 0;  // the class, or the position in Y of the row whose slack enters
};

struct MatrixGame::Leaving {
  bool found = false, is_class = false;
  std::size_t index = 0;  // the position in S of the class that leaves, or the row that becomes active
  double step = 0;
};

// weight = (theta, nu_Y), reduced = v + A^T nu (theta is subtracted by the reader). With nearly equal rows in the basis
// W is large and the multipliers miss their equations, sum nu = 1 and reduced = theta on S, by more than rounding; one
// step of iterative refinement, weight += residual W, brings them back.
void MatrixGame::price(Care care, Workspace& ws) const {
  const std::size_t m = ws.basis.size();
  std::copy_n(ws.basis.inverse(0), m + 1, ws.weight.begin());
  for (std::size_t i = 1; i <= m; ++i) {
    const double score = ws.scores[ws.basis.support(i)];
    const double* row = ws.basis.inverse(i);
    for (std::size_t l = 0; l <= m; ++l) ws.weight[l] += score * row[l];
  }
  for (std::size_t l = 1; l <= m; ++l) ws.weight[l] = -ws.weight[l];
  padded_.add_transposed(ws.basis.rows(), {ws.weight.data() + 1, m}, ws.scores, ws.reduced);
  if (care == Care::fast) return;
  ws.mass[0] = 1 - std::accumulate(ws.weight.begin() + 1, ws.weight.begin() + 1 + static_cast<std::ptrdiff_t>(m), 0.0);
  for (std::size_t i = 1; i <= m; ++i) ws.mass[i] = ws.reduced[ws.basis.support(i)] - ws.weight[0];
  for (std::size_t i = 0; i <= m; ++i) {
    const double* row = ws.basis.inverse(i);
    ws.weight[0] += ws.mass[i] * row[0];
    for (std::size_t l = 1; l <= m; ++l) ws.weight[l] -= ws.mass[i] * row[l];
  }
  padded_.add_transposed(ws.basis.rows(), {ws.weight.data() + 1, m}, ws.scores, ws.reduced);
}

// The largest violation, or under Bland's rule the first: classes by number, then rows by number.
MatrixGame::Entering MatrixGame::choose_entering(bool bland, const Workspace& ws) const {
  const std::size_t k = padded_.k(), m = ws.basis.size();
  const double theta = ws.weight[0], unit = padded_.range();
  Entering entering;
  std::size_t first = 2 * k;
  double worst = price_tolerance * unit;
  const auto consider = [&](bool is_class, std::size_t index, std::size_t number, double violation) {
    if (bland && number > first) return;
    entering = {true, is_class, index};
    first = number;
    if (!bland) worst = violation;
  };
  // The classes of S have reduced cost zero; rounding must not let them in again.
  const auto is_basic = [&](std::size_t j) {
    const auto support = ws.basis.support();
    return std::find(support.begin(), support.end(), j) != support.end();
  };
  for (std::size_t j = 0; j < k; ++j)
    if (ws.reduced[j] - theta > worst && !is_basic(j)) consider(true, j, j, ws.reduced[j] - theta);
  for (std::size_t p = 1; p <= m; ++p)
    if (-ws.weight[p] * unit > worst) consider(false, p, k + ws.basis.row(p), -ws.weight[p] * unit);
  return entering;
}

// mass = change of (t, mu_S) and rate = change of the slacks, per unit of what enters.
void MatrixGame::compute_rates(const Entering& entering, Workspace& ws) const {
  const std::size_t m = ws.basis.size();
  if (entering.is_class) {
    const double* costs = padded_.of_truth(entering.index);
    for (std::size_t l = 1; l <= m; ++l) ws.border[l] = costs[ws.basis.row(l)];
    for (std::size_t i = 0; i <= m; ++i) {
      const double* row = ws.basis.inverse(i);
      double change = -row[0];
      for (std::size_t l = 1; l <= m; ++l) change -= row[l] * ws.border[l];
      ws.mass[i] = change;
    }
  } else {
    for (std::size_t i = 0; i <= m; ++i) ws.mass[i] = ws.basis.inverse(i)[entering.index];
  }
  padded_.apply(ws.basis.support(), {ws.mass.data() + 1, m}, ws.rate);
  const double level = ws.mass[0];
  if (entering.is_class) {
    const double* costs = padded_.of_truth(entering.index);
    for (std::size_t y = 0; y < ws.rate.size(); ++y) ws.rate[y] += costs[y] - level;
  } else {
    for (double& r : ws.rate) r -= level;
  }
  for (const std::uint32_t y : ws.basis.rows()) ws.rate[y] = 0;  // these stay equal to t, or are what enters
}

// Ratio test in two passes: the longest step that keeps everything above -tolerance, then, among what blocks within
// that step, the largest coefficient (or the first of all under Bland's rule).
MatrixGame::Leaving MatrixGame::choose_leaving(Care care, bool bland, const Workspace& ws) const {
  const std::size_t k = padded_.k(), m = ws.basis.size();
  const double unit = padded_.range();
  double longest = std::numeric_limits<double>::infinity();
  const auto shorten = [&longest](double value, double speed, double slop) {
    if (value + slop < longest * speed) longest = std::max(value + slop, 0.0) / speed;
  };
  // An entering class moves mass, an entering slack moves mass per unit of cost: compare coefficients by their largest.
  double fastest = 0;
  for (std::size_t i = 1; i <= m; ++i) fastest = std::max(fastest, std::abs(ws.mass[i]));
  const double least = (care == Care::careful ? careful_pivot_tolerance : pivot_tolerance) * fastest;
  for (std::size_t i = 1; i <= m; ++i)
    if (-ws.mass[i] > least) shorten(ws.basis.mass(i), -ws.mass[i], feasibility_tolerance);
  for (std::size_t y = 0; y < k; ++y)
    if (-ws.rate[y] > least * unit) shorten(ws.slack[y], -ws.rate[y], feasibility_tolerance * unit);

  Leaving leaving;
  double strongest = 0;
  std::size_t first = 2 * k;
  const auto consider = [&](bool is_class, std::size_t index, std::size_t number, double value, double speed,
                            double strength) {
    if (value > longest * speed || (bland ? number > first : strength <= strongest)) return;
    strongest = strength;
    first = number;
    leaving = {true, is_class, index, std::max(value, 0.0) / speed};
  };
  for (std::size_t i = 1; i <= m; ++i)
    if (-ws.mass[i] > least) consider(true, i, ws.basis.support(i), ws.basis.mass(i), -ws.mass[i], -ws.mass[i]);
  for (std::size_t y = 0; y < k; ++y)
    if (-ws.rate[y] > least * unit) consider(false, y, k + y, ws.slack[y], -ws.rate[y], -ws.rate[y] / unit);
  return leaving;
}

void MatrixGame::pivot(const Entering& entering, const Leaving& leaving, Workspace& ws) const {
  GameBasis& basis = ws.basis;
  const std::size_t m = basis.size();
  for (std::size_t y = 0; y < ws.slack.size(); ++y) ws.slack[y] += leaving.step * ws.rate[y];
  if (!leaving.is_class) {  // border = (-1, A_yS) W
    const double* costs = padded_.of_prediction(leaving.index);
    for (std::size_t l = 0; l <= m; ++l) ws.border[l] = -basis.inverse(0)[l];
    for (std::size_t i = 1; i <= m; ++i) {
      const double cost = costs[basis.support(i)];
      const double* row = basis.inverse(i);
      for (std::size_t l = 0; l <= m; ++l) ws.border[l] += cost * row[l];
    }
    ws.slack[leaving.index] = 0;
  }
  if (!entering.is_class) ws.slack[basis.row(entering.index)] = leaving.step;
  if (entering.is_class) {
    for (std::size_t i = 0; i <= m; ++i) ws.mass[i] = -ws.mass[i];  // the image W (1, A_Yj)
    if (leaving.is_class) {
      basis.replace_class(leaving.index, entering.index, ws.mass.data());
    } else {
      basis.grow(entering.index, leaving.index, ws.mass.data(), ws.border.data(), ws.rate[leaving.index]);
    }
  } else if (leaving.is_class) {
    basis.shrink(leaving.index, entering.index);
  } else {
    basis.replace_row(entering.index, leaving.index, ws.border.data());
  }
}

// Pivots until the basis is optimal, cannot go on or has used up its pivots. False if the basis has no inverse: it and
// the multipliers are then of no use.
// Pivots until the basis is optimal, cannot go on or has used up its pivots. False if the basis has lost its inverse:
// it and the multipliers are of no use then.
bool MatrixGame::optimise(Care care, Workspace& ws) const {
  const std::size_t cap = 50 + 10 * padded_.k();
  int stalls = 0;
  for (std::size_t pivots = 0; pivots < cap; ++pivots) {
    price(care, ws);
    const bool bland = stalls > stalls_before_bland;
    const Entering entering = choose_entering(bland, ws);
    if (!entering.found) return true;
    compute_rates(entering, ws);
    const Leaving leaving = choose_leaving(care, bland, ws);
    if (!leaving.found) return true;  // only rounding can do this: the set of feasible mu is bounded
    stalls = leaving.step > 0 ? 0 : stalls + 1;
    pivot(entering, leaving, ws);
    if (care == Care::careful) {
      if (!ws.basis.invert(*cost_)) return false;
      compute_slack(ws);
    }
  }
  price(care, ws);
  return true;
}

}  // namespace m4n::detail

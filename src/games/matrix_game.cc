// The matrix game from a warm or cold start to a certificate; the pivots are in matrix_game_pivots.cc.
//
// All quantities are in the unit of the costs: scores below max v - (max A - min A) belong to dominated classes and are
// cut off a little further down, so no number in here is larger than a few times max A however large the scores are.
#include "games/matrix_game.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace m4n::detail {

namespace {
constexpr double warm_tolerance = 1e-10;  // a warm basis is trusted up to here
constexpr double accepted_gap = 1e-11;    // a larger gap is not accepted before the last attempt

// The larger of two bounds; a NaN, once met, stays.
double larger_or_nan(double a, double b) { return std::isnan(a) || a >= b ? a : b; }
}  // namespace

MatrixGame::Workspace::Workspace(std::size_t k)
    : basis(k),
      scores(kernels::padded(k), kernels::padding_score),
      reduced(scores.size()),
      slack(scores.size()),
      rate(scores.size()),
      mass(k + 2),
      weight(k + 2),
      border(k + 2),
      other_mu(k),
      other_nu(k) {}

MatrixGame::MatrixGame(const CostMatrix& cost) : cost_(&cost), padded_(cost) {}

// Returns the largest score, or NaN if there is one among them.
double MatrixGame::load_scores(std::span<const double> v, Workspace& ws) const {
  const std::size_t k = padded_.k();
  double top = v[0];
  for (std::size_t j = 1; j < k; ++j) top = larger_or_nan(top, v[j]);
  const double floor = -2 * padded_.range();
  for (std::size_t j = 0; j < k; ++j) ws.scores[j] = std::max(v[j] - top, floor);
  return top;
}

void MatrixGame::start_cold(Workspace& ws) const {
  const std::size_t k = padded_.k();
  const auto begin = ws.scores.begin();
  const auto j = static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(k)) - begin);
  const double* costs = padded_.of_truth(j);
  const auto y = static_cast<std::size_t>(std::min_element(costs, costs + k) - costs);
  ws.basis.set_single(j, y, costs[y]);
  compute_slack(ws);
}

bool MatrixGame::start_warm(std::span<const std::uint8_t> state, Workspace& ws) const {
  if (!ws.basis.read(state, state_support, state_row) || !ws.basis.invert(*cost_)) return false;
  compute_slack(ws);
  return feasible(ws);
}

void MatrixGame::compute_slack(Workspace& ws) const {
  const std::size_t m = ws.basis.size();
  for (std::size_t i = 1; i <= m; ++i) ws.mass[i] = ws.basis.mass(i);
  padded_.apply(ws.basis.support(), {ws.mass.data() + 1, m}, ws.slack);
  for (double& s : ws.slack) s -= ws.basis.level();
}

bool MatrixGame::feasible(const Workspace& ws) const {
  double least_mass = 0, least_slack = 0;
  for (std::size_t i = 1; i <= ws.basis.size(); ++i) least_mass = std::min(least_mass, ws.basis.mass(i));
  for (std::size_t y = 0; y < padded_.k(); ++y) least_slack = std::min(least_slack, ws.slack[y]);
  return least_mass >= -warm_tolerance && least_slack >= -warm_tolerance * padded_.range();
}

// Makes mu and nu feasible (nonnegative, sum 1) and evaluates both bounds there, at the scores as given less their
// largest, `top`.
Bounds MatrixGame::certify(std::span<const double> v, double top, std::span<double> mu, std::span<double> nu,
                           Workspace& ws) const {
  const std::size_t k = padded_.k(), m = ws.basis.size();
  double mass = 0, weight = 0;
  for (std::size_t i = 1; i <= m; ++i) {
    mass += ws.mass[i] = std::max(ws.basis.mass(i), 0.0);
    weight += ws.weight[i] = std::max(ws.weight[i], 0.0);
  }
  std::fill_n(mu.begin(), k, 0.0);
  std::fill_n(nu.begin(), k, 0.0);
  double score = 0;
  for (std::size_t i = 1; i <= m; ++i) {
    ws.mass[i] /= mass;
    ws.weight[i] /= weight;
    mu[ws.basis.support(i)] = ws.mass[i];
    nu[ws.basis.row(i)] = ws.weight[i];
    if (ws.mass[i] > 0) score += (v[ws.basis.support(i)] - top) * ws.mass[i];
  }
  padded_.apply(ws.basis.support(), {ws.mass.data() + 1, m}, ws.rate);
  padded_.apply_transposed(ws.basis.rows(), {ws.weight.data() + 1, m}, ws.reduced);
  double risk = ws.rate[0], gain = v[0] - top + ws.reduced[0];
  for (std::size_t j = 1; j < k; ++j) {
    risk = std::min(risk, ws.rate[j]);
    gain = larger_or_nan(gain, v[j] - top + ws.reduced[j]);
  }
  return {risk + score, gain};
}

// What holds whatever went wrong: h(e_j) >= min A and v.e_j = max v for the class of the largest score, and
// v_j + (A^T nu)_j <= max v + max A for every j and nu. Only scores that are not numbers leave no bound at all.
Bounds MatrixGame::trivial_bounds(double top, std::span<double> mu, std::span<double> nu, const Workspace& ws,
                                  Bounds bounds) const {
  const std::size_t k = padded_.k();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(bounds.lower)) {
    const auto begin = ws.scores.begin();
    std::fill_n(mu.begin(), k, 0.0);
    mu[static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(k)) - begin)] = 1;
    bounds.lower = std::isfinite(top) ? -padded_.magnitude() : -infinity;
  }
  if (std::isnan(bounds.upper)) {
    std::fill_n(nu.begin(), k, 1 / static_cast<double>(k));
    bounds.upper = std::isfinite(top) ? cost_->largest() : infinity;
  }
  return bounds;
}

Bounds MatrixGame::solve(std::span<const double> v, std::span<double> mu, std::span<double> nu,
                         std::span<std::uint8_t> state, Workspace& ws) const {
  const double top = load_scores(v, ws);
  if (!start_warm(state, ws)) start_cold(ws);
  optimise(Care::fast, ws);
  Bounds bounds = certify(v, top, mu, nu, ws);
  const auto certified = [&] { return bounds.upper - bounds.lower <= accepted_gap * padded_.range(); };
  // Rounding has spoilt the basis: pivot on from a fresh inverse, and if that fails start again with every care. The
  // best mu and the best nu of all attempts are kept; a bound that is not a number is never one of them.
  for (const Care care : {Care::refined, Care::refined, Care::careful}) {
    if (certified()) break;
    const bool restart = care == Care::careful || !ws.basis.invert(*cost_);
    if (!restart) compute_slack(ws);
    if (restart || !feasible(ws)) start_cold(ws);
    if (!optimise(care, ws)) {
      start_cold(ws);
      optimise(Care::refined, ws);
    }
    const Bounds again = certify(v, top, ws.other_mu, ws.other_nu, ws);
    if (again.lower > bounds.lower || std::isnan(bounds.lower)) {
      bounds.lower = again.lower;
      std::copy(ws.other_mu.begin(), ws.other_mu.end(), mu.begin());
    }
    if (again.upper < bounds.upper || std::isnan(bounds.upper)) {
      bounds.upper = again.upper;
      std::copy(ws.other_nu.begin(), ws.other_nu.end(), nu.begin());
    }
  }
  ws.basis.write(state, state_support, state_row);
  if (std::isnan(bounds.lower) || std::isnan(bounds.upper)) bounds = trivial_bounds(top, mu, nu, ws, bounds);
  if (!std::isfinite(top)) return bounds;
  return {top + bounds.lower, top + std::max(bounds.lower, bounds.upper)};
}

}  // namespace m4n::detail

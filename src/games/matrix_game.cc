// The matrix game (matrix_game.h): updates of the inverse basis by rank one, and the way from a warm or cold start to a
// certificate. The pivots are in matrix_game_pivots.cc.
#include "games/matrix_game.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace m4n::detail {

GameBasis::GameBasis(std::size_t k)
    : k_(k), stride_(k + 1), inverse_((k + 1) * (k + 1)), support_(k + 2), rows_(k + 2), order_(k + 1) {}

void GameBasis::set_single(std::size_t j, std::size_t y, double cost) {
  size_ = 1;
  support_[1] = static_cast<std::uint32_t>(j);
  rows_[1] = static_cast<std::uint32_t>(y);
  inverse(0)[0] = cost;
  inverse(0)[1] = -1;
  inverse(1)[0] = 1;
  inverse(1)[1] = 0;
}

bool GameBasis::read(std::span<const std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit) {
  std::size_t classes = 0, rows = 0;
  for (std::size_t j = 0; j < k_; ++j) {  // without branches: every entry is written, the counter moves on a set bit
    support_[classes + 1] = rows_[rows + 1] = static_cast<std::uint32_t>(j);
    classes += (state[j] & support_bit) != 0;
    rows += (state[j] & row_bit) != 0;
  }
  size_ = classes;
  return classes == rows && classes > 0;
}

void GameBasis::write(std::span<std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit) const {
  const auto keep = static_cast<std::uint8_t>(~(support_bit | row_bit));
  for (std::size_t j = 0; j < k_; ++j) state[j] &= keep;
  for (std::size_t i = 1; i <= size_; ++i) {
    state[support_[i]] |= support_bit;
    state[rows_[i]] |= row_bit;
  }
}

bool GameBasis::invert(const CostMatrix& cost) {
  const std::size_t n = size_ + 1;
  // B with its first two rows exchanged, so that the first pivot is the -1 of an active row.
  double largest = 0;
  for (std::size_t p = 1; p < n; ++p) {
    double* row = inverse(p == 1 ? 0 : p);
    const auto costs = cost.of_prediction(rows_[p]);
    row[0] = -1;
    for (std::size_t q = 1; q < n; ++q) {
      row[q] = costs[support_[q]];
      largest = std::max(largest, std::abs(row[q]));
    }
  }
  if (largest == 0) largest = 1;  // one class and one row of cost 0: any unit will do
  double* sum = inverse(1);
  sum[0] = 0;
  std::fill(sum + 1, sum + n, 1.0);
  for (std::size_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
  std::swap(order_[0], order_[1]);  // row i of the working matrix is row order_[i] of B
  for (std::size_t s = 0; s < n; ++s) {
    std::size_t best = s;
    // The sum row has no unit of cost; it competes for the pivot with its entries times the largest cost.
    const auto weight = [&](std::size_t i) { return std::abs(inverse(i)[s]) * (order_[i] == 0 ? largest : 1.0); };
    for (std::size_t i = s + 1; i < n; ++i) {
      if (s > 0 && weight(i) > weight(best)) best = i;
    }
    if (best != s) {
      std::swap_ranges(inverse(s), inverse(s) + n, inverse(best));
      std::swap(order_[s], order_[best]);
    }
    double* pivot_row = inverse(s);
    if (!(s == 0 || weight(s) > 1e-13 * largest)) return false;
    const double scale = 1 / pivot_row[s];
    pivot_row[s] = 1;
    for (std::size_t q = 0; q < n; ++q) pivot_row[q] *= scale;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == s) continue;
      double* row = inverse(i);
      const double factor = row[s];
      row[s] = 0;
      for (std::size_t q = 0; q < n; ++q) row[q] -= factor * pivot_row[q];
    }
  }
  // The columns of the inverse stand in the order in which the rows were used: bring them home by cycles.
  for (std::size_t i = 0; i < n; ++i) {
    while (order_[i] != i) {
      const std::size_t home = order_[i];
      for (std::size_t r = 0; r < n; ++r) std::swap(inverse(r)[i], inverse(r)[home]);
      std::swap(order_[i], order_[home]);
    }
  }
  return true;
}

void GameBasis::replace_class(std::size_t q, std::size_t j, const double* image) {
  const std::size_t n = size_ + 1;
  double* __restrict leaving = inverse(q);
  const double scale = 1 / image[q];
  for (std::size_t l = 0; l < n; ++l) leaving[l] *= scale;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == q) continue;
    double* __restrict row = inverse(i);
    const double factor = image[i];
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * leaving[l];
  }
  support_[q] = static_cast<std::uint32_t>(j);
}

void GameBasis::replace_row(std::size_t p, std::size_t y, const double* border) {
  const std::size_t n = size_ + 1;
  const double scale = 1 / border[p];
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse(i);
    const double factor = row[p] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * border[l];
    row[p] = factor;
  }
  rows_[p] = static_cast<std::uint32_t>(y);
}

void GameBasis::grow(std::size_t j, std::size_t y, const double* image, const double* border, double pivot) {
  const std::size_t n = size_ + 1;
  const double scale = 1 / pivot;
  for (std::size_t i = 0; i < n; ++i) {
    double* row = inverse(i);
    const double factor = image[i] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] += factor * border[l];
    row[n] = -factor;
  }
  double* last = inverse(n);
  for (std::size_t l = 0; l < n; ++l) last[l] = -border[l] * scale;
  last[n] = scale;
  ++size_;
  support_[size_] = static_cast<std::uint32_t>(j);
  rows_[size_] = static_cast<std::uint32_t>(y);
}

void GameBasis::shrink(std::size_t q, std::size_t p) {
  const std::size_t n = size_ + 1;
  const double* leaving = inverse(q);
  const double scale = 1 / leaving[p];
  for (std::size_t i = 0; i < n; ++i) {
    if (i == q) continue;
    double* row = inverse(i);
    const double factor = row[p] * scale;
    for (std::size_t l = 0; l < n; ++l) row[l] -= factor * leaving[l];
  }
  // The last row and column move into the gaps.
  if (q != size_) std::copy(inverse(size_), inverse(size_) + n, inverse(q));
  for (std::size_t i = 0; i < size_; ++i) inverse(i)[p] = inverse(i)[size_];
  support_[q] = support_[size_];
  rows_[p] = rows_[size_];
  --size_;
}

// The matrix game from a warm or cold start to a certificate; the pivots are in matrix_game_pivots.cc.
//
// All quantities are in the unit of the costs: scores below max v - (max A - min A) belong to dominated classes and are
// cut off a little further down, so no number in here is larger than a few times max A however large the scores are.

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

// The proximal step of a matrix loss (matrix_prox.h): the primal active-set method, then the linear algebra of a face.
#include "games/matrix_prox.h"

#include <algorithm>
#include <cmath>

#include "games/matrix_game.h"

namespace m4n::detail {

namespace {
constexpr double active_tolerance = 1e-11;  // a warm row counts as active up to this distance from t
constexpr double rate_tolerance = 1e-12;    // a slower row does not block; above the independence tolerance
constexpr double hair_width = 1e-13;        // of the lift that breaks ties, relative to the range of the costs
constexpr double shortest_move = 1e-11;     // a shorter one only exchanges constraints
constexpr int stalls_before_loosening = 20;
}  // namespace

// What stops a move: nothing (length 1), a class at position `index` of S, or the row `index`.
struct MatrixProx::Block {
  enum class Kind { none, by_class, by_row } kind = Kind::none;
  std::size_t index = 0;
  double length = 1;
};

// What keeps the maximum of a face from being the maximum: a class outside S that gains, a position of Y with nu < 0.
struct MatrixProx::Violation {
  enum class Kind { none, of_class, of_row } kind = Kind::none;
  std::size_t index = 0;
};

MatrixProx::Workspace::Workspace(std::size_t k)
    : in_support(k),
      in_rows(k),
      pull(kernels::padded(k), 0.0),
      gain(pull.size()),
      risk(pull.size()),
      rate(pull.size()),
      old(k),
      normal(k * k),
      factor(k * k) {
  support.reserve(k);
  rows.reserve(k);
  weight.reserve(k);
  direction.reserve(k);
  multiplier.reserve(k);
}

MatrixProx::MatrixProx(const CostMatrix& cost) : padded_(cost) {}

// S is where mu is positive; Y are the rows of the last visit that are still active, or the row of least risk.
void MatrixProx::start(std::span<const double> mu, std::span<const std::uint8_t> state, Workspace& ws) const {
  const std::size_t k = padded_.k();
  ws.support.clear();
  ws.rows.clear();
  ws.independent = 0;
  ws.weight.clear();
  for (std::size_t j = 0; j < k; ++j) {
    ws.old[j] = mu[j];
    ws.in_rows[j] = 0;
    ws.in_support[j] = mu[j] > 0;
    if (!ws.in_support[j]) continue;
    ws.support.push_back(static_cast<std::uint32_t>(j));
    ws.weight.push_back(mu[j]);
  }
  padded_.apply(ws.support, ws.weight, ws.risk);
  const auto least = std::min_element(ws.risk.begin(), ws.risk.begin() + static_cast<std::ptrdiff_t>(k));
  const double active = *least + active_tolerance * padded_.range();
  for (std::size_t y = 0; y < k; ++y)
    if ((state[y] & state_prox_row) != 0 && ws.risk[y] <= active) ws.rows.push_back(static_cast<std::uint32_t>(y));
  if (ws.rows.empty()) ws.rows.push_back(static_cast<std::uint32_t>(least - ws.risk.begin()));
  for (const std::uint32_t y : ws.rows) ws.in_rows[y] = 1;
}

// Where many rows meet t at once, zero-length steps could exchange them for ever. Lifting those that are not in Y by
// different hairs breaks the ties: the next steps have some length and the objective grows.
void MatrixProx::loosen(Workspace& ws) const {
  const double hair = hair_width * padded_.range();
  const double level = ws.risk[ws.rows[0]];
  double fraction = 0;
  for (std::size_t y = 0; y < padded_.k(); ++y) {
    fraction += 0.6180339887498949;  // the multiples of the golden ratio are spread evenly over [0, 1)
    if (fraction >= 1) fraction -= 1;
    if (ws.in_rows[y] == 0 && ws.risk[y] < level + hair) ws.risk[y] = level + hair * (1 + fraction);
  }
}

// How far mu can go along d (at most 1), and what stops it; of several, the one approached fastest. Also sets
// rate = A d.
MatrixProx::Block MatrixProx::first_block(std::span<const double> mu, Workspace& ws) const {
  const std::size_t k = padded_.k(), n = ws.support.size();
  Block block;
  double strongest = 0;
  const auto consider = [&](Block::Kind kind, std::size_t index, double room, double speed) {
    if (room > block.length * speed) return;
    const double length = std::max(room, 0.0) / speed;
    if (length == block.length && speed <= strongest) return;
    strongest = speed;
    block = {kind, index, length};
  };
  padded_.apply(ws.support, ws.direction, ws.rate);
  const double unit = padded_.range();
  for (std::size_t i = 0; i < n; ++i)
    if (ws.direction[i] < 0) consider(Block::Kind::by_class, i, mu[ws.support[i]], -ws.direction[i]);
  const double size = std::sqrt(kernels::dot(ws.direction, ws.direction));
  const double least = rate_tolerance * unit * size;
  const double level = ws.risk[ws.rows[0]], level_rate = ws.rate[ws.rows[0]];
  strongest *= unit;  // from mass to cost, the unit of the rows
  for (std::size_t y = 0; y < k; ++y) {
    const double approach = level_rate - ws.rate[y];
    if (approach > least && ws.in_rows[y] == 0) consider(Block::Kind::by_row, y, ws.risk[y] - level, approach);
  }
  return block;
}

// The class outside S that would gain most, or the active row with the most negative multiplier.
MatrixProx::Violation MatrixProx::worst_violation(std::span<const double> v, double c, std::span<const double> mu,
                                                  double noise, int stalls, Workspace& ws) const {
  const std::size_t k = padded_.k(), m = ws.rows.size();
  for (std::size_t j = 0; j < k; ++j) ws.pull[j] = v[j] - c * (mu[j] - ws.old[j]);
  padded_.add_transposed(ws.rows, ws.multiplier, ws.pull, ws.gain);
  double theta = 0;
  for (const std::uint32_t j : ws.support) theta += ws.gain[j];
  theta /= static_cast<double>(ws.support.size());

  const double unit = padded_.range();
  // The longer nothing moves, the larger the gain must be that is worth another zero-length step.
  const double tolerance = (price_tolerance * unit + 4 * noise) * (1 + stalls);
  Violation worst;
  double most = tolerance;
  for (std::size_t j = 0; j < k; ++j) {
    if (ws.in_support[j] != 0 || ws.gain[j] - theta <= most) continue;
    worst = {Violation::Kind::of_class, j};
    most = ws.gain[j] - theta;
  }
  for (std::size_t p = 0; p < m; ++p) {
    // Rounding in a multiplier is that of the pull over the length of the row's own normal.
    const double own = m > 1 ? ws.factor[std::max<std::size_t>(p, 1) * (k + 1)] : unit;
    const double excess = -ws.multiplier[p] * unit - noise * unit / own;
    if (excess <= most) continue;
    worst = {Violation::Kind::of_row, p};
    most = excess;
  }
  return worst;
}

void MatrixProx::finish(std::span<double> mu, std::span<double> nu, std::span<std::uint8_t> state,
                        const Workspace& ws) const {
  const std::size_t k = padded_.k();
  double mass = 0, weight = 0;
  for (const std::uint32_t j : ws.support) mass += mu[j];
  for (const std::uint32_t j : ws.support) mu[j] /= mass;
  std::fill_n(nu.begin(), k, 0.0);
  for (std::size_t y = 0; y < k; ++y) state[y] &= static_cast<std::uint8_t>(~state_prox_row);
  for (std::size_t p = 0; p < ws.rows.size(); ++p) {
    // A visit cut short after a row entered has no multiplier for it yet.
    const double share = p < ws.multiplier.size() ? std::max(ws.multiplier[p], 0.0) : 0.0;
    nu[ws.rows[p]] = share;
    weight += share;
    state[ws.rows[p]] |= state_prox_row;
  }
  for (const std::uint32_t y : ws.rows) nu[y] /= weight;
}

bool MatrixProx::step(std::span<const double> v, double c, std::span<double> mu, std::span<double> nu,
                      std::span<std::uint8_t> state, int max_solves, Workspace& ws) const {
  start(mu, state, ws);
  ws.multiplier.assign(ws.rows.size(), 1.0);
  bool optimal = false;
  int moves = 0, stalls = 0;
  const int most_stalls = 40 + 4 * static_cast<int>(padded_.k());
  while (!optimal && moves < max_solves && stalls < most_stalls) {
    orthogonalise(ws);
    const double noise = face_direction(v, c, mu, ws);
    double largest = 0;
    for (const double d : ws.direction) largest = std::max(largest, std::abs(d));
    Block block;
    if (largest > 0) {
      if (stalls > stalls_before_loosening) loosen(ws);
      block = first_block(mu, ws);
      for (std::size_t i = 0; i < ws.support.size(); ++i) {
        double& x = mu[ws.support[i]];
        x = std::max(x + block.length * ws.direction[i], 0.0);
      }
      for (std::size_t y = 0; y < padded_.k(); ++y) ws.risk[y] += block.length * ws.rate[y];
    }
    if (block.length * largest > shortest_move) {
      ++moves;
      stalls = 0;
    } else {
      ++stalls;
    }
    if (block.kind == Block::Kind::by_class) {
      const std::uint32_t j = ws.support[block.index];
      mu[j] = 0;
      ws.in_support[j] = 0;
      ws.support.erase(ws.support.begin() + static_cast<std::ptrdiff_t>(block.index));
      ws.independent = 0;
    } else if (block.kind == Block::Kind::by_row) {
      ws.in_rows[block.index] = 1;
      ws.rows.push_back(static_cast<std::uint32_t>(block.index));
    } else {
      const Violation violation = worst_violation(v, c, mu, noise, stalls, ws);
      if (violation.kind == Violation::Kind::of_class) {
        ws.in_support[violation.index] = 1;
        ws.support.push_back(static_cast<std::uint32_t>(violation.index));
        ws.independent = 0;
      } else if (violation.kind == Violation::Kind::of_row) {
        const auto p = static_cast<std::ptrdiff_t>(violation.index);
        ws.in_rows[ws.rows[violation.index]] = 0;
        ws.rows.erase(ws.rows.begin() + p);
        ws.multiplier.erase(ws.multiplier.begin() + p);
        ws.independent = std::min(ws.independent, violation.index);
      } else {
        optimal = true;
      }
    }
  }
  finish(mu, nu, state, ws);
  return optimal;
}

// The face of the proximal step that the support S and the active rows Y span: its normals, and the move to its
// maximum.
//
// The normals, A_y - A_y0 restricted to S and centred, are orthogonalised by Gram-Schmidt with a second pass where the
// first cancelled much: unlike a Cholesky factor of their Gram matrix this does not square the condition number, so
// nearly equal rows of A do no harm. The constraints that enter are independent of those present (the direction d lies
// in the face but leaves through them), so only a stale warm start can bring dependent rows; they are dropped when
// found.

namespace {
constexpr double independence_tolerance = 5e-13;  // below the rate at which a row blocks: no such row is dependent
constexpr double rounding = 2e-15;                // of the pull, relative to its largest term
constexpr double unit_rounding = 2.3e-16;         // of mu

double dot(const double* a, const double* b, std::size_t n) {
  if (n >= 16) return kernels::dot({a, n}, {b, n});
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(double factor, const double* a, double* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) b[i] -= factor * a[i];
}

void centre(double* a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i];
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) a[i] -= mean;
}
}  // namespace

// Extends the orthonormal normals to all of Y; those of the first ws.independent rows are still good.
void MatrixProx::orthogonalise(Workspace& ws) const {
  const std::size_t k = padded_.k(), n = ws.support.size();
  const double* reference = padded_.of_prediction(ws.rows[0]);
  for (std::size_t p = std::max<std::size_t>(ws.independent, 1); p < ws.rows.size();) {
    const double* costs = padded_.of_prediction(ws.rows[p]);
    double* normal = ws.normal.data() + p * k;
    double* factor = ws.factor.data() + p * k;
    for (std::size_t i = 0; i < n; ++i) normal[i] = costs[ws.support[i]] - reference[ws.support[i]];
    std::fill_n(factor, p, 0.0);
    double before = 0, after = dot(normal, normal, n);
    do {
      before = after;
      centre(normal, n);
      for (std::size_t l = 1; l < p; ++l) {
        const double part = dot(ws.normal.data() + l * k, normal, n);
        subtract(part, ws.normal.data() + l * k, normal, n);
        factor[l] += part;
      }
      after = dot(normal, normal, n);
    } while (after < 0.25 * before && after > 0);
    factor[p] = std::sqrt(after);
    if (factor[p] <= independence_tolerance * padded_.range()) {
      ws.in_rows[ws.rows[p]] = 0;
      ws.rows.erase(ws.rows.begin() + static_cast<std::ptrdiff_t>(p));
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) normal[i] /= factor[p];
    ++p;
  }
  ws.independent = ws.rows.size();
}

// direction = d and multiplier = nu of the current face. Returns the size of what rounding may have left in them.
double MatrixProx::face_direction(std::span<const double> v, double c, std::span<const double> mu,
                                  Workspace& ws) const {
  const std::size_t k = padded_.k(), n = ws.support.size(), m = ws.rows.size();
  const double* reference = padded_.of_prediction(ws.rows[0]);
  double largest = 0;
  ws.direction.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t j = ws.support[i];
    const double drag = c * (mu[j] - ws.old[j]);
    ws.direction[i] = v[j] - drag + reference[j];
    largest = std::max(largest, std::abs(v[j]) + std::abs(drag) + std::abs(reference[j]));
  }
  ws.multiplier.assign(m, 0.0);
  for (int pass = 0; pass < 2; ++pass) {
    centre(ws.direction.data(), n);
    for (std::size_t l = 1; l < m; ++l) {
      const double part = dot(ws.normal.data() + l * k, ws.direction.data(), n);
      subtract(part, ws.normal.data() + l * k, ws.direction.data(), n);
      ws.multiplier[l] -= part;
    }
  }
  // The parts are -factor^T nu: back substitution. nu_0 makes the sum one.
  ws.multiplier[0] = 1;
  for (std::size_t l = m; l-- > 1;) {
    const double* factor = ws.factor.data() + l * k;
    const double nu = ws.multiplier[l] /= factor[l];
    for (std::size_t i = 1; i < l; ++i) ws.multiplier[i] -= nu * factor[i];
    ws.multiplier[0] -= nu;
  }
  const double noise = rounding * largest + unit_rounding * c;
  double top = 0;
  for (const double d : ws.direction) top = std::max(top, std::abs(d));
  // All is noise, or the entries that are small beside the others are: without those d would leave the face.
  const double negligible = top <= noise ? top : 1e-13 * top;
  for (double& d : ws.direction) d = std::abs(d) <= negligible ? 0 : d / c;
  return noise;
}

}  // namespace m4n::detail

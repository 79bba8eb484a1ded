// The face of the proximal step that the support S and the active rows Y span: its normals, and the move to its
// maximum.
//
// The normals, A_y - A_y0 restricted to S and centred, are orthogonalised by Gram-Schmidt with a second pass where the
// first cancelled much: unlike a Cholesky factor of their Gram matrix this does not square the condition number, so
// nearly equal rows of A do no harm. The constraints that enter are independent of those present (the direction d lies
// in the face but leaves through them), so only a stale warm start can bring dependent rows; they are dropped when
// found.
#include <algorithm>
#include <cmath>

#include "games/matrix_prox.h"

namespace m4n::detail {

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

// The simplex method on a dense tableau (dense_lp.h).
#include "core/dense_lp.h"

#include <algorithm>
#include <limits>

namespace m4n::detail {

double maximise_dense(std::span<const double> gain, std::span<const double> rows, std::span<const double> bound) {
  constexpr double tolerance = 1e-11;
  const std::size_t n = gain.size(), m = bound.size(), width = n + 1;
  // Row r holds the basic variable base[r] in terms of the others; the last column is its value, the last row the
  // price.
  std::vector<double> table((m + 1) * width);
  std::vector<std::size_t> base(m), free(n);
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t c = 0; c < n; ++c) table[r * width + c] = rows[r * n + c];
    table[r * width + n] = bound[r];
    base[r] = n + r;
  }
  for (std::size_t c = 0; c < n; ++c) {
    table[m * width + c] = -gain[c];
    free[c] = c;
  }
  bool bland = false;
  for (;;) {
    std::size_t in = n;
    for (std::size_t c = 0; c < n; ++c) {
      if (table[m * width + c] >= -tolerance) continue;
      const bool better = in == n || (bland ? free[c] < free[in] : table[m * width + c] < table[m * width + in]);
      if (better) in = c;
    }
    if (in == n) return table[m * width + n];
    std::size_t out = m;
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < m; ++r) {
      if (table[r * width + in] <= tolerance) continue;
      const double ratio = table[r * width + n] / table[r * width + in];
      if (ratio < step - tolerance || (ratio <= step + tolerance && out < m && base[r] < base[out])) {
        step = std::min(step, ratio);
        out = r;
      }
    }
    if (out == m) return std::numeric_limits<double>::infinity();
    bland = step <= tolerance;
    const double pivot = table[out * width + in];
    for (std::size_t c = 0; c < width; ++c)
      if (c != in) table[out * width + c] /= pivot;
    table[out * width + in] = 1 / pivot;
    for (std::size_t r = 0; r <= m; ++r) {
      const double factor = table[r * width + in];
      if (r == out || factor == 0) continue;
      for (std::size_t c = 0; c < width; ++c)
        if (c != in) table[r * width + c] -= factor * table[out * width + c];
      table[r * width + in] = -factor / pivot;
    }
    std::swap(base[out], free[in]);
  }
}

}  // namespace m4n::detail

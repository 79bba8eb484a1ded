// Small random classification data for tests.
#pragma once
#include <cmath>
#include <string>

#include "core/rng.h"
#include "m4n/dataset.h"

namespace m4n::detail::test {

// Noisy labels of a random linear rule; about a third of the entries are zero.
inline Dataset random_dataset(Rng& rng, std::size_t n, std::size_t d, std::size_t k, double noise = 0.2) {
  Dataset out;
  DenseMatrix x{n, d, {}};
  std::vector<double> rule(d * k);
  for (double& r : rule) r = rng.normal();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) x.values.push_back(rng.below(3) == 0 ? 0.0 : rng.normal());
    std::size_t best = 0;
    double top = -1e300;
    for (std::size_t c = 0; c < k; ++c) {
      double score = 0;
      for (std::size_t j = 0; j < d; ++j) score += rule[j * k + c] * x.values[i * d + j];
      if (score > top) top = score, best = c;
    }
    if (i < k) best = i;  // every class occurs
    if (i >= k && rng.uniform() < noise) best = rng.below(k);
    out.label.push_back(static_cast<std::int32_t>(best));
  }
  for (std::size_t c = 0; c < k; ++c) out.class_names.push_back(std::to_string(c));
  for (std::size_t j = 0; j < d; ++j) out.feature_names.push_back("x" + std::to_string(j + 1));
  out.x = std::move(x);
  out.feature_rows = out.labels = Groups(n);
  return out;
}

inline SparseMatrix to_sparse(const DenseMatrix& x) {
  SparseMatrix out{x.rows, x.cols, {0}, {}, {}};
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < x.cols; ++j) {
      if (x.values[i * x.cols + j] == 0) continue;
      out.column.push_back(static_cast<std::uint32_t>(j));
      out.value.push_back(x.values[i * x.cols + j]);
    }
    out.row_start.push_back(out.column.size());
  }
  return out;
}

}  // namespace m4n::detail::test

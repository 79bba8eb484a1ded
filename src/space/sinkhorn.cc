#include "space/sinkhorn.h"

#include <algorithm>
#include <cmath>

namespace m4n {
namespace {

void column_sums(std::span<const double> p, std::size_t size, std::span<double> sums) {
  std::fill_n(sums.begin(), size, 0.0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) sums[j] += p[i * size + j];
}

double sum_of(std::span<const double> values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum;
}

}  // namespace

double sinkhorn_sweep(std::span<double> p, std::size_t size, std::span<double> sums) {
  double error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    const double sum = sum_of(row), scale = 1 / sum;
    error = std::max(error, std::abs(sum - 1));
    for (double& x : row) x *= scale;
  }
  column_sums(p, size, sums);
  for (std::size_t j = 0; j < size; ++j) sums[j] = 1 / sums[j];
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) p[i * size + j] *= sums[j];
  return error;
}

void round_to_birkhoff(std::span<double> p, std::size_t size, std::span<double> rows, std::span<double> columns) {
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    const double scale = 1 / std::max(sum_of(row), 1.0);
    for (double& x : row) x *= scale;
  }
  column_sums(p, size, columns);
  for (std::size_t j = 0; j < size; ++j) columns[j] = 1 / std::max(columns[j], 1.0);
  double missing = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    for (std::size_t j = 0; j < size; ++j) row[j] *= columns[j];
    rows[i] = std::max(1 - sum_of(row), 0.0);
    missing += rows[i];
  }
  if (!(missing > 0)) return;
  column_sums(p, size, columns);
  for (std::size_t j = 0; j < size; ++j) columns[j] = std::max(1 - columns[j], 0.0) / missing;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) p[i * size + j] += rows[i] * columns[j];
}

}  // namespace m4n

#include "features/point_kernel.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"

namespace m4n::detail {
namespace {

double power(double base, int exponent) {
  double out = 1;
  for (int i = 0; i < exponent; ++i) out *= base;
  return out;
}

}  // namespace

PointKernel::PointKernel(const Kernel& kernel, const DenseView& points)
    : kernel_(kernel),
      size_(points.rows),
      dimension_(points.cols),
      tiles_((points.rows + tile - 1) / tile * tile * points.cols, 0.0),
      norms_((points.rows + tile - 1) / tile * tile, 0.0) {
  for (std::size_t j = 0; j < points.rows; ++j) {
    const std::span<const double> c = points.row(j);
    double* first = tiles_.data() + j / tile * tile * dimension_ + j % tile;
    for (std::size_t t = 0; t < dimension_; ++t) first[t * tile] = c[t];
    norms_[j] = kernels::dot(c, c);
  }
}

void PointKernel::relate(std::span<const double> x, double own, std::size_t t, std::span<double> v) const {
  const double* points = tiles_.data() + t * tile * dimension_;
  if (kernel_.kind == KernelKind::laplacian) {
    kernels::l1_distances(x, points, v);
  } else {
    kernels::dense_scores(x, points, nullptr, v);
  }
  if (kernel_.kind == KernelKind::rbf) kernels::squared_distances(own, norms_.data() + t * tile, v);
}

void PointKernel::evaluate(std::span<const double> x, std::span<double> out) const {
  alignas(64) double v[tile];
  const double own = kernels::dot(x, x);
  for (std::size_t first = 0; first < size(); first += tile) {
    relate(x, own, first / tile, v);
    if (kernel_.kind == KernelKind::poly) {
      for (double& value : v) value = power(kernel_.gamma * value + 1, kernel_.degree);
    } else {
      kernels::decay(v, kernel_.gamma);
    }
    std::copy_n(v, std::min(tile, size() - first), out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void PointKernel::evaluate_tile(std::span<const double> x, std::size_t t, float shift, float* out) const {
  alignas(64) double v[tile];
  relate(x, kernels::dot(x, x), t, v);
  if (kernel_.kind == KernelKind::poly) {
    for (std::size_t j = 0; j < tile; ++j)
      out[j] = static_cast<float>(power(kernel_.gamma * v[j] + 1, kernel_.degree) + static_cast<double>(shift));
  } else {
    kernels::decay(v, kernel_.gamma, shift, out);
  }
}

double PointKernel::self(std::span<const double> x) const {
  return kernel_.kind == KernelKind::poly ? power(kernel_.gamma * kernels::dot(x, x) + 1, kernel_.degree) : 1.0;
}

}  // namespace m4n::detail

#include "transform/point_kernel.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"

namespace m4n {
namespace {

double power(double base, int exponent) {
  double out = 1;
  for (int i = 0; i < exponent; ++i) out *= base;
  return out;
}

}  // namespace

PointKernel::PointKernel(const Kernel& kernel, const DenseView& points)
    : kernel_(kernel),
      dimension_(points.cols),
      tiles_((points.rows + tile - 1) / tile * tile * points.cols, 0.0),
      norms_(points.rows) {
  for (std::size_t j = 0; j < points.rows; ++j) {
    const std::span<const double> c = points.row(j);
    double* first = tiles_.data() + j / tile * tile * dimension_ + j % tile;
    for (std::size_t t = 0; t < dimension_; ++t) first[t * tile] = c[t];
    norms_[j] = kernels::dot(c, c);
  }
}

void PointKernel::evaluate(std::span<const double> x, std::span<double> out) const {
  alignas(64) double v[tile];
  const double own = kernels::dot(x, x);
  for (std::size_t first = 0; first < size(); first += tile) {
    const std::size_t count = std::min(tile, size() - first);
    const double* w = tiles_.data() + first * dimension_;
    if (kernel_.kind == KernelKind::laplacian) {
      kernels::l1_distances(x, w, v);
    } else {
      kernels::dense_scores(x, w, nullptr, v);
    }
    if (kernel_.kind == KernelKind::rbf)
      for (std::size_t j = 0; j < count; ++j) v[j] = own + norms_[first + j] - 2 * v[j];
    if (kernel_.kind == KernelKind::poly) {
      for (std::size_t j = 0; j < count; ++j) v[j] = power(kernel_.gamma * v[j] + 1, kernel_.degree);
    } else {
      kernels::decay(v, kernel_.gamma);
    }
    std::copy_n(v, count, out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

double PointKernel::self(std::span<const double> x) const {
  return kernel_.kind == KernelKind::poly ? power(kernel_.gamma * kernels::dot(x, x) + 1, kernel_.degree) : 1.0;
}

}  // namespace m4n

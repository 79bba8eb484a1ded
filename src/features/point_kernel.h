// K(x, c_1), .., K(x, c_m) for fixed points c: what kernel models, Nystrom features and RBF centres all evaluate.
//
//   rbf        exp(-gamma |x - c|^2)
//   laplacian  exp(-gamma |x - c|_1)
//   poly       (gamma x.c + 1)^degree
//
// Points lie in tiles of 64, coordinate by coordinate, so that one row against a tile is the score kernel with the
// points as classes. Cost m x d a row.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "features/row_weights.h"
#include "m4n/dataset.h"

namespace m4n::detail {

class PointKernel {
 public:
  static constexpr std::size_t tile = 64;
  PointKernel(const Kernel& kernel, const DenseView& points);
  std::size_t size() const { return size_; }
  std::size_t dimension() const { return dimension_; }
  // out[j] = K(x, c_j), size() entries.
  void evaluate(std::span<const double> x, std::span<double> out) const;
  // The same for the points of one tile, c_j with j / tile = t, plus `shift`: `tile` floats, those past the last point
  // without meaning.
  void evaluate_tile(std::span<const double> x, std::size_t t, float shift, float* out) const;
  // K(x, x)
  double self(std::span<const double> x) const;

 private:
  // Of x and the points of tile t: inner products, or the distances the kernel is made of.
  void relate(std::span<const double> x, double own, std::size_t t, std::span<double> v) const;

  Kernel kernel_;
  std::size_t size_, dimension_;
  AlignedVector<double> tiles_;  // tile after tile, each dimension x 64
  AlignedVector<double> norms_;  // |c_j|^2, whole tiles
};

}  // namespace m4n::detail

// Kernels: values against fixed points (PointKernel), and the matrix K of all pairs of examples (GramMatrix).
//
// K(x, c_1), .., K(x, c_m) for fixed points c: what kernel models, Nystrom features and RBF centres all evaluate.
//
//   rbf        exp(-gamma |x - c|^2)
//   laplacian  exp(-gamma |x - c|_1)
//   poly       (gamma x.c + 1)^degree
//
// Points lie in tiles of 64, coordinate by coordinate, so that one row against a tile is the score kernel with the
// points as classes. Cost m x d per row.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/views.h"
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

// K(x_i, x_j) of all pairs of training rows, bias included; shared by all fits on the same rows.
class GramMatrix {
 public:
  GramMatrix() = default;
  // Not yet filled, except that the padding of the rows is 0.
  explicit GramMatrix(std::size_t n);

  std::size_t n() const { return n_; }
  std::size_t stride() const { return stride_; }  // from one row to the next
  float* row(std::size_t i) { return values_.get() + i * stride_; }
  const float* row(std::size_t i) const { return values_.get() + i * stride_; }
  // Asks for a piece of a row that is needed soon.
  void prefetch(std::size_t i, std::size_t first, std::size_t count) const;
  // Bytes of the matrix of n examples.
  static double bytes(std::size_t n) { return 4.0 * static_cast<double>(n) * static_cast<double>(stride_of(n)); }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  // Whole tiles, so that passes need no special end; and one cache line more, so that the rows of a pass do not all
  // fall into the same sets of the cache.
  static std::size_t stride_of(std::size_t n);

  std::size_t n_ = 0, stride_ = 0;
  std::unique_ptr<float[], Free> values_;
};

// K times the rows of `a` (n rows of `stride` doubles), accumulated in double. Results do not depend on the threads.
AlignedVector<double> times(const GramMatrix& gram, const AlignedVector<double>& a, std::size_t stride,
                            unsigned threads);

}  // namespace m4n::detail

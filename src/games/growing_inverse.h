// The inverse W of a square matrix B whose rows and columns are exchanged, added and taken away one at a time, each for
// O(n^2): what a simplex method with a small working basis needs. Row i of W belongs to column i of B and the other way
// round. Vectors handed over are padded to stride() with zeros. Nothing depends on the stride, which may be left from
// larger matrices, to the last bit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels.h"
#include "core/views.h"

namespace m4n::detail {

class GrowingInverse {
 public:
  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  double operator()(std::size_t row, std::size_t column) const { return values_[row * stride_ + column]; }

  // B = (1).
  void set_one();
  // Makes room for n rows and columns. Widens the stride if it has to.
  void reserve(std::size_t n);
  // W from scratch for the n x n matrix with the given entries (Gauss-Jordan, partial pivoting); false if B is singular
  // to working precision. O(n^3).
  template <class Entry>
  bool invert(std::size_t n, Entry&& entry) {
    reserve(n);
    size_ = n;
    for (std::size_t r = 0; r < n; ++r) {
      double* values = row(r);
      for (std::size_t c = 0; c < n; ++c) values[c] = entry(r, c);
      std::fill(values + n, values + stride_, 0.0);
    }
    return invert_in_place();
  }

  void apply(std::span<const double> x, std::span<double> out) const;             // out = W x
  void apply_transposed(std::span<const double> x, std::span<double> out) const;  // out = x^T W

  // Column q of B becomes b; z = W b.
  void replace_column(std::size_t q, std::span<double> z);
  // Row p of B becomes d; w = d^T W.
  void replace_row(std::size_t p, std::span<double> w);
  // A new last column b and last row (d, corner) of B; z = W b, w = d^T W, pivot = corner - d.z. Room must have
  // been made before, so that z and w have the stride of the result.
  void grow(std::span<const double> z, std::span<const double> w, double pivot);
  // Column q and row p of B leave; the last column takes place q, the last row place p.
  void shrink(std::size_t q, std::size_t p);
  // Row p of B becomes minus itself, and is subtracted from the rows `others`.
  void reflect(std::size_t p, std::span<const std::size_t> others);

 private:
  double* row(std::size_t r) { return values_.data() + r * stride_; }
  bool invert_in_place();
  void copy_column(std::size_t p);

  std::size_t size_ = 0, stride_ = 0;
  AlignedVector<double> values_, line_;  // W; a row of it while W changes
  std::vector<double> column_, scale_;   // a column of W while W changes; units of the rows of B
  std::vector<std::size_t> order_;
};

}  // namespace m4n::detail

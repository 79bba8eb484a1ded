// Arrays of Python as the library sees them. Tables that lie in memory as the library wants them are looked at in place
// for prediction, others (single precision, column order, steps) are copied block by block. A fit owns its data.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/error.h"

namespace m4n::python {

namespace nb = nanobind;

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using IntVector = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RealVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> to_vector(const nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& a) {
  return std::vector<T>(a.data(), a.data() + a.size());
}

// A new numpy array that owns `values`.
template <class T>
using NewArray = nb::ndarray<nb::numpy, T>;
template <class T>
NewArray<T> to_numpy(std::vector<T> values, const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  if (size != values.size()) throw Error("an array has another size than its shape; this is a defect of m4n");
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NewArray<T>(kept->data(), shape.size(), shape.data(), owner);
}

// Rows of float64 or float32, in any order and with any steps.
class DenseSource {
 public:
  explicit DenseSource(AnyMatrix array);
  std::size_t rows() const { return array_.shape(0); }
  std::size_t cols() const { return array_.shape(1); }
  // Whether the library can read it in place.
  bool in_place() const;
  DenseView view() const;
  // Rows first .. first + count - 1, to `out`, one after another.
  void copy(std::size_t first, std::size_t count, double* out) const;

 private:
  AnyMatrix array_;
  bool single_;
};

// CSR arrays of scipy, checked: what does not hold together is refused, never read out of bounds. Row starts are
// copied, columns of 32 bits and values of double precision looked at in place, others converted.
class SparseSource {
 public:
  SparseSource(AnyVector row_start, AnyVector column, AnyVector value, std::size_t cols);
  std::size_t rows() const { return view_.rows; }
  SparseView view() const { return view_; }
  SparseMatrix copy() const;

 private:
  AnyVector column_array_, value_array_;  // keep the memory alive
  std::vector<std::size_t> row_start_;
  std::vector<std::uint32_t> column_;
  std::vector<double> value_;
  SparseView view_;
};

// `x`: a matrix, or the tuple (indptr, indices, data, columns) of a CSR matrix.
using FeatureSource = std::variant<DenseSource, SparseSource>;
FeatureSource feature_source(nb::handle x);
// A copy that the library may keep and change; made while other threads of Python run.
Features without_gil(const FeatureSource& x);
// consume(view, first row) for all rows, in one piece or block by block.
void for_each_block(const FeatureSource& x, std::size_t block_rows,
                    const std::function<void(const FeaturesView&, std::size_t)>& consume);
// The rows of matrices with `lengths` rows, one below the other, copied while other threads of Python run; `what` they
// are of stands in messages.
DenseMatrix stacked(const nb::list& parts, const std::vector<std::size_t>& lengths, const char* what);
std::size_t rows(const FeatureSource& x);
std::size_t cols(const FeatureSource& x);

}  // namespace m4n::python

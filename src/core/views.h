// A matrix by rows, each row padded to whole vectors and started on a cache line (core/kernels.h says what the padding
// holds). PaddedRows looks, PaddedMatrix owns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "core/kernels.h"

namespace m4n::detail {

// The labels of one example: one class, or one label per position or item.
using LabelView = std::span<const std::int32_t>;
// The scores v of its parts and a point mu of the marginal polytope, padded.
using ScoreView = std::span<const double>;
using MarginalView = std::span<const double>;
using Marginals = std::span<double>;

// Memory that starts on a cache line, so that vector loads never straddle one.

template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// Numbers of this type in a cache line: rows are multiples of it.
template <class Real>
inline constexpr std::size_t row_block = 64 / sizeof(Real);
static_assert(row_block<double> == kernels::lane_block);

template <class Real>
constexpr std::size_t row_stride(std::size_t columns) {
  constexpr std::size_t block = row_block<std::remove_const_t<Real>>;
  return (columns + block - 1) / block * block;
}

template <class Real>
class PaddedRows {
 public:
  PaddedRows() = default;
  PaddedRows(Real* data, std::size_t rows, std::size_t columns)
      : data_(data), rows_(rows), columns_(columns), stride_(row_stride<Real>(columns)) {}
  operator PaddedRows<const Real>() const  // NOLINT(google-explicit-constructor): as spans convert
      requires(!std::is_const_v<Real>) {
    return {data_, rows_, columns_};
  }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t stride() const { return stride_; }
  Real* data() const { return data_; }
  Real* row(std::size_t r) const { return data_ + r * stride_; }
  std::span<Real> padded_row(std::size_t r) const { return {row(r), stride_}; }
  Real& operator()(std::size_t r, std::size_t c) const { return row(r)[c]; }
  PaddedRows first(std::size_t count) const { return {data_, count, columns_}; }

 private:
  Real* data_ = nullptr;
  std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
};

template <class Real>
class PaddedMatrix {
 public:
  // Makes room, keeps the memory of larger matrices; the entries are whatever was there before.
  PaddedRows<Real> shape(std::size_t rows, std::size_t columns) {
    const std::size_t size = rows * row_stride<Real>(columns);
    if (values_.size() < size) values_.resize(size);
    rows_ = rows;
    columns_ = columns;
    return view();
  }
  PaddedRows<Real> view() { return {values_.data(), rows_, columns_}; }
  PaddedRows<const Real> view() const { return {values_.data(), rows_, columns_}; }

 private:
  AlignedVector<Real> values_;
  std::size_t rows_ = 0, columns_ = 0;
};

}  // namespace m4n::detail

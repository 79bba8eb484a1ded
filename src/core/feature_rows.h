// Rows of features that are multiplied with weights, dense or sparse. Which of the two they are is asked once per row,
// at run time: a solver is compiled once for both, and a row's own work hides the question.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "core/checksum.h"
#include "core/kernels.h"
#include "m4n/dataset.h"

namespace m4n::detail {

class FeatureRows {
 public:
  // The same rows, seen otherwise: these convert.
  FeatureRows(const DenseView& x) : dense_(x), rows_(x.rows), cols_(x.cols) {}  // NOLINT(google-explicit-constructor)
  FeatureRows(const SparseView& x)                                              // NOLINT(google-explicit-constructor)
      : sparse_(x), is_sparse_(true), rows_(x.rows), cols_(x.cols) {}
  FeatureRows(const FeaturesView& x)  // NOLINT(google-explicit-constructor)
      : FeatureRows(std::visit([](const auto& own) { return FeatureRows(own); }, x)) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }

  // v = x_i^T W + bias, where W has one row of v.size() numbers per feature; bias may be null.
  void scores(std::size_t i, const double* w, const double* bias, std::span<double> v) const {
    if (is_sparse_) {
      const SparseRow row = sparse_.row(i);
      kernels::sparse_scores(row.column, row.value, w, bias, v);
    } else {
      kernels::dense_scores(dense_.row(i), w, bias, v);
    }
  }
  // W += scale x_i delta^T, and the bias by scale delta.
  void update(std::size_t i, std::span<const double> delta, double scale, double* w, double* bias) const {
    if (is_sparse_) {
      const SparseRow row = sparse_.row(i);
      kernels::sparse_update(row.column, row.value, delta, scale, w, bias);
    } else {
      kernels::dense_update(dense_.row(i), delta, scale, w, bias);
    }
  }
  // The same for rows first to first + count - 1, whose scores lie kp apart.
  void scores(std::size_t first, std::size_t count, const double* w, const double* bias, std::size_t kp,
              double* v) const {
    if (is_sparse_) {
      for (std::size_t r = 0; r < count; ++r) scores(first + r, w, bias, {v + r * kp, kp});
    } else {
      kernels::dense_scores(dense_.row(first).data(), dense_.stride, cols_, count, w, bias, kp, v);
    }
  }
  // W += sum over r of x_(first + r) step_r^T, and the bias by the sum of steps.
  void update(std::size_t first, std::size_t count, const double* step, std::size_t kp, double* w, double* bias) const {
    if (is_sparse_) {
      for (std::size_t r = 0; r < count; ++r) update(first + r, {step + r * kp, kp}, 1, w, bias);
    } else {
      kernels::dense_update(dense_.row(first).data(), dense_.stride, cols_, count, step, kp, w, bias);
    }
  }
  // x_i . w for one column of weights.
  double product(std::size_t i, std::span<const double> w) const {
    if (!is_sparse_) return kernels::dot(dense_.row(i), w.first(cols_));
    double sum = 0;
    for_entries(i, [&](std::size_t column, double value) { sum += value * w[column]; });
    return sum;
  }
  // out += scale x_i
  void add(std::size_t i, double scale, std::span<double> out) const {
    if (scale != 0) for_entries(i, [&](std::size_t column, double value) { out[column] += scale * value; });
  }
  template <class Visit>
  void for_entries(std::size_t i, Visit&& visit) const {
    if (is_sparse_) {
      const SparseRow row = sparse_.row(i);
      for (std::size_t e = 0; e < row.column.size(); ++e) visit(std::size_t{row.column[e]}, row.value[e]);
    } else {
      const std::span<const double> row = dense_.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) visit(j, row[j]);
    }
  }

  // Of the rows first to last - 1, for who wants to know whether they are still the same.
  std::uint64_t checksum(std::size_t first, std::size_t last, std::uint64_t sum) const {
    const auto add = [&sum](const auto& numbers) {
      sum = crc64({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()}, sum);
    };
    for (std::size_t i = first; i < last; ++i) {
      if (is_sparse_) add(sparse_.row(i).column);
      add(is_sparse_ ? sparse_.row(i).value : dense_.row(i));
    }
    return sum;
  }

  double squared_norm(std::size_t i) const {
    const std::span<const double> own = is_sparse_ ? sparse_.row(i).value : dense_.row(i);
    return kernels::dot(own, own);
  }
  double inner(std::size_t i, std::size_t other) const {
    if (!is_sparse_) return kernels::dot(dense_.row(i), dense_.row(other));
    const SparseRow a = sparse_.row(i), b = sparse_.row(other);
    double sum = 0;
    for (std::size_t p = 0, q = 0; p < a.column.size() && q < b.column.size();) {
      if (a.column[p] == b.column[q]) {
        sum += a.value[p++] * b.value[q++];
      } else {
        ++(a.column[p] < b.column[q] ? p : q);
      }
    }
    return sum;
  }
  // Numbers stored for the rows first to last - 1.
  std::size_t entries(std::size_t first, std::size_t last) const {
    return is_sparse_ ? sparse_.row_start[last] - sparse_.row_start[first] : (last - first) * cols_;
  }
  std::size_t entries(std::size_t i) const { return entries(i, i + 1); }
  void prefetch(std::size_t i) const { kernels::prefetch(is_sparse_ ? sparse_.row(i).value : dense_.row(i)); }

 private:
  DenseView dense_;
  SparseView sparse_;
  bool is_sparse_ = false;
  std::size_t rows_, cols_;
};

}  // namespace m4n::detail

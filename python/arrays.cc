// NumPy arrays and SciPy matrices as tables of the library: in place, or converted block by block (arrays.h).
#include "arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "m4n/error.h"

namespace m4n::python {
namespace {

[[noreturn]] void refuse_type(const char* what) { throw nb::type_error(what); }

template <class Real>
void copy_rows(const AnyMatrix& a, std::size_t first, std::size_t count, double* out) {
  const auto* data = static_cast<const Real*>(a.data());
  const std::int64_t down = a.stride(0), right = a.stride(1);
  const std::size_t cols = a.shape(1);
  for (std::size_t i = 0; i < count; ++i) {
    const Real* row = data + static_cast<std::int64_t>(first + i) * down;
    for (std::size_t j = 0; j < cols; ++j)
      out[i * cols + j] = static_cast<double>(row[static_cast<std::int64_t>(j) * right]);
  }
}

template <class From, class To>
void convert(const AnyVector& a, std::vector<To>& out) {
  const auto* data = static_cast<const From*>(a.data());
  const std::int64_t step = a.stride(0);
  out.resize(a.shape(0));
  for (std::size_t e = 0; e < out.size(); ++e) {
    const From value = data[static_cast<std::int64_t>(e) * step];
    if constexpr (std::is_integral_v<From>)
      if (value < 0 || static_cast<std::uint64_t>(value) > std::numeric_limits<To>::max())
        throw Error(fmt::format("a sparse matrix holds the index {}", value));
    out[e] = static_cast<To>(value);
  }
}

template <class To>
void convert_indices(const AnyVector& a, std::vector<To>& out) {
  if (a.dtype() == nb::dtype<std::int32_t>())
    convert<std::int32_t>(a, out);
  else if (a.dtype() == nb::dtype<std::int64_t>())
    convert<std::int64_t>(a, out);
  else
    refuse_type("the indices of a sparse matrix must be int32 or int64");
}

bool contiguous(const AnyVector& a) { return a.shape(0) < 2 || a.stride(0) == 1; }

void check(const SparseView& x) {
  if (x.row_start.empty() || x.row_start.front() != 0 || x.row_start.back() != x.column.size() ||
      x.column.size() != x.value.size())
    throw Error("the arrays of the sparse matrix do not belong together");
  for (std::size_t i = 0; i < x.rows; ++i)
    if (x.row_start[i] > x.row_start[i + 1] || x.row_start[i + 1] > x.column.size())
      throw Error("the row starts of the sparse matrix decrease");
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t e = x.row_start[i]; e < x.row_start[i + 1]; ++e)
      if (x.column[e] >= x.cols || (e > x.row_start[i] && x.column[e] <= x.column[e - 1]))
        throw Error(
            fmt::format("row {} of the sparse matrix has the column {} out of order or out of range", i, x.column[e]));
}

}  // namespace

DenseSource::DenseSource(AnyMatrix array) : array_(std::move(array)), single_(array_.dtype() == nb::dtype<float>()) {
  if (!single_ && array_.dtype() != nb::dtype<double>()) refuse_type("features must be float64 or float32");
}

bool DenseSource::in_place() const {
  return !single_ && (cols() < 2 || array_.stride(1) == 1) && (rows() < 2 || array_.stride(0) >= 0);
}

DenseView DenseSource::view() const {
  return {static_cast<const double*>(array_.data()), rows(), cols(),
          rows() < 2 ? cols() : static_cast<std::size_t>(array_.stride(0))};
}

void DenseSource::copy(std::size_t first, std::size_t count, double* out) const {
  if (single_)
    copy_rows<float>(array_, first, count, out);
  else
    copy_rows<double>(array_, first, count, out);
}

SparseSource::SparseSource(AnyVector row_start, AnyVector column, AnyVector value, std::size_t cols)
    : column_array_(std::move(column)), value_array_(std::move(value)) {
  if (cols > std::numeric_limits<std::uint32_t>::max()) throw Error(fmt::format("{} columns are too many", cols));
  convert_indices(row_start, row_start_);
  view_.rows = row_start_.empty() ? 0 : row_start_.size() - 1;
  view_.cols = cols;
  view_.row_start = row_start_;
  if (column_array_.dtype() == nb::dtype<std::int32_t>() && contiguous(column_array_)) {
    // A negative column becomes a huge one, which check() refuses.
    view_.column = {static_cast<const std::uint32_t*>(column_array_.data()), column_array_.shape(0)};
  } else {
    convert_indices(column_array_, column_);
    view_.column = column_;
  }
  if (value_array_.dtype() == nb::dtype<double>() && contiguous(value_array_)) {
    view_.value = {static_cast<const double*>(value_array_.data()), value_array_.shape(0)};
  } else {
    if (value_array_.dtype() == nb::dtype<double>())
      convert<double>(value_array_, value_);
    else if (value_array_.dtype() == nb::dtype<float>())
      convert<float>(value_array_, value_);
    else
      refuse_type("features must be float64 or float32");
    view_.value = value_;
  }
  check(view_);
}

SparseMatrix SparseSource::copy() const {
  return {view_.rows,
          view_.cols,
          row_start_,
          {view_.column.begin(), view_.column.end()},
          {view_.value.begin(), view_.value.end()}};
}

FeatureSource feature_source(nb::handle x) {
  if (!nb::isinstance<nb::tuple>(x)) return DenseSource(nb::cast<AnyMatrix>(x));
  const auto parts = nb::cast<nb::tuple>(x);
  return SparseSource(nb::cast<AnyVector>(parts[0]), nb::cast<AnyVector>(parts[1]), nb::cast<AnyVector>(parts[2]),
                      nb::cast<std::size_t>(parts[3]));
}

Features without_gil(const FeatureSource& x) {
  const nb::gil_scoped_release released;
  if (const auto* sparse = std::get_if<SparseSource>(&x)) return sparse->copy();
  const auto& dense = std::get<DenseSource>(x);
  DenseMatrix out{dense.rows(), dense.cols(), std::vector<double>(dense.rows() * dense.cols())};
  dense.copy(0, dense.rows(), out.values.data());
  return out;
}

void for_each_block(const FeatureSource& x, std::size_t block_rows,
                    const std::function<void(const FeaturesView&, std::size_t)>& consume) {
  if (const auto* sparse = std::get_if<SparseSource>(&x)) return consume(sparse->view(), 0);
  const auto& dense = std::get<DenseSource>(x);
  if (dense.in_place()) return consume(dense.view(), 0);
  DenseMatrix block;
  for (std::size_t first = 0; first < dense.rows(); first += block_rows) {
    block = {std::min(block_rows, dense.rows() - first), dense.cols(), std::move(block.values)};
    block.values.resize(block.rows * block.cols);
    dense.copy(first, block.rows, block.values.data());
    consume(block.view(), first);
  }
}

DenseMatrix stacked(const nb::list& parts, const std::vector<std::size_t>& lengths, const char* what) {
  DenseMatrix out;
  std::vector<DenseSource> sources;
  for (const nb::handle part : parts) sources.emplace_back(nb::cast<AnyMatrix>(part));
  const nb::gil_scoped_release released;
  for (const std::size_t length : lengths) out.rows += length;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const DenseSource& part = sources[i];
    if (i == 0) out.values.reserve((out.cols = part.cols()) * out.rows);
    if (part.cols() != out.cols || part.rows() != lengths.at(i))
      throw Error(fmt::format("{} {} has {} rows of {} features; expected {} of {} as in the first", what, i,
                              part.rows(), part.cols(), lengths.at(i), out.cols));
    const std::size_t before = out.values.size();
    out.values.resize(before + part.rows() * out.cols);
    part.copy(0, part.rows(), out.values.data() + before);
  }
  return out;
}

std::size_t rows(const FeatureSource& x) {
  return std::visit([](const auto& source) { return source.rows(); }, x);
}

std::size_t cols(const FeatureSource& x) {
  if (const auto* sparse = std::get_if<SparseSource>(&x)) return sparse->view().cols;
  return std::get<DenseSource>(x).cols();
}

}  // namespace m4n::python

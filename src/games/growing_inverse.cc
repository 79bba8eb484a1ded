// Updates of an inverse when rows and columns of its matrix come and go (growing_inverse.h).
#include "games/growing_inverse.h"

#include <algorithm>
#include <cmath>

namespace m4n::detail {
namespace {

// Smaller matrices are not worth a kernel. Strides of larger ones are multiples of `even`: the dense product then sums
// row after row, whatever the stride is.
constexpr std::size_t narrow = 16, even = 32;

}  // namespace

void GrowingInverse::reserve(std::size_t n) {
  if (n <= stride_ && n * stride_ <= values_.size()) return;
  const std::size_t wide = n <= narrow ? narrow : (n + n / 2 + even - 1) / even * even;
  AlignedVector<double> larger(wide * wide, 0.0);
  for (std::size_t r = 0; r < size_; ++r) std::copy_n(row(r), size_, larger.data() + r * wide);
  values_.swap(larger);
  stride_ = wide;
  line_.assign(wide, 0.0);
  column_.resize(wide);
  scale_.resize(wide);
  order_.resize(wide);
}

void GrowingInverse::set_one() {
  reserve(1);
  size_ = 1;
  std::fill_n(row(0), stride_, 0.0);
  row(0)[0] = 1;
}

bool GrowingInverse::invert_in_place() {
  // Rows in units of their largest entry, so that "singular" does not depend on the unit of a row.
  for (std::size_t i = 0; i < size_; ++i) {
    order_[i] = i;
    double largest = 0;
    for (std::size_t c = 0; c < size_; ++c) largest = std::max(largest, std::abs(row(i)[c]));
    if (!(largest > 0)) return false;
    scale_[i] = 1 / largest;
    for (std::size_t c = 0; c < size_; ++c) row(i)[c] *= scale_[i];
  }
  for (std::size_t s = 0; s < size_; ++s) {
    std::size_t best = s;
    for (std::size_t i = s + 1; i < size_; ++i)
      if (std::abs(row(i)[s]) > std::abs(row(best)[s])) best = i;
    if (best != s) {
      std::swap_ranges(row(s), row(s) + size_, row(best));
      std::swap(order_[s], order_[best]);
    }
    double* pivot_row = row(s);
    if (!(std::abs(pivot_row[s]) > 1e-12)) return false;
    const double scale = 1 / pivot_row[s];
    pivot_row[s] = 1;
    for (std::size_t c = 0; c < size_; ++c) pivot_row[c] *= scale;
    // All other rows lose their entry in column s; the pivot row itself stays by a factor of zero.
    for (std::size_t i = 0; i < size_; ++i) column_[i] = i == s ? 0.0 : std::exchange(row(i)[s], 0.0);
    kernels::dense_update(std::span<const double>(column_).first(size_), {pivot_row, stride_}, -1, values_.data(),
                          nullptr);
  }
  // The rows of B were exchanged, so the columns of its inverse must be.
  for (std::size_t i = 0; i < size_; ++i) {
    double* values = row(i);
    for (std::size_t c = 0; c < size_; ++c) line_[order_[c]] = values[c] * scale_[order_[c]];
    std::copy_n(line_.data(), size_, values);
  }
  return true;
}

void GrowingInverse::apply(std::span<const double> x, std::span<double> out) const {
  const double* values = values_.data();
  for (std::size_t r = 0; r < size_; ++r, values += stride_) {
    if (size_ > narrow) {
      out[r] = kernels::dot({values, size_}, x.first(size_));
      continue;
    }
    double sum = 0;
    for (std::size_t c = 0; c < size_; ++c) sum += values[c] * x[c];
    out[r] = sum;
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(size_), out.end(), 0.0);
}

void GrowingInverse::apply_transposed(std::span<const double> x, std::span<double> out) const {
  if (size_ > narrow) {
    kernels::dense_scores(x.first(size_), values_.data(), nullptr, out);
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  const double* values = values_.data();
  for (std::size_t r = 0; r < size_; ++r, values += stride_)
    for (std::size_t c = 0; c < size_; ++c) out[c] += x[r] * values[c];
}

void GrowingInverse::copy_column(std::size_t p) {
  for (std::size_t r = 0; r < size_; ++r) column_[r] = (*this)(r, p);
}

void GrowingInverse::replace_column(std::size_t q, std::span<double> z) {
  std::copy_n(row(q), stride_, line_.data());
  const double scale = -1 / z[q];
  z[q] -= 1;
  kernels::dense_update(z.first(size_), line_, scale, values_.data(), nullptr);
}

void GrowingInverse::replace_row(std::size_t p, std::span<double> w) {
  copy_column(p);
  const double scale = -1 / w[p];
  w[p] -= 1;
  kernels::dense_update(std::span<const double>(column_).first(size_), w, scale, values_.data(), nullptr);
}

void GrowingInverse::grow(std::span<const double> z, std::span<const double> w, double pivot) {
  const double scale = 1 / pivot;
  kernels::dense_update(z.first(size_), w, scale, values_.data(), nullptr);
  for (std::size_t r = 0; r < size_; ++r) row(r)[size_] = -z[r] * scale;
  double* last = row(size_);
  std::fill_n(last, stride_, 0.0);
  for (std::size_t c = 0; c < size_; ++c) last[c] = -w[c] * scale;
  last[size_] = scale;
  ++size_;
}

void GrowingInverse::shrink(std::size_t q, std::size_t p) {
  copy_column(p);
  std::copy_n(row(q), stride_, line_.data());
  kernels::dense_update(std::span<const double>(column_).first(size_), line_, -1 / line_[p], values_.data(), nullptr);
  --size_;
  if (q != size_) std::copy_n(row(size_), stride_, row(q));
  for (std::size_t r = 0; r < size_; ++r) row(r)[p] = std::exchange(row(r)[size_], 0.0);
}

void GrowingInverse::reflect(std::size_t p, std::span<const std::size_t> others) {
  for (std::size_t r = 0; r < size_; ++r) {
    double* values = row(r);
    double sum = values[p];
    for (const std::size_t other : others) sum += values[other];
    values[p] = -sum;
  }
}

}  // namespace m4n::detail

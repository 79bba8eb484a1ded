// Kernel values against fixed points, and products with the matrix K of all pairs (point_kernel.h).
#include "features/point_kernel.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/kernels.h"
#include "core/parallel.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

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

namespace {

constexpr std::size_t cache_line = 64, huge_page = std::size_t{1} << 21;

std::size_t round_up(std::size_t x, std::size_t unit) { return (x + unit - 1) / unit * unit; }

// The coefficients that are not 0, by blocks of rows and within a block by classes. Where most entries of a row are the
// same number (M4N with a large lambda), that number is kept once, for a further class
// that all classes share, and only what differs from it otherwise. Classes without any coefficient have no part in
// that.
class SparseRows {
 public:
  static constexpr std::size_t block = 32;

  SparseRows(const AlignedVector<double>& a, std::size_t stride) : stride_(stride), live_(stride) {
    for (std::size_t i = 0; i * stride < a.size(); ++i) {
      bool any = false;
      for (std::size_t c = 0; c < stride; ++c)
        if (a[i * stride + c] != 0) live_[c] = any = true;
      if (any) rows_.push_back(i);
    }
    std::vector<double> common(block);
    for (std::size_t first = 0; first < rows_.size(); first += block) {
      const std::span<const std::size_t> own = rows_of(first / block);
      for (std::size_t p = 0; p < own.size(); ++p)
        common[p] = most_frequent(std::span(a).subspan(own[p] * stride, stride));
      for (std::size_t c = 0; c <= stride; ++c) {
        begin_.push_back(entries_.size());
        for (std::size_t p = 0; p < own.size(); ++p) {
          const double x = c == stride ? common[p] : live_[c] ? a[own[p] * stride + c] - common[p] : 0;
          if (x != 0) entries_.push_back({static_cast<std::uint32_t>(p), x});
        }
      }
    }
    begin_.push_back(entries_.size());
  }
  std::size_t blocks() const { return (rows_.size() + block - 1) / block; }
  bool is_live(std::size_t c) const { return live_[c]; }
  // The examples of a block; its entries name them by their place here.
  std::span<const std::size_t> rows_of(std::size_t b) const {
    return std::span(rows_).subspan(b * block, std::min(block, rows_.size() - b * block));
  }
  // Of the classes and the one they share.
  std::span<const std::size_t> class_begin(std::size_t b) const {
    return std::span(begin_).subspan(b * (stride_ + 1), stride_ + 2);
  }
  const kernels::ScaledRow<double>* entries() const { return entries_.data(); }

 private:
  // The value of more than half of the classes, or 0 if there is none: a vote, and a count.
  double most_frequent(std::span<const double> row) const {
    double leader = 0;
    std::size_t votes = 0, count = 0, live = 0;
    for (std::size_t c = 0; c < stride_; ++c) {
      if (!live_[c]) continue;
      if (votes == 0) leader = row[c];
      votes = row[c] == leader ? votes + 1 : votes - 1;
    }
    for (std::size_t c = 0; c < stride_; ++c) {
      live += live_[c] ? 1 : 0;
      count += live_[c] && row[c] == leader ? 1 : 0;
    }
    return 2 * count > live + 1 ? leader : 0;
  }

  std::size_t stride_;
  std::vector<bool> live_;
  std::vector<std::size_t> rows_, begin_;
  std::vector<kernels::ScaledRow<double>> entries_;
};

}  // namespace

void GramMatrix::Free::operator()(float* p) const { ::operator delete (p, std::align_val_t{huge_page}); }

std::size_t GramMatrix::stride_of(std::size_t n) {
  return round_up(n, kernels::row_tile<float>) + cache_line / sizeof(float);
}

GramMatrix::GramMatrix(std::size_t n) : n_(n), stride_(stride_of(n)) {
  const std::size_t size = n * stride_ * sizeof(float);
  values_.reset(static_cast<float*>(::operator new (size, std::align_val_t{huge_page})));
#ifdef __linux__
  // Rows are read in no order: large pages keep their addresses at hand. Without them all works, slower.
  madvise(values_.get(), size, MADV_HUGEPAGE);
#endif
  for (std::size_t i = 0; i < n; ++i) std::fill(row(i) + n, row(i) + stride_, 0.0F);
}

// Into the second cache: there is room for many more outstanding requests than in the first.
void GramMatrix::prefetch(std::size_t i, std::size_t first, std::size_t count) const {
  constexpr int for_reading = 0, second_cache = 2;
  for (std::size_t j = first; j < first + count; j += cache_line / sizeof(float))
    __builtin_prefetch(row(i) + j, for_reading, second_cache);
}

AlignedVector<double> times(const GramMatrix& gram, const AlignedVector<double>& a, std::size_t stride,
                            unsigned threads) {
  constexpr std::size_t tile = kernels::row_tile<double>;
  const SparseRows sparse(a, stride);
  AlignedVector<double> out(a.size());
  parallel_chunks(gram.n(), tile, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    AlignedVector<double> sums((stride + 1) * tile, 0.0), panel(SparseRows::block * tile);
    for (std::size_t b = 0; b < sparse.blocks(); ++b) {
      if (b + 1 < sparse.blocks())
        for (const std::size_t i : sparse.rows_of(b + 1)) gram.prefetch(i, first, tile);
      double* place = panel.data();
      for (const std::size_t i : sparse.rows_of(b)) {
        kernels::to_double(gram.row(i) + first, {place, tile});
        place += tile;
      }
      kernels::add_scaled_rows(sparse.class_begin(b), sparse.entries(), panel.data(), tile, sums.data());
    }
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t c = 0; c < stride; ++c)
        out[i * stride + c] = sparse.is_live(c) ? sums[c * tile + i - first] + sums[stride * tile + i - first] : 0;
  });
  return out;
}

}  // namespace m4n::detail

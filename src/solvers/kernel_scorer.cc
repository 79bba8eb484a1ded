#include "solvers/kernel_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "core/parallel.h"
#include "hwy/cache_control.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace m4n::detail {
namespace {

constexpr std::size_t cache_line = 64, huge_page = std::size_t{1} << 21;

std::size_t round_up(std::size_t x, std::size_t unit) { return (x + unit - 1) / unit * unit; }

// Asks for a piece of a row of K that is needed soon. Into the second cache: there is room for many more outstanding
// requests than in the first.
void ask_for(const float* first, std::size_t count) {
  constexpr int for_reading = 0, second_cache = 2;
  for (std::size_t j = 0; j < count; j += cache_line / sizeof(float))
    __builtin_prefetch(first + j, for_reading, second_cache);
}

// f with b = f a up to the rounding of b, or 0 where there is none: the next lambda of a path only scales the weights.
double common_factor(std::span<const double> a, std::span<const double> b) {
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  const auto first = std::find_if(a.begin(), a.end(), [](double x) { return x != 0; });
  if (first == a.end()) return 0;
  const double factor = b[static_cast<std::size_t>(first - a.begin())] / *first;
  for (std::size_t j = 0; j < a.size(); ++j)
    if (!(std::abs(b[j] - factor * a[j]) <= rounding * std::abs(b[j]))) return 0;
  return factor;
}

// The coefficients that are not 0, by blocks of rows and within a block by classes.
class SparseRows {
 public:
  static constexpr std::size_t block = 32;

  SparseRows(const AlignedVector<double>& a, std::size_t stride) : stride_(stride) {
    for (std::size_t i = 0; i * stride < a.size(); ++i)
      if (std::any_of(&a[i * stride], &a[i * stride] + stride, [](double x) { return x != 0; })) rows_.push_back(i);
    for (std::size_t first = 0; first < rows_.size(); first += block) {
      const std::span<const std::size_t> own = rows_of(first / block);
      for (std::size_t c = 0; c < stride; ++c) {
        begin_.push_back(entries_.size());
        for (std::size_t p = 0; p < own.size(); ++p)
          if (const double x = a[own[p] * stride + c]; x != 0) entries_.push_back({static_cast<std::uint32_t>(p), x});
      }
    }
    begin_.push_back(entries_.size());
  }
  std::size_t blocks() const { return (rows_.size() + block - 1) / block; }
  // The examples of a block; its entries name them by their place here.
  std::span<const std::size_t> rows_of(std::size_t b) const {
    return std::span(rows_).subspan(b * block, std::min(block, rows_.size() - b * block));
  }
  std::span<const std::size_t> class_begin(std::size_t b) const {
    return std::span(begin_).subspan(b * stride_, stride_ + 1);
  }
  const kernels::ScaledRow<double>* entries() const { return entries_.data(); }

 private:
  std::size_t stride_;
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

AlignedVector<double> times(const GramMatrix& gram, const AlignedVector<double>& a, std::size_t stride,
                            unsigned threads) {
  constexpr std::size_t tile = kernels::row_tile<double>;
  const SparseRows sparse(a, stride);
  AlignedVector<double> out(a.size());
  parallel_chunks(gram.n(), tile, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    AlignedVector<double> sums(stride * tile, 0.0), panel(SparseRows::block * tile);
    for (std::size_t b = 0; b < sparse.blocks(); ++b) {
      if (b + 1 < sparse.blocks())
        for (const std::size_t i : sparse.rows_of(b + 1)) ask_for(gram.row(i) + first, tile);
      double* place = panel.data();
      for (const std::size_t i : sparse.rows_of(b)) {
        kernels::to_double(gram.row(i) + first, {place, tile});
        place += tile;
      }
      kernels::add_scaled_rows(sparse.class_begin(b), sparse.entries(), panel.data(), tile, sums.data());
    }
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t c = 0; c < stride; ++c) out[i * stride + c] = sums[c * tile + i - first];
  });
  return out;
}

KernelScorer::KernelScorer(const GramMatrix& gram, std::size_t k)
    : gram_(&gram),
      k_(k),
      stride_(kernels::padded(k)),
      base_(gram.n() * stride_, 0.0),
      a_(base_),
      change_(round_up(gram.n(), tile) * k, 0.0F),
      late_(block * stride_, 0.0) {
  late_rows_.reserve(block);
  moves_.reserve(block * k);
  class_begin_.reserve(k + 1);
}

void KernelScorer::scores(std::size_t i, std::span<double> v) const {
  double share[block];
  const float* row = gram_->row(i);
  for (std::size_t p = 0; p < late_rows_.size(); ++p) share[p] = row[late_rows_[p]];
  kernels::dense_scores({share, late_rows_.size()}, late_.data(), base_.data() + i * stride_, v);
  if (changed_) {
    const float* change = change_.data() + place(i);
    for (std::size_t c = 0; c < k_; ++c) v[c] += change[c * tile];
  }
  for (std::size_t c = k_; c < stride_; ++c) v[c] = kernels::padding_score;
}

void KernelScorer::prefetch(std::size_t i) const {
  kernels::prefetch(std::span(base_).subspan(i * stride_, stride_));
  const float* change = change_.data() + place(i);
  for (std::size_t c = 0; c < k_; ++c) hwy::Prefetch(change + c * tile);
  const float* row = gram_->row(i);
  for (const std::size_t p : late_rows_) hwy::Prefetch(row + p);
}

void KernelScorer::update(std::size_t i, std::span<const double> delta, double scale) {
  double* late = late_.data() + late_rows_.size() * stride_;
  for (std::size_t c = 0; c < stride_; ++c) {
    late[c] = scale * delta[c];
    a_[i * stride_ + c] += late[c];
  }
  late_rows_.push_back(i);
  if (late_rows_.size() == block) apply_late_steps();
}

void KernelScorer::apply_late_steps() {
  if (late_rows_.empty()) return;
  moves_.clear();
  class_begin_.clear();
  for (std::size_t c = 0; c < k_; ++c) {
    class_begin_.push_back(moves_.size());
    for (std::size_t p = 0; p < late_rows_.size(); ++p)
      if (const double x = late_[p * stride_ + c]; x != 0)
        moves_.push_back({static_cast<std::uint32_t>(late_rows_[p]), static_cast<float>(x)});
  }
  class_begin_.push_back(moves_.size());
  for (std::size_t first = 0; first < gram_->n(); first += tile) {
    if (first + tile < gram_->n())
      for (const std::size_t p : late_rows_) ask_for(gram_->row(p) + first + tile, tile);
    kernels::add_scaled_rows(class_begin_, moves_.data(), gram_->row(0) + first, gram_->stride(),
                             change_.data() + first * k_);
  }
  late_rows_.clear();
  changed_ = true;
}

double KernelScorer::norm_squared() {
  apply_late_steps();
  double out = kernels::dot(a_, base_);
  if (changed_)
    for (std::size_t i = 0; i < gram_->n(); ++i)
      for (std::size_t c = 0; c < k_; ++c)
        out += a_[i * stride_ + c] * static_cast<double>(change_[place(i) + c * tile]);
  return out;
}

void KernelScorer::reset() { set_coefficients(AlignedVector<double>(a_.size(), 0.0), 1); }

void KernelScorer::set_coefficients(AlignedVector<double> a, unsigned threads) {
  const double factor = changed_ || !late_rows_.empty() ? 0.0 : common_factor(a_, a);
  a_ = std::move(a);
  if (factor != 0) {
    for (double& v : base_) v *= factor;
  } else {
    base_ = times(*gram_, a_, stride_, threads);
  }
  if (changed_) std::fill(change_.begin(), change_.end(), 0.0F);
  changed_ = false;
  late_rows_.clear();
}

std::vector<double> KernelScorer::weights() const {
  std::vector<double> out;
  out.reserve(gram_->n() * k_);
  for (std::size_t i = 0; i < gram_->n(); ++i)
    out.insert(out.end(), a_.begin() + static_cast<std::ptrdiff_t>(i * stride_),
               a_.begin() + static_cast<std::ptrdiff_t>(i * stride_ + k_));
  return out;
}

}  // namespace m4n::detail

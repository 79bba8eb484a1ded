// Scores and updates of an exact kernel (kernel_scorer.h).
#include "solvers/kernel_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hwy/cache_control.h"

namespace m4n::detail {
namespace {

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

}  // namespace

KernelScorer::KernelScorer(const GramMatrix& gram, std::size_t k)
    : gram_(&gram),
      k_(k),
      stride_(kernels::padded(k)),
      base_(gram.n() * stride_, 0.0),
      a_(base_),
      change_((gram.n() + tile - 1) / tile * tile * k, 0.0F),
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
      for (const std::size_t p : late_rows_) gram_->prefetch(p, first + tile, tile);
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

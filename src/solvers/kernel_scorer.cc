// Scores and updates of an exact kernel (kernel_scorer.h).
#include "solvers/kernel_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
      late_(block * stride_, 0.0),
      group_place_(gram.n()),
      group_pairs_(group * group, 0.0),
      group_v_(late_),
      group_step_(late_) {
  late_rows_.reserve(block);
  moves_.reserve(block * k);
  class_begin_.reserve(k + 1);
}

void KernelScorer::scores(std::size_t i, std::span<double> v) const {
  if (const std::size_t p = group_place_[i]; p != 0) {
    std::copy_n(group_v_.data() + (p - 1) * stride_, stride_, v.data());
    return;
  }
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

void KernelScorer::prefetch(std::span<const std::uint32_t> next, std::size_t p) const {
  if (p >= next.size()) return;
  kernels::prefetch(std::span(base_).subspan(next[p] * stride_, stride_));
  const float* change = change_.data() + place(next[p]);
  for (std::size_t c = 0; c < k_; ++c) hwy::Prefetch(change + c * tile);
  const float* row = gram_->row(next[p]);
  for (std::size_t q = 0; q <= p; ++q) hwy::Prefetch(row + next[q]);
}

void KernelScorer::open(std::span<const std::uint32_t> examples) {
  apply_late_steps();
  for (std::size_t p = 0; p < examples.size(); ++p) {
    const float* row = gram_->row(examples[p]);
    for (std::size_t q = 0; q <= p; ++q) group_pairs_[p * group + q] = group_pairs_[q * group + p] = row[examples[q]];
    scores(examples[p], std::span(group_v_).subspan(p * stride_, stride_));
  }
  group_.assign(examples.begin(), examples.end());
  for (std::size_t p = 0; p < group_.size(); ++p) group_place_[group_[p]] = static_cast<std::uint8_t>(p + 1);
  std::fill(group_step_.begin(), group_step_.end(), 0.0);
}

void KernelScorer::close() {
  for (std::size_t p = 0; p < group_.size(); ++p) group_place_[group_[p]] = 0;
  for (std::size_t p = 0; p < group_.size(); ++p) {
    const std::span<const double> step = std::span(group_step_).subspan(p * stride_, stride_);
    if (std::any_of(step.begin(), step.end(), [](double x) { return x != 0; })) update(group_[p], step, 1);
  }
  group_.clear();
  apply_late_steps();
}

void KernelScorer::update(std::size_t i, std::span<const double> delta, double scale) {
  if (const std::size_t p = group_place_[i]; p != 0) {
    double* sum = group_step_.data() + (p - 1) * stride_;
    for (std::size_t c = 0; c < stride_; ++c) sum[c] += scale * delta[c];
    const std::span<const double> pairs = std::span(group_pairs_).subspan((p - 1) * group, group_.size());
    kernels::dense_update(pairs, delta, scale, group_v_.data(), nullptr);
    return;
  }
  double* late = late_.data() + late_rows_.size() * stride_;
  for (std::size_t c = 0; c < stride_; ++c) {
    late[c] = scale * delta[c];
    a_[i * stride_ + c] += late[c];
  }
  late_rows_.push_back(i);
  if (late_rows_.size() == block) apply_late_steps();
}

// Halves again and again, by which of two random examples is nearer.
void KernelScorer::arrange(std::span<std::uint32_t> examples, Rng& rng) const {
  struct Keyed {
    float key;
    std::uint32_t example;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(examples.size());
  for (const std::uint32_t i : examples) keyed.push_back({0, i});
  const auto halve = [&](const auto& self, std::span<Keyed> part) -> void {
    if (part.size() <= group) return;
    const float* one = gram_->row(part[rng.below(part.size())].example);
    const float* other = gram_->row(part[rng.below(part.size())].example);
    for (Keyed& x : part) x.key = one[x.example] - other[x.example];
    const std::size_t half = (part.size() / 2 + group - 1) / group * group;
    // Ties by number, so that the order is the same with every standard library.
    const auto nearer = [](const Keyed& a, const Keyed& b) {
      return a.key != b.key ? a.key < b.key : a.example < b.example;
    };
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(half), part.end(), nearer);
    self(self, part.first(half));
    self(self, part.subspan(half));
  };
  halve(halve, keyed);
  std::vector<std::uint32_t> order(examples.size() / group);  // of the groups that are full
  std::iota(order.begin(), order.end(), 0U);
  rng.shuffle(std::span(order));
  std::size_t next = 0;
  for (const std::uint32_t g : order)
    for (std::size_t e = g * group; e < (g + std::size_t{1}) * group; ++e) examples[next++] = keyed[e].example;
  for (; next < examples.size(); ++next) examples[next] = keyed[next].example;
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

double KernelScorer::norm_squared() const {
  if (late_rows_.empty() && !changed_) return kernels::dot(a_, base_);
  AlignedVector<double> v(stride_);
  double out = 0;
  for (std::size_t i = 0; i < gram_->n(); ++i) {
    scores(i, v);
    for (std::size_t c = 0; c < k_; ++c) out += a_[i * stride_ + c] * v[c];
  }
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

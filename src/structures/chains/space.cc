// Transitions, Viterbi, the K best labellings and sum-product of a chain (space.h).
#include "structures/chains/space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace m4n::detail {

namespace {

template <class Real>
void copy_end(std::span<const double> from, std::size_t labels, AlignedVector<Real>& out) {
  out.assign(row_stride<Real>(labels), static_cast<Real>(kernels::chain_padding));
  for (std::size_t j = 0; j < labels; ++j) out[j] = from.empty() ? Real{0} : static_cast<Real>(from[j]);
}

// Writes entry(j, k) and its transpose, and `padding` behind both.
template <class Real, class Entry>
void fill_both(std::size_t labels, Real padding, PaddedMatrix<Real>& from_to, PaddedMatrix<Real>& to_from,
               Entry&& entry) {
  const PaddedRows<Real> forward = from_to.shape(labels, labels), back = to_from.shape(labels, labels);
  for (std::size_t j = 0; j < labels; ++j) {
    Real* row = forward.row(j);
    for (std::size_t k = 0; k < labels; ++k) row[k] = back(k, j) = entry(j, k);
    std::fill(row + labels, row + forward.stride(), padding);
    std::fill(back.row(j) + labels, back.row(j) + back.stride(), padding);
  }
}

}  // namespace

void Transitions::prepare(PaddedRows<const double> from_to, std::span<const double> start, std::span<const double> end,
                          std::span<const double> penalties) {
  const std::size_t labels = from_to.columns();
  copy_end(start, labels, start_);
  copy_end(end, labels, end_);
  if (!penalties.empty()) {
    fill_both(labels, kernels::chain_padding, from_to_, to_from_,
              [&](std::size_t j, std::size_t k) { return from_to(j, k) + penalties[j * labels + k]; });
    for (std::size_t k = 0; k < labels; ++k) {
      start_[k] += penalties[labels * labels + k];
      end_[k] += penalties[(labels + 1) * labels + k];
    }
    constant_ = false;
    return;
  }
  fill_both(labels, kernels::chain_padding, from_to_, to_from_, from_to);
  constant_ = true;
  for (std::size_t j = 0; constant_ && j < labels; ++j)
    constant_ = std::all_of(from_to.row(j), from_to.row(j) + labels, [&](double x) { return x == from_to(0, 0); });
}

namespace {

// The smallest and the largest score that is not forbidden; infinity and -infinity where all are.
kernels::Extent extent_of_allowed(std::span<const double> row, std::size_t columns) {
  kernels::Extent out = kernels::row_extent(row, columns);
  if (!kernels::is_forbidden(out.least)) return out;
  out = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::size_t k = 0; k < columns; ++k) {
    if (kernels::is_forbidden(row[k])) continue;
    out.least = std::min(out.least, row[k]);
    out.most = std::max(out.most, row[k]);
  }
  return out;
}

}  // namespace

void FloatTransitions::prepare(const Transitions& exact) {
  const std::size_t labels = exact.labels();
  fill_both(labels, static_cast<float>(kernels::chain_padding), from_to_, to_from_,
            [&](std::size_t j, std::size_t k) { return static_cast<float>(exact(j, k)); });
  copy_end(std::span(exact.rows().start, labels), labels, start_);
  copy_end(std::span(exact.rows().end, labels), labels, end_);
}

void ExpTransitions::prepare(const Transitions& exact) {
  const std::size_t labels = exact.labels();
  const kernels::TransitionRows<double> rows = exact.rows();
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t j = 0; j < labels; ++j) {
    const kernels::Extent row = extent_of_allowed(rows.from_to.padded_row(j), labels);
    least = std::min(least, row.least);
    most = std::max(most, row.most);
  }
  if (!(most >= least)) least = most = 0;  // none is allowed: sequences have one token
  shift_ = most;
  spread_ = most - least;
  const PaddedRows<double> forward = from_to_.shape(labels, labels), back = to_from_.shape(labels, labels);
  for (std::size_t j = 0; j < labels; ++j) {
    kernels::exp_row(rows.from_to.padded_row(j), labels, most, forward.padded_row(j));
    kernels::exp_row(rows.to_from.padded_row(j), labels, most, back.padded_row(j));
  }
}

double score(const ChainScores& v, LabelView y) {
  const Transitions& t = *v.transitions;
  auto label = static_cast<std::size_t>(y[0]);
  double sum = t.start(label) + v.unary(0, label);
  for (std::size_t m = 1; m < v.length(); ++m) {
    const auto next = static_cast<std::size_t>(y[m]);
    sum += t(label, next) + v.unary(m, next);
    label = next;
  }
  return sum + t.end(label);
}

double Viterbi::solve(const ChainScores& v, std::span<std::int32_t> y) {
  const PaddedRows<double> forward = forward_.shape(v.length(), v.labels());
  kernels::max_plus(v.unary, v.transitions->rows(), forward);
  kernels::backtrack(forward, v.transitions->rows(), y);
  return score(v, y);
}

double Viterbi::solve_in_float(const ChainScores& v, const FloatTransitions& transitions, std::span<std::int32_t> y) {
  const PaddedRows<float> forward = forward_float_.shape(v.length(), v.labels());
  kernels::max_plus(v.unary, transitions.rows(), forward);
  kernels::backtrack(forward, transitions.rows(), y);
  return score(v, y);
}

template <class Shift>
void KBest::merge(std::size_t m, std::size_t limit, Shift&& shift, std::span<Partial> out) {
  std::fill(head_.begin(), head_.end(), std::size_t{0});
  for (std::size_t rank = 0; rank < limit; ++rank) {
    Partial best{-std::numeric_limits<double>::infinity(), -1, 0};
    for (std::size_t j = 0; j < labels_; ++j) {
      if (head_[j] == found_[m - 1]) continue;
      const double value = cell(m - 1, j)[head_[j]].value + shift(j);
      if (best.label < 0 || value > best.value)
        best = {value, static_cast<std::int32_t>(j), static_cast<std::int32_t>(head_[j])};
    }
    ++head_[static_cast<std::size_t>(best.label)];
    out[rank] = best;
  }
}

void KBest::solve(const ChainScores& v, std::size_t count) {
  const Transitions& t = *v.transitions;
  length_ = v.length();
  labels_ = v.labels();
  count_ = count;
  partial_.resize(length_ * labels_ * count_);
  last_.resize(count_);
  found_.resize(length_);
  head_.resize(labels_);
  found_[0] = std::min<std::size_t>(1, count_);
  for (std::size_t k = 0; k < labels_ && count_ > 0; ++k) cell(0, k)[0] = {t.start(k) + v.unary(0, k), -1, 0};
  for (std::size_t m = 1; m < length_; ++m) {
    found_[m] = std::min(count_, found_[m - 1] * labels_);
    for (std::size_t k = 0; k < labels_; ++k) {
      merge(
          m, found_[m], [&](std::size_t j) { return t(j, k); }, cell(m, k));
      for (Partial& partial : cell(m, k).first(found_[m])) partial.value += v.unary(m, k);
    }
  }
  const std::size_t size = std::min(count_, found_[length_ - 1] * labels_);
  merge(
      length_, size, [&](std::size_t j) { return t.end(j); }, last_);

  score_.resize(size);
  path_.resize(size * length_);
  for (std::size_t rank = 0; rank < size; ++rank) {
    Partial at = last_[rank];
    std::int32_t* y = path_.data() + rank * length_;
    for (std::size_t m = length_; m-- > 0;) {
      y[m] = at.label;
      at = cell(m, static_cast<std::size_t>(at.label))[static_cast<std::size_t>(at.rank)];
    }
    score_[rank] = detail::score(v, path(rank));
  }
  while (!score_.empty() && kernels::is_forbidden(score_.back())) score_.pop_back();
}

namespace {

constexpr double largest_linear_spread = 600;
constexpr double least_scale = 1e-270;  // of the mass that a position takes over from the one before

// Sums of huge scores leave a rounding in the logarithm of a mass that is 1.
void normalise(std::span<double> mass) {
  double total = 0;
  for (const double x : mass) total += x;
  for (double& x : mass) x /= total;
}

}  // namespace

double SumProduct::solve(const ChainScores& v, const ExpTransitions& exp) {
  const std::size_t length = v.length(), labels = v.labels();
  const PaddedRows<double> unary = unary_.shape(length, labels), weight = weight_.shape(length, labels);
  const Transitions& t = *v.transitions;
  double widest = 0;
  top_ = 0;
  for (std::size_t m = 0; m < length; ++m) {
    double* row = unary.row(m);
    std::copy_n(v.unary.row(m), labels, row);
    for (std::size_t k = 0; m == 0 && k < labels; ++k) row[k] += t.start(k);
    for (std::size_t k = 0; m == length - 1 && k < labels; ++k) row[k] += t.end(k);
    std::fill(row + labels, row + unary.stride(), 0.0);
    const auto [least, most] = extent_of_allowed(unary.padded_row(m), labels);
    kernels::exp_row(unary.padded_row(m), labels, most, weight.padded_row(m));
    widest = std::max(widest, most - least);
    top_ += most;
  }
  forward_.shape(length, labels);
  arrival_.shape(length, labels);
  marginal_.shape(length, labels);
  logarithmic_ = !(exp.spread() + widest <= largest_linear_spread);
  if (!logarithmic_) {
    const double log_partition = solve_linear(exp);
    // Where transitions are forbidden, all mass may sit on labels that lead nowhere.
    if (*std::min_element(scale_.begin(), scale_.end()) > least_scale) return log_partition;
    logarithmic_ = true;
  }
  return solve_logarithmic(v);
}

double SumProduct::solve_linear(const ExpTransitions& exp) {
  const PaddedRows<const double> weight = std::as_const(weight_).view();
  const std::size_t length = weight.rows();
  scale_.resize(length);
  kernels::sum_product_forward(weight, exp.from_to(), forward_.view(), scale_);
  kernels::sum_product_backward(weight, exp.to_from(), std::as_const(forward_).view(), scale_, arrival_.view(),
                                marginal_.view());
  double log_partition = top_ + static_cast<double>(length - 1) * exp.shift();
  for (const double c : scale_) log_partition += std::log(c);
  return log_partition;
}

double SumProduct::solve_logarithmic(const ChainScores& v) {
  const std::size_t length = v.length(), labels = v.labels();
  const kernels::TransitionRows<double> t = v.transitions->rows();
  const PaddedRows<double> unary = unary_.view(), forward = forward_.view(), arrival = arrival_.view(),
                           marginal = marginal_.view();
  const std::size_t stride = unary.stride();
  std::copy_n(unary.row(0), stride, forward.row(0));
  for (std::size_t m = 1; m < length; ++m) {
    kernels::log_sum_exp(forward.row(m - 1), t.from_to, forward.padded_row(m));
    for (std::size_t k = 0; k < stride; ++k) forward.row(m)[k] += unary.row(m)[k];
  }
  const double* last = forward.row(length - 1);
  const double top = *std::max_element(last, last + labels);
  double sum = 0;
  for (std::size_t k = 0; k < labels; ++k) sum += std::exp(last[k] - top);
  const double log_partition = top + std::log(sum);
  for (std::size_t m = length; m-- > 0;) {
    double* beta = arrival.row(m);
    if (m + 1 < length) {
      kernels::log_sum_exp(arrival.row(m + 1), t.to_from, arrival.padded_row(m));
    } else {
      std::fill_n(beta, stride, 0.0);
    }
    double* exponent = unary.row(m);  // is not needed below but for what arrives at m
    for (std::size_t k = 0; k < stride; ++k) {
      const double own = exponent[k];
      forward.row(m)[k] -= log_partition;
      exponent[k] = forward.row(m)[k] + beta[k];
      beta[k] += own;
    }
    kernels::exp_row(unary.padded_row(m), labels, 0, marginal.padded_row(m));
    normalise({marginal.row(m), labels});
  }
  return log_partition;
}

void SumProduct::transition_counts(const ChainScores& v, const ExpTransitions& exp, PaddedRows<double> count) {
  const PaddedRows<const double> forward = forward_.view(), arrival = arrival_.view();
  const std::size_t length = v.length(), labels = v.labels();
  if (!logarithmic_ && length > 1) {
    kernels::transition_counts(forward, arrival, exp.from_to(), count);
    return;
  }
  for (std::size_t j = 0; j < labels; ++j) std::fill_n(count.row(j), count.stride(), 0.0);
  if (length == 1) return;
  const PaddedRows<double> edge = edge_.shape(labels, labels), exponent = unary_.shape(1, labels);
  const std::size_t stride = edge.stride();
  for (std::size_t m = 1; m < length; ++m) {
    for (std::size_t j = 0; j < labels; ++j) {
      const double* transition = v.transitions->rows().from_to.row(j);
      for (std::size_t k = 0; k < stride; ++k) exponent.row(0)[k] = transition[k] + arrival.row(m)[k];
      kernels::exp_row(exponent.padded_row(0), labels, -forward(m - 1, j), edge.padded_row(j));
    }
    normalise({edge.data(), labels * stride});
    for (std::size_t e = 0; e < labels * stride; ++e) count.data()[e] += edge.data()[e];
  }
}

}  // namespace m4n::detail

#include "structures/chains/marginals.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace m4n::detail {
namespace {

constexpr double largest_linear_spread = 600;

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
    const auto [least, most] = kernels::row_extent(unary.padded_row(m), labels);
    kernels::exp_row(unary.padded_row(m), labels, most, weight.padded_row(m));
    widest = std::max(widest, most - least);
    top_ += most;
  }
  forward_.shape(length, labels);
  arrival_.shape(length, labels);
  marginal_.shape(length, labels);
  logarithmic_ = !(exp.spread() + widest <= largest_linear_spread);
  return logarithmic_ ? solve_logarithmic(v) : solve_linear(exp);
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

#include "space/chain_marginals.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace m4n {
namespace {

constexpr double largest_linear_spread = 600;

double log_sum_exp(const std::vector<double>& term) {
  const double top = *std::max_element(term.begin(), term.end());
  double sum = 0;
  for (const double x : term) sum += std::exp(x - top);
  return top + std::log(sum);
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
  const Transitions& t = *v.transitions;
  const PaddedRows<double> unary = unary_.view(), forward = forward_.view(), arrival = arrival_.view(),
                           marginal = marginal_.view();
  term_.resize(labels);
  for (std::size_t m = 0; m < length; ++m) {
    for (std::size_t k = 0; k < labels; ++k) {
      double before = 0;
      if (m > 0) {
        for (std::size_t j = 0; j < labels; ++j) term_[j] = forward(m - 1, j) + t(j, k);
        before = log_sum_exp(term_);
      }
      forward(m, k) = before + unary(m, k);
    }
  }
  std::copy_n(forward.row(length - 1), labels, term_.begin());
  const double log_partition = log_sum_exp(term_);
  for (std::size_t m = length; m-- > 0;) {
    double total = 0;
    for (std::size_t j = 0; j < labels; ++j) {
      double beta = 0;
      if (m + 1 < length) {
        for (std::size_t k = 0; k < labels; ++k) term_[k] = t(j, k) + arrival(m + 1, k);
        beta = log_sum_exp(term_);
      }
      arrival(m, j) = beta + unary(m, j);
      forward(m, j) -= log_partition;
      marginal(m, j) = std::exp(forward(m, j) + beta);
      total += marginal(m, j);
    }
    // Sums of huge scores leave a rounding in the logarithm; the mass of a position is 1.
    for (std::size_t j = 0; j < labels; ++j) marginal(m, j) /= total;
    std::fill(marginal.row(m) + labels, marginal.row(m) + marginal.stride(), 0.0);
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
  const PaddedRows<double> edge = edge_.shape(labels, labels);
  for (std::size_t m = 1; m < length; ++m) {
    double total = 0;
    for (std::size_t j = 0; j < labels; ++j) {
      for (std::size_t k = 0; k < labels; ++k) {
        edge(j, k) = std::exp(forward(m - 1, j) + (*v.transitions)(j, k) + arrival(m, k));
        total += edge(j, k);
      }
    }
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) count(j, k) += edge(j, k) / total;
  }
}

}  // namespace m4n

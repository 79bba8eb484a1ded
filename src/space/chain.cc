#include "space/chain.h"

#include <algorithm>
#include <cmath>

namespace m4n {
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

void Transitions::prepare(PaddedRows<const double> from_to, std::span<const double> start,
                          std::span<const double> end) {
  const std::size_t labels = from_to.columns();
  fill_both(labels, kernels::chain_padding, from_to_, to_from_, from_to);
  copy_end(start, labels, start_);
  copy_end(end, labels, end_);
}

void FloatTransitions::prepare(const Transitions& exact) {
  const std::size_t labels = exact.labels();
  fill_both(labels, static_cast<float>(kernels::chain_padding), from_to_, to_from_,
            [&](std::size_t j, std::size_t k) { return static_cast<float>(exact(j, k)); });
  copy_end(std::span(exact.rows().start, labels), labels, start_);
  copy_end(std::span(exact.rows().end, labels), labels, end_);
}

void ExpTransitions::prepare(const Transitions& exact) {
  const std::size_t labels = exact.labels();
  double least = exact(0, 0), most = least;
  for (std::size_t j = 0; j < labels; ++j) {
    const auto [low, high] = std::minmax_element(exact.rows().from_to.row(j), exact.rows().from_to.row(j) + labels);
    least = std::min(least, *low);
    most = std::max(most, *high);
  }
  shift_ = most;
  spread_ = most - least;
  fill_both(labels, 0.0, from_to_, to_from_,
            [&](std::size_t j, std::size_t k) { return std::exp(exact(j, k) - most); });
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

}  // namespace m4n

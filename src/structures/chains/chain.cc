#include "structures/chains/chain.h"

#include <algorithm>
#include <cmath>

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

void Transitions::prepare(PaddedRows<const double> from_to, std::span<const double> start,
                          std::span<const double> end) {
  const std::size_t labels = from_to.columns();
  fill_both(labels, kernels::chain_padding, from_to_, to_from_, from_to);
  copy_end(start, labels, start_);
  copy_end(end, labels, end_);
  constant_ = true;
  for (std::size_t j = 0; constant_ && j < labels; ++j)
    constant_ = std::all_of(from_to.row(j), from_to.row(j) + labels, [&](double x) { return x == from_to(0, 0); });
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
  const kernels::TransitionRows<double> rows = exact.rows();
  double least = exact(0, 0), most = least;
  for (std::size_t j = 0; j < labels; ++j) {
    const kernels::Extent row = kernels::row_extent(rows.from_to.padded_row(j), labels);
    least = std::min(least, row.least);
    most = std::max(most, row.most);
  }
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

}  // namespace m4n::detail

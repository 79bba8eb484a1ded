// The hot loops of chains: max-plus and sum-product recursions over M positions with R labels each. Rows are padded
// (core/views.h). Padding of transitions, start and end scores is `chain_padding`, of their exponentials 0; the
// padding of unary scores is never read as anything but a finite number that is not large.
#pragma once
#include <cstdint>
#include <span>

#include "core/views.h"

namespace m4n::detail::kernels {

// Far below any score, and finite in float too.
inline constexpr double chain_padding = -1e30;
// Of a transition, a start or an end that does not exist, whatever was added to chain_padding.
inline bool is_forbidden(double score) { return score < 0.5 * chain_padding; }

// Transition scores as a recursion reads them: by the label they come from, by the label they go to, and the two ends.
template <class Real>
struct TransitionRows {
  PaddedRows<const Real> from_to, to_from;
  const Real* start;
  const Real* end;
};

// forward[0] = unary[0] + start,  forward[m][k] = unary[m][k] + max_j (forward[m-1][j] + T[j][k]).   O(M R^2)
void max_plus(PaddedRows<const double> unary, const TransitionRows<double>& transitions, PaddedRows<double> forward);
void max_plus(PaddedRows<const double> unary, const TransitionRows<float>& transitions, PaddedRows<float> forward);

// The best path from the values of max_plus: the last label is the first maximum of forward + end, and going back the
// first j that attains the maximum.   O(M R)
void backtrack(PaddedRows<const double> forward, const TransitionRows<double>& transitions, std::span<std::int32_t> y);
void backtrack(PaddedRows<const float> forward, const TransitionRows<float>& transitions, std::span<std::int32_t> y);

// The smallest and the largest of the first `columns` entries of a padded row.
struct Extent {
  double least, most;
};
Extent row_extent(std::span<const double> in, std::size_t columns);

// out = exp(in - shift) on the first `columns` entries, 0 where that is below e^-708 and on the padding.
void exp_row(std::span<const double> in, std::size_t columns, double shift, std::span<double> out);

// alpha[0] = p[0] / c_0,  alpha[m][k] = p[m][k] sum_j alpha[m-1][j] E[j][k] / c_m  with  sum alpha[m] = 1.   O(M R^2)
void sum_product_forward(PaddedRows<const double> p, PaddedRows<const double> e, PaddedRows<double> alpha,
                         std::span<double> c);

// q[m] = p[m] o beta[m] / c_m,  beta[m-1][j] = sum_k E[j][k] q[m][k],  beta[M-1] = 1, so that alpha o beta sums to 1 in
// every row and is the marginal of the position; `e_to_from` is E transposed.   O(M R^2)
void sum_product_backward(PaddedRows<const double> p, PaddedRows<const double> e_to_from,
                          PaddedRows<const double> alpha, std::span<const double> c, PaddedRows<double> q,
                          PaddedRows<double> marginal);

// count[j][k] = E[j][k] sum_m alpha[m-1][j] q[m][k]: expected number of transitions from j to k.   O(M R^2)
void transition_counts(PaddedRows<const double> alpha, PaddedRows<const double> q, PaddedRows<const double> e,
                       PaddedRows<double> count);

// out[k] = log sum_j exp(from[j] + T[j][k]), without overflow; the padding of out is left large and negative.   O(R^2)
void log_sum_exp(const double* from, PaddedRows<const double> t, std::span<double> out);

}  // namespace m4n::detail::kernels

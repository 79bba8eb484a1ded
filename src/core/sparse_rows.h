// The hot loops of scores of consecutive sparse rows, those of a sentence: weights w lie in rows of `stride` numbers,
// one row per feature, in float or double; sums are taken in double. A view without values (x.value is empty) has ones
// everywhere. Rows of w lie far apart in memory: those of the next row of x are asked for while one is summed up.
#pragma once
#include <cstddef>

#include "core/views.h"
#include "m4n/dataset.h"

namespace m4n::detail::kernels {

// out[r] = bias + sum_e value_e w[column_e] over the entries e of row first + r of x; bias may be null.
void rows_scores(const SparseView& x, std::size_t first, const double* w, const double* bias, PaddedRows<double> out);
void rows_scores(const SparseView& x, std::size_t first, const float* w, const double* bias, PaddedRows<double> out);

// w[column_e] += scale value_e delta[r]: blocks of lanes in which delta is zero are left out.
void rows_update(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, double* w);
void rows_update(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, float* w);

// x_a . x_b
double rows_dot(const SparseView& x, std::size_t a, std::size_t b);

}  // namespace m4n::detail::kernels

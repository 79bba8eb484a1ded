// Columns of comparable size: x -> (x - mean) / standard deviation, fitted on training data and kept in the model.
// Sparse data are only divided, not centred, since centring would fill them. Constant columns are left in place:
// centred they are zero, and they are never divided by zero.
#pragma once
#include <span>

#include "features/row_weights.h"
#include "m4n/dataset.h"

namespace m4n::detail {

// weight: empty, or one per row (weights count as repeated rows).
Standardizer fit_standardizer(const FeaturesView& x, std::span<const double> weight);
void apply_in_place(const Standardizer& standardizer, Features& x);

// One row, into `out`. The arithmetic of apply_in_place, so that training and prediction see the same bits.
void standardize_row(const Standardizer& standardizer, std::span<const double> row, std::span<double> out);
void standardize_row(const Standardizer& standardizer, SparseRow row, std::span<double> out);

// Weights of rows that were learnt from standardised values, for values as they came. `constant`: the row of weights
// that belongs to a feature 1.
//     w . (x - mean) s  =  (w s) . x  -  (w s) . mean
void fold_standardizer(const Standardizer& standardizer, std::span<double> weights, std::size_t outputs,
                       std::span<double> constant);

}  // namespace m4n::detail

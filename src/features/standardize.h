// Columns of comparable size: x -> (x - mean) / standard deviation, fitted on training data and kept in the model.
// Sparse data are only divided, not centred, since centring would fill them. Constant columns are left in place:
// centred they are zero, and they are never divided by zero.
#pragma once
#include <span>

#include "m4n/dataset.h"
#include "m4n/model.h"

namespace m4n {

// weight: empty, or one a row (weights count as repeated rows).
Standardizer fit_standardizer(const FeaturesView& x, std::span<const double> weight);
void apply_in_place(const Standardizer& standardizer, Features& x);

// One row, into `out`. The arithmetic of apply_in_place, so that training and prediction see the same bits.
void standardize_row(const Standardizer& standardizer, std::span<const double> row, std::span<double> out);
void standardize_row(const Standardizer& standardizer, SparseRow row, std::span<double> out);

}  // namespace m4n

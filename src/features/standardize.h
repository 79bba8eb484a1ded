// Columns of comparable size: x -> (x - mean) / standard deviation, fitted on training data and kept in the model.
// Sparse data are only divided, not centred, since centring would fill them. Constant columns are left in place:
// centred they are zero, and they are never divided by zero.
#pragma once
#include <span>
#include <vector>

#include "features/row_weights.h"
#include "m4n/dataset.h"

namespace m4n::detail {

// What there is to know of columns: of some of the rows, where these lie in parts.
struct ColumnMoments {
  double weight = 0;             // of all rows
  std::vector<double> size;      // the largest absolute value
  std::vector<double> mean;      // of all rows, those that a sparse column leaves out counting as zeros
  std::vector<double> variance;  // of the values divided by `size`
  bool dense = true;
};
// weight: empty, or one per row (weights count as repeated rows).
ColumnMoments column_moments(const FeaturesView& x, std::span<const double> weight);
// Of all rows from those of parts, of which there is one at least.
ColumnMoments merged(std::span<const ColumnMoments> parts);
Standardizer standardizer_of(ColumnMoments moments);
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

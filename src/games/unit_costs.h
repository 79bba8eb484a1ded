// The costs of labelling games, as those who play them see them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernels.h"
#include "core/views.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

// A cost matrix in its own unit: L = (A - min A) / (max A - min A), entries in [0, 1], by rows and by columns. Several
// matrices that are played together share one unit, the largest of their ranges, and one length of rows.

class UnitCosts {
 public:
  // What is 1 in the unit of a matrix; positive even if all costs are equal.
  static double unit_of(const CostMatrix& cost) { return cost.range() > 0 ? cost.range() : 1; }
  // With `quantum` > 0 the entries are rounded to multiples of it. `unit` is at least unit_of(cost); rows are padded to
  // as many truths or predictions as the widest matrix has.
  UnitCosts(const CostMatrix& cost, double quantum, double unit, std::size_t most_truths, std::size_t most_predictions)
      : truths_(cost.k()),
        predictions_(cost.predictions()),
        range_(unit),
        zero_one_(cost.kind() == LossKind::zero_one && unit == unit_of(cost)) {
    least_ = *std::min_element(cost.values().begin(), cost.values().end());
    const PaddedRows<double> prediction = zeros(of_prediction_, predictions_, most_truths),
                             truth = zeros(of_truth_, truths_, most_predictions),
                             contrast = zeros(contrast_, predictions_, most_predictions);
    for (std::size_t t = 0; t < truths_; ++t) {
      for (std::size_t y = 0; y < predictions_; ++y) {
        const double entry = (cost(t, y) - least_) / range_;
        prediction(y, t) = truth(t, y) = quantum > 0 ? quantum * std::round(entry / quantum) : entry;
      }
    }
    for (std::size_t y = 0; y < predictions_; ++y)
      for (std::size_t z = 0; z < predictions_; ++z)
        for (std::size_t t = 0; t < truths_; ++t)
          contrast(y, z) = std::max(contrast(y, z), std::abs(prediction(y, t) - prediction(z, t)));
  }

  std::size_t truths() const { return truths_; }  // labels of the position
  std::size_t predictions() const { return predictions_; }
  double least() const { return least_; }      // min A
  double range() const { return range_; }      // the unit
  bool zero_one() const { return zero_one_; }  // L = 1 off the diagonal, 0 on it
  // L[y][t]: predicting y when the truth is t.
  double operator()(std::size_t y, std::size_t t) const { return of_prediction_.view()(y, t); }
  std::span<const double> of_prediction(std::size_t y) const { return of_prediction_.view().padded_row(y); }
  std::span<const double> of_truth(std::size_t t) const { return of_truth_.view().padded_row(t); }
  // max_t |L[y][t] - L[z][t]|: how much two predictions differ at all.
  std::span<const double> contrast(std::size_t y) const { return contrast_.view().padded_row(y); }
  // out = L mu and out = L^T nu for mu and nu with the given entries.
  void apply(std::span<const std::uint32_t> truths, std::span<const double> mass, std::span<double> out) const {
    kernels::sparse_scores(truths, mass, of_truth_.view().data(), nullptr, out);
  }
  void apply_transposed(std::span<const std::uint32_t> predictions, std::span<const double> weight,
                        std::span<double> out) const {
    kernels::sparse_scores(predictions, weight, of_prediction_.view().data(), nullptr, out);
  }

 private:
  static PaddedRows<double> zeros(PaddedMatrix<double>& matrix, std::size_t count, std::size_t columns) {
    const PaddedRows<double> rows = matrix.shape(count, columns);
    std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0);
    return rows;
  }
  std::size_t truths_, predictions_;
  double least_ = 0, range_;
  bool zero_one_;
  PaddedMatrix<double> of_prediction_, of_truth_, contrast_;
};

}  // namespace m4n::detail

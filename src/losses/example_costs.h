// Costs of single examples, where entries of the cost matrix are numbers that come with the example (an amount, a fee).
//
// Given x, the costs are L_x, and everything about surrogates holds with them in place of L. Scale alone is an
// importance: L_x = s_x L with s_x the mean cost of a mistake is learnt as the weight s_x beside L. So every example is
// learnt with its costs brought to the scale of the mean matrix, and weighs what its mistakes cost:
//
//     sum_i p_i (s_i/s) S(v_i, y_i; (s/s_i) cost_i),      s = the mean cost of a mistake in the mean matrix.
//
// Scores are then in one unit, whatever the amounts, and costs that differ by factors only are sample weights, exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/dataset.h"

namespace m4n::detail {

class ExampleCosts {
 public:
  // "example 3", or the line of a file.
  using Where = std::function<std::string(std::size_t example)>;
  // Both must outlive it. Throws Error where a column is not there, or where a number cannot be a cost: negative, not
  // finite, or no more for a mistake than for the right answer.
  ExampleCosts(const CostMatrix& cost, const CostColumns& columns, std::size_t examples, const Where& where = {});

  const CostMatrix& cost() const { return cost_; }
  std::size_t examples() const { return scale_.size(); }
  double operator()(std::size_t i, std::size_t truth, std::size_t predicted) const {
    const std::size_t entry = truth * cost_.predictions() + predicted;
    return place_[entry] < 0 ? cost_.values()[entry] : value(i, entry);
  }
  // What the most expensive prediction costs.
  double largest(std::size_t i) const;
  // The mean cost of a mistake of example i, over that of the mean matrix.
  double scale(std::size_t i) const { return scale_[i]; }
  // All costs of example i by truth, k x K, divided by its scale.
  void scaled(std::size_t i, std::span<double> out) const;
  // Those of one truth.
  void scaled_of_truth(std::size_t i, std::size_t truth, std::span<double> out) const;

 private:
  double value(std::size_t i, std::size_t entry) const {
    return columns_.values.values[i * columns_.values.cols + static_cast<std::size_t>(place_[entry])];
  }
  void check(std::size_t i, const Where& where) const;

  const CostMatrix& cost_;
  const CostColumns& columns_;
  std::vector<std::int32_t> place_;                // of every entry among the columns; -1: the number in the matrix
  std::vector<std::optional<std::size_t>> right_;  // the prediction that every class is, where there is one
  std::vector<double> scale_;
};

// The mean of a column over the examples, by their weights.
ColumnMean column_means(const Dataset& data);

// Mean cost of predictions; weighted unless `weight` is empty. All labels are known.
double mean_cost(const ExampleCosts& cost, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight);

}  // namespace m4n::detail

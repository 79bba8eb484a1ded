// Sums over weighted pairs (truth, prediction) from which the loss and every metric follow; the formulas are in
// totals.cc. A truth the model has never seen is one class more, index k.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "m4n/model.h"

namespace m4n {

class Totals {
 public:
  explicit Totals(const Model& model);

  // The pair (truth, prediction), truth <= k, prediction < k, with a weight >= 0.
  void add(std::size_t truth, std::size_t prediction, double weight);
  void clear();

  double weight() const { return weight_; }
  // Both need a positive weight in all.
  double loss() const { return cost_ / weight_; }
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  double balanced_accuracy() const;
  double macro_f1() const;
  double macro_mae() const;
  double quadratic_weighted_kappa() const;

  const Model& model_;
  double largest_cost_;
  std::vector<double> truth_, prediction_, hit_, distance_;  // over truths, the unseen one last; prediction_: k of them
  double weight_ = 0, cost_ = 0, squared_distance_ = 0, within_one_ = 0;
};

}  // namespace m4n

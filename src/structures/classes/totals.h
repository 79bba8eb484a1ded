// Sums over weighted pairs (truth, prediction) from which the loss and every metric follow; the formulas are in
// totals.cc. A truth the model has never seen is one class more, index k.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace m4n::detail {

class Totals {
 public:
  // `cost`: k x k, cost[true * k + predicted]; it must outlive the totals. `grades`: with the metrics of grades.
  Totals(const std::vector<double>& cost, std::size_t k, bool grades);

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

  const std::vector<double>& matrix_;
  bool grades_;
  double largest_cost_;
  std::vector<double> truth_, prediction_, hit_, distance_;  // over truths, the unseen one last; prediction_: k of them
  double weight_ = 0, cost_ = 0, squared_distance_ = 0, within_one_ = 0;
};

}  // namespace m4n::detail

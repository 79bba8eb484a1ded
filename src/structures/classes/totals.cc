// The task loss and the customary metrics of classes and grades, every mean weighted by the example weights s_i.
//
// With r_t = total weight of truth t, c_p = of prediction p, h_t = of correct predictions of t, W = sum of weights:
//   loss = expected_cost = sum_i s_i cost[t_i][p_i] / W      error = 1 - sum_t h_t / W
//   balanced_accuracy    = mean of h_t / r_t                 over the truths that occur
//   macro_f1             = mean of 2 h_t / (r_t + c_t)       over the classes that occur as truth or prediction
// and for grades, on the indices 0..k-1:
//   mae       = sum_i s_i |t_i - p_i| / W                    macro_mae = mean over occurring truths of their own mae
//   within_one = weight of |t_i - p_i| <= 1 / W
//   qwk       = 1 - observed / expected, observed = sum_i s_i (t_i - p_i)^2 / W,
//               expected = sum_t sum_p r_t c_p (t - p)^2 / W^2; 1 where both are 0 (one grade only, always right)
//
// A truth the model has never seen is one class more, index k, that no prediction ever hits: its recall and F1 are 0,
// its cost is the largest of the matrix, its distance to every grade the largest there is, k - 1.
// Cost: O(1) a pair, then O(k), and O(k^2) for qwk.
#include "structures/classes/totals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace m4n::detail {
namespace {

double grade_distance(std::size_t truth, std::size_t prediction, std::size_t k) {
  if (truth == k) return static_cast<double>(k - 1);
  return std::abs(static_cast<double>(truth) - static_cast<double>(prediction));
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Totals::Totals(const std::vector<double>& cost, std::size_t k, bool grades)
    : matrix_(cost),
      grades_(grades),
      largest_cost_(*std::max_element(cost.begin(), cost.end())),
      truth_(k + 1),
      prediction_(k),
      hit_(k + 1),
      distance_(k + 1) {}

void Totals::add(std::size_t truth, std::size_t prediction, double weight) {
  const std::size_t k = prediction_.size();
  const bool seen = truth != k;
  const double distance = grade_distance(truth, prediction, k);
  weight_ += weight;
  truth_[truth] += weight;
  prediction_[prediction] += weight;
  cost_ += weight * (seen ? matrix_[truth * k + prediction] : largest_cost_);
  if (truth == prediction) hit_[truth] += weight;
  distance_[truth] += weight * distance;
  squared_distance_ += weight * distance * distance;
  if (seen && distance <= 1) within_one_ += weight;
}

void Totals::clear() {
  for (auto* sums : {&truth_, &prediction_, &hit_, &distance_}) std::fill(sums->begin(), sums->end(), 0.0);
  weight_ = cost_ = squared_distance_ = within_one_ = 0;
}

std::vector<std::pair<std::string, double>> Totals::metrics() const {
  std::vector<std::pair<std::string, double>> out = {{"error", (weight_ - sum_of(hit_)) / weight_},
                                                     {"balanced_accuracy", balanced_accuracy()},
                                                     {"macro_f1", macro_f1()},
                                                     {"expected_cost", loss()}};
  if (grades_) {
    out.emplace_back("mae", sum_of(distance_) / weight_);
    out.emplace_back("macro_mae", macro_mae());
    out.emplace_back("qwk", quadratic_weighted_kappa());
    out.emplace_back("within_one", within_one_ / weight_);
  }
  return out;
}

double Totals::balanced_accuracy() const {
  double recalls = 0, present = 0;
  for (std::size_t t = 0; t < truth_.size(); ++t) {
    if (truth_[t] <= 0) continue;
    recalls += hit_[t] / truth_[t];
    ++present;
  }
  return recalls / present;
}

double Totals::macro_f1() const {
  double scores = 0, present = 0;
  for (std::size_t t = 0; t < truth_.size(); ++t) {
    const double both = truth_[t] + (t < prediction_.size() ? prediction_[t] : 0);
    if (both <= 0) continue;
    scores += 2 * hit_[t] / both;
    ++present;
  }
  return scores / present;
}

double Totals::macro_mae() const {
  double errors = 0, present = 0;
  for (std::size_t t = 0; t < truth_.size(); ++t) {
    if (truth_[t] <= 0) continue;
    errors += distance_[t] / truth_[t];
    ++present;
  }
  return errors / present;
}

double Totals::quadratic_weighted_kappa() const {
  const std::size_t k = prediction_.size();
  double expected = 0;
  for (std::size_t t = 0; t <= k; ++t) {
    if (truth_[t] <= 0) continue;
    for (std::size_t p = 0; p < k; ++p) {
      const double distance = grade_distance(t, p, k);
      expected += truth_[t] * prediction_[p] * distance * distance;
    }
  }
  // Zero only if all truths and all predictions are the same one grade; then nothing was observed either.
  return expected > 0 ? 1 - squared_distance_ * weight_ / expected : 1;
}

}  // namespace m4n::detail

// What mistakes cost in multi-label prediction. Every label j is on or off; to miss one that is on costs miss_j, to
// announce one that is off costs false_alarm_j. The loss of an example is the mean over its M labels:
//
//   L(y, t) = 1/M sum_j  miss_j [t_j = 1, y_j = 0] + false_alarm_j [t_j = 0, y_j = 1]      (Hamming: all costs 1)
//
// There may be a third answer, unsure, that costs unsure_j whatever the truth.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "losses/cost_matrix.h"

namespace m4n::detail {

class LabelCosts {
 public:
  static constexpr double smallest = 1e-30, largest = 1e30;

  // The answers, as predictions count them.
  static constexpr std::int32_t off = 0, on = 1, not_sure = 2;
  static inline const std::vector<std::string> answers{"off", "on", "unsure"};

  static LabelCosts hamming(std::size_t labels);
  // One cost per label, each from `smallest` to `largest`; `origin` and the names of the labels are for messages.
  // `unsure`: none where there is no such answer.
  LabelCosts(std::vector<double> miss, std::vector<double> false_alarm, const std::string& origin,
             const std::vector<std::string>& names = {}, std::vector<double> unsure = {});
  // With a third answer that costs as much for every label.
  LabelCosts with_unsure(double cost, const std::vector<std::string>& names) const;
  // CSV rows `miss,false_alarm` or `miss,false_alarm,unsure` in the order of the labels, or in any order behind the
  // names of the labels; a first row without numbers is a header.
  static LabelCosts from_csv(std::string_view text, const std::vector<std::string>& names, const std::string& origin);
  static LabelCosts read(const std::string& path, const std::vector<std::string>& names);

  std::size_t labels() const { return miss_.size(); }
  double miss(std::size_t j) const { return miss_[j]; }
  double false_alarm(std::size_t j) const { return false_alarm_[j]; }
  bool has_unsure() const { return !unsure_.empty(); }
  double unsure(std::size_t j) const { return unsure_[j]; }
  // Whether the third answer is ever the best one: where it costs less than the best of the others in the worst case.
  bool unsure_pays(std::size_t j) const {
    return has_unsure() && unsure_[j] < miss_[j] * (false_alarm_[j] / (miss_[j] + false_alarm_[j]));
  }
  double of(std::size_t j, std::int32_t truth, std::int32_t answer) const {
    if (answer == not_sure) return unsure_[j];
    return truth == answer ? 0 : truth == on ? miss_[j] : false_alarm_[j];
  }
  double most() const;  // the largest of all mistakes
  double mean() const;  // of all of them
  // A miss costs as much as a false alarm, for every label, and there is no third answer.
  bool symmetric() const { return miss_ == false_alarm_ && !has_unsure(); }
  bool hamming() const;
  // The same as a cost matrix of label j, classes 0 (off) and 1 (on), and perhaps a third prediction.
  CostMatrix matrix(std::size_t j) const;

 private:
  std::vector<double> miss_, false_alarm_, unsure_;
};

// As a model keeps them: all misses, then all false alarms, then where there are some those of unsure; nothing for
// Hamming.
std::vector<double> kept_costs(const LabelCosts& costs);
LabelCosts remembered_costs(const std::vector<double>& kept, const std::vector<std::string>& labels);

// Mean over the examples, weighted unless `weight` is empty. All labels are 0 or 1, M per example; predictions may be
// unsure.
double mean_label_cost(const LabelCosts& costs, std::span<const std::int32_t> truth,
                       std::span<const std::int32_t> predicted, std::span<const double> weight);

}  // namespace m4n::detail

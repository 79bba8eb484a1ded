// Loss and metrics of classes and grades: the sums over weighted pairs (truth, prediction), the formulas that follow
// from them, and the evaluator with its resamples. A truth that the model has never seen is one more class, index k.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/message.h"
#include "losses/example_costs.h"
#include "structures/classes/structure.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {

class Totals {
 public:
  // The model must outlive the totals. `grades`: with the metrics of grades.
  Totals(const Model& model, bool grades);

  // The pair (truth, prediction), truth <= k, prediction < K, with a weight >= 0, and its cost times the weight.
  void add(std::size_t truth, std::size_t prediction, double weight, double cost);
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

  bool grades_, actions_;
  std::vector<std::size_t> class_of_;                  // of every prediction; k: it is no class
  std::vector<double> truth_, kept_, hit_, distance_;  // over truths, the unseen one last; kept_: those not rejected
  std::vector<double> prediction_;                     // over classes
  double weight_ = 0, cost_ = 0, squared_distance_ = 0, within_one_ = 0, rejected_ = 0;
};

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
// Predictions may be actions that are no class (rejected). Then
//   rejected      = weight of predictions that are no class / W
//   error_of_rest = 1 - sum_t h_t / weight of the others; 0 where there are none
// and error counts them as wrong, recalls and F1 as not found; mae, macro_mae, within_one and qwk are over the others
// (0, and 1 for qwk, where there are none).
//
// A truth the model has never seen is one class more, index k, that no prediction ever hits: its recall and F1 are 0,
// its cost is the largest of the matrix (of the example, where costs differ), its distance to every grade the largest
// there is, k - 1. Cost: O(1) per pair, then O(k), and O(k^2) for qwk.

namespace {

double grade_distance(std::size_t truth, std::size_t prediction, std::size_t k) {
  if (truth == k) return static_cast<double>(k - 1);
  return std::abs(static_cast<double>(truth) - static_cast<double>(prediction));
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Totals::Totals(const Model& model, bool grades)
    : grades_(grades),
      actions_(!model.common().predictions.empty()),
      class_of_(classes_of_predictions(model)),
      truth_(model.k() + 1),
      kept_(model.k() + 1),
      hit_(model.k() + 1),
      distance_(model.k() + 1),
      prediction_(model.k()) {}

void Totals::add(std::size_t truth, std::size_t prediction, double weight, double cost) {
  const std::size_t k = prediction_.size(), predicted = class_of_[prediction];
  const bool seen = truth != k;
  weight_ += weight;
  truth_[truth] += weight;
  cost_ += cost;
  if (predicted == k) {
    rejected_ += weight;
    return;
  }
  const double distance = grade_distance(truth, predicted, k);
  kept_[truth] += weight;
  prediction_[predicted] += weight;
  if (truth == predicted) hit_[truth] += weight;
  distance_[truth] += weight * distance;
  squared_distance_ += weight * distance * distance;
  if (seen && distance <= 1) within_one_ += weight;
}

void Totals::clear() {
  for (auto* sums : {&truth_, &kept_, &hit_, &distance_, &prediction_}) std::fill(sums->begin(), sums->end(), 0.0);
  weight_ = cost_ = squared_distance_ = within_one_ = rejected_ = 0;
}

std::vector<std::pair<std::string, double>> Totals::metrics() const {
  std::vector<std::pair<std::string, double>> out = {{"error", (weight_ - sum_of(hit_)) / weight_},
                                                     {"balanced_accuracy", balanced_accuracy()},
                                                     {"macro_f1", macro_f1()},
                                                     {"expected_cost", loss()}};
  const double rest = weight_ - rejected_;
  if (actions_) {
    out.emplace_back("rejected", rejected_ / weight_);
    out.emplace_back("error_of_rest", rest > 0 ? (rest - sum_of(hit_)) / rest : 0);
  }
  if (grades_) {
    out.emplace_back("mae", rest > 0 ? sum_of(distance_) / rest : 0);
    out.emplace_back("macro_mae", macro_mae());
    out.emplace_back("qwk", quadratic_weighted_kappa());
    out.emplace_back("within_one", rest > 0 ? within_one_ / rest : 0);
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
    if (kept_[t] <= 0) continue;
    errors += distance_[t] / kept_[t];
    ++present;
  }
  return present > 0 ? errors / present : 0;
}

double Totals::quadratic_weighted_kappa() const {
  const std::size_t k = prediction_.size();
  double expected = 0;
  for (std::size_t t = 0; t <= k; ++t) {
    if (kept_[t] <= 0) continue;
    for (std::size_t p = 0; p < k; ++p) {
      const double distance = grade_distance(t, p, k);
      expected += kept_[t] * prediction_[p] * distance * distance;
    }
  }
  // Zero only if all truths and all predictions are the same one grade; then nothing was observed either.
  return expected > 0 ? 1 - squared_distance_ * (weight_ - rejected_) / expected : 1;
}

// The evaluator of classes and grades. Cost: O(n), and O(k^2) for the confusion matrix.
//
// All metrics follow from the total weight and cost of each pair (truth, prediction). So a resample costs two additions
// per draw, and then a pass over the distinct pairs, of which there are few.

namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // truth (k: unseen), prediction

void check_inputs(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                  std::span<const double> weight) {
  const std::size_t n = truth.size(), k = model.k(), width = model.predictions().size();
  if (k < 1 || model.cost().size() != k * width)
    throw Error(say("evaluation: the model has {} classes but {} costs", k, model.cost().size()));
  if (n == 0) throw Error("evaluation: there are no examples");
  if (predicted.size() != n) throw Error(say("evaluation: {} true labels but {} predictions", n, predicted.size()));
  if (!weight.empty() && weight.size() != n)
    throw Error(say("evaluation: {} examples but {} weights", n, weight.size()));
  const auto limit = static_cast<std::int64_t>(k);
  for (std::size_t i = 0; i < n; ++i) {
    if (truth[i] < unknown_label || truth[i] >= limit)
      throw Error(say("evaluation: true label {} of example {} is not below {}", truth[i], i + 1, k));
    if (predicted[i] < 0 || predicted[i] >= static_cast<std::int64_t>(width))
      throw Error(say("evaluation: prediction {} of example {} is not within 0..{}", predicted[i], i + 1, width - 1));
    if (!weight.empty() && !(std::isfinite(weight[i]) && weight[i] >= 0))
      throw Error(say("evaluation: weight {} of example {} is not a finite number >= 0", weight[i], i + 1));
  }
}

class ClassEvaluator : public Evaluator {
 public:
  ClassEvaluator(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight, const CostColumns& costs, bool grades)
      : model_(model), truth_(truth), predicted_(predicted), weight_(weight), grades_(grades) {
    check_inputs(model, truth, predicted, weight);
    const CostMatrix matrix = model_cost(model);
    const ExampleCosts cost(matrix, costs, truth.size());
    cost_.reserve(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const auto [t, p] = pair_of(i);
      cost_.push_back(t < model.k() ? cost(i, t, p) : cost.largest(i));
    }
  }

  Evaluation evaluate() const override {
    const std::size_t k = model_.k(), width = model_.predictions().size();
    Evaluation result;
    result.n = truth_.size();
    result.confusion.resize(k * width);
    Totals totals(model_, grades_);
    for (std::size_t i = 0; i < truth_.size(); ++i) {
      const auto [t, p] = pair_of(i);
      if (t < k)
        ++result.confusion[t * width + p];
      else
        ++result.unseen;
      const double weight = weight_.empty() ? 1 : weight_[i];
      totals.add(t, p, weight, weight * cost_[i]);
    }
    if (!(totals.weight() > 0) || !std::isfinite(totals.weight()))
      throw Error(say("evaluation: the weights sum to {}; expected a positive number", totals.weight()));
    result.loss = totals.loss();
    result.metrics = totals.metrics();
    return result;
  }
  std::vector<double> losses() const override { return cost_; }
  std::size_t examples() const override { return drawn().relative.size(); }
  std::unique_ptr<Tally> tally() const override { return std::make_unique<Pairs>(*this, drawn()); }

 private:
  // What is drawn from: the examples with a positive weight, each with the number of its pair.
  struct Drawn {
    std::vector<double> relative, cost;
    std::vector<std::uint32_t> number;
    std::vector<Pair> pairs;  // that occur
  };

  // Made when it is first asked for: the loss and the metrics alone do without.
  const Drawn& drawn() const {
    std::call_once(drawn_once_, [&] {
      // Weights relative to the largest, which changes no mean and lets no sum of n of them overflow.
      const double heaviest = weight_.empty() ? 1 : *std::max_element(weight_.begin(), weight_.end());
      std::vector<Pair> pair;
      for (std::size_t i = 0; i < truth_.size(); ++i) {
        const double relative = weight_.empty() ? 1 : weight_[i] / heaviest;
        if (relative <= 0) continue;
        drawn_.relative.push_back(relative);
        drawn_.cost.push_back(relative * cost_[i]);
        pair.push_back(pair_of(i));
      }
      std::vector<Pair>& pairs = drawn_.pairs;
      pairs = pair;
      std::sort(pairs.begin(), pairs.end());
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
      for (const Pair& p : pair)
        drawn_.number.push_back(
            static_cast<std::uint32_t>(std::lower_bound(pairs.begin(), pairs.end(), p) - pairs.begin()));
    });
    return drawn_;
  }

  // The weights and costs of the pairs in one resample.
  class Pairs : public Tally {
   public:
    Pairs(const ClassEvaluator& all, const Drawn& drawn)
        : drawn_(drawn), totals_(all.model_, all.grades_), weight_(drawn.pairs.size()), cost_(weight_) {}
    void clear() override {
      std::fill(weight_.begin(), weight_.end(), 0.0);
      std::fill(cost_.begin(), cost_.end(), 0.0);
    }
    void add(std::size_t example) override {
      weight_[drawn_.number[example]] += drawn_.relative[example];
      cost_[drawn_.number[example]] += drawn_.cost[example];
    }
    std::vector<double> values() const override {
      totals_.clear();
      for (std::size_t c = 0; c < weight_.size(); ++c)
        if (weight_[c] > 0) totals_.add(drawn_.pairs[c].first, drawn_.pairs[c].second, weight_[c], cost_[c]);
      std::vector<double> out{totals_.loss()};
      for (const auto& [name, value] : totals_.metrics()) out.push_back(value);
      return out;
    }

   private:
    const Drawn& drawn_;
    mutable Totals totals_;
    std::vector<double> weight_, cost_;
  };

  Pair pair_of(std::size_t i) const {
    return {truth_[i] == unknown_label ? model_.k() : static_cast<std::size_t>(truth_[i]),
            static_cast<std::size_t>(predicted_[i])};
  }

  const Model& model_;
  std::span<const std::int32_t> truth_, predicted_;
  std::span<const double> weight_;
  bool grades_;
  std::vector<double> cost_;  // of every prediction
  mutable std::once_flag drawn_once_;
  mutable Drawn drawn_;
};

}  // namespace

std::unique_ptr<Evaluator> class_evaluator(const Model& model, const Examples& examples,
                                           std::span<const std::int32_t> predicted, bool grades) {
  return std::make_unique<ClassEvaluator>(model, examples.data.label, predicted, examples.data.weight,
                                          examples.data.costs, grades);
}

}  // namespace m4n::detail

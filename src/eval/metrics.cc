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
// Cost: O(n), and O(k^2) for qwk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

// Sums over the examples from which every metric follows. Vectors over truths have the unseen truth as their last,
// k-th entry.
struct Totals {
  explicit Totals(std::size_t k) : truth(k + 1), prediction(k), hit(k + 1), distance(k + 1) {}
  std::vector<double> truth, prediction, hit, distance;
  double weight = 0, cost = 0, squared_distance = 0, within_one = 0;
};

double grade_distance(std::size_t truth, std::size_t prediction, std::size_t k) {
  if (truth == k) return static_cast<double>(k - 1);
  return std::abs(static_cast<double>(truth) - static_cast<double>(prediction));
}

void check_inputs(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                  std::span<const double> weight) {
  const std::size_t n = truth.size(), k = model.k();
  if (k < 1 || model.cost.size() != k * k)
    throw Error(fmt::format("evaluation: the model has {} classes but {} costs", k, model.cost.size()));
  if (n == 0) throw Error("evaluation: there are no examples");
  if (predicted.size() != n)
    throw Error(fmt::format("evaluation: {} true labels but {} predictions", n, predicted.size()));
  if (!weight.empty() && weight.size() != n)
    throw Error(fmt::format("evaluation: {} examples but {} weights", n, weight.size()));
  const auto limit = static_cast<std::int64_t>(k);
  for (std::size_t i = 0; i < n; ++i) {
    if (truth[i] < unknown_label || truth[i] >= limit)
      throw Error(fmt::format("evaluation: true label {} of example {} is not below {}", truth[i], i + 1, k));
    if (predicted[i] < 0 || predicted[i] >= limit)
      throw Error(
          fmt::format("evaluation: prediction {} of example {} is not within 0..{}", predicted[i], i + 1, k - 1));
    if (!weight.empty() && !(std::isfinite(weight[i]) && weight[i] >= 0))
      throw Error(fmt::format("evaluation: weight {} of example {} is not a finite number >= 0", weight[i], i + 1));
  }
}

double balanced_accuracy(const Totals& sum) {
  double recalls = 0, present = 0;
  for (std::size_t t = 0; t < sum.truth.size(); ++t) {
    if (sum.truth[t] <= 0) continue;
    recalls += sum.hit[t] / sum.truth[t];
    ++present;
  }
  return recalls / present;
}

double macro_f1(const Totals& sum) {
  double scores = 0, present = 0;
  for (std::size_t t = 0; t < sum.truth.size(); ++t) {
    const double both = sum.truth[t] + (t < sum.prediction.size() ? sum.prediction[t] : 0);
    if (both <= 0) continue;
    scores += 2 * sum.hit[t] / both;
    ++present;
  }
  return scores / present;
}

double macro_mae(const Totals& sum) {
  double errors = 0, present = 0;
  for (std::size_t t = 0; t < sum.truth.size(); ++t) {
    if (sum.truth[t] <= 0) continue;
    errors += sum.distance[t] / sum.truth[t];
    ++present;
  }
  return errors / present;
}

double quadratic_weighted_kappa(const Totals& sum) {
  const std::size_t k = sum.prediction.size();
  double expected = 0;
  for (std::size_t t = 0; t <= k; ++t) {
    if (sum.truth[t] <= 0) continue;
    for (std::size_t p = 0; p < k; ++p) {
      const double distance = grade_distance(t, p, k);
      expected += sum.truth[t] * sum.prediction[p] * distance * distance;
    }
  }
  // Zero only if all truths and all predictions are the same one grade; then nothing was observed either.
  return expected > 0 ? 1 - sum.squared_distance * sum.weight / expected : 1;
}

}  // namespace

Evaluation evaluate(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight) {
  check_inputs(model, truth, predicted, weight);
  const std::size_t k = model.k();
  const double largest_cost = *std::max_element(model.cost.begin(), model.cost.end());
  Evaluation result;
  result.n = truth.size();
  result.confusion.resize(k * k);
  Totals sum(k);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double s = weight.empty() ? 1 : weight[i];
    const bool seen = truth[i] != unknown_label;
    const std::size_t t = seen ? static_cast<std::size_t>(truth[i]) : k;
    const auto p = static_cast<std::size_t>(predicted[i]);
    const double distance = grade_distance(t, p, k);
    if (seen)
      ++result.confusion[t * k + p];
    else
      ++result.unseen;
    sum.weight += s;
    sum.truth[t] += s;
    sum.prediction[p] += s;
    sum.cost += s * (seen ? model.cost[t * k + p] : largest_cost);
    if (t == p) sum.hit[t] += s;
    sum.distance[t] += s * distance;
    sum.squared_distance += s * distance * distance;
    if (seen && distance <= 1) sum.within_one += s;
  }
  if (!(sum.weight > 0) || !std::isfinite(sum.weight))
    throw Error(fmt::format("evaluation: the weights sum to {}; expected a positive number", sum.weight));

  double hits = 0, distances = 0;
  for (const double hit : sum.hit) hits += hit;
  for (const double distance : sum.distance) distances += distance;
  result.loss = sum.cost / sum.weight;
  result.metrics = {{"error", (sum.weight - hits) / sum.weight},
                    {"balanced_accuracy", balanced_accuracy(sum)},
                    {"macro_f1", macro_f1(sum)},
                    {"expected_cost", result.loss}};
  if (model.task == Task::ordinal) {
    result.metrics.emplace_back("mae", distances / sum.weight);
    result.metrics.emplace_back("macro_mae", macro_mae(sum));
    result.metrics.emplace_back("qwk", quadratic_weighted_kappa(sum));
    result.metrics.emplace_back("within_one", sum.within_one / sum.weight);
  }
  return result;
}

}  // namespace m4n

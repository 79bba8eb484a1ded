// Tables and pictures of classes and grades (report.h). One pass over the predictions each.
#include "structures/classes/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/message.h"
#include "losses/example_costs.h"
#include "structures/classes/structure.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {

void visit_varying_costs(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                         const AnswerVisitor& visit) {
  const CostMatrix matrix = model_cost(model);
  const std::size_t n = examples.data.label.size(), k = model.k();
  const ExampleCosts cost(matrix, examples.data.costs, n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto y = static_cast<std::size_t>(predicted[i]);
    if (examples.data.label[i] == unknown_label) {
      visit(i, k, y, cost.largest(i));
    } else {
      const auto t = static_cast<std::size_t>(examples.data.label[i]);
      visit(i, t, y, cost(i, t, y));
    }
  }
}

std::vector<std::int32_t> best_constant_of_varying_costs(const Model& model, const Examples& examples) {
  const CostMatrix matrix = model_cost(model);
  const std::size_t n = examples.data.label.size();
  const ExampleCosts cost(matrix, examples.data.costs, n);
  std::vector<double> total(matrix.predictions());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t y = 0; y < total.size() && examples.data.label[i] != unknown_label; ++y)
      total[y] += cost(i, static_cast<std::size_t>(examples.data.label[i]), y) *
                  (examples.data.weight.empty() ? 1 : examples.data.weight[i]);
  const auto best = std::min_element(total.begin(), total.end()) - total.begin();
  return std::vector<std::int32_t>(n, static_cast<std::int32_t>(best));
}

std::vector<Exhibit> class_exhibits(const Judged& judged) {
  Evaluation counts;
  add_class_tables(judged.model, judged.examples.data.label, judged.predicted, counts);
  return found_exhibits("How well every class is found", "class", counts.labels);
}

// Errors by their distance, and for every predicted grade the mean of the true ones.
std::vector<Exhibit> grade_exhibits(const Judged& judged) {
  const Model& model = judged.model;
  const std::size_t k = model.k();
  const std::vector<std::size_t> class_of = classes_of_predictions(model);
  std::vector<double> by_distance(k), count(k), sum(k), squares(k);
  double kept = 0;
  for (std::size_t i = 0; i < judged.predicted.size(); ++i) {
    const std::size_t y = class_of[static_cast<std::size_t>(judged.predicted[i])];
    const std::int32_t truth = judged.examples.data.label[i];
    if (y == k || truth == unknown_label) continue;
    const auto t = static_cast<std::size_t>(truth);
    ++by_distance[t > y ? t - y : y - t];
    ++kept;
    ++count[y];
    sum[y] += static_cast<double>(t);
    squares[y] += static_cast<double>(t) * static_cast<double>(t);
  }
  if (kept == 0) return {};
  while (by_distance.size() > 1 && by_distance.back() == 0) by_distance.pop_back();
  constexpr std::size_t most_distances = 12;
  Bars errors{"Errors by distance", "share of the examples", {}, {}};
  for (std::size_t d = 0; d < std::min(by_distance.size(), most_distances); ++d)
    errors.bars.push_back({d == 0 ? "right" : counted(d, "grade") + " off", by_distance[d] / kept});
  if (by_distance.size() > most_distances) {
    double rest = 0;
    for (std::size_t d = most_distances; d < by_distance.size(); ++d) rest += by_distance[d] / kept;
    errors.bars.push_back({"further off", rest});
  }
  Series means;
  means.name = "mean true grade";
  for (std::size_t y = 0; y < k; ++y) {
    if (count[y] == 0) continue;
    const double mean = sum[y] / count[y];
    const double error = count[y] > 1 ? std::sqrt(std::max(0.0, squares[y] / count[y] - mean * mean) / count[y])
                                      : std::numeric_limits<double>::quiet_NaN();  // one says nothing about others
    constexpr double two_sided = 1.96;
    means.x.push_back(static_cast<double>(y + 1));
    means.y.push_back(mean + 1);
    means.low.push_back(mean + 1 - two_sided * error);
    means.high.push_back(mean + 1 + two_sided * error);
  }
  Chart calibration{"What a predicted grade means",
                    "predicted grade, counted from 1",
                    "mean true grade",
                    false,
                    false,
                    true,
                    {std::move(means)},
                    "On the line, the true grades are in the mean what was predicted. Below it, predictions are too "
                    "high; above it, too low. Bars are 95% intervals of the means."};
  return {std::move(errors), std::move(calibration)};
}

}  // namespace m4n::detail

// See m4n/evaluate.h; the formulas are in totals.cc. Cost: O(n), and O(k^2) for the confusion matrix.
#include <fmt/format.h>

#include <cmath>

#include "structures/classes/totals.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

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

}  // namespace

Evaluation evaluate(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight) {
  check_inputs(model, truth, predicted, weight);
  const std::size_t k = model.k();
  Evaluation result;
  result.n = truth.size();
  result.confusion.resize(k * k);
  Totals totals(model);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const bool seen = truth[i] != unknown_label;
    const std::size_t t = seen ? static_cast<std::size_t>(truth[i]) : k;
    const auto p = static_cast<std::size_t>(predicted[i]);
    if (seen)
      ++result.confusion[t * k + p];
    else
      ++result.unseen;
    totals.add(t, p, weight.empty() ? 1 : weight[i]);
  }
  if (!(totals.weight() > 0) || !std::isfinite(totals.weight()))
    throw Error(fmt::format("evaluation: the weights sum to {}; expected a positive number", totals.weight()));
  result.loss = totals.loss();
  result.metrics = totals.metrics();
  return result;
}

}  // namespace m4n

// The distances of evaluation.h, and the loss and metrics of rankings and matchings.
#include "structures/permutations/evaluation.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/message.h"
#include "losses/position_loss.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {
namespace {

void require_permutation(LabelView y, const char* what, std::size_t example) {
  std::vector<bool> seen(y.size());
  for (const std::int32_t place : y) {
    if (place < 0 || static_cast<std::size_t>(place) >= y.size() || seen[static_cast<std::size_t>(place)])
      throw Error(say("evaluation: the {} of example {} is no permutation", what, example + 1));
    seen[static_cast<std::size_t>(place)] = true;
  }
}

// Pairs with the larger number first, in a sequence of the numbers 0..M-1, by a Fenwick tree of those seen.
std::uint64_t inversions(std::span<const std::int32_t> sequence) {
  const std::size_t size = sequence.size();
  std::vector<std::uint32_t> seen(size + 1, 0);
  std::uint64_t count = 0;
  for (std::size_t n = 0; n < size; ++n) {
    const auto place = static_cast<std::size_t>(sequence[n]) + 1;
    std::uint64_t not_above = 0;
    for (std::size_t k = place; k > 0; k &= k - 1) not_above += seen[k];
    count += n - not_above;
    for (std::size_t k = place; k <= size; k += k & (0 - k)) ++seen[k];
  }
  return count;
}

constexpr std::array<double PermutationMetrics::*, 6> all_metrics{
    &PermutationMetrics::hamming,      &PermutationMetrics::footrule, &PermutationMetrics::kendall_tau,
    &PermutationMetrics::spearman_rho, &PermutationMetrics::top1,     &PermutationMetrics::ndcg};

}  // namespace

double hamming_distance(PermutationView truth, PermutationView predicted) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) wrong += truth[i] != predicted[i] ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(truth.size());
}

double footrule(PermutationView truth, PermutationView predicted) {
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) steps += std::abs(truth[i] - predicted[i]);
  return static_cast<double>(steps) / static_cast<double>(truth.size());
}

double kendall_tau(PermutationView truth, PermutationView predicted) {
  const std::size_t size = truth.size();
  if (size == 1) return 1;
  std::vector<std::int32_t> by_truth(size);
  for (std::size_t i = 0; i < size; ++i) by_truth[static_cast<std::size_t>(truth[i])] = predicted[i];
  const double pairs = 0.5 * static_cast<double>(size) * static_cast<double>(size - 1);
  return 1 - 2 * static_cast<double>(inversions(by_truth)) / pairs;
}

double spearman_rho(PermutationView truth, PermutationView predicted) {
  if (truth.size() == 1) return 1;
  double squares = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double steps = truth[i] - predicted[i];
    squares += steps * steps;
  }
  const auto size = static_cast<double>(truth.size());
  return 1 - 6 * squares / (size * (size * size - 1));
}

double top1(PermutationView truth, PermutationView predicted) {
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] == 0) return predicted[i] == 0 ? 1 : 0;
  return 0;
}

double ndcg(PermutationView truth, PermutationView predicted) {
  const std::size_t size = truth.size();
  if (size == 1) return 1;
  double gained = 0, best = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto gain = static_cast<double>(size) - 1 - truth[i];
    gained += gain / std::log2(2.0 + predicted[i]);
    best += gain / std::log2(2.0 + truth[i]);
  }
  return gained / best;
}

PermutationMetrics permutation_metrics(PermutationView truth, PermutationView predicted) {
  return {hamming_distance(truth, predicted), footrule(truth, predicted), kendall_tau(truth, predicted),
          spearman_rho(truth, predicted),     top1(truth, predicted),     ndcg(truth, predicted)};
}

void PermutationMeans::add(PermutationView truth, PermutationView predicted, double weight) {
  const PermutationMetrics one = permutation_metrics(truth, predicted);
  for (const auto metric : all_metrics) sum_.*metric += weight * one.*metric;
  weight_ += weight;
  ++examples_;
}

PermutationMetrics PermutationMeans::mean() const {
  PermutationMetrics mean;
  for (const auto metric : all_metrics) mean.*metric = sum_.*metric / weight_;
  return mean;
}

std::unique_ptr<Evaluator> permutation_evaluator(
    const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
    std::vector<std::string> names, const std::function<std::vector<double>(const PermutationMetrics&)>& metrics) {
  const LabelledPredictions parts(examples, examples.data.label, predicted);
  const PositionLossChoice choice = PositionLossChoice::remembered(model.loss_name(), model.cost(), model.k());
  PositionLosses losses([&](std::size_t size) { return choice.make(size); });
  ExampleRows rows;
  rows.names = std::move(names);
  rows.width = 1 + rows.names.size();
  rows.measure = [](std::span<const double> sum, double weight) {
    std::vector<double> out(sum.begin(), sum.end());
    for (double& value : out) value /= weight;
    return out;
  };
  for (std::size_t i = 0; i < parts.examples(); ++i) {
    const std::size_t size = parts.size(i);
    if (model.k() > 0 && size != model.k())
      throw Error(say("evaluation: ranking {} has {} items, the model {}", i + 1, size, model.k()));
    const LabelView t = parts.truth_of(i), y = parts.predicted_of(i);
    require_permutation(t, "truth", i);
    require_permutation(y, "prediction", i);
    losses.prepare(size);
    rows.values.push_back(losses.of(size)(t, y));
    const std::vector<double> shown = metrics(permutation_metrics(t, y));
    rows.values.insert(rows.values.end(), shown.begin(), shown.end());
  }
  return rows_evaluator(std::move(rows), examples.data.weight);
}

}  // namespace m4n::detail

// Evaluation of rankings and matchings; see m4n/evaluate.h. Loss and metrics are means over examples of one number
// each, so a resample is a mean of rows.
#include <fmt/format.h>

#include <cmath>

#include "core/parallel.h"
#include "core/rng.h"
#include "eval/intervals.h"
#include "eval/permutation_metrics.h"
#include "loss/position_loss_choice.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

using Named = std::vector<std::pair<std::string, double>>;

Named metrics_of(const Model& model, PermutationView truth, PermutationView predicted) {
  const PermutationMetrics m = permutation_metrics(truth, predicted);
  if (model.task == Task::matching) return {{"match_accuracy", m.match_accuracy()}, {"hamming", m.hamming}};
  return {{"hamming", m.hamming},
          {"kendall_tau", m.kendall_tau},
          {"spearman_rho", m.spearman_rho},
          {"footrule", m.footrule},
          {"top1", m.top1},
          {"ndcg", m.ndcg}};
}

// A row an example: its loss, then its metrics.
struct Rows {
  Named names;
  std::vector<double> values, weight;
  std::size_t width() const { return 1 + names.size(); }
  std::size_t count() const { return weight.size(); }
};

void require_permutation(PermutationView y, const char* what, std::size_t example) {
  std::vector<bool> seen(y.size());
  for (const std::int32_t place : y) {
    if (place < 0 || static_cast<std::size_t>(place) >= y.size() || seen[static_cast<std::size_t>(place)])
      throw Error(fmt::format("evaluation: the {} of example {} is no permutation", what, example + 1));
    seen[static_cast<std::size_t>(place)] = true;
  }
}

Rows rows_of(const Model& model, const Groups& items, PermutationView truth, PermutationView predicted,
             std::span<const double> weight) {
  const std::size_t n = items.count(), total = n > 0 ? items.end(n - 1) : 0;
  if (n == 0) throw Error("evaluation: there are no examples");
  if (truth.size() != total || predicted.size() != total || (!weight.empty() && weight.size() != n))
    throw Error(fmt::format("evaluation: {} examples of {} items, {} true positions, {} predictions and {} weights", n,
                            total, truth.size(), predicted.size(), weight.size()));
  const auto choice = PositionLossChoice::remembered(model.loss_name, model.cost, model.k());
  PositionLosses losses([&](std::size_t size) { return choice.make(size); });
  Rows out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t size = items.end(i) - items.begin(i);
    if (size == 0 || (model.task == Task::ranking && size != model.k()))
      throw Error(fmt::format("evaluation: example {} has {} items", i + 1, size));
    const PermutationView t = truth.subspan(items.begin(i), size), y = predicted.subspan(items.begin(i), size);
    require_permutation(t, "truth", i);
    require_permutation(y, "prediction", i);
    const double w = weight.empty() ? 1 : weight[i];
    if (!(std::isfinite(w) && w >= 0))
      throw Error(fmt::format("evaluation: weight {} of example {} is not a finite number >= 0", w, i + 1));
    losses.prepare(size);
    out.weight.push_back(w);
    out.values.push_back(losses.of(size)(t, y));
    out.names = metrics_of(model, t, y);
    for (const auto& [name, value] : out.names) out.values.push_back(value);
  }
  return out;
}

// Adds one example to the sums of its columns.
void add(const Rows& rows, std::size_t i, std::span<double> sum, double& weight) {
  for (std::size_t c = 0; c < rows.width(); ++c) sum[c] += rows.weight[i] * rows.values[i * rows.width() + c];
  weight += rows.weight[i];
}

}  // namespace

Evaluation evaluate(const Model& model, const Groups& items, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight) {
  const Rows rows = rows_of(model, items, truth, predicted, weight);
  std::vector<double> sum(rows.width());
  double total = 0;
  for (std::size_t i = 0; i < rows.count(); ++i) add(rows, i, sum, total);
  if (!(total > 0) || !std::isfinite(total))
    throw Error(fmt::format("evaluation: the weights sum to {}; expected a positive number", total));
  Evaluation out;
  out.n = rows.count();
  out.loss = sum[0] / total;
  out.metrics = rows.names;
  for (std::size_t m = 0; m < rows.names.size(); ++m) out.metrics[m].second = sum[1 + m] / total;
  return out;
}

Bootstrap bootstrap(const Model& model, const Groups& items, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight, std::uint64_t replicates,
                    std::uint64_t seed, const Context& context) {
  if (replicates < 2) throw Error(fmt::format("bootstrap: {} replicates, expected at least 2", replicates));
  const Rows rows = rows_of(model, items, truth, predicted, weight);
  std::vector<double> value(rows.width() * replicates);
  constexpr std::size_t chunk = 16;
  parallel_chunks(replicates, chunk, context.threads, [&](std::size_t, std::size_t begin, std::size_t end, unsigned) {
    std::vector<double> sum(rows.width());
    for (std::size_t r = begin; r < end; ++r) {
      Rng rng(seed, r);
      std::fill(sum.begin(), sum.end(), 0.0);
      double total = 0;
      for (std::size_t i = 0; i < rows.count(); ++i) add(rows, rng.below(rows.count()), sum, total);
      for (std::size_t c = 0; c < rows.width(); ++c) value[c * replicates + r] = sum[c] / total;
    }
  });
  return intervals_of(rows.names, value, replicates, seed);
}

}  // namespace m4n

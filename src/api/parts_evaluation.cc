// Evaluation of outputs with several parts: permutations, label sets, graphs; see m4n/evaluate.h. Every example is a
// row of numbers, and loss and metrics follow from the weighted sums of these rows, so a resample is a sum of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/parallel.h"
#include "core/rng.h"
#include "api/intervals.h"
#include "structures/permutations/metrics.h"
#include "losses/label_costs.h"
#include "losses/position_loss_choice.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

using LabelsView = std::span<const std::int32_t>;

// A row an example, and what sums of rows mean: the loss, then the metrics.
struct Rows {
  std::vector<std::string> names;  // of the metrics
  std::size_t width = 0;
  std::vector<double> values, weight;
  std::function<std::vector<double>(std::span<const double> sum, double weight)> measure;
  std::size_t count() const { return weight.size(); }
};

struct Parts {
  const Model& model;
  const Groups& groups;
  LabelsView truth, predicted;
  std::size_t size(std::size_t i) const { return groups.end(i) - groups.begin(i); }
  LabelsView truth_of(std::size_t i) const { return truth.subspan(groups.begin(i), size(i)); }
  LabelsView predicted_of(std::size_t i) const { return predicted.subspan(groups.begin(i), size(i)); }
};

double ratio(double part, double all) { return all > 0 ? part / all : 0; }

// ---- permutations: all values are means

void require_permutation(LabelsView y, const char* what, std::size_t example) {
  std::vector<bool> seen(y.size());
  for (const std::int32_t place : y) {
    if (place < 0 || static_cast<std::size_t>(place) >= y.size() || seen[static_cast<std::size_t>(place)])
      throw Error(fmt::format("evaluation: the {} of example {} is no permutation", what, example + 1));
    seen[static_cast<std::size_t>(place)] = true;
  }
}

void fill_permutations(const Parts& parts, Rows& rows) {
  const Model& model = parts.model;
  const bool matching = model.task == Task::matching;
  const auto choice = PositionLossChoice::remembered(model.loss_name, model.cost, model.k());
  PositionLosses losses([&](std::size_t size) { return choice.make(size); });
  rows.names = matching
                   ? std::vector<std::string>{"match_accuracy", "hamming"}
                   : std::vector<std::string>{"hamming", "kendall_tau", "spearman_rho", "footrule", "top1", "ndcg"};
  rows.width = 1 + rows.names.size();
  rows.measure = [](std::span<const double> sum, double weight) {
    std::vector<double> out(sum.begin(), sum.end());
    for (double& value : out) value /= weight;
    return out;
  };
  for (std::size_t i = 0; i < parts.groups.count(); ++i) {
    const std::size_t size = parts.size(i);
    if (!matching && size != model.k())
      throw Error(fmt::format("evaluation: ranking {} has {} items, the model {}", i + 1, size, model.k()));
    const LabelsView t = parts.truth_of(i), y = parts.predicted_of(i);
    require_permutation(t, "truth", i);
    require_permutation(y, "prediction", i);
    losses.prepare(size);
    const PermutationMetrics m = permutation_metrics(t, y);
    rows.values.push_back(losses.of(size)(t, y));
    if (matching)
      rows.values.insert(rows.values.end(), {m.match_accuracy(), m.hamming});
    else
      rows.values.insert(rows.values.end(), {m.hamming, m.kendall_tau, m.spearman_rho, m.footrule, m.top1, m.ndcg});
  }
}

// ---- label sets: cost, wrong labels, whole sets, then by label how often it is on, predicted, and both

void fill_label_sets(const Parts& parts, Rows& rows) {
  const std::size_t k = parts.model.k();
  const LabelCosts costs = remembered_costs(parts.model.cost, parts.model.classes);
  rows.names = {"hamming", "subset_accuracy", "micro_f1", "macro_f1"};
  rows.width = 3 + 3 * k;
  rows.measure = [k](std::span<const double> sum, double weight) {
    double actual = 0, predicted = 0, found = 0, macro = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double* own = sum.data() + 3 + 3 * j;
      actual += own[0];
      predicted += own[1];
      found += own[2];
      macro += ratio(2 * own[2], own[0] + own[1]) / static_cast<double>(k);
    }
    return std::vector<double>{sum[0] / weight, sum[1] / weight, sum[2] / weight, ratio(2 * found, actual + predicted),
                               macro};
  };
  for (std::size_t i = 0; i < parts.groups.count(); ++i) {
    const LabelsView t = parts.truth_of(i), y = parts.predicted_of(i);
    if (t.size() != k)
      throw Error(fmt::format("evaluation: example {} has {} labels, the model {}", i + 1, t.size(), k));
    double wrong = 0;
    std::vector<double> counts;
    for (std::size_t j = 0; j < k; ++j) {
      if ((t[j] != 0 && t[j] != 1) || (y[j] != 0 && y[j] != 1))
        throw Error(fmt::format("evaluation: example {} has a mark that is neither 0 nor 1", i + 1));
      wrong += t[j] != y[j] ? 1 : 0;
      counts.insert(counts.end(), {double(t[j]), double(y[j]), double(t[j] * y[j])});
    }
    rows.values.insert(rows.values.end(),
                       {mean_label_cost(costs, t, y, {}), wrong / static_cast<double>(k), wrong == 0 ? 1.0 : 0.0});
    rows.values.insert(rows.values.end(), counts.begin(), counts.end());
  }
}

// ---- graphs: cost, nodes, right ones, whole graphs. Labels the model has never seen cost the most.

void fill_graphs(const Parts& parts, Rows& rows) {
  const std::size_t k = parts.model.k();
  const std::vector<double>& cost = parts.model.cost;
  const double largest = *std::max_element(cost.begin(), cost.end());
  rows.names = {"node_accuracy", "graph_accuracy"};
  rows.width = 4;
  rows.measure = [](std::span<const double> sum, double weight) {
    return std::vector<double>{sum[0] / weight, sum[2] / sum[1], sum[3] / weight};
  };
  for (std::size_t i = 0; i < parts.groups.count(); ++i) {
    const LabelsView t = parts.truth_of(i), y = parts.predicted_of(i);
    const auto nodes = static_cast<double>(t.size());
    double sum = 0, right = 0;
    for (std::size_t m = 0; m < t.size(); ++m) {
      if (t[m] < unknown_label || t[m] >= static_cast<std::int32_t>(k) || y[m] < 0 ||
          y[m] >= static_cast<std::int32_t>(k))
        throw Error(fmt::format("evaluation: node {} of graph {} has a label beyond the model's {}", m + 1, i + 1, k));
      const auto at = static_cast<std::size_t>(y[m]);
      sum += (t[m] == unknown_label ? largest : cost[static_cast<std::size_t>(t[m]) * k + at]) / nodes;
      right += t[m] == y[m] ? 1 : 0;
    }
    rows.values.insert(rows.values.end(), {sum, nodes, right, right == nodes ? 1.0 : 0.0});
  }
}

Rows rows_of(const Parts& parts, std::span<const double> weight) {
  const Groups& groups = parts.groups;
  const std::size_t n = groups.count(), total = n > 0 ? groups.end(n - 1) : 0;
  if (n == 0) throw Error("evaluation: there are no examples");
  if (parts.truth.size() != total || parts.predicted.size() != total || (!weight.empty() && weight.size() != n))
    throw Error(fmt::format("evaluation: {} examples of {} parts, {} true labels, {} predictions and {} weights", n,
                            total, parts.truth.size(), parts.predicted.size(), weight.size()));
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight.empty() ? 1 : weight[i];
    if (!(std::isfinite(w) && w >= 0))
      throw Error(fmt::format("evaluation: weight {} of example {} is not a finite number >= 0", w, i + 1));
    if (parts.size(i) == 0) throw Error(fmt::format("evaluation: example {} has no parts", i + 1));
    rows.weight.push_back(w);
  }
  if (parts.model.task == Task::multilabel)
    fill_label_sets(parts, rows);
  else if (parts.model.task == Task::graph)
    fill_graphs(parts, rows);
  else
    fill_permutations(parts, rows);
  return rows;
}

// Without the examples that have no weight; throws where none has any.
Rows with_weight(const Rows& rows) {
  Rows out{rows.names, rows.width, {}, {}, rows.measure};
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (!(rows.weight[i] > 0)) continue;
    out.weight.push_back(rows.weight[i]);
    const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(i * rows.width);
    out.values.insert(out.values.end(), first, first + static_cast<std::ptrdiff_t>(rows.width));
  }
  if (out.weight.empty()) throw Error("evaluation: the weights sum to 0; expected a positive number");
  return out;
}

// Adds one example to the sums of its columns.
void add(const Rows& rows, std::size_t i, std::span<double> sum, double& weight) {
  for (std::size_t c = 0; c < rows.width; ++c) sum[c] += rows.weight[i] * rows.values[i * rows.width + c];
  weight += rows.weight[i];
}

std::vector<std::pair<std::string, double>> named(const Rows& rows, const std::vector<double>& measured) {
  std::vector<std::pair<std::string, double>> out;
  for (std::size_t m = 0; m < rows.names.size(); ++m) out.emplace_back(rows.names[m], measured[1 + m]);
  return out;
}

// How often every label is true, predicted, and both; unweighted, as all tables.
std::vector<std::pair<std::string, FoundCounts>> label_table(const Parts& parts) {
  const Model& model = parts.model;
  std::vector<std::pair<std::string, FoundCounts>> out;
  for (const std::string& name : model.classes) out.emplace_back(name, FoundCounts{});
  const bool sets = model.task == Task::multilabel;
  for (std::size_t e = 0; e < parts.truth.size(); ++e) {
    const std::int32_t t = parts.truth[e], y = parts.predicted[e];
    if (sets) {
      FoundCounts& own = out[e % model.k()].second;
      own.actual += t == 1;
      own.predicted += y == 1;
      own.found += t == 1 && y == 1;
      continue;
    }
    if (t != unknown_label) ++out[static_cast<std::size_t>(t)].second.actual;
    ++out[static_cast<std::size_t>(y)].second.predicted;
    if (t == y) ++out[static_cast<std::size_t>(y)].second.found;
  }
  return out;
}

}  // namespace

Evaluation evaluate(const Model& model, const Groups& groups, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight) {
  const Parts parts{model, groups, truth, predicted};
  const Rows rows = rows_of(parts, weight);
  std::vector<double> sum(rows.width);
  double total = 0;
  for (std::size_t i = 0; i < rows.count(); ++i) add(rows, i, sum, total);
  if (!(total > 0) || !std::isfinite(total))
    throw Error(fmt::format("evaluation: the weights sum to {}; expected a positive number", total));
  const std::vector<double> measured = rows.measure(sum, total);
  Evaluation out;
  out.n = rows.count();
  out.loss = measured[0];
  out.metrics = named(rows, measured);
  const bool graph = model.task == Task::graph;
  if (graph || model.task == Task::multilabel) out.labels = label_table(parts);
  if (!graph) return out;
  const std::size_t k = model.k();
  out.nodes = truth.size();
  out.confusion.resize(k * k);
  for (std::size_t m = 0; m < truth.size(); ++m) {
    if (truth[m] == unknown_label)
      ++out.unseen;
    else
      ++out.confusion[static_cast<std::size_t>(truth[m]) * k + static_cast<std::size_t>(predicted[m])];
  }
  return out;
}

Bootstrap bootstrap(const Model& model, const Groups& groups, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight, std::uint64_t replicates,
                    std::uint64_t seed, const Context& context) {
  if (replicates < 2) throw Error(fmt::format("bootstrap: {} replicates, expected at least 2", replicates));
  const Rows rows = with_weight(rows_of({model, groups, truth, predicted}, weight));
  const std::size_t values = 1 + rows.names.size();
  std::vector<double> value(values * replicates);
  constexpr std::size_t chunk = 16;
  parallel_chunks(replicates, chunk, context.threads, [&](std::size_t, std::size_t begin, std::size_t end, unsigned) {
    std::vector<double> sum(rows.width);
    for (std::size_t r = begin; r < end; ++r) {
      Rng rng(seed, r);
      std::fill(sum.begin(), sum.end(), 0.0);
      double total = 0;
      for (std::size_t i = 0; i < rows.count(); ++i) add(rows, rng.below(rows.count()), sum, total);
      const std::vector<double> measured = rows.measure(sum, total);
      for (std::size_t c = 0; c < values; ++c) value[c * replicates + r] = measured[c];
    }
  });
  return intervals_of(named(rows, std::vector<double>(values)), value, replicates, seed);
}

}  // namespace m4n

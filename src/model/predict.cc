// Scores and predictions of a trained model, in parallel over rows.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parallel.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "solvers/linear_scorer.h"
#include "structures/chains/predictor.h"
#include "structures/classes/decoder.h"
#include "structures/label_sets/predictor.h"
#include "structures/permutations/predictor.h"
#include "features/feature_map.h"
#include "features/standardize.h"

namespace m4n {
namespace {

constexpr std::size_t chunk = 512;  // rows a thread takes at a time

// The model's weights in the layout of the kernels.
struct PaddedWeights {
  std::size_t stride;
  AlignedVector<double> w;
  const double* bias = nullptr;
  explicit PaddedWeights(const Model& model)
      : stride(kernels::padded(model.outputs())), w((model.width() + (model.bias ? 1 : 0)) * stride, 0.0) {
    const std::size_t outputs = model.outputs();
    for (std::size_t row = 0; row * stride < w.size(); ++row)
      for (std::size_t j = 0; j < outputs; ++j) w[row * stride + j] = model.weights[row * outputs + j];
    if (model.bias) bias = w.data() + model.width() * stride;
  }
};

// Scores one row at a time, with scratch memory of its own.
class RowScorer {
 public:
  RowScorer(const Model& model, const PaddedWeights& weights, const MapEvaluator* map)
      : model_(model), weights_(weights), map_(map), input_(model.d), features_(map != nullptr ? map->width() : 0) {}

  void score(std::span<const double> row, std::span<double> v) {
    standardize_row(model_.standardizer, row, input_);
    score_input(v);
  }
  // Centred columns, and the distances of a kernel, are not zero where the row has no entry: it is filled up then.
  void score(SparseRow row, std::span<double> v) {
    if (map_ == nullptr && model_.standardizer.mean.empty()) {
      standardize_row(model_.standardizer, row, input_);
      kernels::sparse_scores(row.column, std::span(input_).first(row.column.size()), weights_.w.data(), weights_.bias,
                             v);
      return;
    }
    std::fill(input_.begin(), input_.end(), 0.0);
    for (std::size_t e = 0; e < row.column.size(); ++e) input_[row.column[e]] = row.value[e];
    standardize_row(model_.standardizer, std::span<const double>(input_), input_);
    score_input(v);
  }

 private:
  void score_input(std::span<double> v) {
    if (map_ != nullptr) map_->evaluate(input_, features_);
    kernels::dense_scores(map_ != nullptr ? features_ : input_, weights_.w.data(), weights_.bias, v);
  }

  const Model& model_;
  const PaddedWeights& weights_;
  const MapEvaluator* map_;
  std::vector<double> input_, features_;
};

// Consecutive runs of at least one row that are all there are.
void require_runs(const Groups& groups, std::size_t rows, const char* what) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    if (groups.begin(i) != next || groups.end(i) <= next || groups.end(i) > rows)
      throw Error(
          fmt::format("{} {} (counted from 1) has the rows {} to {} of {}; expected a run of at least one, "
                      "behind that of the {} before",
                      what, i + 1, groups.begin(i), groups.end(i), rows, what));
    next = groups.end(i);
  }
  if (next != rows) throw Error(fmt::format("the {}s have {} rows, the data {}", what, next, rows));
}

}  // namespace

std::size_t Model::outputs() const {
  switch (task) {
    case Task::matching:
      return 1;
    case Task::ranking:
      return PositionLossChoice::scores_items(loss_name) ? k() : k() * k();
    case Task::multilabel:
      return graph.edges.empty() ? k() : 2 * k();
    case Task::graph:
      return std::max<std::size_t>(graph.node_types.size(), 1) * k();
    default:
      return k();
  }
}

std::vector<std::string> Model::output_names() const {
  if (task == Task::matching) return {"pair"};
  if (outputs() == k()) return classes;
  std::vector<std::string> out;
  if (task == Task::graph) {
    for (const std::string& type : graph.node_types)
      for (const std::string& label : classes) out.push_back(fmt::format("{}:{}", type, label));
    return out;
  }
  const std::size_t first = task == Task::ranking ? 1 : 0, count = task == Task::ranking ? k() : 2;
  for (const std::string& name : classes)
    for (std::size_t value = first; value < first + count; ++value) out.push_back(fmt::format("{}_{}", name, value));
  return out;
}

std::vector<double> Model::scores(const FeaturesView& x, const Context& context) const {
  if (task == Task::sequence)
    throw Error("a model of sequences scores no single rows; use predict() with which rows belong together");
  if (weights.size() != (width() + (bias ? 1 : 0)) * outputs())
    throw Error(
        fmt::format("the model has {} weights for {} features and {} scores", weights.size(), width(), outputs()));
  std::optional<MapEvaluator> mapped;
  if (map.kind != FeatureKind::linear) mapped.emplace(map);
  return std::visit(
      [&](const auto& data) {
        if (data.cols != d)
          throw Error(fmt::format("the data have {} features, the model was trained on {}", data.cols, d));
        const PaddedWeights padded(*this);
        const std::size_t count = outputs();
        std::vector<double> out(data.rows * count);
        parallel_chunks(data.rows, chunk, context.threads,
                        [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                          RowScorer scorer(*this, padded, mapped ? &*mapped : nullptr);
                          AlignedVector<double> v(padded.stride);
                          for (std::size_t i = first; i < last; ++i) {
                            scorer.score(data.row(i), v);
                            std::copy_n(v.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(i * count));
                          }
                        });
        return out;
      },
      x);
}

std::vector<std::int32_t> Model::decode_scores(std::span<const double> scores, const Context& context) const {
  if (task == Task::ranking) return PermutationPredictor(*this).rankings(scores, context);
  if (task == Task::multilabel) return decode_label_sets(*this, scores, context);
  if (task == Task::matching || task == Task::graph)
    throw Error("the parts of a matching or a graph are decoded together; use predict() with its groups");
  const std::size_t examples = scores.size() / k();
  const CostMatrix matrix = CostMatrix::from_values(cost, k(), loss_name, classes, "the model's cost matrix");
  std::vector<std::int32_t> out(examples);
  parallel_chunks(examples, chunk, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    const auto decoder = make_decoder(surrogate, decode, smoothing, matrix);
    AlignedVector<double> v(kernels::padded(k()), kernels::padding_score);
    for (std::size_t i = first; i < last; ++i) {
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * k()), k(), v.begin());
      if (!std::all_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k()), kernels::is_score))
        throw Error(fmt::format("row {} (counted from 1) has scores beyond what can be computed with", i + 1));
      out[i] = decoder->decode(v);
    }
  });
  return out;
}

std::vector<std::int32_t> Model::predict(const FeaturesView& x, const Context& context) const {
  return decode_scores(scores(x, context), context);
}

std::vector<std::int32_t> Model::predict(const FeaturesView& x, const Groups& groups, const Context& context) const {
  if (task != Task::sequence && task != Task::matching)
    throw Error(fmt::format("a model of the task {} predicts single rows, not groups of them", to_string(task)));
  const auto [rows, columns] = std::visit([](const auto& data) { return std::pair{data.rows, data.cols}; }, x);
  if (columns != d) throw Error(fmt::format("the data have {} features, the model was trained on {}", columns, d));
  require_runs(groups, rows, task == Task::matching ? "matching" : "sequence");
  if (task == Task::matching) return PermutationPredictor(*this).matchings(scores(x, context), groups, context);
  return predict_sequences(ChainPredictor(*this), x, groups, context);
}

std::vector<std::int32_t> Model::predict(const FeaturesView& x, const Groups& graphs, const GraphStructure& structure,
                                         const Context& context) const {
  if (task != Task::graph) throw Error(fmt::format("a model of the task {} predicts no graphs", to_string(task)));
  require_runs(graphs, std::visit([](const auto& data) { return data.rows; }, x), "graph");
  const bool same_edges =
      structure.edge.empty() || (structure.edge_features.cols == graph.features &&
                                 structure.edge_types() == std::max<std::size_t>(graph.edge_types.size(), 1));
  if (structure.edges.count() != graphs.count() || !same_edges ||
      structure.node_types() != std::max<std::size_t>(graph.node_types.size(), 1))
    throw Error("these graphs have other edges, types or features of edges than those of training");
  return graph_predictor(*this).labellings(scores(x, context), {&graphs, &graphs, &structure}, context);
}

std::vector<double> Model::marginals(std::span<const double> scores, const Context& context) const {
  if (surrogate != SurrogateKind::crf)
    throw UsageError(fmt::format("a model of the surrogate '{}' defines no probabilities; train with --surrogate crf",
                                 to_string(surrogate)));
  if (task == Task::ranking) return PermutationPredictor(*this).ranking_marginals(scores, context);
  if (task == Task::multilabel) return label_set_marginals(*this, scores, context);
  std::vector<double> out(scores.size());
  AlignedVector<double> v(kernels::padded(k()), kernels::padding_score), mu(v.size());
  for (std::size_t i = 0; i < scores.size(); i += k()) {
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i), k(), v.begin());
    kernels::softmax(v, mu);
    std::copy_n(mu.begin(), k(), out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

}  // namespace m4n

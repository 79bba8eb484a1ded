#include "structures/graphs/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "features/standardize.h"
#include "structures/classes/training.h"
#include "structures/graphs/structure.h"

namespace m4n::detail {
namespace {

Dataset checked(Dataset data) {
  const std::size_t n = data.examples(), k = data.class_names.size();
  if (n == 0) throw Error("there are no graphs to learn from");
  if (!data.graph) throw Error("the data have no edges; graphs come with what joins their nodes");
  const std::size_t nodes = data.labels.end(n - 1);
  if (rows(data.x) != nodes || data.label.size() != nodes || data.feature_rows.count() != n ||
      data.feature_rows.end(n - 1) != nodes || data.graph->edges.count() != n)
    throw Error(say("{} rows of features and {} labels for {} nodes do not belong together", rows(data.x),
                    data.label.size(), nodes));
  if (k < 2) throw Error(say("only {} label in the data; learning needs at least two", k));
  for (std::size_t m = 0; m < nodes; ++m)
    if (data.label[m] < 0 || static_cast<std::size_t>(data.label[m]) >= k)
      throw Error(say("node {} of all has the label {}, expected 0 to {}; every node needs its label in training",
                      m + 1, data.label[m], k - 1));
  if (!data.weight.empty()) throw Error("weights of graphs are not supported");
  return data;
}

}  // namespace

GraphTrainingSet::GraphTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss,
                                   const Context& context)
    : RowTrainingSet(checked(std::move(data)), options, options.bias, RowsWeigh::equally, context, KernelForm::rows),
      cost_(chosen_cost(options, data_.class_names, usual_loss)),
      structure_(*data_.graph) {
  if (structure_.edge_features.cols > 0 && structure_.edge_features.rows > 0 && options.standardize.value_or(true)) {
    Features edges = std::move(structure_.edge_features);
    edge_standardizer_ = fit_standardizer(view(edges), {});
    apply_in_place(edge_standardizer_, edges);
    structure_.edge_features = std::get<DenseMatrix>(std::move(edges));
  }
}

// From a block by node type to rows of features, the types beside each other.
std::vector<double> GraphTrainingSet::by_feature(const std::vector<double>& by_type) const {
  const std::size_t types = structure_.node_types(), width = cost_.k();
  const std::size_t rows = by_type.size() / (types * width);
  std::vector<double> out;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t t = 0; t < types; ++t) {
      const auto first = by_type.begin() + static_cast<std::ptrdiff_t>((t * rows + r) * width);
      out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  return out;
}

// The constant is the last of every type.
std::vector<double> GraphTrainingSet::for_raw_edges(std::vector<double> weights) const {
  const std::size_t table = cost_.k() * cost_.k(), count = structure_.edge_features.cols;
  for (std::size_t t = 0; t < structure_.edge_types(); ++t) {
    const std::span<double> block = std::span(weights).subspan(t * (count + 1) * table, (count + 1) * table);
    fold_standardizer(edge_standardizer_, block.first(count * table), table, block.last(table));
  }
  return weights;
}

void GraphTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                             const Context& context, const Emit& emit) const {
  solve_graphs({.x = view(features_.x),
                .rows = &data_.feature_rows,
                .nodes = &data_.labels,
                .structure = &structure_,
                .bias = bias_,
                .label = data_.label,
                .weight = weight_,
                .costs = {&cost_, 1},
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](std::unique_ptr<GraphSolution> found) {
                 check_finite(*found, found->weights.node);
                 check_finite(*found, found->weights.edge);
                 auto out = std::make_unique<Found>();
                 out->result = found->result;
                 out->norm_squared = found->norm_squared;
                 out->weights = by_feature(found->weights.node);
                 out->edge_weights = for_raw_edges(std::move(found->weights.edge));
                 emit(std::move(out));
               });
}

double GraphTrainingSet::mean_loss(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                   const TrainOptions&, Decoder decode, const Context& context) const {
  const GraphPredictor predictor({cost_}, decode, static_cast<const Found&>(solution).edge_weights,
                                 structure_.edge_features.cols);
  const std::vector<std::int32_t> predicted =
      predictor.labellings(scores, {&examples.feature_rows, &examples.labels, examples.graph.get()}, context);
  return mean_sequence_cost(cost_, examples.labels, examples.label, predicted);
}

void GraphTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  common.loss_name = cost_.name();
  common.cost = cost_.values();
}

std::shared_ptr<const ModelPart> GraphTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto& own = static_cast<Found&>(*solution);
  auto part = std::make_shared<GraphPart>();
  part->rows = row_weights(std::move(own.weights));
  part->edge_weights = std::move(own.edge_weights);
  part->node_types = structure_.node_type_names;
  part->edge_types = structure_.edge_type_names;
  part->edge_feature_names = structure_.edge_feature_names;
  part->edge_features = structure_.edge_features.cols;
  return part;
}

}  // namespace m4n::detail

#include "structures/label_sets/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "structures/graphs/edges.h"
#include "structures/graphs/solve.h"
#include "structures/label_sets/edges.h"
#include "structures/label_sets/structure.h"
#include "structures/label_sets/thresholds.h"
#include "structures/label_sets/tree.h"

namespace m4n::detail {

LabelCosts chosen_label_costs(const TrainOptions& options, const std::vector<std::string>& labels) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(say("both costs and --loss {} are given; give one of them", options.loss));
  if (!options.cost.empty()) return remembered_costs(options.cost, labels);
  if (options.loss.empty() || options.loss == "hamming") return LabelCosts::hamming(labels.size());
  return LabelCosts::read(options.loss, labels);
}

bool has_edges(const TrainOptions& options) {
  return (!options.edges.empty() && options.edges != "none") || !options.label_edges.empty();
}

bool has_edges(const TrainOptions& options, const Dataset& data) {
  return has_edges(options) && (options.edges != "tree" || data.class_names.size() > 1);
}

std::vector<GraphEdge> chosen_edges(const TrainOptions& options, const Dataset& data) {
  if (!has_edges(options)) return {};
  const std::vector<std::uint32_t> counts(data.class_names.size(), 2);
  const bool given = !options.label_edges.empty();
  if (!given && options.edges == "tree") return label_tree(data.label, counts);
  std::vector<GraphEdge> out = given ? options.label_edges : read_label_edges(options.edges, data.class_names);
  try {
    const JunctionTree tree(FactorGraph(counts, out));
  } catch (const Error& e) {
    throw Error(say("{}: {}", given ? say("--edges") : Message(options.edges), e.message()));
  }
  return out;
}

Dataset checked_label_sets(Dataset data) {
  const std::size_t n = data.examples(), labels = data.class_names.size();
  if (n == 0) throw Error("there are no examples to learn from");
  if (labels == 0) throw Error("there are no labels to learn");
  if (rows(data.x) != n || data.label.size() != n * labels || data.labels.end(n - 1) != n * labels)
    throw Error(say("{} rows of features, {} examples and {} marks for {} labels do not belong together", rows(data.x),
                    n, data.label.size(), labels));
  for (std::size_t e = 0; e < data.label.size(); ++e)
    if (data.label[e] != 0 && data.label[e] != 1)
      throw Error(
          say("example {}: {} is {}, expected 0 or 1", e / labels + 1, data.class_names[e % labels], data.label[e]));
  check_weights(data);
  require_values(data.x);
  return data;
}

// ---- labels apart

LabelSetTrainingSet::LabelSetTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : RowTrainingSet(checked_label_sets(std::move(data)), options, options.bias, RowsWeigh::as_examples, context,
                     KernelForm::pairs),
      costs_(chosen_label_costs(options, data_.class_names)) {}

void LabelSetTrainingSet::solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                                const Context& context, const Emit& emit) const {
  solve_multilabel({.x = view(features_.x),
                    .gram = features_.kernel ? &features_.gram : nullptr,
                    .bias = bias_,
                    .label = data_.label,
                    .weight = weight_,
                    .costs = &costs_,
                    .lambdas = lambdas,
                    .decode = decode,
                    .options = &options,
                    .context = &context},
                   [&](std::unique_ptr<MultilabelSolution> solution) {
                     check_finite(*solution, solution->weights);
                     emit(std::move(solution));
                   });
}

// By the solver's own scores.
double LabelSetTrainingSet::train_loss(const Solution& solution, const TrainOptions&, Decoder, const Context&) const {
  return mean_label_cost(costs_, data_.label, static_cast<const MultilabelSolution&>(solution).predicted, data_.weight);
}

double LabelSetTrainingSet::mean_loss(std::span<const double> scores, const Dataset& examples, const Solution&,
                                      const TrainOptions& options, Decoder decode, const Context&) const {
  const std::vector<std::int32_t> predicted =
      above_thresholds(scores, label_thresholds(options.surrogate, decode, costs_));
  return mean_label_cost(costs_, examples.label, predicted, examples.weight);
}

void LabelSetTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  common.parts = common.n;
  common.loss_name = loss_name(costs_);
  common.cost = kept_costs(costs_);
}

std::shared_ptr<const ModelPart> LabelSetTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<LabelSetPart>();
  part->rows = row_weights(std::move(static_cast<MultilabelSolution&>(*solution).weights));
  return part;
}

// ---- labels joined

JoinedLabelTrainingSet::JoinedLabelTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : RowTrainingSet(checked_label_sets(std::move(data)), options, options.bias, RowsWeigh::as_examples, context,
                     KernelForm::rows),
      costs_(chosen_label_costs(options, data_.class_names)),
      edges_(chosen_edges(options, data_)),
      structure_(shared_edges(edges_, data_.examples())) {
  for (std::size_t j = 0; j < costs_.labels(); ++j) matrices_.push_back(costs_.matrix(j));
}

void JoinedLabelTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                                   const Context& context, const Emit& emit) const {
  const Groups rows(data_.examples());
  solve_graphs({.x = view(features_.x),
                .rows = &rows,
                .nodes = &data_.labels,
                .structure = &structure_,
                .bias = bias_,
                .label = data_.label,
                .weight = weight_,
                .costs = matrices_,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](std::unique_ptr<GraphSolution> found) {
                 check_finite(*found, found->weights.node);
                 check_finite(*found, found->weights.edge);
                 auto out = std::make_unique<JoinedSolution>();
                 out->result = found->result;
                 out->norm_squared = found->norm_squared;
                 out->weights = std::move(found->weights.node);
                 out->edge_weights = std::move(found->weights.edge);
                 emit(std::move(out));
               });
}

double JoinedLabelTrainingSet::mean_loss(std::span<const double> scores, const Dataset& examples,
                                         const Solution& solution, const TrainOptions&, Decoder decode,
                                         const Context& context) const {
  const GraphPredictor predictor =
      joined_predictor(costs_, decode, static_cast<const JoinedSolution&>(solution).edge_weights);
  const std::vector<std::int32_t> predicted = decode_joined(predictor, scores, costs_.labels(), edges_, context);
  return mean_label_cost(costs_, examples.label, predicted, examples.weight);
}

void JoinedLabelTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  common.loss_name = loss_name(costs_);
  common.cost = kept_costs(costs_);
}

std::shared_ptr<const ModelPart> JoinedLabelTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto& own = static_cast<JoinedSolution&>(*solution);
  auto part = std::make_shared<LabelSetPart>();
  part->rows = row_weights(std::move(own.weights));
  part->edges = edges_;
  part->edge_weights = std::move(own.edge_weights);
  return part;
}

GraphPredictor joined_predictor(const LabelCosts& costs, Decoder decode, std::vector<double> edge_weights) {
  std::vector<CostMatrix> matrices;
  for (std::size_t j = 0; j < costs.labels(); ++j) matrices.push_back(costs.matrix(j));
  return {std::move(matrices), decode, std::move(edge_weights), 0};
}

std::vector<std::int32_t> decode_joined(const GraphPredictor& predictor, std::span<const double> scores,
                                        std::size_t labels, const std::vector<GraphEdge>& edges,
                                        const Context& context) {
  const std::size_t n = scores.size() / (2 * labels);
  const GraphStructure structure = shared_edges(edges, n);
  const Groups rows(n), nodes(n, labels);
  return predictor.labellings(scores, {&rows, &nodes, &structure}, context);
}

}  // namespace m4n::detail

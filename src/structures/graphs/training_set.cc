#include "structures/graphs/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "structures/label_sets/edges.h"
#include "m4n/error.h"
#include "structures/label_sets/training_set.h"
#include "structures/shares.h"
#include "structures/classes/training_set.h"
#include "structures/classes/decoder.h"
#include "structures/label_sets/tree.h"
#include "features/standardize.h"

namespace m4n {
namespace {

void check_graphs(const Dataset& data) {
  const std::size_t n = data.examples(), k = data.class_names.size();
  if (n == 0) throw Error("there are no graphs to learn from");
  if (!data.graph) throw Error("the data have no edges; graphs come with what joins their nodes");
  const std::size_t nodes = data.labels.end(n - 1);
  if (rows(data.x) != nodes || data.label.size() != nodes || data.feature_rows.count() != n ||
      data.feature_rows.end(n - 1) != nodes || data.graph->edges.count() != n)
    throw Error(fmt::format("{} rows of features and {} labels for {} nodes do not belong together", rows(data.x),
                            data.label.size(), nodes));
  if (k < 2) throw Error(fmt::format("only {} label in the data; learning needs at least two", k));
  for (std::size_t m = 0; m < nodes; ++m)
    if (data.label[m] < 0 || static_cast<std::size_t>(data.label[m]) >= k)
      throw Error(
          fmt::format("node {} of all has the label {}, expected 0 to {}; every node needs its label in training",
                      m + 1, data.label[m], k - 1));
  if (!data.weight.empty()) throw Error("weights of graphs are not supported");
}

Dataset checked(Dataset data, bool multilabel) {
  if (multilabel)
    check_label_sets(data);
  else
    check_graphs(data);
  return data;
}

}  // namespace

std::vector<GraphEdge> chosen_edges(const TrainOptions& options, const Dataset& data) {
  if (!has_edges(options)) return {};
  const std::vector<std::uint32_t> counts(data.class_names.size(), 2);
  const bool given = !options.label_edges.empty();
  if (!given && options.edges == "tree") return label_tree(data.label, counts);
  std::vector<GraphEdge> out = given ? options.label_edges : read_label_edges(options.edges, data.class_names);
  try {
    const JunctionTree tree(FactorGraph(counts, out));
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", given ? "--edges" : options.edges, e.what()));
  }
  return out;
}

GraphTrainingSet::GraphTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : multilabel_(options.task == Task::multilabel),
      data_(checked(std::move(data), multilabel_)),
      label_edges_(multilabel_ ? chosen_edges(options, data_) : std::vector<GraphEdge>{}),
      share_(shares(data_)),
      bias_(options.bias),
      features_(prepare(std::exchange(data_.x, Features{}), multilabel_ ? data_.weight : std::vector<double>{}, options,
                        context, KernelForm::rows)) {
  if (multilabel_) {
    const LabelCosts costs = chosen_label_costs(options, data_.class_names);
    for (std::size_t j = 0; j < costs.labels(); ++j) costs_.push_back(costs.matrix(j));
    loss_name_ = costs.hamming() ? "hamming" : "costs";
    kept_costs_ = kept_costs(costs);
    structure_ = shared_edges(label_edges_, data_.examples());
    return;
  }
  costs_.push_back(chosen_cost(options, data_.class_names));
  loss_name_ = costs_[0].name();
  kept_costs_ = costs_[0].values();
  structure_ = *data_.graph;
  if (structure_.edge_features.cols > 0 && structure_.edge_features.rows > 0 && options.standardize.value_or(true)) {
    Features edges = std::move(structure_.edge_features);
    edge_standardizer_ = fit_standardizer(view(edges), {});
    apply_in_place(edge_standardizer_, edges);
    structure_.edge_features = std::get<DenseMatrix>(std::move(edges));
  }
}

Decoder GraphTrainingSet::decoder(const TrainOptions& options) const {
  const bool symmetric =
      std::all_of(costs_.begin(), costs_.end(), [](const CostMatrix& cost) { return cost.symmetric(); });
  return parts_decoder(options.decode, options.surrogate, symmetric, "labels");
}

void GraphTrainingSet::describe(Model& model) const {
  model.loss_name = loss_name_;
  model.cost = kept_costs_;
  model.bias = bias_;
  model.tokens = data_.label.size();
  model.graph.edges = label_edges_;
  if (multilabel_) return;
  model.graph.node_types = structure_.node_type_names;
  model.graph.edge_types = structure_.edge_type_names;
  model.graph.feature_names = structure_.edge_feature_names;
  model.graph.features = structure_.edge_features.cols;
}

// From a block a node type to rows of features, the types beside each other.
std::vector<double> GraphTrainingSet::by_feature(const std::vector<double>& by_type) const {
  const std::size_t types = structure_.node_types(), width = slots() * costs_[0].k();
  const std::size_t rows = by_type.size() / (types * width);
  std::vector<double> out;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t t = 0; t < types; ++t) {
      const auto first = by_type.begin() + static_cast<std::ptrdiff_t>((t * rows + r) * width);
      out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  return out;
}

// w . (x - mean) s  =  (w s) . x  -  (w s) . mean, the latter to the constant, which is the last of every type.
std::vector<double> GraphTrainingSet::for_raw_edges(std::vector<double> weights) const {
  if (edge_standardizer_.inverse_scale.empty()) return weights;
  const std::size_t table = costs_[0].k() * costs_[0].k(), count = structure_.edge_features.cols;
  for (std::size_t t = 0; t < structure_.edge_types(); ++t) {
    double* block = weights.data() + t * (count + 1) * table;
    for (std::size_t f = 0; f < count; ++f)
      for (std::size_t e = 0; e < table; ++e) {
        block[f * table + e] *= edge_standardizer_.inverse_scale[f];
        if (!edge_standardizer_.mean.empty())
          block[count * table + e] -= block[f * table + e] * edge_standardizer_.mean[f];
      }
  }
  return weights;
}

void GraphTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                             const Context& context, const std::function<void(Solution)>& emit) const {
  const Groups rows = multilabel_ ? Groups(data_.examples()) : data_.feature_rows;
  solve_graphs({.x = view(features_.x),
                .rows = &rows,
                .nodes = &data_.labels,
                .structure = &structure_,
                .bias = bias_,
                .label = data_.label,
                .weight = share_,
                .costs = costs_,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](GraphSolution found) {
                 check_finite(found.result.certificate, found.norm_squared, found.weights.node);
                 check_finite(found.result.certificate, found.norm_squared, found.weights.edge);
                 emit({found.result, by_feature(found.weights.node), for_raw_edges(std::move(found.weights.edge)),
                       found.norm_squared});
               });
}

// What the scores of a model are of.
Model GraphTrainingSet::shape() const {
  Model out;
  out.task = multilabel_ ? Task::multilabel : Task::graph;
  out.classes = data_.class_names;
  describe(out);
  return out;
}

double GraphTrainingSet::train_loss(const Solution& solution, Decoder decode, const Context& context) const {
  return loss_of(training_scores(features_, solution.node, shape(), context), data_, solution.edge, decode, context);
}

double GraphTrainingSet::mean_loss(const Features& mapped, const Dataset& examples, const Solution& solution,
                                   SurrogateKind, Decoder decode, const Context& context) const {
  Model linear = shape();  // of the mapped rows
  linear.d = cols(mapped);
  linear.weights = solution.node;
  return loss_of(linear.scores(view(mapped), context), examples, solution.edge, decode, context);
}

double GraphTrainingSet::loss_of(const std::vector<double>& scores, const Dataset& examples,
                                 const std::vector<double>& edge_weights, Decoder decode,
                                 const Context& context) const {
  const GraphPredictor predictor(costs_, decode, edge_weights, multilabel_ ? 0 : structure_.edge_features.cols);
  const Groups rows = multilabel_ ? Groups(examples.examples()) : examples.feature_rows;
  const GraphStructure shared = multilabel_ ? shared_edges(label_edges_, examples.examples()) : GraphStructure();
  const GraphStructure& structure = multilabel_ ? shared : *examples.graph;
  const std::vector<std::int32_t> predicted =
      predictor.labellings(scores, {&rows, &examples.labels, &structure}, context);
  if (!multilabel_) return mean_sequence_cost(costs_[0], examples.labels, examples.label, predicted);
  return mean_label_cost(remembered_costs(kept_costs_, data_.class_names), examples.label, predicted, examples.weight);
}

void GraphTrainingSet::keep(Solution solution, Model& model) const {
  finish(features_, std::move(solution.node), model);
  model.graph.weights = std::move(solution.edge);
}

}  // namespace m4n

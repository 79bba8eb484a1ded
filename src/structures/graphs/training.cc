// Solvers of graphs for a path of lambdas, and the training set of graphs (training.h).
#include "structures/graphs/training.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/message.h"
#include "features/standardize.h"
#include "solvers/lbfgs.h"
#include "structures/classes/solve.h"
#include "structures/classes/training.h"
#include "structures/graphs/ascent.h"
#include "structures/graphs/scorer.h"
#include "structures/graphs/shapes.h"
#include "structures/graphs/space.h"
#include "structures/graphs/structure.h"

namespace m4n::detail {

namespace {

void check(const GraphRequest& request) {
  const Groups &rows = *request.rows, &nodes = *request.nodes;
  const GraphStructure& structure = *request.structure;
  const std::size_t n = nodes.count(), labels = request.costs[0].k();
  if (n == 0) throw Error("no example to learn graphs from");
  if (rows.count() != n || structure.edges.count() != n || request.weight.size() != n)
    throw Error(say("{} with nodes, {} with features, {} with edges and {}: all must be as many", counted(n, "example"),
                    rows.count(), structure.edges.count(), counted(request.weight.size(), "weight")));
  const std::size_t slots = rows.end(0) == rows.begin(0) ? 0 : nodes.end(0) / rows.end(0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t own = rows.end(i) - rows.begin(i), count = nodes.end(i) - nodes.begin(i);
    if (count == 0) throw Error(say("example {} has no nodes", i + 1));
    if (own * slots != count)
      throw Error(say("example {} has {} and {} of features; expected {} per row as in the first", i + 1,
                      counted(count, "node"), counted(own, "row"), slots));
  }
  if (request.costs.size() != 1 && (request.costs.size() != slots || rows.end(0) != 1))
    throw Error(say("{} for {}; expected one, or one per node",
                    counted(request.costs.size(), "cost matrix", "cost matrices"), counted(slots, "node")));
  for (const CostMatrix& cost : request.costs)
    if (cost.k() != labels) throw Error(say("cost matrices of {} and {} labels", labels, cost.k()));
  for (std::size_t e = 0; e < request.label.size(); ++e)
    if (request.label[e] < 0 || static_cast<std::size_t>(request.label[e]) >= labels)
      throw Error(say("the label of node {} (counted over all examples) is {}; expected 0 to {}", e + 1,
                      request.label[e], labels - 1));
}

template <class Oracle, class Scorer>
void by_atoms(Problem<Scorer> problem, const GraphShapes& shapes, const GraphRequest& request, const EmitResult& emit) {
  const Oracle oracle(request.costs);
  const GraphParts<Scorer> parts(*problem.scorer, shapes);
  LabellingDual<Oracle> dual(
      problem, [&](std::size_t i, std::size_t m) -> const CostMatrix& { return request.costs[shapes.cost(i)[m]]; });
  path_of_ascents(problem, oracle, parts, std::move(dual), {request.lambdas, request.options, request.context}, emit);
}

template <class Scorer>
void crf(Problem<Scorer> problem, const GraphShapes& shapes, const GraphRequest& request, const EmitResult& emit) {
  const Scorer& scorer = *problem.scorer;
  const std::size_t labels = scorer.labels(), stride = scorer.stride();
  const auto slope = [&shapes, &scorer, labels, stride, gibbs = GraphSumProduct(),
                      pairwise = std::vector<PaddedRows<const double>>()](std::size_t i, std::span<const double> v,
                                                                          LabelView y, std::span<double> out) mutable {
    const std::size_t nodes = y.size();
    const std::span<const GraphEdge> edges = scorer.edges_of(i);
    pairwise.clear();
    for (std::size_t e = 0; e < edges.size(); ++e)
      pairwise.emplace_back(v.data() + (nodes + e * labels) * stride, labels, labels);
    const GraphScores scores{&shapes.tree(i), {v.data(), nodes, labels}, pairwise};
    const double value = gibbs.solve(scores) - score(scores, y);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t m = 0; m < nodes; ++m) {
      std::copy_n(gibbs.nodes().row(m), labels, out.data() + m * stride);
      out[m * stride + static_cast<std::size_t>(y[m])] -= 1;
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      double* table = out.data() + (nodes + e * labels) * stride;
      for (std::size_t a = 0; a < labels; ++a) std::copy_n(gibbs.edge(e).row(a), labels, table + a * stride);
      table[static_cast<std::size_t>(y[edges[e].u]) * stride + static_cast<std::size_t>(y[edges[e].v])] -= 1;
    }
    return value;
  };
  const auto at_zero = [labels](LabelView y) {
    return static_cast<double>(y.size()) * std::log(static_cast<double>(labels));
  };
  lbfgs_path(problem, SlopeFromZero{slope, at_zero}, {request.lambdas, request.options, request.context}, emit);
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const GraphShapes& shapes, const GraphRequest& request,
           const EmitResult& emit) {
  const TrainOptions& o = *request.options;
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      if (o.oracle == OracleKind::spmp)
        throw UsageError(
            say("--oracle spmp is not for graphs: the max-min oracle is solved exactly there; => leave it out"));
      return by_atoms<LabellingMaxMin<GraphProblem>>(problem, shapes, request, emit);
    case SurrogateKind::m3n:
      return by_atoms<LabellingMaxMargin<GraphProblem>>(problem, shapes, request, emit);
    case SurrogateKind::crf:
      return crf(problem, shapes, request, emit);
    case SurrogateKind::qs:
      break;
  }
  throw UsageError(
      say("--surrogate qs regresses every part of the output on its own, so that the edges of a graph would change "
          "nothing; => use m4n, m3n or crf"));
}

}  // namespace

void solve_graphs(const GraphRequest& request, const std::function<void(std::unique_ptr<GraphSolution>)>& emit) {
  check(request);
  const std::size_t labels = request.costs[0].k();
  const GraphShapes shapes(*request.nodes, *request.structure, labels, request.costs.size(), request.memory_limit);
  GraphScorer scorer(request.x, *request.rows, *request.nodes, *request.structure, labels, request.bias);
  const Problem<GraphScorer> problem{&scorer, request.label, *request.nodes, request.weight, 0};
  solve(problem, shapes, request, [&](const SolveResult& result) {
    auto out = std::make_unique<GraphSolution>();
    out->result = result;
    out->weights = {scorer.node_weights(), scorer.edge_weights()};
    out->norm_squared = scorer.norm_squared();
    emit(std::move(out));
  });
}

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
  check_weights(data);
  return data;
}

}  // namespace

GraphTrainingSet::GraphTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss,
                                   const Context& context)
    : RowTrainingSet(checked(std::move(data)), options, options.bias, context, KernelForm::rows),
      cost_(chosen_fixed_cost(options, data_, usual_loss)),
      structure_(*data_.graph) {
  if (structure_.edge_features.cols > 0 && structure_.edge_features.rows > 0 && options.standardize.value_or(true)) {
    Features edges = std::move(structure_.edge_features);
    edge_standardizer_ = fit_standardizer(view(edges), {});
    apply_in_place(edge_standardizer_, edges);
    structure_.edge_features = std::get<DenseMatrix>(std::move(edges));
  }
}

// From one block per node type to rows of features, the types beside each other.
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

std::vector<std::int32_t> GraphTrainingSet::predicted(std::span<const double> scores, const Dataset& examples,
                                                      const Solution& solution, const TrainOptions&, Decoder decode,
                                                      const Context& context) const {
  const GraphPredictor predictor({cost_}, decode, static_cast<const Found&>(solution).edge_weights,
                                 structure_.edge_features.cols);
  return predictor.labellings(scores, {&examples.feature_rows, &examples.labels, examples.graph.get()}, context);
}

double GraphTrainingSet::mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const {
  return mean_sequence_cost(cost_, examples.labels, examples.label, predicted, examples.weight);
}

void GraphTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  common.weights_column.clear();  // a file beside the data
  common.loss_name = cost_.name();
  common.cost = cost_.values();
  common.predictions = cost_.prediction_names();
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

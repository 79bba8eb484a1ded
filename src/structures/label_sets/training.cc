// Solvers of label sets for a path of lambdas, and their training sets, without and with edges (training.h).
#include "structures/label_sets/training.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/message.h"
#include "solvers/block_dual.h"
#include "solvers/linear_scorer.h"
#include "solvers/quadratic.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/training.h"
#include "structures/label_sets/edges.h"
#include "structures/label_sets/structure.h"
#include "structures/label_sets/surrogates.h"
#include "surrogates/registry.h"

namespace m4n::detail {

namespace {

void check(const MultilabelRequest& request) {
  const std::size_t labels = request.costs->labels(), n = request.weight.size();
  const std::size_t rows =
      request.gram != nullptr ? request.gram->n() : std::visit([](const auto& x) { return x.rows; }, request.x);
  if (n == 0) throw Error("no example to learn labels from");
  if (rows != n || request.label.size() != n * labels)
    throw Error(say("{} of features and {} for {} with {} each", counted(rows, "row"),
                    counted(request.label.size(), "label"), counted(n, "example"), counted(labels, "label")));
  for (std::size_t e = 0; e < request.label.size(); ++e)
    if (request.label[e] != 0 && request.label[e] != 1)
      throw Error(say("example {}: label {} is {}; expected 0 or 1", e / labels + 1, e % labels + 1, request.label[e]));
}

// S(s, y) = sum_j (s_j - t_j)^2 and its slope; without a target, its curvature.
struct LabelRegression {
  const LabelCosts* costs;
  bool homogeneous = false;

  double target(std::size_t j, LabelView y) const {
    return 0.5 * (y[j] == 1 ? costs->miss(j) : -costs->false_alarm(j));
  }
  double operator()(std::span<const double> s, LabelView y, std::span<double> slope) const {
    std::fill(slope.begin(), slope.end(), 0.0);
    double value = 0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double residual = s[j] - (homogeneous ? 0 : target(j, y));
      value += residual * residual;
      slope[j] = 2 * residual;
    }
    return value;
  }
};

// What a label's score is regressed onto, for every example, padded.
AlignedVector<double> regression_targets(const Problem<KernelScorer>& problem, const LabelCosts& costs) {
  const std::size_t stride = kernels::padded(costs.labels());
  AlignedVector<double> out(problem.examples() * stride, 0.0);
  const LabelRegression regression{&costs};
  for (std::size_t i = 0; i < problem.examples(); ++i)
    for (std::size_t j = 0; j < costs.labels(); ++j) out[i * stride + j] = regression.target(j, problem.y(i));
  return out;
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const MultilabelRequest& request, const PathRequest& path,
           const EmitResult& emit) {
  const LabelCosts& costs = *request.costs;
  switch (path.options->surrogate) {
    case SurrogateKind::m4n:
      return block_dual(problem, OnOffMaxMin(costs), path, emit);
    case SurrogateKind::m3n:
      return block_dual(problem, OnOffMargin(costs), path, emit);
    case SurrogateKind::crf:
      return block_dual(problem, OnOffCrf(costs.labels()), path, emit);
    case SurrogateKind::qs:
      if constexpr (std::is_same_v<Scorer, KernelScorer>) {
        const AlignedVector<double> targets = regression_targets(problem, costs);
        const std::size_t stride = kernels::padded(costs.labels());
        quadratic_kernel_path(
            problem, *request.gram, costs.labels(), [&](std::size_t i) { return targets.data() + i * stride; }, path,
            emit);
      } else {
        quadratic_path(problem, request.x, request.bias, LabelRegression{&costs}, LabelRegression{&costs, true}, path,
                       emit);
      }
  }
}

template <class Scorer>
std::vector<std::int32_t> predict(const Scorer& scorer, std::span<const LabelThreshold> threshold, unsigned threads) {
  constexpr std::size_t chunk = 512;
  const std::size_t labels = threshold.size();
  std::vector<std::int32_t> out(scorer.examples() * labels);
  parallel_chunks(scorer.examples(), chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    AlignedVector<double> s(scorer.largest_padded_parts());
    for (std::size_t i = first; i < last; ++i) {
      scorer.scores(i, s);
      for (std::size_t j = 0; j < labels; ++j) out[i * labels + j] = threshold[j].decide(s[j]);
    }
  });
  return out;
}

}  // namespace

// lambda/2 |w|^2 is lambda |W|^2 of the scorer's weights W.
void solve_multilabel(const MultilabelRequest& request,
                      const std::function<void(std::unique_ptr<MultilabelSolution>)>& emit) {
  check(request);
  const TrainOptions& o = *request.options;
  const LabelCosts& costs = *request.costs;
  if (o.oracle == OracleKind::spmp)
    throw UsageError(
        say("--oracle spmp is not for multi-label problems, whose max-min oracle is a formula; => leave it out"));
  std::vector<LabelThreshold> thresholds;
  if (request.decode != Decoder::automatic) thresholds = label_thresholds(o.surrogate, request.decode, costs);
  std::vector<double> doubled(request.lambdas.begin(), request.lambdas.end());
  for (double& lambda : doubled) lambda *= 2;
  const PathRequest path{doubled, request.options, request.context};
  const auto run = [&](auto scorer) {
    using Scorer = decltype(scorer);
    const Problem<Scorer> problem{&scorer, request.label, Groups(request.weight.size(), costs.labels()), request.weight,
                                  0};
    solve(problem, request, path, [&](const SolveResult& result) {
      auto out = std::make_unique<MultilabelSolution>();
      out->result = result;
      out->weights = scorer.weights();
      out->norm_squared = 2 * scorer.norm_squared();
      if (!thresholds.empty()) out->predicted = predict(scorer, thresholds, request.context->threads);
      emit(std::move(out));
    });
  };
  if (request.gram == nullptr) {
    run(LinearScorer(request.x, costs.labels(), request.bias));
  } else {
    run(KernelScorer(*request.gram, costs.labels()));
  }
}

LabelCosts chosen_label_costs(const TrainOptions& options, const std::vector<std::string>& labels) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(say("both costs and --loss {} are given; => give one of them", options.loss));
  const LabelCosts costs = !options.cost.empty()                               ? remembered_costs(options.cost, labels)
                           : options.loss.empty() || options.loss == "hamming" ? LabelCosts::hamming(labels.size())
                                                                               : LabelCosts::read(options.loss, labels);
  return options.reject ? costs.with_unsure(*options.reject, labels) : costs;
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
    : RowTrainingSet(checked_label_sets(std::move(data)), options, options.bias, context, KernelForm::pairs),
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

std::vector<std::int32_t> LabelSetTrainingSet::predicted(std::span<const double> scores, const Dataset&,
                                                         const Solution&, const TrainOptions& options, Decoder decode,
                                                         const Context&) const {
  return by_thresholds(scores, label_thresholds(options.surrogate, decode, costs_));
}

double LabelSetTrainingSet::mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const {
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
    : RowTrainingSet(checked_label_sets(std::move(data)), options, options.bias, context, KernelForm::rows),
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

std::vector<std::int32_t> JoinedLabelTrainingSet::predicted(std::span<const double> scores, const Dataset&,
                                                            const Solution& solution, const TrainOptions&,
                                                            Decoder decode, const Context& context) const {
  const GraphPredictor predictor =
      joined_predictor(costs_, decode, static_cast<const JoinedSolution&>(solution).edge_weights);
  return decode_joined(predictor, scores, costs_.labels(), edges_, context);
}

double JoinedLabelTrainingSet::mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const {
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

std::vector<LabelThreshold> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs) {
  const std::size_t labels = costs.labels();
  const auto m = static_cast<double>(labels);
  std::vector<LabelThreshold> out(labels);
  if (decode == Decoder::automatic) decode = usual_decoder(surrogate, 0, costs.symmetric(), Decoder::argmax);
  const bool quadratic = surrogate == SurrogateKind::qs;
  if (decode == Decoder::argmax && !(quadratic && costs.has_unsure())) return out;
  const bool adversary = decode == Decoder::adversary && surrogate == SurrogateKind::m4n,
             expected = decode == Decoder::expected && surrogate == SurrogateKind::crf;
  if (!adversary && !expected && !(decode == Decoder::argmax && quadratic))
    throw UsageError(say("--decode {} does not go with --surrogate {} on labels that are on or off; => use argmax",
                         to_string(decode), to_string(surrogate)));
  // The score at which a label is on with the probability p.
  const auto score_of = [&](double p, double miss, double alarm) {
    return quadratic ? 0.5 * (p * miss - (1 - p) * alarm) : 0.5 * std::log(p / (1 - p));
  };
  for (std::size_t j = 0; j < labels; ++j) {
    const double miss = costs.miss(j), alarm = costs.false_alarm(j);
    if (costs.unsure_pays(j)) {
      const double low = costs.unsure(j) / miss, high = 1 - costs.unsure(j) / alarm;
      out[j] = adversary ? LabelThreshold{-miss / (4 * m), alarm / (4 * m)}
                         : LabelThreshold{score_of(low, miss, alarm), score_of(high, miss, alarm)};
    } else if (!quadratic) {
      const double both = adversary ? (alarm - miss) / (4 * m) : 0.5 * std::log(alarm / miss);
      out[j] = {both, both};
    }
  }
  return out;
}

std::vector<std::int32_t> by_thresholds(std::span<const double> scores, std::span<const LabelThreshold> threshold) {
  std::vector<std::int32_t> out(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) out[e] = threshold[e % threshold.size()].decide(scores[e]);
  return out;
}

}  // namespace m4n::detail

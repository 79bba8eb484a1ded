// fit(): from data and options to a model. The order is that of the data: labels and weights, cost matrix, features
// (TrainingSet), weights w, decoding.
#include "m4n/fit.h"

#include <chrono>

#include "structures/chains/training_set.h"
#include "structures/graphs/training_set.h"
#include "structures/label_sets/training_set.h"
#include "structures/permutations/training_set.h"
#include "structures/classes/training_set.h"
#include "structures/classes/decoder.h"

namespace m4n {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TrainReport report_of(const Model& model, const SolveResult& result) {
  TrainReport r;
  r.task = to_string(model.task);
  r.surrogate = to_string(model.surrogate);
  r.loss = model.loss_name;
  r.features = to_string(model.map.kind);
  r.solver = model.solver;
  r.decode = to_string(model.decode);
  r.n = model.n;
  r.tokens = model.tokens;
  r.d = model.d;
  r.k = model.task == Task::matching ? model.points : model.k();
  r.lambda = model.lambda;
  r.smoothing = model.smoothing;
  r.epochs = model.epochs;
  r.oracle_calls = model.oracle_calls;
  r.seed = model.seed;
  r.seconds = result.seconds;
  r.certificate = model.certificate;
  r.train_loss = model.train_loss;
  r.norm_squared = model.norm_squared;
  r.interrupted = result.interrupted;
  return r;
}

// What a model says of its training, whatever its structure.
Model described(const TrainOptions& options, const Dataset& examples) {
  Model model;
  model.task = options.task.value_or(Task::multiclass);
  model.surrogate = options.surrogate;
  model.smoothing = options.smoothing;
  model.classes = examples.class_names;
  model.feature_names = examples.feature_names;
  model.target_column = options.read.target;
  model.weights_column = options.read.weights;
  model.id_column = options.read.id;
  model.fold_column = options.read.fold;
  model.map.kind = options.features;
  model.tol = options.tol;
  model.n = model.tokens = examples.examples();
  model.seed = options.seed;
  return model;
}

void tell(const SolveResult& result, double lambda, double norm_squared, Model& model) {
  model.lambda = lambda;
  model.solver = result.solver;
  model.epochs = result.epochs;
  model.oracle_calls = result.oracle_calls;
  model.norm_squared = norm_squared;
  model.certificate = result.certificate;
  model.interrupted = result.interrupted;
}

std::vector<FitResult> fit_classes(Dataset data, const TrainOptions& options, std::span<const double> lambdas,
                                   const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const TrainingSet set(std::move(data), options, context);
  const CostMatrix& cost = set.cost();
  const Dataset& examples = set.data();

  Model common = described(options, examples);
  common.loss_name = cost.name();
  common.cost = cost.values();
  common.decode =
      options.decode == Decoder::automatic ? default_decoder(common.surrogate, common.smoothing, cost) : options.decode;
  common.bins = examples.bins;
  common.bias = options.bias;

  std::vector<Solution> solutions = set.solve(options, common.decode, lambdas, context);
  std::vector<FitResult> out;
  for (std::size_t s = 0; s < solutions.size(); ++s) {
    Model model = common;
    const SolveResult& result = solutions[s].result;
    tell(result, lambdas[s], solutions[s].norm_squared, model);
    model.train_loss = mean_cost(cost, examples.label, solutions[s].predicted, examples.weight);
    finish(set.features(), std::move(solutions[s].weights), model);
    TrainReport report = report_of(model, result);
    report.seconds_total = seconds_since(start);
    out.push_back({std::move(model), std::move(report)});
  }
  return out;
}

std::vector<FitResult> fit_sequences(Dataset data, const TrainOptions& options, std::span<const double> lambdas,
                                     const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const ChainTrainingSet set(std::move(data), options);
  Model common = described(options, set.data());
  common.loss_name = set.cost().name();
  common.cost = set.cost().values();
  common.decode = set.decoder(options);
  common.input = set.data().input;
  common.d = cols(set.data().x);
  common.sparse = std::holds_alternative<SparseMatrix>(set.data().x);
  common.tokens = set.data().label.size();

  // The training sequences are predicted when the solver's memory is free again.
  std::vector<ChainSolution> solutions;
  set.solve(options, lambdas, context, [&](ChainSolution solution) { solutions.push_back(std::move(solution)); });
  std::vector<FitResult> out;
  for (ChainSolution& solution : solutions) {
    Model model = common;
    tell(solution.result, lambdas[out.size()], solution.norm_squared, model);
    model.train_loss = set.mean_loss(set.data(), solution.weights, model.decode, context);
    model.chain = set.for_raw_rows(std::move(solution.weights));
    model.bias = !model.chain.bias.empty();
    TrainReport report = report_of(model, solution.result);
    report.seconds_total = seconds_since(start);
    out.push_back({std::move(model), std::move(report)});
  }
  return out;
}

// Outputs with several parts whose examples are rows of features: permutations, label sets, graphs.
template <class Set>
std::vector<FitResult> fit_parts(Dataset data, const TrainOptions& options, std::span<const double> lambdas,
                                 const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const Set set(std::move(data), options, context);
  Model common = described(options, set.data());
  set.describe(common);
  common.decode = set.decoder(options);
  std::vector<FitResult> out;
  set.solve(options, common.decode, lambdas, context, [&](typename Set::Solution solution) {
    Model model = common;
    const SolveResult result = solution.result;
    tell(result, lambdas[out.size()], solution.norm_squared, model);
    model.train_loss = set.train_loss(solution, model.decode, context);
    set.keep(std::move(solution), model);
    TrainReport report = report_of(model, result);
    report.seconds_total = seconds_since(start);
    out.push_back({std::move(model), std::move(report)});
  });
  return out;
}

}  // namespace

std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                const Context& context) {
  const TrainOptions options = completed(requested);
  switch (*options.task) {
    case Task::sequence:
      return fit_sequences(std::move(data), options, lambdas, context);
    case Task::ranking:
    case Task::matching:
      return fit_parts<PermutationTrainingSet>(std::move(data), options, lambdas, context);
    case Task::multilabel:
      return has_edges(options, data) ? fit_parts<GraphTrainingSet>(std::move(data), options, lambdas, context)
                                      : fit_parts<MultilabelTrainingSet>(std::move(data), options, lambdas, context);
    case Task::graph:
      return fit_parts<GraphTrainingSet>(std::move(data), options, lambdas, context);
    default:
      return fit_classes(std::move(data), options, lambdas, context);
  }
}

FitResult fit(Dataset data, const TrainOptions& options, const Context& context) {
  const double lambda = options.lambda.value_or(usual_lambda(options, data));
  return std::move(fit_path(std::move(data), options, {&lambda, 1}, context).front());
}

}  // namespace m4n

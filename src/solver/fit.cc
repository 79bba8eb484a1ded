// fit(): from data and options to a model. The order is that of the data: labels and weights, cost matrix, features
// (TrainingSet), weights w, decoding.
#include "m4n/fit.h"

#include <chrono>

#include "solver/training_set.h"
#include "surrogate/decoder.h"

namespace m4n {
namespace {

TrainReport report_of(const Model& model, const SolveResult& result) {
  TrainReport r;
  r.task = to_string(model.task);
  r.surrogate = to_string(model.surrogate);
  r.loss = model.loss_name;
  r.features = to_string(model.map.kind);
  r.solver = model.solver;
  r.decode = to_string(model.decode);
  r.n = model.n;
  r.d = model.d;
  r.k = model.k();
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

}  // namespace

std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const TrainOptions options = completed(requested);
  const TrainingSet set(std::move(data), options, context);
  const CostMatrix& cost = set.cost();
  const Dataset& examples = set.data();

  Model common;
  common.task = options.task.value_or(Task::multiclass);
  common.surrogate = options.surrogate;
  common.smoothing = options.smoothing;
  common.decode =
      options.decode == Decoder::automatic ? default_decoder(common.surrogate, common.smoothing, cost) : options.decode;
  common.loss_name = cost.name();
  common.cost = cost.values();
  common.classes = examples.class_names;
  common.feature_names = examples.feature_names;
  common.bins = examples.bins;
  common.target_column = options.read.target;
  common.weights_column = options.read.weights;
  common.id_column = options.read.id;
  common.fold_column = options.read.fold;
  common.map.kind = options.features;
  common.bias = options.bias;
  common.tol = options.tol;
  common.n = examples.examples();
  common.seed = options.seed;

  std::vector<Solution> solutions = set.solve(options, common.decode, lambdas, context);
  std::vector<FitResult> out;
  for (std::size_t s = 0; s < solutions.size(); ++s) {
    Model model = common;
    const SolveResult& result = solutions[s].result;
    model.lambda = lambdas[s];
    model.solver = result.solver;
    model.epochs = result.epochs;
    model.oracle_calls = result.oracle_calls;
    model.norm_squared = solutions[s].norm_squared;
    model.certificate = result.certificate;
    model.interrupted = result.interrupted;
    model.train_loss = mean_cost(cost, examples.label, solutions[s].predicted, examples.weight);
    finish(set.features(), std::move(solutions[s].weights), model);
    TrainReport report = report_of(model, result);
    report.seconds_total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.push_back({std::move(model), std::move(report)});
  }
  return out;
}

FitResult fit(Dataset data, const TrainOptions& options, const Context& context) {
  const double usual = 1 / static_cast<double>(std::max<std::size_t>(data.examples(), 1));
  const double lambda = options.lambda.value_or(usual);
  return std::move(fit_path(std::move(data), options, {&lambda, 1}, context).front());
}

}  // namespace m4n

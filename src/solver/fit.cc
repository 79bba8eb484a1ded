// fit(): checks, transforms, the choice of loss and solver, and the model that comes out. The order is that of the
// data: labels and weights, cost matrix, features, weights w, decoding.
#include "m4n/fit.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "loss/cost_matrix.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "solver/solve.h"
#include "surrogate/decoder.h"
#include "transform/standardize.h"

namespace m4n {
namespace {

void check(const Dataset& data) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (rows(data.x) != n || data.label.size() != n)
    throw Error(
        fmt::format("{} rows of features and {} labels do not belong together", rows(data.x), data.label.size()));
  if (data.class_names.size() < 2)
    throw Error(fmt::format("only {} class in the data; learning needs at least two", data.class_names.size()));
  for (std::size_t i = 0; i < n; ++i)
    if (data.label[i] < 0 || static_cast<std::size_t>(data.label[i]) >= data.class_names.size())
      throw Error(fmt::format("example {} has the label {}, expected 0 to {}", i + 1, data.label[i],
                              data.class_names.size() - 1));
  if (!data.weight.empty() && data.weight.size() != n)
    throw Error(fmt::format("{} weights for {} examples", data.weight.size(), n));
  for (std::size_t i = 0; i < data.weight.size(); ++i)
    if (!(data.weight[i] > 0) || !std::isfinite(data.weight[i]))
      throw Error(
          fmt::format("example {} has the weight {}; weights must be positive and finite", i + 1, data.weight[i]));
}

// p_i: example weights times class weights, summing to 1.
std::vector<double> shares(const Dataset& data, const std::string& class_weight) {
  std::vector<double> p = data.weight.empty() ? std::vector<double>(data.examples(), 1.0) : data.weight;
  if (!class_weight.empty()) {
    const std::vector<double> by_class = read_class_weights(class_weight, data);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] *= by_class[static_cast<std::size_t>(data.label[i])];
  }
  double total = 0;
  for (const double x : p) total += x;
  for (double& x : p) x /= total;
  return p;
}

CostMatrix chosen_cost(const TrainOptions& options, Task task, const std::vector<std::string>& classes) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(fmt::format("both a cost matrix and the loss {} are given; give one of them", options.loss));
  if (!options.cost.empty())
    return CostMatrix::from_values(options.cost, classes.size(), "matrix", classes, "the cost matrix");
  const std::string usual = task == Task::ordinal ? "absolute" : "zero-one";
  return CostMatrix::parse(options.loss.empty() ? usual : options.loss, classes);
}

Solution solve(const SolveRequest& request) {
  switch (request.options->surrogate) {
    case SurrogateKind::m4n:
      return solve_m4n(request);
    case SurrogateKind::m3n:
      return solve_m3n(request);
    case SurrogateKind::crf:
      return solve_crf(request);
    case SurrogateKind::qs:
      return solve_qs(request);
  }
  throw UsageError("unknown surrogate");
}

}  // namespace

FitResult fit(Dataset data, const TrainOptions& requested, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  TrainOptions options = requested;
  if (options.oracle == OracleKind::spmp && options.solver == SolverKind::automatic) options.solver = SolverKind::gbcfw;
  validate(options);
  check(data);

  FitResult out;
  Model& model = out.model;
  model.task = options.task.value_or(Task::multiclass);
  const CostMatrix cost = chosen_cost(options, model.task, data.class_names);
  const std::vector<double> p = shares(data, options.class_weight);

  model.sparse = std::holds_alternative<SparseMatrix>(data.x);
  model.d = cols(data.x);
  if (options.standardize.value_or(!model.sparse)) {
    model.standardizer = fit_standardizer(view(data.x), data.weight);
    apply_in_place(model.standardizer, data.x);
  }

  model.n = data.examples();
  model.lambda = options.lambda.value_or(1 / static_cast<double>(model.n));
  Solution solution = solve({view(data.x), options.bias, data.label, p, &cost, model.lambda, &options, &context});

  model.surrogate = options.surrogate;
  model.smoothing = options.smoothing;
  model.decode =
      options.decode == Decoder::automatic ? default_decoder(model.surrogate, model.smoothing, cost) : options.decode;
  model.loss_name = cost.name();
  model.cost = cost.values();
  model.classes = std::move(data.class_names);
  model.feature_names = std::move(data.feature_names);
  model.bias = options.bias;
  model.weights = std::move(solution.weights);
  model.solver = solution.result.solver;
  model.tol = options.tol;
  model.epochs = solution.result.epochs;
  model.oracle_calls = solution.result.oracle_calls;
  model.seed = options.seed;
  model.norm_squared = solution.norm_squared;
  model.certificate = solution.result.certificate;

  // The task loss on the training data, which are transformed already.
  Standardizer fitted;
  std::swap(fitted, model.standardizer);
  const std::vector<std::int32_t> predicted = model.predict(view(data.x), context);
  std::swap(fitted, model.standardizer);
  double total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double weight = data.weight.empty() ? 1.0 : data.weight[i];
    model.train_loss += weight * cost(static_cast<std::size_t>(data.label[i]), static_cast<std::size_t>(predicted[i]));
    total += weight;
  }
  model.train_loss /= total;

  TrainReport& r = out.report;
  r.task = to_string(model.task);
  r.surrogate = to_string(model.surrogate);
  r.loss = model.loss_name;
  r.features = "linear";
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
  r.seconds = solution.result.seconds;
  r.certificate = model.certificate;
  r.train_loss = model.train_loss;
  r.norm_squared = model.norm_squared;
  r.interrupted = solution.result.interrupted;
  r.seconds_total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace m4n

// fit(): checks, transforms, the choice of loss and solver, and the model that comes out. The order is that of the
// data: labels and weights, cost matrix, features, weights w, decoding.
#include "m4n/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "loss/cost_matrix.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "solver/solve.h"
#include "surrogate/decoder.h"
#include "transform/prepared.h"

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
  const double largest = *std::max_element(p.begin(), p.end());  // out first, so that no sum overflows
  double total = 0;
  for (double& x : p) total += x /= largest;
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

std::vector<Solution> solve(const SolveRequest& request) {
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

// Mean cost of the predictions, weighted as the examples are.
double mean_cost(const CostMatrix& cost, const Dataset& data, const std::vector<std::int32_t>& predicted) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double weight = data.weight.empty() ? 1.0 : data.weight[i];
    sum += weight * cost(static_cast<std::size_t>(data.label[i]), static_cast<std::size_t>(predicted[i]));
    total += weight;
  }
  return sum / total;
}

// Data or options so extreme that doubles cannot hold the answer give no model.
void check(const Solution& solution) {
  const Certificate& c = solution.result.certificate;
  const bool finite =
      std::isfinite(c.primal) && std::isfinite(c.dual) && std::isfinite(solution.norm_squared) &&
      std::all_of(solution.weights.begin(), solution.weights.end(), [](double w) { return std::isfinite(w); });
  if (!finite || c.gap() < -1e-9 * std::abs(c.primal))
    throw Error(fmt::format(
        "the numbers leave the range of double precision (objective {}, bound {}): use --standardize yes, features and "
        "costs of ordinary size, or a lambda nearer to 1/n",
        c.primal, c.dual));
}

}  // namespace

std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  TrainOptions options = requested;
  if (options.oracle == OracleKind::spmp && options.solver == SolverKind::automatic) options.solver = SolverKind::gbcfw;
  validate(options);
  check(data);

  Model common;
  common.task = options.task.value_or(Task::multiclass);
  const CostMatrix cost = chosen_cost(options, common.task, data.class_names);
  const std::vector<double> p = shares(data, options.class_weight);
  const PreparedFeatures prepared = prepare(std::move(data.x), data.weight, options, context);
  common.surrogate = options.surrogate;
  common.smoothing = options.smoothing;
  common.decode =
      options.decode == Decoder::automatic ? default_decoder(common.surrogate, common.smoothing, cost) : options.decode;
  common.loss_name = cost.name();
  common.cost = cost.values();
  common.classes = data.class_names;
  common.feature_names = data.feature_names;
  common.bins = data.bins;
  common.target_column = options.read.target;
  common.weights_column = options.read.weights;
  common.id_column = options.read.id;
  common.map.kind = options.features;
  common.bias = options.bias;
  common.tol = options.tol;
  common.n = data.examples();
  common.seed = options.seed;

  std::vector<Solution> solutions = solve({view(prepared.x), prepared.kernel ? &prepared.gram : nullptr, options.bias,
                                           data.label, p, &cost, lambdas, common.decode, &options, &context});
  std::vector<FitResult> out;
  for (std::size_t s = 0; s < solutions.size(); ++s) {
    check(solutions[s]);
    Model model = common;
    const SolveResult& result = solutions[s].result;
    model.lambda = lambdas[s];
    model.solver = result.solver;
    model.epochs = result.epochs;
    model.oracle_calls = result.oracle_calls;
    model.norm_squared = solutions[s].norm_squared;
    model.certificate = result.certificate;
    model.interrupted = result.interrupted;
    model.train_loss = mean_cost(cost, data, solutions[s].predicted);
    finish(prepared, std::move(solutions[s].weights), model);
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

#include "structures/classes/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "m4n/error.h"
#include "m4n/read.h"

namespace m4n {
namespace {

void check(const Dataset& data) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (rows(data.x) != n || data.label.size() != n)
    throw Error(
        fmt::format("{} rows of features and {} labels do not belong together", rows(data.x), data.label.size()));
  if (const auto* sparse = std::get_if<SparseMatrix>(&data.x); sparse && sparse->value.size() != sparse->column.size())
    throw Error("sparse rows without values are for sequences; give every entry its value");
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

std::vector<Solution> dispatch(const SolveRequest& request) {
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

Dataset checked(Dataset data) {
  check(data);
  return data;
}

}  // namespace

CostMatrix chosen_cost(const TrainOptions& options, const std::vector<std::string>& classes) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(fmt::format("both a cost matrix and the loss {} are given; give one of them", options.loss));
  if (!options.cost.empty())
    return CostMatrix::from_values(options.cost, classes.size(), "matrix", classes, "the cost matrix");
  const std::string usual = options.task == Task::ordinal                                   ? "absolute"
                            : options.task == Task::sequence || options.task == Task::graph ? "hamming"
                                                                                            : "zero-one";
  return CostMatrix::parse(options.loss.empty() ? usual : options.loss, classes);
}

double usual_lambda(const TrainOptions& options, const Dataset& data) {
  const auto n = static_cast<double>(std::max<std::size_t>(data.examples(), 1));
  const bool parts = options.task && options.task != Task::multiclass && options.task != Task::ordinal;
  const bool averaged = parts && (options.surrogate == SurrogateKind::m4n || options.surrogate == SurrogateKind::m3n);
  return averaged ? static_cast<double>(data.label.size()) / n / n : 1 / n;
}

TrainOptions completed(TrainOptions options) {
  if (!options.task) options.task = Task::multiclass;
  if (options.oracle == OracleKind::spmp && options.solver == SolverKind::automatic) options.solver = SolverKind::gbcfw;
  validate(options);
  return options;
}

TrainingSet::TrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : data_(checked(std::move(data))),
      cost_(chosen_cost(options, data_.class_names)),
      share_(shares(data_, options.class_weight)),
      features_(prepare(std::exchange(data_.x, Features{}), data_.weight, options, context)) {}

std::vector<Solution> TrainingSet::solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                                         const Context& context) const {
  std::vector<Solution> out = dispatch({view(features_.x), features_.kernel ? &features_.gram : nullptr, options.bias,
                                        data_.label, share_, &cost_, lambdas, decode, &options, &context});
  for (const Solution& solution : out) check(solution);
  return out;
}

}  // namespace m4n

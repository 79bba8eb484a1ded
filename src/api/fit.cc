// fit(): from data and options to a model. The order is that of the data: labels, weights, costs and features
// (TrainingSet), then weights w, one solution per lambda, then the model's terms.
#include "m4n/fit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "api/model_terms.h"
#include "api/settings.h"
#include "core/checksum.h"
#include "solvers/checkpoint.h"
#include "solvers/warm_start.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n {

double Certificate::relative_gap() const { return gap() / std::max(std::abs(primal), 1e-12); }

namespace detail {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TrainReport report_of(const Model& model, const SolveResult& result) {
  const Structure& structure = structure_of(model);
  const ModelCommon& common = model.common();
  TrainReport r;
  r.task = common.task;
  r.surrogate = to_string(common.surrogate);
  r.loss = common.loss_name;
  r.features = to_string(structure.features(model).kind);
  r.solver = common.solver;
  r.decode = to_string(common.decode);
  r.n = common.n;
  r.parts = common.parts;
  r.d = common.d;
  r.k = structure.label_count(model);
  r.lambda = common.lambda;
  r.smoothing = common.smoothing;
  r.epochs = common.epochs;
  r.oracle_calls = common.oracle_calls;
  r.seed = common.seed;
  r.seconds = result.seconds;
  r.certificate = common.certificate;
  r.train_loss = common.train_loss;
  r.norm_squared = common.norm_squared;
  r.interrupted = result.interrupted;
  return r;
}

// Of what a dual point is: those of another kind are no start.
std::string kind_of_point(const Structure& structure, const TrainOptions& options, const Dataset& data) {
  const LossSummary loss = structure.loss(options, data);
  std::string kind =
      fmt::format("{} {} {} {}", options.task, to_string(options.surrogate), loss.name, checksum_text(loss.values));
  for (const auto& [name, value] : structure.settings(options, data)) kind += fmt::format("\n{} {}", name, value);
  for (const std::string& name : data.class_names) kind += '\n' + name;
  return kind;
}

// Forgets an earlier point that was of something else.
void begin_from(WarmStart& start, std::string kind) {
  if (start.kind == kind) return;
  start.point.reset();
  start.kind = std::move(kind);
}

// The dual point of a checkpoint, which may be of other examples, features or lambda.
std::shared_ptr<WarmStart> start_from(const std::string& path, const std::string& kind) {
  CheckpointFile found = read_checkpoint(path);
  if (found.kind != kind)
    throw Error(
        say("--init {}: is a checkpoint of another task, surrogate, cost or other labels; => start from one of "
            "the same, or without it",
            path));
  SavedPoint point{{}, path};
  StateLoader load(found.rest, path);
  load(point.bytes);
  return std::make_shared<WarmStart>(WarmStart{std::move(point), kind});
}

// What the options name for a fit to start from, and to leave behind.
Context with_files(Context context, const TrainOptions& options, const Dataset& data) {
  if (options.init.empty() && options.checkpoint.empty() && options.resume.empty()) return context;
  constexpr std::array<std::string_view, 1> may_differ{"epochs"};
  const std::string kind = kind_of_point(structure_named(options.task), options, data);
  if (!options.init.empty()) context.start = start_from(options.init, kind);
  if (options.checkpoint.empty() && options.resume.empty()) return context;
  if (!options.checkpoint.empty()) require_place_for_checkpoint(options.checkpoint);
  Settings settings = settings_of(options, data, may_differ);
  const bool warm = options.init.empty() && context.start && context.start->point.has_value();
  settings.emplace_back("start", warm ? "an earlier fit" : "none");  // one in memory, which no file names
  context.checkpoint = std::make_shared<Checkpoint>(options.checkpoint, options.every,
                                                    Checkpoint::Saves::when_due_and_at_end, std::move(settings), kind);
  if (!options.resume.empty()) context.checkpoint->resume(options.resume);
  return context;
}

}  // namespace

ModelCommon described(const TrainOptions& options, const Dataset& data) {
  ModelCommon out;
  out.task = options.task;
  out.surrogate = options.surrogate;
  out.smoothing = options.smoothing;
  out.classes = data.class_names;
  out.feature_names = data.feature_names;
  out.target_column = options.read.target;
  out.weights_column = options.read.weights;
  out.id_column = options.read.id;
  out.fold_column = options.read.fold;
  out.ignored_columns = options.read.ignore;
  out.tol = options.tol;
  out.n = out.parts = data.examples();
  out.seed = options.seed;
  return out;
}

void add_result(const SolveResult& result, ModelCommon& out) {
  out.solver = result.solver;
  out.epochs = result.epochs;
  out.oracle_calls = result.oracle_calls;
  out.certificate = result.certificate;
  out.interrupted = result.interrupted;
}

}  // namespace detail

double lambda_unit(const TrainOptions& options, const Dataset& data) {
  if (!detail::surrogate_row(options.surrogate).contains_costs) return 1;
  const detail::Structure& structure = detail::structure_named(options.task);
  const auto n = static_cast<double>(std::max<std::size_t>(data.examples(), 1));
  const double parts = structure.traits().several_parts ? static_cast<double>(data.label.size()) / n : 1;
  const double mistake = structure.loss(options, data).mistake;
  return mistake > 0 ? parts / mistake : parts;
}

double usual_lambda(const TrainOptions& options, const Dataset& data, std::optional<double> examples) {
  const auto n = static_cast<double>(std::max<std::size_t>(data.examples(), 1));
  return std::clamp(lambda_unit(options, data) / examples.value_or(n), smallest_lambda, largest_lambda);
}

std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const TrainOptions options = completed(requested);
  const detail::Structure& structure = detail::structure_named(options.task);
  ModelCommon common = detail::described(options, data);
  common.decode = structure.decoder(options, structure.loss(options, data));
  if (context.start) detail::begin_from(*context.start, detail::kind_of_point(structure, options, data));
  const auto set = structure.prepare(std::move(data), options, context);
  set->describe(common);

  std::vector<FitResult> out;
  set->solve(options, common.decode, lambdas, context, [&](std::unique_ptr<detail::Solution> solution) {
    ModelCommon own = common;
    const detail::SolveResult result = solution->result;
    detail::add_result(result, own);
    own.lambda = lambdas[out.size()];
    own.norm_squared = solution->norm_squared;
    own.train_loss = set->train_loss(*solution, options, own.decode, context);
    Model model(std::move(own), set->finish(std::move(solution)));
    TrainReport report = detail::report_of(model, result);
    report.seconds_total = detail::seconds_since(start);
    out.push_back({std::move(model), std::move(report)});
  });
  return out;
}

FitResult fit(Dataset data, const TrainOptions& requested, const Context& context) {
  TrainOptions options = completed(requested);
  options.lambda = options.lambda.value_or(usual_lambda(options, data));
  const Context own = detail::with_files(context, options, data);
  return std::move(fit_path(std::move(data), options, {&*options.lambda, 1}, own).front());
}

}  // namespace m4n

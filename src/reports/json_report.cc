// See json_report.h. nlohmann's ordered objects keep the keys as they are written here.
#include "reports/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "model/model_file.h"
#include "structures/chains/input.h"

namespace m4n {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

void add_certificate(Json* object, const Certificate& certificate) {
  (*object)["primal"] = certificate.primal;
  (*object)["dual"] = certificate.dual;
  (*object)["gap"] = certificate.gap();
  (*object)["relative_gap"] = certificate.relative_gap();
  (*object)["converged"] = certificate.converged;
}

// Row-major values as a list of rows.
template <class Number>
Json nested(std::span<const Number> values, std::size_t columns) {
  Json table = Json::array();
  for (std::size_t first = 0; first + columns <= values.size() && columns > 0; first += columns)
    table.push_back(values.subspan(first, columns));
  return table;
}

Json interval_json(const Interval& interval) {
  return {{"low", interval.low}, {"high", interval.high}, {"se", interval.se}};
}

Json bootstrap_json(const Bootstrap& bootstrap) {
  Json metrics = Json::object();
  for (const auto& [name, interval] : bootstrap.metrics) metrics[name] = interval_json(interval);
  return {{"replicates", bootstrap.replicates},
          {"seed", bootstrap.seed},
          {"confidence", Bootstrap::confidence},
          {"loss", interval_json(bootstrap.loss)},
          {"metrics", std::move(metrics)}};
}

Json input_json(const SequenceInput& input) {
  Json out = {{"format", to_string(input.format)}};
  if (input.format == Format::conll) {
    out["columns"] = input.feature_columns;
    out["template"] = input.attributes.text();
  }
  if (input.format != Format::ocr)
    out["hash_bits"] = input.dictionary.hash_bits() > 0 ? Json(input.dictionary.hash_bits()) : Json(nullptr);
  if (input.grid) out["pixel_products"] = fmt::format("{}x{}", input.grid->height, input.grid->width);
  return out;
}

// What joins labels: pairs of them, or the types and features of edges.
Json graph_json(const Model& model) {
  Json edges = Json::array();
  for (const GraphEdge& edge : model.graph.edges) edges.push_back({model.classes[edge.u], model.classes[edge.v]});
  if (model.task == Task::multilabel) return {{"edges", std::move(edges)}};
  return {{"node_types", model.graph.node_types},
          {"edge_types", model.graph.edge_types},
          {"edge_features", model.graph.features}};
}

Json found_json(const std::vector<std::pair<std::string, FoundCounts>>& counts) {
  Json out = Json::object();
  for (const auto& [name, found] : counts)
    out[name] = {{"precision", found.precision()}, {"recall", found.recall()},     {"f1", found.f1()},
                 {"actual", found.actual},         {"predicted", found.predicted}, {"found", found.found}};
  return out;
}

}  // namespace

std::string train_json(const TrainReport& report, const std::string& model_path) {
  Json object = {{"task", report.task},
                 {"surrogate", report.surrogate},
                 {"loss", report.loss},
                 {"features", report.features},
                 {"n", report.n},
                 {"d", report.d},
                 {"k", report.k},
                 {"lambda", report.lambda},
                 {"smoothing", report.smoothing},
                 {"solver", report.solver},
                 {"decode", report.decode},
                 {"seed", report.seed},
                 {"epochs", report.epochs},
                 {"seconds", report.seconds},
                 {"seconds_total", report.seconds_total}};
  add_certificate(&object, report.certificate);
  object["train_loss"] = report.train_loss;
  object["norm_squared"] = report.norm_squared;
  object["oracle_calls"] = report.oracle_calls;
  object["interrupted"] = report.interrupted;
  if (report.task == to_string(Task::sequence)) object["tokens"] = report.tokens;
  if (report.task == to_string(Task::graph)) object["nodes"] = report.tokens;
  if (report.task == to_string(Task::matching)) object["points"] = report.tokens;
  object["model"] = model_path;
  return one_line(object);
}

std::string info_json(const Model& model) {
  Json object = {{"format_version", model_format_version},
                 {"task", to_string(model.task)},
                 {"surrogate", to_string(model.surrogate)},
                 {"loss", model.loss_name},
                 {"features", to_string(model.map.kind)},
                 {"n", model.n},
                 {"d", model.d},
                 {"k", model.task == Task::matching ? model.points : model.k()},
                 {"lambda", model.lambda},
                 {"smoothing", model.smoothing},
                 {"solver", model.solver},
                 {"seed", model.seed},
                 {"epochs", model.epochs},
                 {"tol", model.tol}};
  add_certificate(&object, model.certificate);
  object["train_loss"] = model.train_loss;
  object["norm_squared"] = model.norm_squared;
  object["oracle_calls"] = model.oracle_calls;
  object["interrupted"] = model.interrupted;
  if (model.map.kind != FeatureKind::linear) {
    object["gamma"] = model.map.kernel.gamma;
    if (model.map.kernel.kind == KernelKind::poly) object["degree"] = model.map.kernel.degree;
    object["points"] = model.map.points.rows;
  }
  object["target_column"] = model.target_column.empty() ? Json(nullptr) : Json(model.target_column);
  object["weights_column"] = model.weights_column.empty() ? Json(nullptr) : Json(model.weights_column);
  object["id_column"] = model.id_column.empty() ? Json(nullptr) : Json(model.id_column);
  object["fold_column"] = model.fold_column.empty() ? Json(nullptr) : Json(model.fold_column);
  object["decode"] = to_string(model.decode);
  object["bias"] = model.bias;
  object["sparse"] = model.sparse;
  object["standardize"] = !model.standardizer.inverse_scale.empty();
  object["binning"] = model.bins.cuts.empty() ? Json(nullptr) : Json(to_string(model.bins.rule));
  object["cuts"] = model.bins.cuts;
  if (model.task == Task::sequence) object["tokens"] = model.tokens;
  if (model.task == Task::graph) object["nodes"] = model.tokens;
  if (model.input) object["input"] = input_json(*model.input);
  object["classes"] = model.classes;
  // The named losses are told by their name.
  if (!model.graph.weights.empty()) object["graph"] = graph_json(model);
  if (!model.cost.empty() &&
      (model.loss_name == "matrix" || model.loss_name == "weighted" || model.loss_name == "costs"))
    object["cost"] = nested(std::span<const double>(model.cost), model.k());
  return one_line(object);
}

std::string eval_json(const Evaluation& evaluation, const std::vector<std::string>& classes,
                      const Bootstrap* bootstrap) {
  Json metrics = Json::object();
  for (const auto& [name, value] : evaluation.metrics) metrics[name] = value;
  if (!evaluation.confusion.empty())
    metrics["confusion"] = nested(std::span<const std::uint64_t>(evaluation.confusion), classes.size());
  Json object = {{"n", evaluation.n},
                 {"unseen", evaluation.unseen},
                 {"loss", evaluation.loss},
                 {"metrics", std::move(metrics)},
                 {"classes", classes}};
  if (evaluation.tokens > 0) object["tokens"] = evaluation.tokens;
  if (evaluation.nodes > 0) object["nodes"] = evaluation.nodes;
  if (!evaluation.labels.empty()) {
    object["labels"] = found_json(evaluation.labels);
    if (!evaluation.chunks.empty()) object["chunks"] = found_json(evaluation.chunks);
  }
  if (bootstrap != nullptr) object["bootstrap"] = bootstrap_json(*bootstrap);
  return one_line(object);
}

}  // namespace m4n

// The reports of train, info and eval as JSON, and the weights that dump prints.
#include <algorithm>
#include <cmath>
#include <span>

#include "core/csv.h"
#include "core/json.h"
#include "model/model_file.h"
#include "reports/report.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

void add_certificate(Json& object, const Certificate& certificate) {
  object.set("primal", certificate.primal);
  object.set("dual", certificate.dual);
  object.set("gap", certificate.gap());
  object.set("relative_gap", certificate.relative_gap());
  object.set("converged", certificate.converged);
}

Json interval_json(const Interval& interval) {
  return Json::object({{"low", interval.low}, {"high", interval.high}, {"se", interval.se}});
}

Json bootstrap_json(const Bootstrap& bootstrap) {
  Json metrics = Json::object();
  for (const auto& [name, interval] : bootstrap.metrics) metrics.set(name, interval_json(interval));
  return Json::object({{"replicates", bootstrap.replicates},
                       {"seed", bootstrap.seed},
                       {"confidence", Bootstrap::confidence},
                       {"loss", interval_json(bootstrap.loss)},
                       {"metrics", std::move(metrics)}});
}

Json found_json(const std::vector<std::pair<std::string, FoundCounts>>& counts) {
  Json out = Json::object();
  for (const auto& [name, found] : counts)
    out.set(name, Json::object({{"precision", found.precision()},
                                {"recall", found.recall()},
                                {"f1", found.f1()},
                                {"actual", found.actual},
                                {"predicted", found.predicted},
                                {"found", found.found}}));
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Those of a model, the largest first; ties stay in the model's order.
WeightList sorted_weights(const Model& model) {
  WeightList out = structure_of(model).weights(model);
  std::stable_sort(out.entries.begin(), out.entries.end(),
                   [](const WeightEntry& a, const WeightEntry& b) { return std::abs(a.value) > std::abs(b.value); });
  return out;
}

}  // namespace

std::string train_json(const TrainReport& report, const std::string& model_path) {
  Json object = Json::object({{"task", report.task},
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
                              {"seconds_total", report.seconds_total}});
  add_certificate(object, report.certificate);
  object.set("train_loss", report.train_loss);
  object.set("norm_squared", report.norm_squared);
  object.set("oracle_calls", report.oracle_calls);
  object.set("interrupted", report.interrupted);
  if (const char* const parts = structure_named(report.task).traits().part.many) object.set(parts, report.parts);
  object.set("model", model_path);
  return object.text() + "\n";
}

std::string info_json(const Model& model) {
  const Structure& structure = structure_of(model);
  const FeatureSummary features = structure.features(model);
  const ModelCommon& common = model.common();
  Json object = Json::object({{"format_version", model_format_version},
                              {"task", common.task},
                              {"surrogate", to_string(common.surrogate)},
                              {"loss", common.loss_name},
                              {"features", to_string(features.kind)},
                              {"n", common.n},
                              {"d", common.d},
                              {"k", structure.label_count(model)},
                              {"lambda", common.lambda},
                              {"smoothing", common.smoothing},
                              {"solver", common.solver},
                              {"seed", common.seed},
                              {"epochs", common.epochs},
                              {"tol", common.tol}});
  add_certificate(object, common.certificate);
  object.set("train_loss", common.train_loss);
  object.set("norm_squared", common.norm_squared);
  object.set("oracle_calls", common.oracle_calls);
  object.set("interrupted", common.interrupted);
  object.set("target_column", text_or_null(common.target_column));
  object.set("weights_column", text_or_null(common.weights_column));
  object.set("id_column", text_or_null(common.id_column));
  object.set("fold_column", text_or_null(common.fold_column));
  object.set("ignored_columns", common.ignored_columns);
  object.set("decode", to_string(common.decode));
  object.set("bias", features.bias);
  object.set("sparse", common.sparse);
  object.set("standardize", features.standardized);
  object.set("binning", nullptr);
  object.set("cuts", Json::array());
  if (const char* const parts = structure.traits().part.many) object.set(parts, common.parts);
  object.set("classes", common.classes);
  if (!common.predictions.empty()) object.set("predictions", common.predictions);
  structure.describe(model, object);
  // Named losses are identified by their names.
  if (!common.cost.empty() && !find_loss(common.loss_name))
    object.set("cost", Json::rows(std::span<const double>(common.cost), model.predictions().size()));
  return object.text() + "\n";
}

std::string eval_json(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap) {
  Json metrics = Json::object();
  for (const auto& [name, value] : evaluation.metrics) metrics.set(name, value);
  if (!evaluation.confusion.empty())
    metrics.set("confusion",
                Json::rows(std::span<const std::uint64_t>(evaluation.confusion), model.predictions().size()));
  Json object = Json::object({{"n", evaluation.n},
                              {"unseen", evaluation.unseen},
                              {"loss", evaluation.loss},
                              {"metrics", std::move(metrics)},
                              {"classes", model.classes()}});
  if (!model.common().predictions.empty()) object.set("predictions", model.predictions());
  if (evaluation.parts > 0) object.set(structure_of(model).traits().part.many, evaluation.parts);
  if (!evaluation.labels.empty()) object.set("labels", found_json(evaluation.labels));
  if (!evaluation.chunks.empty()) object.set("chunks", found_json(evaluation.chunks));
  if (bootstrap != nullptr) object.set("bootstrap", bootstrap_json(*bootstrap));
  return object.text() + "\n";
}

std::string dump_csv(const Model& model) {
  const WeightList weights = sorted_weights(model);
  std::string out = "feature,class,weight\n";
  for (const WeightEntry& w : weights.entries)
    fmt::format_to(std::back_inserter(out), "{},{},{}\n", csv_cell(weights.feature_name(w.feature)),
                   csv_cell(weights.output_name(w)), w.value);
  return out;
}

std::string dump_json(const Model& model) {
  const WeightList weights = sorted_weights(model);
  const FeatureSummary features = structure_of(model).features(model);
  const Standardizer standardizer = structure_of(model).standardizer(model);
  Json entries = Json::array();
  for (const WeightEntry& w : weights.entries)
    entries.push(Json::object(
        {{"feature", weights.feature_name(w.feature)}, {"class", weights.output_name(w)}, {"weight", w.value}}));
  return Json::object({{"d", model.d()},
                       {"k", model.k()},
                       {"bias", features.bias},
                       {"mean", standardizer.mean},
                       {"inverse_scale", standardizer.inverse_scale},
                       {"weights", std::move(entries)}})
             .text() +
         "\n";
}

}  // namespace m4n::detail

// Writing, reading, checking and showing the weights on rows of features (row_part.h).
#include "structures/row_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/enum_names.h"
#include "core/kernels.h"
#include "core/message.h"

namespace m4n::detail {
namespace {

constexpr auto or_none = ModelFileReader::Length::exact_or_none;

std::string feature_name(const ModelCommon& common, const RowWeights& rows, std::size_t feature) {
  if (feature == rows.width(common.d)) return "(bias)";
  if (rows.map.kind != FeatureKind::linear) return fmt::format("({} {})", to_string(rows.map.kind), feature + 1);
  return common.feature_names.empty() ? std::to_string(feature + 1) : common.feature_names[feature];
}

}  // namespace

void write_rows(const ModelCommon& common, const RowWeights& rows, std::span<const double> cuts,
                ModelFileWriter& file) {
  file.field("bias", rows.bias);
  file.array("columns", {common.target_column, common.weights_column, common.id_column});
  if (!common.fold_column.empty()) file.array("fold_column", {common.fold_column});
  if (!common.ignored_columns.empty()) {
    file.field("ignored_count", std::uint64_t{common.ignored_columns.size()});
    file.array("ignored_columns", common.ignored_columns);
  }
  file.array("cost", common.cost);
  file.array("cuts", cuts);
  file.array("mean", rows.standardizer.mean);
  file.array("inverse_scale", rows.standardizer.inverse_scale);
  file.array("weights", rows.weights);
  if (rows.map.kind == FeatureKind::linear) return;
  file.field("features", to_string(rows.map.kind));
  file.field("kernel", to_string(rows.map.kernel.kind));
  file.real("gamma", rows.map.kernel.gamma);
  file.field("degree", rows.map.kernel.degree);
  file.field("width", std::uint64_t{rows.width(common.d)});
  file.array("points", rows.map.points.values);
  file.array("phase", rows.map.phase);
}

RowWeights read_rows(ModelFileReader& file, ModelCommon& common, std::size_t outputs, bool mapped,
                     std::vector<double>* cuts) {
  RowWeights rows;
  const std::uint64_t d = common.d, k = common.classes.size();
  rows.bias = file.flag("bias");
  const std::vector<std::string> columns = file.strings("columns", 3);
  common.target_column = columns[0];
  common.weights_column = columns[1];
  common.id_column = columns[2];
  if (file.has_array("ignored_columns"))
    common.ignored_columns =
        file.strings("ignored_columns", file.natural("ignored_count", 1, std::numeric_limits<std::int32_t>::max()));
  std::vector<double> found = file.doubles("cuts", cuts != nullptr && k > 0 ? k - 1 : 0, or_none);
  if (cuts != nullptr) *cuts = std::move(found);
  rows.standardizer.mean = file.doubles("mean", d, or_none);
  rows.standardizer.inverse_scale = file.doubles("inverse_scale", d, or_none);
  std::uint64_t width = d;
  if (mapped) {
    rows.map.kind = file.choice<FeatureKind>("features");
    rows.map.kernel.kind = file.choice<KernelKind>("kernel");
    rows.map.kernel.gamma = file.real("gamma");
    rows.map.kernel.degree = static_cast<int>(file.natural("degree", 1, largest_degree));
    width = file.natural("width", 0, std::numeric_limits<std::uint32_t>::max());
    rows.map.points = {static_cast<std::size_t>(width), common.d, file.doubles("points", product_or_largest(width, d))};
    rows.map.phase = file.doubles("phase", width, or_none);
  }
  rows.weights = file.doubles("weights", product_or_largest(width + (rows.bias ? 1 : 0), outputs));
  return rows;
}

void check_rows(const ModelCommon& common, const RowWeights& rows, std::size_t outputs, const ModelCheck& check) {
  check.require(rows.width(common.d) > 0 || rows.bias, "it has neither features nor a bias");
  check.require_length("weights", rows.weights.size(), product_or_largest(rows_of_weights(common, rows), outputs));
  check.require_finite("weights", rows.weights);

  const auto& [mean, inverse_scale] = rows.standardizer;
  if (!mean.empty()) {
    check.require_length("mean", mean.size(), common.d);
    check.require(!inverse_scale.empty(), "it has means but no scales");
    check.require(!common.sparse, "it has means, but its features are sparse and are never centred");
    check.require_finite("mean", mean);
  }
  if (!inverse_scale.empty()) check.require_length("inverse_scale", inverse_scale.size(), common.d);
  check.require_finite("inverse_scale", inverse_scale);
  check.require(std::none_of(inverse_scale.begin(), inverse_scale.end(), [](double scale) { return scale < 0; }),
                "inverse_scale holds a negative number");

  const auto& [kind, kernel, points, phase] = rows.map;
  const std::size_t width = points.rows;
  if (kind == FeatureKind::linear) {
    check.require(width == 0 && points.values.empty() && phase.empty(),
                  "its features are linear, but it has a feature map");
    return;
  }
  check.require(std::isfinite(kernel.gamma) && kernel.gamma > 0, fmt::format("gamma is {}", kernel.gamma));
  check.require(kernel.degree >= 1 && kernel.degree <= largest_degree, fmt::format("degree is {}", kernel.degree));
  check.require(points.cols == common.d, "its points have another number of columns than its input");
  check.require_length("points", points.values.size(), product_or_largest(width, common.d));
  check.require_finite("points", points.values);
  check.require_length("phase", phase.size(), kind == FeatureKind::fourier ? width : 0);
  check.require_finite("phase", phase);
}

std::size_t rows_of_weights(const ModelCommon& common, const RowWeights& rows) {
  return rows.width(common.d) + (rows.bias ? 1 : 0);
}

WeightList row_weight_list(const Model& model, const RowWeights& rows, std::vector<std::string> output_names) {
  WeightList out;
  const std::size_t outputs = output_names.size();
  for (std::size_t e = 0; e < rows.weights.size(); ++e)
    if (rows.weights[e] != 0) out.entries.push_back({e / outputs, e % outputs, rows.weights[e]});
  out.feature_name = [&model, &rows](std::size_t feature) { return feature_name(model.common(), rows, feature); };
  out.output_name = [names = std::move(output_names)](const WeightEntry& entry) { return names[entry.output]; };
  return out;
}

std::vector<NamedArray> row_arrays(const ModelCommon& common, const RowWeights& rows, std::size_t outputs) {
  const std::size_t width = rows.width(common.d);
  std::vector<double> coef(outputs * width), intercept(outputs, 0.0);
  const bool scaled = rows.map.kind == FeatureKind::linear && !rows.standardizer.inverse_scale.empty();
  for (std::size_t c = 0; c < outputs; ++c) {
    if (rows.bias) intercept[c] = rows.weights[width * outputs + c];
    for (std::size_t j = 0; j < width; ++j) {
      double w = rows.weights[j * outputs + c];
      if (scaled) w *= rows.standardizer.inverse_scale[j];
      coef[c * width + j] = w;
      if (scaled && !rows.standardizer.mean.empty()) intercept[c] -= w * rows.standardizer.mean[j];
    }
  }
  return {{"coef", {outputs, width}, std::move(coef)}, {"intercept", {outputs}, std::move(intercept)}};
}

std::string row_features_text(const RowWeights& rows) {
  const FeatureMap& map = rows.map;
  std::string kind = to_string(map.kind);
  if (map.kind == FeatureKind::linear) return kind;
  const std::string degree = map.kernel.kind == KernelKind::poly ? fmt::format(", degree {}", map.kernel.degree) : "";
  return fmt::format("{}, gamma {:.6g}{}, {}", kind, map.kernel.gamma, degree, counted(map.points.rows, "point"));
}

void describe_rows(const RowWeights& rows, Json& info) {
  if (rows.map.kind == FeatureKind::linear) return;
  info.set("gamma", rows.map.kernel.gamma);
  if (rows.map.kernel.kind == KernelKind::poly) info.set("degree", rows.map.kernel.degree);
  info.set("points", rows.map.points.rows);
}

FeatureSummary summary_of(const RowWeights& rows) {
  return {rows.map.kind,          rows.bias,           !rows.standardizer.inverse_scale.empty(), rows.map.kernel.gamma,
          rows.map.kernel.degree, rows.map.points.rows};
}

std::vector<double> checked_scores(const RowScores& rows, const std::vector<std::string>& outputs,
                                   const FeaturesView& x, const Context& context, const char* unit,
                                   const std::function<std::string(std::size_t row)>& where, const char* what) {
  std::vector<double> scores = rows.of(x, context);
  for (std::size_t e = 0; e < scores.size(); ++e)
    if (!kernels::is_score(scores[e]))
      throw Error(
          say("{}: the score of {} '{}' is {}, beyond what can be computed with: a value of this {} is too large for "
              "the model; => correct it, or leave the {} out",
              where(e / outputs.size()), what, outputs[e % outputs.size()], scores[e], unit, unit));
  return scores;
}

}  // namespace m4n::detail

// Reading tables, predicting and showing models for structures whose examples are rows (table_structure.h).
#include "structures/table_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/csv.h"

namespace m4n::detail {
namespace {

const RowWeights& rows_of(const Model& model) { return part_of<RowPart>(model).rows; }

class TablePredictor : public Predictor {
 public:
  TablePredictor(const TableStructure& structure, const Model& model) : structure_(structure), model_(model) {}

  std::vector<std::int32_t> predict(const Dataset& examples, const Examples* source,
                                    const Context& context) const override {
    require_rows(examples);
    return structure_.decode(model_, scores(view(examples.x), source, context), examples.costs, context);
  }
  std::vector<double> marginals(const Dataset& examples, const Examples* source,
                                const Context& context) const override {
    require_rows(examples);
    return structure_.marginals(model_, scores(view(examples.x), source, context), examples.costs, context);
  }
  std::vector<double> scores(const FeaturesView& x, const Examples* source, const Context& context) const {
    const bool lines = source != nullptr && !source->line.empty();
    return checked_scores(
        model_, rows_of(model_), structure_.output_names(model_), x, context, lines ? "line" : "row",
        [&](std::size_t i) {
          return lines ? fmt::format("{}: line {}", source->path, source->line[i])
                       : fmt::format("row {} (counted from 1)", i + 1);
        },
        structure_.traits().label.one);
  }

 private:
  void require_rows(const Dataset& examples) const {
    if (examples.graph) throw Error(say("a model of the task {} predicts no graphs", structure_.name()));
    const std::size_t count = examples.feature_rows.count();
    if (count != rows(examples.x))
      throw Error(say("{} examples have {} rows, but a model of the task {} predicts single rows", count,
                      rows(examples.x), structure_.name()));
  }

  const TableStructure& structure_;
  const Model& model_;
};

// Costs of the examples are needed to judge them, and to predict by other rules than the largest score.
ExpectedColumns expected_columns(const Model& model, OutputColumns outputs, Truth truth) {
  const ModelCommon& common = model.common();
  ExpectedColumns out{common.feature_names, common.d, model.k(), outputs, {}, {}, common.target_column};
  out.no_features = common.ignored_columns;
  if (truth == Truth::required || common.decode != structure_of(model).traits().largest)
    out.costs = common.columns_of_costs();
  for (const std::string* name :
       {&common.target_column, &common.weights_column, &common.id_column, &common.fold_column})
    if (!name->empty()) out.no_features.push_back(*name);
  return out;
}

// Example i's share of values of which every example has as many.
template <class T>
std::span<const T> row_of(const std::vector<T>& values, std::size_t n, std::size_t i) {
  const std::size_t width = n > 0 ? values.size() / n : 0;
  return std::span(values).subspan(i * width, width);
}

}  // namespace

TrainingData TableStructure::training_data(RawTable table, const TrainOptions& options, const Notes& note) const {
  TrainingData out;
  if (!table.left_out.empty()) {
    const OutputColumns outputs = output_columns();
    note(outputs != OutputColumns::one
             ? fmt::format("{}: left out beside the {}: {}", table.path,
                           outputs == OutputColumns::ranks ? "ranks" : "marks", shown_list(table.left_out, 10))
             : fmt::format("{}: left out beside the label {}, which they would give away: {} (--target takes another "
                           "column as the label)",
                           table.path, shown(table.target_name), shown_list(table.left_out, 10)));
  }
  out.folds = std::move(table.folds);
  out.data = label(std::move(table), options, out.raw_target);
  return out;
}

TrainingData TableStructure::read(LineReader& lines, TrainOptions& options, const Notes& note) const {
  options.read.outputs = output_columns();
  return training_data(read_table(lines, options.read, Truth::required, nullptr), options, note);
}

Examples TableStructure::read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                              const std::string&) const {
  const ExpectedColumns expected = expected_columns(model, output_columns(), truth);
  Examples out;
  label(read_table(lines, options, truth, &expected), model, out);
  return out;
}

std::unique_ptr<Predictor> TableStructure::predictor(const Model& model) const {
  return std::make_unique<TablePredictor>(*this, model);
}

std::vector<double> TableStructure::scores(const Model& model, const FeaturesView& x, const Context& context) const {
  return row_scores(rows_of(model), model.d(), output_names(model).size(), x, context);
}

void TableStructure::predict(const Model& model, LineReader& lines, const PredictionRequest& request,
                             TextSink& sink) const {
  refuse_k_best(request, say(", or use --scores"));
  if (request.marginals) require_probabilities(model, request.model_name, say(", or use --scores"));
  const Examples examples = read(lines, model, request.read, Truth::optional, request.model_name);
  const std::size_t n = examples.data.examples();
  const TablePredictor own(*this, model);
  const std::vector<double> found = own.scores(view(examples.data.x), &examples, request.context);
  const std::vector<std::int32_t> labels = decode(model, found, examples.data.costs, request.context);
  const std::vector<double> probabilities =
      request.marginals ? marginals(model, found, examples.data.costs, request.context) : std::vector<double>{};

  if (request.json) {
    Json object = Json::object({{"n", n}});
    if (!examples.ids.empty()) object.set("id", examples.ids);
    add_json(model, labels, request, object);
    const auto rows = [&](const std::vector<double>& values) {
      Json out = Json::array();
      for (std::size_t i = 0; i < n; ++i) out.push(row_of(values, n, i));
      return out;
    };
    if (request.scores) object.set("scores", rows(found));
    if (request.marginals) object.set("marginals", rows(probabilities));
    sink.write(object.text() + "\n");
    return;
  }
  std::string text = request.read.id.empty() ? "" : csv_cell(request.read.id) + ",";
  const std::vector<std::string> columns = prediction_columns(model);
  for (std::size_t c = 0; c < columns.size(); ++c) (text += c > 0 ? "," : "") += csv_cell(columns[c]);
  if (request.scores)
    for (const std::string& name : output_names(model)) (text += ',') += csv_cell("score_" + name);
  if (request.marginals)
    for (const std::string& name : probability_names(model)) (text += ',') += csv_cell("p_" + name);
  text += "\n";
  for (std::size_t i = 0; i < n; ++i) {
    if (!examples.ids.empty()) text += csv_cell(examples.ids[i]) + ",";
    append_cells(model, row_of(labels, n, i), text);
    if (request.scores) append_numbers(text, row_of(found, n, i));
    if (request.marginals) append_numbers(text, row_of(probabilities, n, i));
    text += '\n';
  }
  sink.write(text);
}

WeightList TableStructure::weights(const Model& model) const {
  return row_weight_list(model, rows_of(model), output_names(model));
}

std::vector<NamedArray> TableStructure::arrays(const Model& model) const {
  return row_arrays(model.common(), rows_of(model), output_names(model).size());
}

FeatureSummary TableStructure::features(const Model& model) const { return summary_of(rows_of(model)); }

Standardizer TableStructure::standardizer(const Model& model) const { return rows_of(model).standardizer; }

std::string TableStructure::features_text(const Model& model) const { return row_features_text(rows_of(model)); }

void TableStructure::describe(const Model& model, Json& info) const { describe_rows(rows_of(model), info); }

}  // namespace m4n::detail

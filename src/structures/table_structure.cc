// Reading tables, predicting and showing models for structures whose examples are rows (table_structure.h).
#include "structures/table_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/csv.h"
#include "data/chunks.h"

namespace m4n::detail {
namespace {

const RowWeights& rows_of(const Model& model) { return part_of<RowPart>(model).rows; }

class TablePredictor : public Predictor {
 public:
  TablePredictor(const TableStructure& structure, const Model& model)
      : structure_(structure),
        model_(model),
        outputs_(structure.output_names(model)),
        rows_(rows_of(model), model.d(), outputs_.size()) {}

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
        rows_, outputs_, x, context, lines ? "line" : "row",
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
  std::vector<std::string> outputs_;
  RowScores rows_;
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
  out.data = label(std::move(table), options, note, out.raw_target);
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

namespace {

// What is said about some examples.
struct Answers {
  std::vector<std::string> ids;
  std::vector<std::int32_t> labels;
  std::vector<double> scores, probabilities;
  std::string lines;  // of the CSV
  std::size_t n = 0;
};

template <class T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

// Chunk by chunk, so that a CSV takes no memory that grows with the number of examples. JSON is written as a whole.
void TableStructure::predict(const Model& model, LineReader& lines, const PredictionRequest& request,
                             TextSink& sink) const {
  refuse_k_best(request, say(", or use --scores"));
  if (request.marginals) require_probabilities(model, request.model_name, say(", or use --scores"));
  const ExpectedColumns expected = expected_columns(model, output_columns(), Truth::optional);
  const std::unique_ptr<TableRows> rows = table_rows(lines, request.read, Truth::optional, &expected);
  const TablePredictor own(*this, model);
  lines.cut_at_least(sizeof(double) * model.cost().size());  // every decoder makes its own of the costs

  const auto answer = [&](RawTable table, unsigned threads) {
    Answers out;
    if (m4n::rows(table.x) == 0) return out;
    table.path = lines.file();
    Examples examples;
    label(std::move(table), model, examples);
    const Context context{threads, {}, {}};
    const std::size_t n = out.n = examples.data.examples();
    out.ids = std::move(examples.ids);
    out.scores = own.scores(view(examples.data.x), &examples, context);
    out.labels = decode(model, out.scores, examples.data.costs, context);
    if (request.marginals) out.probabilities = marginals(model, out.scores, examples.data.costs, context);
    for (std::size_t i = 0; i < n && !request.json; ++i) {
      if (!out.ids.empty()) out.lines += csv_cell(out.ids[i]) + ",";
      append_cells(model, row_of(out.labels, n, i), out.lines);
      if (request.scores) append_numbers(out.lines, row_of(out.scores, n, i));
      if (request.marginals) append_numbers(out.lines, row_of(out.probabilities, n, i));
      out.lines += '\n';
    }
    return out;
  };
  Answers all;
  const auto take = [&](Answers answers) {
    if (all.n == 0 && answers.n > 0 && !request.json) sink.write(prediction_header(model, request));
    all.n += answers.n;
    if (request.json) {
      append(all.ids, std::move(answers.ids));
      append(all.labels, std::move(answers.labels));
      if (request.scores) append(all.scores, std::move(answers.scores));
      append(all.probabilities, std::move(answers.probabilities));
      return;
    }
    sink.write(answers.lines);
  };
  using Piece = std::pair<std::unique_ptr<TableRows>, Answers>;
  in_chunks(
      lines,
      [&](LineReader& chunk, unsigned threads) {
        std::unique_ptr<TableRows> piece = rows->piece();
        piece->read(chunk);
        Answers answers = answer(piece->take(0), threads);
        return Piece(std::move(piece), std::move(answers));
      },
      [&](LineReader& chunk, Piece* piece, unsigned threads) {
        if (piece != nullptr && rows->goes_on_with(*piece->first)) {
          rows->pass(*piece->first, chunk);
          return take(std::move(piece->second));
        }
        chunk.rewind();
        rows->read(chunk);
        take(answer(rows->take(0), threads));
      });
  rows->finish(lines.file());
  if (!request.json) return;

  Json object = Json::object({{"n", all.n}});
  if (!all.ids.empty()) object.set("id", all.ids);
  add_json(model, all.labels, request, object);
  if (request.scores) object.set("scores", Json::rows(std::span<const double>(all.scores), all.scores.size() / all.n));
  if (request.marginals)
    object.set("marginals", Json::rows(std::span<const double>(all.probabilities), all.probabilities.size() / all.n));
  sink.write(object.text() + "\n");
}

std::string TableStructure::prediction_header(const Model& model, const PredictionRequest& request) const {
  std::string line = request.read.id.empty() ? "" : csv_cell(request.read.id) + ",";
  const std::vector<std::string> columns = prediction_columns(model);
  for (std::size_t c = 0; c < columns.size(); ++c) (line += c > 0 ? "," : "") += csv_cell(columns[c]);
  if (request.scores)
    for (const std::string& name : output_names(model)) (line += ',') += csv_cell("score_" + name);
  if (request.marginals)
    for (const std::string& name : probability_names(model)) (line += ',') += csv_cell("p_" + name);
  return line + "\n";
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

// m4n predict: a CSV with one line an example: [id,] label [, score_<class>...] [, p_<class>...], of rankings r1,r2,..
// and of label sets y1,y2,.. in place of the label; or the same as JSON. Sequences, matchings and graphs have their own
// files.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "core/option_values.h"
#include "csv_out.h"
#include "files.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "messages.h"
#include "model/atomic_file.h"
#include "predict_graphs.h"
#include "predict_matchings.h"
#include "predict_sequences.h"
#include "scoring.h"

namespace m4n::cli {
namespace {

constexpr std::uint64_t most_best = 1000;

struct PredictArguments {
  TrainOptions options;  // only how files are read
  Context context;
  std::string model, data = "-", out;
  bool scores = false, marginals = false, json = false;
  std::size_t k_best = 0;
};

// Predictions of rankings and label sets have a column an item or label.
bool has_columns(const Model& model) { return model.task == Task::ranking || model.task == Task::multilabel; }

// Of classes one each; of rankings one a cell (item, position).
std::vector<std::string> probability_names(const Model& model) {
  if (model.task != Task::ranking) return model.classes;
  std::vector<std::string> out;
  for (const std::string& item : model.classes)
    for (std::size_t rank = 1; rank <= model.k(); ++rank) out.push_back(fmt::format("{}_{}", item, rank));
  return out;
}

std::string header(const Model& model, const PredictArguments& arguments) {
  std::string line = arguments.options.read.id.empty() ? "" : csv_cell(arguments.options.read.id) + ",";
  if (has_columns(model))
    for (std::size_t c = 0; c < model.k(); ++c) line += (c > 0 ? "," : "") + csv_cell(model.classes[c]);
  else
    line += "label";
  if (arguments.scores)
    for (const std::string& name : model.output_names()) line += "," + csv_cell("score_" + name);
  if (arguments.marginals)
    for (const std::string& name : probability_names(model)) line += "," + csv_cell("p_" + name);
  return line + "\n";
}

void append_numbers(std::string& out, std::span<const double> numbers) {
  for (const double x : numbers) fmt::format_to(std::back_inserter(out), ",{}", x);
}

struct Predictions {
  std::size_t n = 0;
  std::vector<std::int32_t> label;        // n; of rankings the positions from 0, n x k
  std::vector<double> scores, marginals;  // a row an example; marginals only where asked for
  std::vector<std::string> ids;           // only with --id
};

// Example i's share of values of which every example has as many.
template <class T>
std::span<const T> row_of(const std::vector<T>& values, std::size_t n, std::size_t i) {
  const std::size_t width = n > 0 ? values.size() / n : 0;
  return std::span(values).subspan(i * width, width);
}

Predictions predictions(const Model& model, const PredictArguments& arguments) {
  RawTable table = read_table(arguments.data, arguments.options.read, false, &model);
  Predictions out;
  out.n = rows(table.x);
  out.scores = finite_scores(model, table, arguments.context);
  out.label = model.decode_scores(out.scores, arguments.context);
  if (arguments.marginals) out.marginals = model.marginals(out.scores, arguments.context);
  out.ids = std::move(table.ids);
  return out;
}

// Marks as they are, positions from 0 as ranks from `first`.
std::string columns_text(std::span<const std::int32_t> values, std::int32_t first) {
  std::string out;
  for (const std::int32_t value : values)
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ",", value + first);
  return out;
}

std::string as_csv(const Predictions& found, const Model& model, const PredictArguments& arguments) {
  std::vector<std::string> class_cells;
  for (const std::string& name : model.classes) class_cells.push_back(csv_cell(name));
  std::string out = header(model, arguments);
  for (std::size_t i = 0; i < found.n; ++i) {
    if (!found.ids.empty()) out += csv_cell(found.ids[i]) + ",";
    if (has_columns(model))
      out += columns_text(row_of(found.label, found.n, i), model.task == Task::ranking ? 1 : 0);
    else
      out += class_cells[static_cast<std::size_t>(found.label[i])];
    if (arguments.scores) append_numbers(out, row_of(found.scores, found.n, i));
    if (arguments.marginals) append_numbers(out, row_of(found.marginals, found.n, i));
    out += '\n';
  }
  return out;
}

std::string as_json(const Predictions& found, const Model& model, const PredictArguments& arguments) {
  using Json = nlohmann::ordered_json;
  const bool ranking = model.task == Task::ranking;
  const auto rows_of = [&](const auto& values) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < found.n; ++i) rows.push_back(row_of(values, found.n, i));
    return rows;
  };
  Json object = {{"n", found.n}};
  if (!found.ids.empty()) object["id"] = found.ids;
  if (ranking) {
    std::vector<std::int32_t> ranks = found.label;
    for (std::int32_t& rank : ranks) ++rank;
    object["items"] = model.classes;
    object["ranks"] = rows_of(ranks);
  } else if (model.task == Task::multilabel) {
    object["labels"] = model.classes;
    object["marks"] = rows_of(found.label);
  } else {
    Json& labels = object["label"] = Json::array();
    for (const std::int32_t label : found.label) labels.push_back(model.classes[static_cast<std::size_t>(label)]);
    if (arguments.scores || arguments.marginals) object["classes"] = model.classes;
  }
  if (arguments.scores) object["scores"] = rows_of(found.scores);
  if (arguments.marginals) object["marginals"] = rows_of(found.marginals);
  // Names may hold bytes that are not UTF-8; JSON may not.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void deliver(const std::string& text, const std::string& out) {
  if (out.empty())
    print(text);
  else
    write_file_atomically(out, text);
}

int run_sequences(const Model& model, const PredictArguments& arguments) {
  require_sequence_options(model, arguments.options, arguments.model);
  if (arguments.scores)
    throw UsageError(
        "--scores: the labels of a sequence are scored together. Use --k-best N (with --json for the scores), or "
        "--marginals with a crf");
  predict_sequences(
      model, {arguments.data, arguments.out, arguments.marginals, arguments.json, arguments.k_best, arguments.context});
  return done;
}

int run(const PredictArguments& arguments) {
  if (!arguments.out.empty()) {
    require_distinct(arguments.out, "--out", {arguments.model, arguments.data});
    require_writable(arguments.out, "--out");
  }
  const Model model = Model::load(arguments.model);
  if (arguments.marginals && model.surrogate != SurrogateKind::crf)
    throw UsageError(
        fmt::format("--marginals: {} was trained with --surrogate {}, which defines no class probabilities; "
                    "train with --surrogate crf{}",
                    arguments.model, to_string(model.surrogate),
                    model.task == Task::sequence ? ", or use --k-best N"
                    : model.task == Task::graph  ? ""
                                                 : ", or use --scores"));
  if (model.task == Task::sequence) return run_sequences(model, arguments);
  if (arguments.k_best > 0)
    throw UsageError(fmt::format("--k-best ranks labellings of sequences, and {} is a model of the task {}{}",
                                 arguments.model, to_string(model.task),
                                 model.task == Task::graph ? "" : "; --scores gives its scores"));
  if (model.task == Task::matching) {
    require_matching_options(arguments.options, arguments.model);
    deliver(predicted_matchings(model, arguments.data,
                                {arguments.scores, arguments.marginals, arguments.json, arguments.context}),
            arguments.out);
    return done;
  }
  if (model.task == Task::graph) {
    require_graph_options(arguments.options, arguments.model);
    if (arguments.scores)
      throw UsageError("--scores: the labels of a graph are scored together. Use --marginals with a crf");
    deliver(predicted_graphs(model, arguments.data, {arguments.marginals, arguments.json, arguments.context}),
            arguments.out);
    return done;
  }
  const Predictions found = predictions(model, arguments);
  deliver(arguments.json ? as_json(found, model, arguments) : as_csv(found, model, arguments), arguments.out);
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<PredictArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  add_argument(app, "DATA",
               "data of the kind the model was trained on, plain or gzip; labels may be absent and are ignored; - or "
               "nothing: standard input",
               arguments->data)
      ->required(false);
  app.add_flag("--scores", arguments->scores,
               "add columns score_<class>: the raw scores, whatever the decoder; of rankings "
               "score_<item>_<rank>, or score_<item> where the loss needs no more; of matchings those of all pairs");
  app.add_flag("--marginals", arguments->marginals,
               "add columns p_<class>: the class probabilities (crf only); of rankings p_<item>_<rank>; on text "
               "<label>:<probability> for every label");
  app.add_flag("--json", arguments->json,
               "one JSON object instead of the CSV: n, label (of rankings items and ranks, of label sets labels and "
               "marks, of matchings partner), and id, "
               "classes, scores, marginals where asked for; "
               "scores and marginals are lists of rows; on sequences lists of lists, and k_best with scores");
  add_text_option(
      app, "k-best", "N", "off",
      "sequences: a column for each of the N labellings of largest score, the best first, N up to 1000",
      [arguments](const std::string& text) { arguments->k_best = parse_whole("k-best", text, 1, most_best); });
  add_file_option(app, "out", "FILE", "write there (the whole file or nothing) instead of to standard output",
                  arguments->out);
  add_train_options(app, arguments->options, {"target", "id", "weights", "format"});
  add_threads_option(app, arguments->context);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command predict_command() {
  return {
      "predict", "MODEL [DATA] [--scores] [--marginals] [--k-best N] [--json] [--out FILE]",
      "predict with a trained model",
      "Prints a CSV with the header label, one line an example, in the order of the data; of rankings the ranks "
      "r1,r2,.. "
      "(1 is the best). With --id COLUMN that column "
      "comes first. CSV columns are matched with the model's by name; those that were label, weights or id in training "
      "may be "
      "there and are left alone.\n"
      "\nSequences: CoNLL columns come out as they went in, with the label as one more column (separated as the line "
      "is); CRFsuite's attributes give a label a line; both keep blank lines, and on standard output are "
      "answered as they arrive, in memory that does not grow. Letters of words give a CSV with the header label.\n"
      "\nMatchings: a CSV matching,point,partner, all counted from 1, one line a point of the first set. Graphs: a CSV "
      "graph,node,label, graphs counted from 1, nodes by their names. Label sets: the marks y1,y2,..\n",
      declare};
}

}  // namespace m4n::cli

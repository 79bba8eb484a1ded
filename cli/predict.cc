// m4n predict: data in, predictions out, in the form of their task.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "core/option_values.h"
#include "files.h"
#include "messages.h"
#include "structures/structure.h"

namespace m4n::cli {
namespace {

constexpr std::uint64_t most_best = 1000;
constexpr std::size_t chunk_bytes = std::size_t{1} << 16;  // of data that are predicted for at a time

struct PredictArguments {
  TrainOptions options;  // only how files are read
  PredictionRequest request;
  std::string model, data = "-", out;
};

int run(const PredictArguments& arguments) {
  if (!arguments.out.empty()) {
    require_distinct(arguments.out, "--out", {arguments.model, arguments.data});
    require_writable(arguments.out, "--out");
  }
  const Model model = Model::load(arguments.model);
  PredictionRequest request = arguments.request;
  request.read = arguments.options.read;
  request.model_name = arguments.model;
  request.warn = [](const std::string& text) { warn(text); };
  Input input = Input::open(arguments.data);
  LineReader lines(input, {request.context.threads, chunk_bytes});
  OutputSink sink(arguments.out);
  structure_of(model).predict(model, lines, request, sink);
  sink.finish();
  return done;
}

Action declare_predict(Parameters& parameters) {
  auto arguments = std::make_shared<PredictArguments>();
  PredictionRequest& request = arguments->request;
  parameters.argument("MODEL", "a model saved by train", arguments->model);
  parameters
      .argument("DATA",
                "data of the kind the model was trained on, plain or gzip; labels may be absent and are ignored; - or "
                "nothing: standard input",
                arguments->data)
      .required = false;
  parameters.flag("scores",
                  "add columns score_<class>: the raw scores, whatever the decoder; for rankings: "
                  "score_<item>_<rank>, or score_<item> where the loss needs no more; for matchings: those of all "
                  "pairs",
                  request.scores);
  parameters.flag(
      "marginals",
      "add columns p_<class>: the class probabilities (crf, and smoothed m4n); for rankings: p_<item>_<rank>; on text: "
      "<label>:<probability> for every label",
      request.marginals);
  parameters.flag("json",
                  "one JSON object instead of the CSV: n, label (for rankings: items and ranks; for label sets: labels "
                  "and marks; for matchings: partner), and id, classes, scores, marginals where asked for; scores and "
                  "marginals are lists of rows; on sequences lists of lists, and k_best with scores",
                  request.json);
  parameters.option(
      "k-best", "N", "off",
      "sequences: a column for each of the N labellings of largest score, the best first, N up to 1000",
      [&request](const std::string& text) { request.k_best = parse_whole("k-best", text, 1, most_best); });
  parameters.file("out", "FILE", "write there (the whole file or nothing) instead of to standard output",
                  arguments->out);
  parameters.train_options(arguments->options, {"target", "id", "weights", "ignore", "format"});
  parameters.threads(request.context);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command predict_command() {
  return {
      "predict", "MODEL [DATA] [--scores] [--marginals] [--k-best N] [--json] [--out FILE]",
      "predict with a trained model",
      "Prints a CSV with the header label, one line per example, in the order of the data; for rankings: the ranks "
      "r1,r2,.. (1 is the best). With --id COLUMN that column comes first. CSV columns are matched with the model's by "
      "name; those that were label, weights or id in training may be there and are left alone. Rows are read, "
      "predicted for on all threads and written piece by piece, in memory that does not grow with their number (--json "
      "keeps the "
      "answers). Where a line is refused, standard output may have the answers before it; --out has none.\n"
      "\nSequences: CoNLL columns come out as they went in, with the label as one more column (separated as the line "
      "is); CRFsuite's attributes give one label per line; both keep blank lines, and on standard output are "
      "answered as they arrive, in memory that does not grow. Letters of words give a CSV with the header label.\n"
      "\nMatchings: a CSV matching,point,partner, all counted from 1, one line per point of the first set. Graphs: a "
      "CSV graph,node,label, graphs counted from 1, nodes by their names. Label sets: the marks y1,y2,..\n",
      declare_predict};
}

}  // namespace m4n::cli

// m4n predict: a CSV with one line an example: [id,] label [, score_<class>...] [, p_<class>...].
#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "arguments.h"
#include "csv_out.h"
#include "files.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "messages.h"
#include "model/atomic_file.h"

namespace m4n::cli {
namespace {

struct PredictArguments {
  TrainOptions options;  // only how files are read
  Context context;
  std::string model, data, out;
  bool scores = false, marginals = false;
};

std::string header(const Model& model, const PredictArguments& arguments) {
  std::string line = arguments.options.read.id.empty() ? "" : csv_cell(arguments.options.read.id) + ",";
  line += "label";
  if (arguments.scores)
    for (const std::string& name : model.classes) line += "," + csv_cell("score_" + name);
  if (arguments.marginals)
    for (const std::string& name : model.classes) line += "," + csv_cell("p_" + name);
  return line + "\n";
}

void append_numbers(std::string& out, std::span<const double> numbers) {
  for (const double x : numbers) fmt::format_to(std::back_inserter(out), ",{}", x);
}

std::string predictions(const Model& model, const PredictArguments& arguments) {
  const RawTable table = read_table(arguments.data, arguments.options.read, false, &model);
  const std::vector<double> scores = model.scores(view(table.x), arguments.context);
  const std::vector<std::int32_t> label = model.decode_scores(scores, arguments.context);
  const std::vector<double> marginals = arguments.marginals ? model.marginals(scores) : std::vector<double>();

  std::vector<std::string> class_cells;
  for (const std::string& name : model.classes) class_cells.push_back(csv_cell(name));
  const std::size_t k = model.k();
  std::string out = header(model, arguments);
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!table.ids.empty()) out += csv_cell(table.ids[i]) + ",";
    out += class_cells[static_cast<std::size_t>(label[i])];
    if (arguments.scores) append_numbers(out, std::span(scores).subspan(i * k, k));
    if (arguments.marginals) append_numbers(out, std::span(marginals).subspan(i * k, k));
    out += '\n';
  }
  return out;
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
                    "train with --surrogate crf, or use --scores",
                    arguments.model, to_string(model.surrogate)));
  const std::string text = predictions(model, arguments);
  if (arguments.out.empty())
    print(text);
  else
    write_file_atomically(arguments.out, text);
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<PredictArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  add_argument(app, "DATA", "CSV or LIBSVM file, plain or gzip; a label column may be absent and is ignored",
               arguments->data);
  app.add_flag("--scores", arguments->scores, "add columns score_<class>: the raw scores, whatever the decoder");
  app.add_flag("--marginals", arguments->marginals, "add columns p_<class>: the class probabilities (crf only)");
  add_file_option(app, "out", "FILE", "write there (the whole file or nothing) instead of to standard output",
                  arguments->out);
  add_train_options(app, arguments->options, {"target", "id", "format"});
  add_threads_option(app, arguments->context);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command predict_command() {
  return {
      "predict", "MODEL DATA [--scores] [--marginals] [--out FILE]", "predict with a trained model",
      "Prints a CSV with the header label, one line an example, in the order of the data. With --id COLUMN that column "
      "comes first. CSV columns are matched with the model's by name.\n",
      declare};
}

}  // namespace m4n::cli

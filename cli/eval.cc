// m4n eval: the task loss and the metrics of a model on labelled data.
#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "data/text.h"
#include "m4n/evaluate.h"
#include "m4n/read.h"
#include "messages.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "scoring.h"

namespace m4n::cli {
namespace {

struct EvalArguments {
  TrainOptions options;  // only how files are read
  Context context;
  std::string model, data;
  bool json = false;
};

void warn_of_unseen(const std::vector<std::string>& unseen, const EvalArguments& arguments) {
  if (unseen.empty()) return;
  warn(fmt::format("{}: labels that {} has never seen, counted as errors: {}", arguments.data, arguments.model,
                   shown_list(unseen, 10)));
}

int run(const EvalArguments& arguments) {
  const Model model = Model::load(arguments.model);
  RawTable table = read_table(arguments.data, arguments.options.read, true, &model);
  const std::vector<std::int32_t> predicted =
      model.decode_scores(finite_scores(model, table, arguments.context), arguments.context);
  std::vector<std::string> unseen;
  const Dataset data = label_for_model(std::move(table), model, &unseen);
  warn_of_unseen(unseen, arguments);
  const Evaluation evaluation = evaluate(model, data.label, predicted, data.weight);
  print(arguments.json ? eval_json(evaluation, model.classes) + "\n" : eval_text(evaluation, model));
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<EvalArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  add_argument(app, "DATA", "CSV or LIBSVM file with labels, plain or gzip", arguments->data);
  app.add_flag("--json", arguments->json, "print one JSON object: n, unseen, loss, metrics, classes");
  add_train_options(app, arguments->options, {"target", "id", "weights", "format"});
  add_threads_option(app, arguments->context);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command eval_command() {
  return {"eval", "MODEL DATA", "judge a model on labelled data: task loss and all metrics of the task",
          "The loss is the mean cost the model was trained for. A label unseen in training counts as an error of the "
          "largest cost, and one warning lists such labels. With --weights every mean is weighted; n, unseen and the "
          "confusion matrix count rows all the same. Columns that were label, weights or id in training are known "
          "and need not be named again; weights count only with --weights.\n",
          declare};
}

}  // namespace m4n::cli

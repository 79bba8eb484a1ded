// m4n eval: the task loss and the metrics of a model on labelled data, with confidence intervals where asked for.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "arguments.h"
#include "core/option_values.h"
#include "data/text.h"
#include "m4n/evaluate.h"
#include "m4n/read.h"
#include "messages.h"
#include "reports/json_report.h"
#include "reports/text_report.h"
#include "scoring.h"

namespace m4n::cli {
namespace {

constexpr std::uint64_t least_replicates = 2, most_replicates = 1'000'000;

struct EvalArguments {
  TrainOptions options;  // only how files are read, and the seed
  Context context;
  std::string model, data;
  bool json = false;
  std::uint64_t replicates = 0;  // 0: no bootstrap
};

void warn_of_unseen(const std::vector<std::string>& unseen, const EvalArguments& arguments) {
  if (unseen.empty()) return;
  warn(fmt::format("{}: labels that {} has never seen, counted as errors: {}", arguments.data, arguments.model,
                   shown_list(unseen, 10)));
}

int report(const Evaluation& evaluation, const Model& model, const std::optional<Bootstrap>& intervals, bool json) {
  const Bootstrap* shown = intervals ? &*intervals : nullptr;
  print(json ? eval_json(evaluation, model.classes, shown) + "\n" : eval_text(evaluation, model, shown));
  return done;
}

int run_sequences(const EvalArguments& arguments, const Model& model) {
  require_sequence_options(model, arguments.options, arguments.model);
  const LabelledSequences sequences = read_model_sequences(arguments.data, model, true);
  const std::vector<std::string> unseen(sequences.names.begin() + static_cast<std::ptrdiff_t>(model.k()),
                                        sequences.names.end());
  warn_of_unseen(unseen, arguments);
  const std::vector<std::int32_t> predicted =
      model.predict(view(sequences.data.x), sequences.data.feature_rows, arguments.context);
  std::optional<Bootstrap> intervals;
  if (arguments.replicates > 0)
    intervals = bootstrap(model, sequences, predicted, arguments.replicates, arguments.options.seed, arguments.context);
  return report(evaluate(model, sequences, predicted), model, intervals, arguments.json);
}

int run_parts(const EvalArguments& arguments, const Model& model, const Dataset& data,
              std::span<const std::int32_t> predicted) {
  std::optional<Bootstrap> intervals;
  if (arguments.replicates > 0)
    intervals = bootstrap(model, data.labels, data.label, predicted, data.weight, arguments.replicates,
                          arguments.options.seed, arguments.context);
  return report(evaluate(model, data.labels, data.label, predicted, data.weight), model, intervals, arguments.json);
}

int run_matchings(const EvalArguments& arguments, const Model& model) {
  require_matching_options(arguments.options, arguments.model);
  const Dataset data = read_model_matchings(arguments.data, model, true);
  if (model.decode == Decoder::expected) require_probabilities(data, arguments.data);
  finite_pair_scores(model, data, arguments.data, arguments.context);
  return run_parts(arguments, model, data, model.predict(view(data.x), data.feature_rows, arguments.context));
}

int run_graphs(const EvalArguments& arguments, const Model& model) {
  require_graph_options(arguments.options, arguments.model);
  std::vector<std::string> unseen;
  const Dataset data = read_model_graphs(arguments.data, model, true, &unseen);
  warn_of_unseen(unseen, arguments);
  return run_parts(arguments, model, data,
                   model.predict(view(data.x), data.feature_rows, *data.graph, arguments.context));
}

int run(const EvalArguments& arguments) {
  const Model model = Model::load(arguments.model);
  if (model.task == Task::sequence) return run_sequences(arguments, model);
  if (model.task == Task::matching) return run_matchings(arguments, model);
  if (model.task == Task::graph) return run_graphs(arguments, model);
  RawTable table = read_table(arguments.data, arguments.options.read, true, &model);
  const std::vector<std::int32_t> predicted =
      model.decode_scores(finite_scores(model, table, arguments.context), arguments.context);
  std::vector<std::string> unseen;
  const Dataset data = label_for_model(std::move(table), model, &unseen);
  if (model.task == Task::ranking || model.task == Task::multilabel)
    return run_parts(arguments, model, data, predicted);
  warn_of_unseen(unseen, arguments);
  const Evaluation evaluation = evaluate(model, data.label, predicted, data.weight);
  std::optional<Bootstrap> intervals;
  if (arguments.replicates > 0)
    intervals = bootstrap(model, data.label, predicted, data.weight, arguments.replicates, arguments.options.seed,
                          arguments.context);
  return report(evaluation, model, intervals, arguments.json);
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<EvalArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  add_argument(app, "DATA", "labelled data of the kind the model was trained on, plain or gzip; - is standard input",
               arguments->data);
  app.add_flag(
      "--json", arguments->json,
      "print one JSON object: n, unseen, loss, metrics, classes; of sequences also tokens, labels, chunks; and "
      "bootstrap if any");
  CLI::Option* replicates = add_text_option(
      app, "bootstrap", "N", "off", "95% confidence intervals from N resamples of the examples, N from 2 to 1000000",
      [arguments](const std::string& text) {
        arguments->replicates = parse_whole("bootstrap", text, least_replicates, most_replicates);
      });
  add_train_options(app, arguments->options, {"target", "id", "weights", "format", "seed"});
  app.get_option("--seed")->needs(replicates);
  add_threads_option(app, arguments->context);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command eval_command() {
  return {
      "eval", "MODEL DATA", "judge a model on labelled data: task loss and all metrics of the task",
      "The loss is the mean cost the model was trained for. A label unseen in training counts as an error of the "
      "largest cost, and one warning lists such labels. With --weights every mean is weighted; n, unseen and the "
      "confusion matrix count rows all the same. Columns that were label, weights or id in training are known "
      "and need not be named again; weights count only with --weights.\n"
      "\nWith --bootstrap N, n of the n examples are drawn with replacement, each with its weight, N times over; the "
      "loss and every metric get the percentiles 2.5 and 97.5 of the values found, and in JSON also their standard "
      "deviation (se). That is the uncertainty from the examples of DATA; MODEL is taken as it is.\n",
      declare};
}

}  // namespace m4n::cli

// m4n eval: the task loss and the metrics of a model on labelled data, with confidence intervals where asked for.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "command.h"
#include "m4n/evaluate.h"
#include "messages.h"
#include "reports/report.h"
#include "structures/structure.h"

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

int run(const EvalArguments& arguments) {
  const Model model = Model::load(arguments.model);
  const Structure& structure = structure_of(model);
  Input input = Input::open(arguments.data);
  LineReader lines(input, {arguments.context.threads});
  const Examples examples = structure.read(lines, model, arguments.options.read, Truth::required, arguments.model);
  const std::vector<std::int32_t> predicted =
      structure.predictor(model)->predict(examples.data, &examples, arguments.context);
  warn_of_unseen(examples, model, arguments.data, arguments.model);
  std::optional<Bootstrap> intervals;
  if (arguments.replicates > 0)
    intervals = bootstrap(model, examples, predicted, arguments.replicates, arguments.options.seed, arguments.context);
  const Evaluation evaluation = evaluate(model, examples, predicted);
  const Bootstrap* const shown = intervals ? &*intervals : nullptr;
  arguments.json ? print(eval_json(evaluation, model, shown))
                 : print(eval_text(evaluation, model, shown), Printed::words);
  return done;
}

Action declare_eval(Parameters& parameters) {
  auto arguments = std::make_shared<EvalArguments>();
  parameters.argument("MODEL", "a model saved by train", arguments->model);
  parameters.argument("DATA", "labelled data of the kind the model was trained on, plain or gzip; - is standard input",
                      arguments->data);
  parameters.flag(
      "json",
      "print one JSON object: n, unseen, loss, metrics, classes; for sequences: also tokens, labels, chunks; and "
      "bootstrap if any",
      arguments->json);
  parameters.option("bootstrap", "N", "off",
                    "95% confidence intervals from N resamples of the examples, N from 2 to 1000000",
                    [arguments](const std::string& text) {
                      arguments->replicates = parse_whole("bootstrap", text, least_replicates, most_replicates);
                    });
  parameters.train_options(arguments->options, {"target", "id", "weights", "ignore", "format", "seed"});
  parameters.require_with("seed", "bootstrap");
  parameters.threads(arguments->context);
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
      declare_eval};
}

}  // namespace m4n::cli

// m4n train: read, fit, save, report.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "core/message.h"
#include "files.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "messages.h"
#include "progress.h"
#include "reports/report.h"
#include "solvers/checkpoint.h"
#include "structures/structure.h"

namespace m4n::cli {
namespace {

struct TrainArguments {
  TrainOptions options;
  Context context;
  std::string data, model, log;
  bool json = false;
  Talk talk = Talk::all;
};

// Everything that can be refused before the data are read.
void check(const TrainArguments& arguments) {
  const TrainOptions& options = arguments.options;
  const std::vector<std::string> inputs = readable_inputs(arguments.data, options);
  if (!options.resume.empty()) require_readable(options.resume, "--resume");
  if (!options.resume.empty() && !options.init.empty())
    throw UsageError("--resume and --init: a fit that is resumed has begun already; give one of them");
  if (!arguments.model.empty()) {
    require_distinct(arguments.model, "--model", inputs);
    require_distinct(arguments.model, "--model", {options.resume}, "--resume");
    require_writable(arguments.model, "--model");
  }
  if (!options.checkpoint.empty()) {
    require_distinct(options.checkpoint, "--checkpoint", inputs);
    require_distinct(options.checkpoint, "--checkpoint", {arguments.model}, "--model");
    detail::require_place_for_checkpoint(options.checkpoint);
  }
  if (!arguments.log.empty()) {
    require_distinct(arguments.log, "--log", inputs);
    require_distinct(arguments.log, "--log", {arguments.model}, "--model");
    require_distinct(arguments.log, "--log", {options.checkpoint}, "--checkpoint");
    require_distinct(arguments.log, "--log", {options.resume}, "--resume");
    require_writable_in_place(arguments.log, "--log");
  }
}

FitResult learn(const TrainArguments& arguments) {
  TrainOptions options = arguments.options;
  TrainingData data = read(
      arguments.data, options, [&](const std::string& text) { note(arguments.talk, text); }, arguments.context);
  for (const std::string& text : structure_named(options.task).remarks(data.data, options)) note(arguments.talk, text);

  TrainingLog log(arguments.log);  // an earlier log stays whole until the data are known to be good
  ProgressLine line(arguments.talk);
  Context context = arguments.context;
  context.observe = [&](const Progress& progress) {
    log.write(progress);
    line.draw(progress);
  };
  context.warn = [](const Message& message) { warn(message.text()); };
  context.cancelled = stop_requested;
  listen_for_stop_signals();
  return fit(std::move(data.data), options, context);
}

// Says how it ended; the exit code.
int conclude(const TrainReport& report, const TrainArguments& arguments) {
  const auto epochs = static_cast<std::uint64_t>(report.epochs);
  const std::string gap = fmt::format("the relative gap is {:.3g}, the tolerance {:.3g}",
                                      report.certificate.relative_gap(), arguments.options.tol);
  if (report.interrupted) {
    const std::string& kept = arguments.options.checkpoint;
    warn(fmt::format("interrupted after {}: {}; {}{}", counted(epochs, "epoch"), gap,
                     arguments.model.empty() ? "no model was saved (no --model)" : "the best weights were saved",
                     kept.empty() ? "" : fmt::format("; --resume {} goes on from here", kept)));
    return interrupted;
  }
  if (report.certificate.converged) return done;
  warn(
      fmt::format("stopped after {} before the tolerance was reached: {}. Allow more with --epochs or --time-limit, "
                  "ask for less with a larger --tol, or regularise more with a larger --lambda",
                  counted(epochs, "epoch"), gap));
  return arguments.options.require_converged ? not_converged : done;
}

int run(const TrainArguments& arguments) {
  check(arguments);
  const FitResult result = learn(arguments);
  if (arguments.model.empty())
    note(arguments.talk, "no --model given: the model is not saved");
  else
    result.model.save(arguments.model);
  arguments.json ? print(train_json(result.report, arguments.model)) : print(train_text(result.report), Printed::words);
  finish_output();
  return conclude(result.report, arguments);
}

Action declare_train(Parameters& parameters) {
  auto arguments = std::make_shared<TrainArguments>();
  parameters.argument(
      "DATA", "CSV, LIBSVM, CoNLL, CRFsuite, OCR letters, matching or graph file, plain or gzip; - is standard input",
      arguments->data);
  parameters.file("model", "OUT.m4n", "where the model is saved; without it nothing is saved", arguments->model);
  parameters.train_options_except(arguments->options, {});
  parameters.require_with("every", "checkpoint");
  parameters.threads(arguments->context);
  parameters.file("log", "FILE.jsonl", "one JSON line per certificate: epoch, seconds, primal, dual, relative_gap",
                  arguments->log);
  parameters.flag(
      "json",
      "print the report as one JSON object; seconds is the time of the solver, seconds_total that of everything but "
      "reading and writing files",
      arguments->json);
  parameters.quiet(arguments->talk);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command train_command() {
  return {"train", "[options] DATA --model OUT.m4n",
          "learn a model from data, and certify how close to the optimum it is",
          "Minimises the mean surrogate loss + lambda/2 |w|^2 until the relative duality gap is at most --tol.\n"
          "Ctrl-C (or SIGTERM, SIGHUP) stops with the best weights so far, which are saved; the exit code is then 130. "
          "Stopping at --epochs or "
          "--time-limit is a warning, or exit code 3 with --require-converged.\n",
          declare_train};
}

}  // namespace m4n::cli

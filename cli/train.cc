// m4n train: read, fit, save, report.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arguments.h"
#include "core/wording.h"
#include "data/text.h"
#include "files.h"
#include "learning.h"
#include "m4n/fit.h"
#include "messages.h"
#include "progress.h"
#include "reports/json_report.h"
#include "reports/text_report.h"
#include "signals.h"

namespace m4n::cli {
namespace {

struct TrainArguments {
  TrainOptions options;
  Context context;
  std::string data, model, log;
  bool json = false, quiet = false;
};

// Everything that can be refused before the data are read.
void check(const TrainArguments& arguments) {
  const TrainOptions& options = arguments.options;
  validate(options);
  const std::vector<std::string> inputs = readable_inputs(arguments.data, options);
  if (!arguments.model.empty()) {
    require_distinct(arguments.model, "--model", inputs);
    require_writable(arguments.model, "--model");
  }
  if (!arguments.log.empty()) {
    require_distinct(arguments.log, "--log", inputs);
    require_distinct(arguments.log, "--log", {arguments.model}, "--model");
    require_writable_in_place(arguments.log, "--log");
  }
}

// Costs count steps between grades, so gaps between their numbers are lost; a user may have meant them.
void note_ranks(const std::vector<std::string>& grades, bool quiet) {
  constexpr std::size_t most = 10;
  bool consecutive = true;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < grades.size(); ++r) {
    if (r > 0) consecutive = consecutive && *finite_number(grades[r]) - *finite_number(grades[r - 1]) == 1;
    if (r < most) ranks.push_back(r);
  }
  if (consecutive) return;
  const std::vector<std::string> first(grades.begin(), grades.begin() + static_cast<std::ptrdiff_t>(ranks.size()));
  const char* const more = grades.size() > most ? ", ..." : "";
  note(quiet, fmt::format("the grades {}{} count as ranks {}{}; give the costs with --loss FILE.csv if the distances "
                          "matter",
                          fmt::join(first, ", "), more, fmt::join(ranks, ", "), more));
}

// Tied targets can leave grades without examples, which still count as steps in the costs.
void note_empty_grades(const Dataset& data, bool quiet) {
  std::vector<std::string> empty;
  for (std::size_t g = 0; g < data.class_names.size(); ++g)
    if (std::find(data.label.begin(), data.label.end(), static_cast<std::int32_t>(g)) == data.label.end())
      empty.push_back(data.class_names[g]);
  if (!empty.empty())
    note(quiet, fmt::format("no target falls into grade {}: tied targets; fewer --bins, or --binning width, avoid that",
                            shown_list(empty, 10)));
}

FitResult learn(const TrainArguments& arguments) {
  TrainOptions options = arguments.options;
  Dataset data = read_training(arguments.data, options, arguments.quiet).data;
  if (*options.task == Task::ordinal && data.bins.cuts.empty()) note_ranks(data.class_names, arguments.quiet);
  if (!data.bins.cuts.empty()) note_empty_grades(data, arguments.quiet);

  TrainingLog log(arguments.log);  // an earlier log stays whole until the data are known to be good
  ProgressLine line(arguments.quiet);
  Context context = arguments.context;
  context.observe = [&](const Progress& progress) {
    log.write(progress);
    line.draw(progress);
  };
  context.cancelled = stop_requested;
  listen_for_stop_signals();
  return fit(std::move(data), options, context);
}

int judge(const TrainReport& report, const TrainArguments& arguments) {
  const auto epochs = static_cast<std::uint64_t>(report.epochs);
  const std::string gap = fmt::format("the relative gap is {:.3g}, the tolerance {:.3g}",
                                      report.certificate.relative_gap(), arguments.options.tol);
  if (report.interrupted) {
    warn(fmt::format("interrupted after {}: {}; {}", counted(epochs, "epoch"), gap,
                     arguments.model.empty() ? "nothing was saved (no --model)" : "the best weights were saved"));
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
    note(arguments.quiet, "no --model given: the model is not saved");
  else
    result.model.save(arguments.model);
  print(arguments.json ? train_json(result.report, arguments.model) + "\n" : train_text(result.report));
  finish_output();
  return judge(result.report, arguments);
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<TrainArguments>();
  add_argument(app, "DATA",
               "CSV, LIBSVM, CoNLL, CRFsuite, OCR letters, matching or graph file, plain or gzip; - is standard input",
               arguments->data);
  add_file_option(app, "model", "OUT.m4n", "where the model is saved; without it nothing is saved", arguments->model);
  add_train_options(app, arguments->options);
  add_threads_option(app, arguments->context);
  add_file_option(app, "log", "FILE.jsonl", "one JSON line a certificate: epoch, seconds, primal, dual, relative_gap",
                  arguments->log);
  app.add_flag(
      "--json", arguments->json,
      "print the report as one JSON object; seconds is the time of the solver, seconds_total that of everything but "
      "reading and writing files");
  app.add_flag("--quiet", arguments->quiet, "no progress and no notes on standard error, only warnings and errors");
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
          declare};
}

}  // namespace m4n::cli

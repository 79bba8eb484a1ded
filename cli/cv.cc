// m4n cv: choose lambda, gamma and surrogate on validation parts, report test losses with error bars, refit.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>

#include "command.h"
#include "core/atomic_file.h"
#include "core/message.h"
#include "core/option_values.h"
#include "data/text.h"
#include "features/prepared.h"
#include "files.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "messages.h"
#include "progress.h"
#include "reports/model_page.h"
#include "reports/report.h"
#include "selection/cv_store.h"

namespace m4n::cli {
namespace {

const RealRange lambda_range{smallest_lambda, largest_lambda, true, true, "positive numbers from 1e-30 to 1e30"};
const RealRange gamma_range{0, 1e300, false, true, "positive numbers"};

struct CvArguments {
  CvOptions options;
  Context context;
  std::string data, out, model, page, surrogates;
  std::string command;  // what was typed, for the page
  bool surrogate_given = false, random_splits_given = false, gamma_given = false;
  bool json = false;
  Talk talk = Talk::all;
};

void set_lambdas(CvOptions& options, const std::string& text) {
  options.lambdas = parse_reals("lambdas", text, lambda_range);
  std::sort(options.lambdas.begin(), options.lambdas.end(), std::greater<>());
  options.lambdas.erase(std::unique(options.lambdas.begin(), options.lambdas.end()), options.lambdas.end());
}

void set_gammas(CvOptions& options, const std::string& text) {
  options.gammas.clear();
  for (const std::string& word : split_list(text)) {
    if (word == "median") {
      options.gammas.emplace_back(std::nullopt);
      continue;
    }
    for (const double gamma : parse_reals("gamma", word, gamma_range)) options.gammas.emplace_back(gamma);
  }
  for (std::size_t g = 1; g < options.gammas.size(); ++g)
    if (std::find(options.gammas.begin(), options.gammas.begin() + static_cast<std::ptrdiff_t>(g), options.gammas[g]) !=
        options.gammas.begin() + static_cast<std::ptrdiff_t>(g))
      throw UsageError(fmt::format("--gamma: found '{}', which names one value twice", text));
}

void set_ratio(SplitPlan& plan, const std::string& text) {
  const std::vector<std::string> words = split_list(text);
  if (words.size() != plan.ratio.size())
    throw UsageError(
        fmt::format("--ratio: found '{}', expected three numbers: training, validation, test, as 60,20,20", text));
  for (std::size_t p = 0; p < words.size(); ++p) plan.ratio[p] = parse_real("ratio", words[p], gamma_range);
}

// A number of random folds, or the column that names them.
void set_folds(CvOptions& options, const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos && !text.empty())
    options.plan.folds = static_cast<int>(parse_whole("folds", text, 3, 1'000'000));
  else
    options.train.read.fold = parse_nonempty("folds", text, "a number of folds, or the name of a column");
}

// `o`: the options with the task, which may have been guessed.
std::vector<Candidate> candidates_of(const CvArguments& arguments, const TrainOptions& o, const Dataset& data) {
  std::vector<std::string> notes;
  const std::vector<std::string> names =
      arguments.surrogates.empty() ? std::vector<std::string>{} : split_list(arguments.surrogates);
  std::vector<Candidate> out = listed_candidates(names, o, data, &notes);
  for (const std::string& text : notes) note(arguments.talk, text);
  return out;
}

// Names of folds to numbers, in the order of numbers or words.
std::vector<std::int32_t> fold_numbers(const std::vector<std::string>& names) {
  std::map<std::pair<double, std::string>, std::int32_t> number;
  // 1 and 1.0 are one fold.
  const auto key = [](const std::string& name) {
    const std::optional<double> value = finite_number(name);
    return value ? std::pair{*value, std::string()} : std::pair{0.0, name};
  };
  for (const std::string& name : names) number.emplace(key(name), 0);
  std::int32_t next = 0;
  for (auto& [name, value] : number) value = next++;
  std::vector<std::int32_t> out;
  for (const std::string& name : names) out.push_back(number.at(key(name)));
  return out;
}

// What is known before the data are read.
void check(const CvArguments& arguments) {
  const TrainOptions& o = arguments.options.train;
  if (!arguments.surrogates.empty() && arguments.surrogate_given)
    throw UsageError("--surrogate names one, --surrogates several. Give one of the two");
  if ((arguments.options.plan.folds > 0 || !o.read.fold.empty()) && arguments.random_splits_given)
    throw UsageError("--folds sets the parts; --splits and --ratio are for random splits. Leave out one or the other");
  if (o.features == FeatureKind::linear && arguments.gamma_given)
    throw UsageError("--gamma belongs to a kernel, and linear features have none. Add --features rbf, or leave it out");
  const std::vector<std::string> inputs = readable_inputs(arguments.data, o);
  if (!arguments.model.empty()) {
    require_distinct(arguments.model, "--model", inputs);
    require_writable(arguments.model, "--model");
  }
  if (!arguments.page.empty()) {
    require_distinct(arguments.page, "--report", inputs);
    if (!arguments.model.empty()) require_distinct(arguments.page, "--report", {arguments.model}, "--model");
    require_writable(arguments.page, "--report");
  }
  if (arguments.out.empty()) return;
  std::vector<std::string> written = CvStore::files(arguments.out);
  written.push_back(arguments.out);
  for (const std::string& path : written) {
    require_distinct(path, "--out", inputs);
    if (!arguments.model.empty()) require_distinct(path, "--out", {arguments.model}, "--model");
    if (!arguments.page.empty()) require_distinct(path, "--out", {arguments.page}, "--report");
  }
}

// Fits the choice on all the data and saves it. Returns the exit code.
int refit(const CvArguments& arguments, const CvOptions& options, const CvResult& result, Dataset data,
          PageRequest& page, std::optional<Model>& model) {
  Context context = arguments.context;
  context.cancelled = stop_requested;
  ProgressLine line(arguments.talk);
  context.observe = [&](const Progress& progress) {
    page.log.push_back(progress);
    line.draw(progress);
  };
  const FitResult fitted = fit(std::move(data), refit_options(result, options), context);
  fitted.model.save(arguments.model);
  model = fitted.model;
  const std::string what =
      fmt::format("the choice, fitted on all {}, is saved as {}", counted(result.examples, "example"), arguments.model);
  const double gap = fitted.report.certificate.relative_gap();
  if (fitted.report.interrupted) {
    warn(fmt::format("interrupted: {}, but only to a relative gap of {:.3g}", what, gap));
    return interrupted;
  }
  if (!fitted.report.certificate.converged) {
    warn(
        fmt::format("{}, but its fit stopped before the tolerance was reached: the relative gap is {:.3g}", what, gap));
    return options.train.require_converged ? not_converged : done;
  }
  note(arguments.talk, fmt::format("{} (relative gap {:.3g})", what, gap));
  return done;
}

// The report is printed even if the refit fails.
int report(const CvArguments& arguments, const CvOptions& options, const CvResult& result, Dataset data,
           CvStore* store) {
  for (const std::string& text : result.notes) note(arguments.talk, text);
  for (const Message& message : result.warnings) warn(message.text());
  const std::size_t unconverged = result.unconverged();
  if (unconverged > 0)
    warn(
        fmt::format("{} of the {} fits stopped before the tolerance was reached; allow more with --epochs or "
                    "--time-limit, ask for less with a larger --tol, or leave out the smallest --lambdas",
                    unconverged, result.cells.size()));
  int code = unconverged > 0 && options.train.require_converged ? not_converged : done;
  std::exception_ptr failure;
  PageRequest page;
  page.data = arguments.data == "-" ? "standard input" : file_name(arguments.data);
  std::optional<Model> model;
  if (!arguments.model.empty()) try {
      code = std::max(code, refit(arguments, options, result, std::move(data), page, model));
    } catch (const Error&) {
      failure = std::current_exception();
    }
  const std::string json = cv_json(result, options, failure ? "" : arguments.model);
  if (store != nullptr) store->finish(result, json);
  if (!arguments.page.empty()) {
    page.origin = {{"command", arguments.command}, {"data", file_origin(arguments.data)}};
    page.origin.emplace_back("seed", std::to_string(options.train.seed));
    write_file_atomically(arguments.page, page_html(cv_page(result, options, model ? &*model : nullptr, page)));
  }
  arguments.json ? print(json) : print(cv_text(result, options), Printed::words);
  finish_output();
  if (failure) std::rethrow_exception(failure);
  return code;
}

int run(const CvArguments& arguments) {
  check(arguments);
  CvOptions options = arguments.options;
  auto [data, raw, folds] = read(
      arguments.data, options.train, [&](const std::string& text) { note(arguments.talk, text); }, arguments.context);
  if (!folds.empty()) options.plan.fold_of = fold_numbers(folds);
  // Now rather than after all splits are done.
  if (!arguments.model.empty()) require_memory_for_pairs(options.train.features, data.examples());
  options.candidates = candidates_of(arguments, options.train, data);
  options.race = arguments.surrogates == "auto";
  options.candidates = resolved_candidates(options, data);

  std::optional<CvStore> store;
  if (!arguments.out.empty()) {
    store.emplace(arguments.out, data, raw, options);
    if (!store->known().empty())
      note(arguments.talk, fmt::format("{}: {} found there, not computed again", arguments.out,
                                       counted(store->known().size(), "cell")));
    options.known = store->known();
    options.finished = [&](std::span<const CvCell> cells) { store->add(cells); };
    options.running = store->running();
  }
  Context context = arguments.context;
  context.cancelled = stop_requested;
  listen_for_stop_signals();
  const auto watched = [&](const Dataset& examples, std::span<const double> targets) {
    CountingLine line(arguments.talk);
    options.observe = [&](const CvProgress& progress) { line.draw(progress); };
    return cross_validate(examples, targets, options, context);
  };
  const CvResult result = watched(data, raw);
  if (result.interrupted) {
    warn(fmt::format("interrupted with {} done; {}", counted(result.cells.size(), "cell"),
                     store ? fmt::format("they are kept in {}: the same command goes on from there", arguments.out)
                           : "nothing is kept (--out DIR keeps what is done)"));
    return interrupted;
  }
  return report(arguments, options, result, std::move(data), store ? &*store : nullptr);
}

Action declare_cv(Parameters& parameters) {
  auto arguments = std::make_shared<CvArguments>();
  CvOptions& options = arguments->options;
  parameters.argument(
      "DATA", "CSV, LIBSVM, CoNLL, CRFsuite, OCR letters, matching or graph file, plain or gzip; - is standard input",
      arguments->data);
  parameters.option(
      "surrogates", "LIST|auto", "the --surrogate",
      "compare several of m4n, smoothed (m4n with --smoothing, 4 unless given), m3n, crf, qs; auto: m4n "
      "(for asymmetric costs with both decoders), smoothed (for classes and grades), m3n, crf; those that "
      "are not better than crf on the first split, or the first two, are dropped",
      [arguments](const std::string& text) {
        arguments->surrogates = parse_nonempty("surrogates", text, "a list as m4n,m3n,crf, or auto");
      });
  parameters.option(
      "lambdas", "LIST", "2^0:2^-16",
      "numbers and ranges of powers to choose from, as 0.1,2^-4:2^-10. The default is in units of the task: for m4n "
      "and "
      "m3n times the mean number of parts and divided by the mean cost of a mistake; those below "
      "2^-8 (crf: 2^-12; outputs of several parts: 2^-5) are tried only while the best one is among the last two",
      [&options](const std::string& text) { set_lambdas(options, text); });
  parameters.option(
      "extend", "yes|no", "yes",
      "go on beyond the grid, up to four times two steps, while the best lambda is at its edge or all are "
      "equally good; with --surrogates auto the others than crf go beyond theirs once",
      [&options](const std::string& text) { options.extend = parse_yes_no("extend", text); });
  parameters.option("gamma", "LIST", "median",
                    "of the kernel: numbers, ranges of powers and the word median; several are chosen from",
                    [&options](const std::string& text) { set_gammas(options, text); });
  parameters.option("splits", "N", "14", "random splits", [&options](const std::string& text) {
    options.plan.splits = static_cast<int>(parse_whole("splits", text, 1, 1'000'000));
  });
  parameters.option("ratio", "A,B,C", "60,20,20", "sizes of the training, validation and test parts",
                    [&options](const std::string& text) { set_ratio(options.plan, text); });
  parameters.option("folds", "N|COLUMN", "random splits",
                    "instead of random splits N random folds, or those a column names: each tests once, the next one "
                    "validates, the others train",
                    [&options](const std::string& text) { set_folds(options, text); });
  parameters.file("out", "DIR", "keep every cell there (cells.csv, cv.json); a run that was stopped goes on from it",
                  arguments->out);
  parameters.file("model", "OUT.m4n", "fit the best choice on all the data and save it", arguments->model);
  parameters.file("report", "R.html",
                  "write a page: the path of lambdas, the surrogates compared, and with --model what was fitted",
                  arguments->page);
  parameters.train_options_except(options.train, {"lambda", "gamma", "checkpoint", "every", "resume", "init"});
  parameters.threads(arguments->context);
  parameters.flag("json", "print one JSON object", arguments->json);
  parameters.quiet(arguments->talk);
  return [arguments, &parameters] {
    arguments->surrogate_given = parameters.given("surrogate");
    arguments->random_splits_given = parameters.given("splits") || parameters.given("ratio");
    arguments->gamma_given = parameters.given("gamma");
    arguments->command = parameters.command_line("cv");
    return run(*arguments);
  };
}

}  // namespace

Command cv_command() {
  return {
      "cv", "[options] DATA", "choose lambda (and gamma, and the surrogate), report the test loss with error bars",
      "Every split fits its training part for all lambdas, gammas and surrogates, chooses by the task loss on its "
      "validation part and is judged on its test part; bins, standardising and features are fitted inside the "
      "training part. test_mean is the mean over splits of what each split chose; best_* goes by the mean "
      "validation loss over splits, and is what --model fits on all the data.\n"
      "Splits and folds are drawn at random by --seed, with classes and labels as frequent in every part as in all "
      "the data. Random splits overlap, so the standard error is a guide "
      "rather than a guarantee; differences between "
      "surrogates are taken split by split.\n"
      "Of several surrogates crf (the first one, without crf) is chosen unless another one's validation loss is "
      "less by 1.5 standard errors of the differences between them. Neighbouring lambdas often differ by luck alone: a "
      "typical one of those that do about as well as the best is taken.\n",
      declare_cv};
}

}  // namespace m4n::cli

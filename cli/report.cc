// m4n report: a page about a model, and about what it costs on data.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "command.h"
#include "files.h"
#include "messages.h"
#include "reports/model_page.h"
#include "structures/structure.h"

namespace m4n::cli {
namespace {

struct ReportArguments {
  TrainOptions options;  // only how files are read, and the seed
  Context context;
  std::string model, data, out, log;
  bool markdown = false, no_examples = false;
};

Examples read_examples(const ReportArguments& arguments, const Model& model, Truth truth) {
  Input input = Input::open(arguments.data);
  LineReader lines(input, {arguments.context.threads});
  return structure_of(model).read(lines, model, arguments.options.read, truth, arguments.model);
}

// Data without any labels are fine, too; what else is wrong with data that have some is said.
Examples read_with_or_without_labels(const ReportArguments& arguments, const Model& model) {
  try {
    return read_examples(arguments, model, Truth::required);
  } catch (const Error&) {
    std::optional<Examples> bare;
    if (arguments.data != "-") try {
        bare = read_examples(arguments, model, Truth::optional);
      } catch (const Error&) {
      }
    const auto known = [](std::int32_t label) { return label != unknown_label; };
    if (!bare || std::any_of(bare->truth.begin(), bare->truth.end(), known)) throw;
    return *std::move(bare);
  }
}

int run(const ReportArguments& arguments, const Parameters& parameters) {
  std::vector<std::string> inputs{arguments.model};
  for (const std::string* path : {&arguments.data, &arguments.log})
    if (!path->empty()) inputs.push_back(*path);
  if (!arguments.out.empty()) {
    require_distinct(arguments.out, "--out", inputs);
    require_writable(arguments.out, "--out");
  }
  const Model model = Model::load(arguments.model);
  std::optional<Examples> examples;
  if (!arguments.data.empty()) examples = read_with_or_without_labels(arguments, model);
  if (examples) warn_of_unseen(*examples, model, arguments.data, arguments.model);
  PageRequest request;
  request.model = file_name(arguments.model);
  request.data = arguments.data == "-" ? "standard input" : file_name(arguments.data);
  request.origin = {{"command", parameters.command_line("report")},
                    {"model", file_origin(arguments.model, model_trailer)}};
  if (!arguments.data.empty()) request.origin.emplace_back("data", file_origin(arguments.data));
  if (!arguments.log.empty()) {
    request.log = read_training_log(arguments.log);
    refuse_log_of_another(request.log, model, arguments.log);
  }
  request.examples = !arguments.no_examples;
  request.seed = arguments.options.seed;
  request.context = arguments.context;
  const Page page = model_page(model, examples ? &*examples : nullptr, request);
  OutputSink sink(arguments.out);
  sink.write(arguments.markdown ? page_markdown(page) : page_html(page));
  sink.finish();
  return done;
}

Action declare_report(Parameters& parameters) {
  auto arguments = std::make_shared<ReportArguments>();
  parameters.argument("MODEL", "a model saved by train", arguments->model);
  parameters
      .argument("DATA", "labelled data of the kind the model was trained on, plain or gzip; - is standard input",
                arguments->data)
      .required = false;
  parameters.file("out", "FILE", "where the page goes; without it to standard output", arguments->out);
  parameters.flag("markdown", "write Markdown instead of HTML: the same as text", arguments->markdown);
  parameters.flag("no-examples", "leave out the costliest examples: no row of the data is shown",
                  arguments->no_examples);
  parameters.file("log", "FILE.jsonl", "the log of the training (train --log): the certificate over passes and seconds",
                  arguments->log);
  parameters.train_options(arguments->options, {"target", "id", "weights", "ignore", "format", "seed"});
  parameters.threads(arguments->context);
  return [arguments, &parameters] { return run(*arguments, parameters); };
}

}  // namespace

Command report_command() {
  return {
      "report", "MODEL [DATA] --out R.html", "one page about a model: what it costs on data, where it errs",
      "A page that needs nothing else: pictures and style are in it, and it works without scripts. With labelled "
      "DATA it says what a prediction costs, with 95% intervals (1000 resamples by --seed), beside the best constant "
      "answer, the largest score, and a crf that decides by expected cost, which is fitted on halves of at most 2000 "
      "examples of DATA; which mistakes make up the cost; what only the task shows; the 20 costliest examples; "
      "whether probabilities are right; and what the cost would be if one price were another. Without DATA: the "
      "certificate, the weights, and where the model comes from.\n"
      "\nPages hold names of classes and features, the numbers above, and of examples their id (or line), truth, "
      "prediction and scores; --no-examples leaves those out. Paths are cut to the names of files.\n",
      declare_report};
}

}  // namespace m4n::cli

// m4n generate: synthetic data whose Bayes risk is known, in the files of their task (src/structures/*/synthetic.h).
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "command.h"
#include "core/json.h"
#include "core/option_values.h"
#include "files.h"
#include "m4n/error.h"
#include "messages.h"

namespace m4n::cli {
namespace {

constexpr std::size_t most_rows = 100'000'000;

// loans.csv, _costs: loans_costs.csv
std::string beside(const std::string& path, const char* suffix) {
  const std::filesystem::path given(path);
  return (given.parent_path() / (given.stem().string() + suffix + given.extension().string())).string();
}

struct GenerateArguments {
  TrainOptions options;  // only the task
  GenerateRequest request;
  std::string out;
  bool json = false;
};

int run(const GenerateArguments& arguments) {
  if (arguments.json && arguments.out.empty())
    throw UsageError("--json takes standard output for its report; say with --out FILE where the data go");
  const Structure& structure = structure_named(arguments.options.task);
  const auto& taken = structure.traits().generates;
  // Not every structure takes every option.
  const auto refuse = [&](bool given, const std::string& option) {
    if (!given || std::find(taken.begin(), taken.end(), option) != taken.end()) return;
    std::vector<std::string> takers;
    for (const std::string& task : task_names()) {
      const auto& own = structure_named(task).traits().generates;
      if (std::find(own.begin(), own.end(), option) != own.end()) takers.push_back("--task " + task);
    }
    throw UsageError(fmt::format("--{}: there are no such data for --task {}; leave it out, or use {}", option,
                                 structure.name(), fmt::join(takers, " or ")));
  };
  const GenerateRequest& asked = arguments.request;
  refuse(asked.costs_by_example, "costs");
  refuse(asked.softmax, "kind");
  refuse(asked.features > 0, "features");
  refuse(asked.classes > 0, "classes");
  refuse(asked.items > 0, "items");
  if ((asked.features > 0 || asked.classes > 0) && !asked.softmax)
    throw UsageError("--features and --classes are for --kind softmax; add it, or leave them out");
  if (asked.softmax && asked.costs_by_example)
    throw UsageError("--costs example and --kind softmax are two kinds of data; give one of them");
  if (asked.costs_by_example && arguments.out.empty())
    throw UsageError("--costs example writes two files, the data and their costs; say with --out FILE where they go");
  const std::string costs_path = !asked.costs_by_example ? "" : beside(arguments.out, "_costs");
  for (const std::string& path : {arguments.out, costs_path})
    if (!path.empty()) require_writable(path, "--out");
  OutputSink sink(arguments.out);
  const Generated made = structure.generate(asked, sink);
  sink.finish();
  if (!made.costs.empty()) {
    OutputSink costs(costs_path);
    costs.write(made.costs);
    costs.finish();
  }
  if (arguments.json) {
    Json report = Json::object({{"n", asked.n}});
    if (made.d > 0) report.set("d", made.d);
    for (const auto& [name, count] : made.counts) report.set(name, count);
    report.set("k", made.k).set("seed", asked.seed).set("bayes_risk", made.bayes_risk).set("out", arguments.out);
    if (!costs_path.empty()) report.set("costs", costs_path);
    print(report.text() + "\n");
  }
  for (const std::string& text : made.notes) note(Talk::all, text);
  if (!costs_path.empty())
    note(Talk::all,
         fmt::format("costs: {}; next: m4n cv {} --loss {} --surrogates auto", costs_path, arguments.out, costs_path));
  return done;
}

Action declare_generate(Parameters& parameters) {
  auto arguments = std::make_shared<GenerateArguments>();
  parameters
      .option("task", fmt::format("{}", fmt::join(task_names(), "|")), "", "what is to be predicted",
              [arguments](const std::string& text) {
                arguments->options.task = task_names()[parse_choice("task", text, task_names())];
              })
      .required = true;
  parameters
      .option("n", "N", "", "number of examples",
              [arguments](const std::string& text) { arguments->request.n = parse_whole("n", text, 1, most_rows); })
      .required = true;
  parameters.option("seed", "S", "0", "the same seed gives the same data on every machine",
                    [arguments](const std::string& text) {
                      arguments->request.seed = parse_whole("seed", text, 0, std::numeric_limits<std::uint64_t>::max());
                    });
  parameters.option("costs", "example", "the same for all examples",
                    "multiclass: loans whose costs differ from example to example; FILE_costs.csv, beside the data, "
                    "names the columns that hold them",
                    [arguments](const std::string& text) {
                      parse_choice("costs", text, std::vector<std::string>{"example"});
                      arguments->request.costs_by_example = true;
                    });
  parameters.option(
      "kind", "regions|softmax", "regions",
      "multiclass: the regions described below, or classes drawn from a softmax of linear scores",
      [arguments](const std::string& text) {
        arguments->request.softmax = parse_choice("kind", text, std::vector<std::string>{"regions", "softmax"}) == 1;
      });
  const auto count = [&](const char* name, const char* usual, const char* help, std::size_t least, std::size_t most,
                         std::size_t GenerateRequest::*field) {
    parameters.option(name, "N", usual, help, [arguments, name, least, most, field](const std::string& text) {
      arguments->request.*field = parse_whole(name, text, least, most);
    });
  };
  count("features", "10", "number of features of --kind softmax", 1, 1'000'000, &GenerateRequest::features);
  count("classes", "4", "number of classes of --kind softmax", 2, 100'000, &GenerateRequest::classes);
  count("items", "5", "ranking: number of items to rank", 2, 1000, &GenerateRequest::items);
  parameters.file("out", "FILE", "write there (the whole file or nothing) instead of to standard output",
                  arguments->out);
  parameters.flag("json", "print one JSON object: n, d (for sequences: tokens), k, seed, bayes_risk, out; needs --out",
                  arguments->json);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command generate_command() {
  return {
      "generate", "--task T --n N [--kind K] [--costs example] [--seed S] [--out FILE]",
      "make synthetic data whose Bayes risk is known exactly",
      "A CSV with the columns x1..x8,label. The input lies in one of 8 equally likely regions, which the 0/1 columns "
      "name; in each region the label is drawn from a fixed table of probabilities. Most regions have no class with "
      "a probability above 1/2. Every rule is linear in the features, so a consistent method comes as close to the "
      "Bayes risk as the number of examples allows. The Bayes risk is printed on standard error: of the zero-one loss "
      "for multiclass, of the absolute loss for ordinal (train that with --task ordinal).\n"
      "\nmulticlass with --costs example: loans, a CSV x1..x8,amount,profit,label with the classes default and repaid. "
      "Lending to who does not pay back costs the amount, declining who would the profit; both differ from loan to "
      "loan. Train with --loss FILE_costs.csv.\n"
      "\nmulticlass with --kind softmax: a CSV x1..xN,label of normal features; the class is drawn from a softmax of "
      "linear scores. For measuring speed at any size.\n"
      "\nsequence: CoNLL columns, a word and its label D, N or V, from a hidden Markov model with fixed tables; a "
      "sentence "
      "has 3 to 12 words. The Bayes risk is that of the Hamming loss given the words that were drawn.\n"
      "\nranking: a CSV x1..x8,r1..r5; the items are sorted by linear functions of normal features, and one ranking in "
      "five is replaced by a random one. matching: two sets of 4 to 10 points, the second a shuffled and slightly "
      "moved "
      "copy of the first; the features of a pair are the differences of the coordinates and two of pure noise; one "
      "matching in five is random. multilabel: a CSV x1..,y1..; in each region every label is on with a fixed "
      "probability. "
      "graph: trees, grids and graphs of treewidth 2 with 4 to 16 nodes, whose labels A, B, C tend to agree with their "
      "neighbours' and show one of six signs. All these Bayes risks are of the Hamming loss.\n",
      declare_generate};
}

}  // namespace m4n::cli

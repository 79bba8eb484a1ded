// m4n reproduce: the paper's tables from public data.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "arguments.h"
#include "core/option_values.h"
#include "data/text.h"
#include "eval/reproduce.h"
#include "m4n/error.h"
#include "messages.h"
#include "model/atomic_file.h"
#include "progress.h"
#include "report/reproduce_report.h"
#include "signals.h"

namespace m4n::cli {
namespace {

struct ReproduceArguments {
  ReproduceOptions options;
  TrainOptions train;  // its seed and binning
  Context context;
  std::string what;
  bool json = false, quiet = false;
};

void set_protocols(ReproduceOptions& options, const std::string& text) {
  options.protocols.clear();
  const std::vector<Protocol> all{Protocol::paper, Protocol::exact, Protocol::best};
  std::vector<std::string> words;
  for (const Protocol p : all) words.emplace_back(to_string(p));
  for (const std::string& word : split_list(text)) {
    const Protocol p = all[parse_choice("protocols", word, words)];
    if (std::find(options.protocols.begin(), options.protocols.end(), p) != options.protocols.end())
      throw UsageError(fmt::format("--protocols: '{}' stands twice in '{}'", word, text));
    options.protocols.push_back(p);
  }
}

// The sets that are there; says which are not.
std::vector<FoundSet> sets_of(const ReproduceArguments& arguments, bool table2) {
  std::vector<std::string> missing;
  std::vector<FoundSet> found = find_sets(arguments.options, table2, &missing);
  const std::string& data = arguments.options.data;
  if (!missing.empty())
    warn(fmt::format("{}: missing (plain or .gz), left out: {}", data, shown_list(missing, missing.size())));
  if (found.empty())
    throw Error(fmt::format("{}: none of the data sets asked for of table {} is there", data, table2 ? 2 : 1));
  return found;
}

// Prints a table and keeps it as NAME.md and NAME.json.
void deliver(const ReproduceArguments& arguments, const std::string& name, const std::string& markdown,
             const std::string& json) {
  write_file_atomically(fmt::format("{}/{}.md", arguments.options.out, name), markdown);
  write_file_atomically(fmt::format("{}/{}.json", arguments.options.out, name), json + "\n");
  print(arguments.json ? json + "\n" : markdown);
  finish_output();
}

int run(ReproduceArguments arguments) {
  const std::vector<std::string> tables{"table1", "table2", "all"};
  if (std::find(tables.begin(), tables.end(), arguments.what) == tables.end())
    throw UsageError(unknown_word_message("table", arguments.what, tables));
  if (arguments.json && arguments.what == "all")
    throw UsageError("--json prints one object, and `all` makes two. Ask for table1 or table2, or read DIR/*.json");
  const bool both = arguments.what == "all";
  ReproduceOptions& options = arguments.options;
  options.seed = arguments.train.seed;
  options.binning = arguments.train.binning;
  const std::vector<FoundSet> first =
      both || arguments.what == "table1" ? sets_of(arguments, false) : std::vector<FoundSet>{};
  const std::vector<FoundSet> second =
      both || arguments.what == "table2" ? sets_of(arguments, true) : std::vector<FoundSet>{};
  std::filesystem::create_directories(options.out);

  CountingLine line(arguments.quiet);
  options.observe = [&](const std::string& name, const CvProgress& progress) {
    line.draw(progress.done, progress.total, progress.seconds, name);
  };
  Context context = arguments.context;
  context.cancelled = stop_requested;
  listen_for_stop_signals();
  const auto stopped = [&] {
    if (!stop_requested()) return false;
    line.wipe();
    warn(fmt::format("interrupted; what is done is kept in {}: the same command goes on from there", options.out));
    return true;
  };
  if (!first.empty()) {
    const std::vector<Table1Cell> cells = reproduce_table1(options, first, context);
    if (stopped()) return interrupted;
    line.wipe();
    deliver(arguments, "table1", table1_markdown(cells, options), table1_json(cells, options));
  }
  if (!second.empty()) {
    const std::vector<Table2Cell> cells = reproduce_table2(options, second, context);
    if (stopped()) return interrupted;
    line.wipe();
    if (both) print("\n");
    deliver(arguments, "table2", table2_markdown(cells, options), table2_json(cells, options));
  }
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<ReproduceArguments>();
  ReproduceOptions& options = arguments->options;
  arguments->train.binning = Binning::width;
  add_argument(app, "TABLE", "table1, table2 or all", arguments->what);
  add_file_option(app, "data", "DIR", "directory with the data sets as NAME.csv or NAME.csv.gz", options.data)
      ->required();
  add_file_option(app, "out", "DIR",
                  "where tables (Markdown and JSON) and every cell are kept; cells that are there are not run again",
                  options.out)
      ->required();
  add_text_option(app, "only", "NAME,...", "all", "data sets", [&options](const std::string& text) {
    options.only = split_list(parse_nonempty("only", text, "names of data sets"));
  });
  add_text_option(app, "protocols", "LIST", "paper,exact,best", "of table 1",
                  [&options](const std::string& text) { set_protocols(options, text); });
  add_text_option(app, "splits", "N", "14", "random splits", [&options](const std::string& text) {
    options.splits = static_cast<int>(parse_whole("splits", text, 1, 1'000'000));
  });
  add_text_option(app, "binning", "quantile|width", "width", "how the targets of ordinal sets are cut into grades",
                  [arguments](const std::string& text) {
                    const std::vector<std::string> words{"quantile", "width"};
                    arguments->train.binning =
                        parse_choice("binning", text, words) == 0 ? Binning::quantile : Binning::width;
                  });
  add_train_options(app, arguments->train, {"seed"});
  add_threads_option(app, arguments->context);
  app.add_flag("--json", arguments->json, "print the table as one JSON object");
  app.add_flag("--quiet", arguments->quiet, "no progress on standard error, only warnings and errors");
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command reproduce_command() {
  return {
      "reproduce", "table1|table2|all --data DIR --out DIR", "the tables of the paper, from public data",
      "Table 1 compares the test losses of M3N, CRF and M4N under three protocols. paper: RBF centres standardised "
      "over all data before splitting (the order of the authors' code), 50 passes of BCFW, SDCA and GBCFW with 20 "
      "iterations of SP-MP, averaged iterates, decoding by argmax. exact: the same features, every objective solved "
      "to a certified relative gap of 1e-3, each surrogate's usual decoder. best: the exact rbf kernel fitted in "
      "each training part, gamma and lambda (also below 2^-10) chosen by validation. All share their splits; the "
      "printed values of the paper stand beside them. Table 2 varies the iterations of SP-MP with and without warm "
      "starts, over 100 passes.\n"
      "Ctrl-C stops; the same command goes on where it was.\n",
      declare};
}

}  // namespace m4n::cli

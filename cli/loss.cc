// m4n loss: what a loss is: consistency of max-margin, constants, decoders, its picture.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <system_error>

#include "command.h"
#include "core/message.h"
#include "core/option_values.h"
#include "data/text.h"
#include "files.h"
#include "losses/registry.h"
#include "messages.h"
#include "reports/loss_page.h"

namespace m4n::cli {
namespace {

constexpr std::size_t most_classes = 100;

struct LossArguments {
  std::string loss, out, three;
  std::size_t k = 0;  // 0: not given
  bool json = false;
};

std::vector<std::string> numbered(std::size_t k) {
  std::vector<std::string> out;
  for (std::size_t t = 1; t <= k; ++t) out.push_back(std::to_string(t));
  return out;
}

// The classes of a file of costs: the first cells of its rows where they are no numbers; else the first names of its
// header, a row at the top with a further cell that is no number; else 1, 2, ..
std::vector<std::string> classes_of_costs(const std::string& path) {
  Input input = Input::open(path);
  LineReader lines(input);
  std::vector<std::vector<std::string>> rows;
  for (std::string_view line; lines.next(line);)
    if (!trim(line).empty()) rows.push_back(split_cells(line, input.name(), lines.line_number()));
  const auto is_word = [](const std::string& cell) { return !finite_number(cell); };
  std::vector<std::string> header;
  if (!rows.empty() && std::any_of(rows[0].begin() + 1, rows[0].end(), is_word)) {
    header = rows[0];
    rows.erase(rows.begin());
  }
  if (rows.empty()) throw Error(fmt::format("{}: holds no costs; expected a row of numbers per class", input.name()));
  std::vector<std::string> out;
  if (std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return is_word(row[0]); })) {
    for (const auto& row : rows) out.push_back(row[0]);
    return out;
  }
  if (header.size() < rows.size()) return numbered(rows.size());
  return {header.begin(), header.begin() + static_cast<std::ptrdiff_t>(rows.size())};
}

// Of a tree the leaves.
std::vector<std::string> leaves_of_tree(const std::string& path) {
  Input input = Input::open(path);
  LineReader lines(input);
  std::vector<std::string> children;
  std::set<std::string> parents;
  bool first = true;
  for (std::string_view line; lines.next(line); first = false) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split_cells(line, input.name(), lines.line_number());
    if (cells.size() < 2 || (first && cells[0] == "child")) continue;
    children.push_back(cells[0]);
    parents.insert(cells[1]);
  }
  std::erase_if(children, [&](const std::string& node) { return parents.contains(node); });
  return children;
}

NamedCosts costs_of(const LossArguments& arguments) {
  const std::optional<LossChoice> named = find_loss(arguments.loss);
  NamedCosts out;
  out.name = named ? arguments.loss : file_name(arguments.loss);
  if (named) {
    if (named->loss->cost == nullptr || !named->loss->can_be_learnt())
      throw UsageError(
          say("{}: expected costs of classes: {}, or a file. => Costs of rankings are no matrix of classes",
              arguments.loss, fmt::join(loss_names(LossFamily::classes), ", ")));
    if (arguments.k == 0) throw UsageError(say("{} has any number of classes; => give one with --k", arguments.loss));
    out.classes = numbered(arguments.k);
    out.cost = CostMatrix::named(arguments.loss, arguments.k);
    return out;
  }
  std::error_code unknown;
  if (arguments.loss.find_first_of("./:") == std::string::npos && !std::filesystem::exists(arguments.loss, unknown))
    throw UsageError(say("{} is neither a file nor the name of a loss; expected {}, a CSV file of costs, or tree:FILE",
                         shown(arguments.loss), fmt::join(loss_names(LossFamily::classes), ", ")));
  if (arguments.k > 0)
    throw UsageError(say("--k is for losses with a name: a file has its own classes. => Leave it out"));
  const bool tree = arguments.loss.starts_with(tree_prefix);
  out.classes = tree ? leaves_of_tree(loss_file(arguments.loss)) : classes_of_costs(arguments.loss);
  if (out.classes.size() < 2)
    throw Error(
        say("{}: has {}; expected at least 2", arguments.loss, counted(out.classes.size(), "class", "classes")));
  if (out.classes.size() > most_classes)
    throw Error(fmt::format("{}: has {} classes; up to {} can be looked into", arguments.loss, out.classes.size(),
                            most_classes));
  out.cost = CostMatrix::parse(arguments.loss, out.classes);
  return out;
}

// The three classes of the picture: those that are asked for, or the first.
std::array<std::size_t, 3> three_of(const LossArguments& arguments, const NamedCosts& costs) {
  std::array<std::size_t, 3> out{0, 1, 2};
  if (arguments.three.empty()) return out;
  const std::vector<std::string> names = split_list(arguments.three);
  const ClassIndex index(costs.classes);
  for (std::size_t c = 0; c < names.size() && names.size() == out.size(); ++c) {
    const auto found = index.find(names[c]);
    if (!found)
      throw UsageError(
          say("--three: found {}, which is none of the classes {}", shown(names[c]), shown_list(costs.classes, 10)));
    out[c] = *found;
  }
  if (names.size() != out.size() || std::set<std::size_t>(out.begin(), out.end()).size() != out.size())
    throw UsageError(say("--three: found {}, expected three different classes, as a,b,c", shown(arguments.three)));
  return out;
}

int run(const LossArguments& arguments) {
  const bool svg = arguments.out.ends_with(".svg");
  if (!arguments.out.empty()) {
    if (!svg && !arguments.out.ends_with(".html"))
      throw UsageError(say("--out {}: expected a file that ends in .html or .svg", arguments.out));
    require_distinct(arguments.out, "--out", {arguments.loss});
    require_writable(arguments.out, "--out");
  }
  const NamedCosts costs = costs_of(arguments);
  if (costs.cost.k() < 3 && (svg || !arguments.three.empty()))
    throw UsageError(fmt::format("the picture is of three classes, and {} has {}", costs.name, costs.cost.k()));
  const std::array<std::size_t, 3> three = three_of(arguments, costs);
  const LossAnalysis analysis = analyse_loss(costs.cost);
  if (!arguments.out.empty()) {
    OutputSink sink(arguments.out);
    sink.write(svg ? svg_file(loss_drawing(costs, three)) : page_html(loss_page(costs, analysis, three)));
    sink.finish();
  }
  arguments.json ? print(loss_json(costs, analysis)) : print(loss_text(costs, analysis), Printed::words);
  return done;
}

Action declare_loss(Parameters& parameters) {
  auto arguments = std::make_shared<LossArguments>();
  const std::vector<std::string> names = loss_names(LossFamily::classes);
  parameters
      .argument("LOSS", fmt::format("{}, a CSV file of costs, or tree:FILE", fmt::join(names, ", ")), arguments->loss)
      .value = fmt::format("{}|tree:FILE|FILE.csv", fmt::join(names, "|"));
  parameters.option("k", "N", "",
                    fmt::format("of a loss with a name: for how many classes, from 2 to {}", most_classes),
                    [arguments](const std::string& text) { arguments->k = parse_whole("k", text, 2, most_classes); });
  parameters.file("out", "FILE.html|FILE.svg", "a page, or the picture of three classes alone", arguments->out);
  parameters.option("three", "A,B,C", "the first three", "the classes of the picture",
                    [arguments](const std::string& text) {
                      arguments->three = parse_nonempty("three", text, "three classes, as a,b,c");
                    });
  parameters.flag("json",
                  "print one JSON object: name, k, predictions, symmetric, m3n_consistent, counterexample, calibration "
                  "(null where no exact finite constant is known), calibration_bounds, theorem, decoders, cost",
                  arguments->json);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command loss_command() {
  return {
      "loss", "LOSS", "what a loss is: is max-margin consistent for it, its constants, its picture",
      "Says whether max-margin (M3N) finds the best answers for these costs as data grow, with probabilities at which "
      "it does not, if so; the constants by which an excess of a surrogate's risk bounds the excess cost; and how "
      "each surrogate is decoded. Consistency is decided exactly for up to 13 classes and for distances on a line, the "
      "constant of m4n for up to 8 classes (beyond: bounds), that of crf by a formula.\n"
      "\nThe picture is that of the paper's first figure for three classes: probabilities coloured by the best "
      "answer, and scores coloured by the prediction of M4N, M3N, CRF and QS with level lines of their risks.\n",
      declare_loss};
}

}  // namespace m4n::cli

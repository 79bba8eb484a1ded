// The paper's tables, as Markdown and as JSON.
#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/json.h"
#include "core/message.h"

namespace m4n::detail {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A Markdown table with its columns aligned, so that it reads as plain text.
std::string markdown(const Rows& rows) {
  std::vector<std::size_t> width(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < width.size(); ++c) out += fmt::format("| {:<{}} ", rows[r][c], width[c]);
    out += "|\n";
    if (r > 0) continue;
    for (const std::size_t w : width) out.append("|").append(w + 2, '-');
    out += "|\n";
  }
  return out;
}

bool in_percent(const PaperSet& set) { return set.task->percent; }

std::string loss(const PaperSet& set, double value) {
  if (std::isnan(value)) return "-";
  return in_percent(set) ? fmt::format("{:.2f}%", 100 * value) : fmt::format("{:.3f}", value);
}

std::string loss(const PaperSet& set, const CvSummary& s) {
  if (std::isnan(s.error)) return loss(set, s.mean);
  return loss(set, s.mean) +
         (in_percent(set) ? fmt::format(" +- {:.2f}", 100 * s.error) : fmt::format(" +- {:.3f}", s.error));
}

std::string shape(const Table1Cell& cell) { return fmt::format("({}, {}, {})", cell.d, cell.n, cell.k); }

double printed(const PaperSet& set, SurrogateKind surrogate) {
  return surrogate == SurrogateKind::m3n ? set.m3n : surrogate == SurrogateKind::crf ? set.crf : set.m4n;
}

std::string upper(const char* name) {
  std::string out = name;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  return out;
}

const Table1Cell* find(const std::vector<Table1Cell>& cells, const PaperSet* set, Protocol p, SurrogateKind s) {
  for (const Table1Cell& cell : cells)
    if (cell.set == set && cell.protocol == p && cell.surrogate == s) return &cell;
  return nullptr;
}

// The sets in the order of the cells, each once.
template <class Cell>
std::vector<const Cell*> first_of_each_set(const std::vector<Cell>& cells) {
  std::vector<const Cell*> out;
  for (const Cell& cell : cells)
    if (out.empty() || out.back()->set != cell.set) out.push_back(&cell);
  return out;
}

Json summary_json(const CvSummary& s) {
  return Json::object({{"mean", s.mean}, {"std", s.deviation}, {"se", s.error}});
}

std::string shared_words(const ReproduceOptions& o) {
  return fmt::format("{}, 60/20/20, seed {}; ordinal targets cut by {}",
                     counted(static_cast<std::uint64_t>(o.splits), "random split"), o.seed, to_string(o.binning));
}

std::string table1_markdown(const std::vector<Table1Cell>& cells, const ReproduceOptions& options) {
  constexpr SurrogateKind surrogates[] = {SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::m4n};
  std::vector<Protocol> protocols;
  for (const Protocol p : {Protocol::paper, Protocol::exact, Protocol::best})
    if (std::any_of(cells.begin(), cells.end(), [p](const Table1Cell& cell) { return cell.protocol == p; }))
      protocols.push_back(p);
  Rows rows{{"task", "set", "(d, n, k)", "surrogate", "printed"}}, times{{"set"}};
  for (const Protocol p : protocols) {
    rows[0].push_back(p == Protocol::paper ? "paper's protocol" : to_string(p));
    times[0].push_back(fmt::format("{}, s", to_string(p)));
  }
  const bool ratio = protocols.size() > 1 && protocols[0] == Protocol::paper && protocols[1] == Protocol::exact;
  if (ratio) times[0].emplace_back("paper / exact, M4N alone");
  bool marked = false;
  for (const Table1Cell* first : first_of_each_set(cells)) {
    const PaperSet& set = *first->set;
    std::map<Protocol, double> seconds;
    for (const SurrogateKind s : surrogates) {
      rows.push_back({set.task->label, set.name, shape(*first), upper(to_string(s)), loss(set, printed(set, s))});
      for (const Protocol p : protocols) {
        const Table1Cell* cell = find(cells, &set, p, s);
        const bool mark = cell != nullptr && p != Protocol::paper && cell->unconverged > 0;
        rows.back().push_back(cell == nullptr ? "" : loss(set, cell->test) + (mark ? " *" : ""));
        marked = marked || mark;
        if (cell != nullptr) seconds[p] += cell->seconds;
      }
    }
    times.push_back({set.name});
    for (const Protocol p : protocols)
      times.back().push_back(seconds.contains(p) ? fmt::format("{:.3g}", seconds[p]) : "");
    const Table1Cell *paper = find(cells, &set, Protocol::paper, SurrogateKind::m4n),
                     *exact = find(cells, &set, Protocol::exact, SurrogateKind::m4n);
    if (ratio)
      times.back().push_back(
          paper == nullptr || exact == nullptr ? "" : fmt::format("{:.3g}x", paper->seconds / exact->seconds));
  }
  std::string out =
      fmt::format("Table 1: test losses, mean +- standard error. {}.\n\n{}", shared_words(options), markdown(rows));
  if (marked) out += "\n\\* some of the fits, at the smallest lambdas, stopped before the tolerance was reached.\n";
  return out + "\nSeconds of solving: all splits, lambdas (and gammas), the three surrogates together.\n\n" +
         markdown(times);
}

std::string table2_markdown(const std::vector<Table2Cell>& cells, const ReproduceOptions& options) {
  Rows rows{{"set", "warm start", "", "K = 10", "K = 30", "K = 50", "K = 100"}};
  for (const Table2Cell& cell : cells) {
    const bool first = cell.printed->iterations == 10;
    const char* const warm = cell.printed->warm_start ? "yes" : "no";
    if (first) {
      rows.push_back({cell.set->name, warm, "printed"});
      rows.push_back({cell.set->name, warm, fmt::format("ours, lambda {}", lambda_text(cell.lambda))});
    }
    rows[rows.size() - 2].push_back(fmt::format("{:.2f} / {:.2f}", cell.printed->test, cell.printed->oracle_error));
    rows.back().push_back(fmt::format("{:.3f} / {:.3f}", cell.test.mean, cell.oracle_error.mean));
  }
  for (auto& row : rows) row.resize(rows[0].size());
  return fmt::format("Table 2: mean test loss / mean error of the oracle in the last of 100 passes. {}.\n\n{}",
                     shared_words(options), markdown(rows));
}

Json table1_json(const std::vector<Table1Cell>& cells) {
  Json out = Json::array();
  for (const Table1Cell& cell : cells)
    out.push(Json::object({{"set", cell.set->name},
                           {"task", cell.set->task->task},
                           {"n", cell.n},
                           {"d", cell.d},
                           {"k", cell.k},
                           {"protocol", to_string(cell.protocol)},
                           {"surrogate", to_string(cell.surrogate)},
                           {"printed", printed(*cell.set, cell.surrogate)},
                           {"test", summary_json(cell.test)},
                           {"best_lambda", cell.best_lambda},
                           {"seconds", cell.seconds},
                           {"fits", cell.fits},
                           {"unconverged", cell.unconverged}}));
  return out;
}

Json table2_json(const std::vector<Table2Cell>& cells) {
  Json out = Json::array();
  for (const Table2Cell& cell : cells)
    out.push(Json::object({{"set", cell.set->name},
                           {"n", cell.n},
                           {"warm_start", cell.printed->warm_start},
                           {"oracle_iterations", cell.printed->iterations},
                           {"printed_test", cell.printed->test},
                           {"printed_oracle_error", cell.printed->oracle_error},
                           {"lambda", cell.lambda},
                           {"test", summary_json(cell.test)},
                           {"oracle_error", summary_json(cell.oracle_error)},
                           {"seconds", cell.seconds}}));
  return out;
}

// What is not a number is null.
double number_of(const nlohmann::json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

CvSummary summary_of(const nlohmann::json& tree) {
  return {number_of(tree.at("mean")), number_of(tree.at("std")), number_of(tree.at("se"))};
}

// The one of `all` that the text names.
template <class Item, class Name>
const Item& one_of(const std::vector<Item>& all, const std::string& text, const Name& name_of) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Item& item) { return name_of(item) == text; });
  if (found == all.end()) throw std::out_of_range("unknown name");
  return *found;
}

const PaperSet* set_of(const nlohmann::json& row) {
  return &one_of(paper_sets(), row.at("set").get<std::string>(), [](const PaperSet& set) { return set.name; });
}

Table1Cell table1_cell(const nlohmann::json& row) {
  static const std::vector<Protocol> protocols{Protocol::paper, Protocol::exact, Protocol::best};
  static const std::vector<SurrogateKind> surrogates{SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::m4n};
  const auto text = [](auto kind) { return to_string(kind); };
  return {set_of(row),
          row.at("d").get<std::size_t>(),
          row.at("n").get<std::size_t>(),
          row.at("k").get<std::size_t>(),
          one_of(protocols, row.at("protocol").get<std::string>(), text),
          one_of(surrogates, row.at("surrogate").get<std::string>(), text),
          summary_of(row.at("test")),
          number_of(row.at("best_lambda")),
          number_of(row.at("seconds")),
          row.at("unconverged").get<std::size_t>(),
          row.at("fits").get<std::size_t>()};
}

Table2Cell table2_cell(const nlohmann::json& row) {
  const PaperSet* set = set_of(row);
  const auto printed = std::find_if(set->table2.begin(), set->table2.end(), [&](const PrintedOracle& p) {
    return p.warm_start == row.at("warm_start") && p.iterations == row.at("oracle_iterations");
  });
  if (printed == set->table2.end()) throw std::out_of_range("unknown cell");
  return {set,
          &*printed,
          row.at("n").get<std::size_t>(),
          summary_of(row.at("test")),
          summary_of(row.at("oracle_error")),
          number_of(row.at("lambda")),
          number_of(row.at("seconds"))};
}

}  // namespace

ReproducedTables earlier_tables(const std::string& path, const ReproduceOptions& options) {
  ReproducedTables out;
  std::ifstream file(path);
  if (!file) return out;
  try {
    const nlohmann::json tables = nlohmann::json::parse(file);
    if (tables.at("splits") != options.splits || tables.at("seed") != options.seed ||
        tables.at("binning").get<std::string>() != to_string(options.binning))
      return out;
    for (const nlohmann::json& row : tables.at("table1")) out.table1.push_back(table1_cell(row));
    for (const nlohmann::json& row : tables.at("table2")) out.table2.push_back(table2_cell(row));
  } catch (const std::exception& error) {
    throw Error(say("{}: is not as m4n reproduce wrote it ({}); => remove it", path, error.what()));
  }
  return out;
}

std::string reproduce_markdown(const ReproducedTables& tables, const ReproduceOptions& options) {
  std::string out;
  if (!tables.table1.empty()) out += table1_markdown(tables.table1, options);
  if (!tables.table2.empty()) (out += out.empty() ? "" : "\n") += table2_markdown(tables.table2, options);
  if (!tables.shortened.empty())
    out += fmt::format("\nThe first row of {} is left out: the paper's n is one less than that of the public files.\n",
                       fmt::join(tables.shortened, ", "));
  return out;
}

std::string reproduce_json(const ReproducedTables& tables, const ReproduceOptions& options) {
  return Json::object({{"splits", options.splits},
                       {"seed", options.seed},
                       {"binning", to_string(options.binning)},
                       {"table1", table1_json(tables.table1)},
                       {"table2", table2_json(tables.table2)}})
      .pretty();
}

}  // namespace m4n::detail

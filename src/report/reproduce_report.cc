#include "report/reproduce_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/wording.h"

namespace m4n {
namespace {

using Json = nlohmann::ordered_json;
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
    for (const std::size_t w : width) out += "|" + std::string(w + 2, '-');
    out += "|\n";
  }
  return out;
}

bool in_percent(const PaperSet& set) { return set.task == Task::multiclass; }

std::string loss(const PaperSet& set, double value) {
  return in_percent(set) ? fmt::format("{:.2f}%", 100 * value) : fmt::format("{:.3f}", value);
}

std::string loss(const PaperSet& set, const CvSummary& s) {
  if (std::isnan(s.error)) return loss(set, s.mean);
  return loss(set, s.mean) +
         (in_percent(set) ? fmt::format(" +- {:.2f}", 100 * s.error) : fmt::format(" +- {:.3f}", s.error));
}

std::string shape(const PaperSet& set, std::size_t n) { return fmt::format("({}, {}, {})", set.d, n, set.k); }

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

Json summary_json(const CvSummary& s) { return {{"mean", s.mean}, {"std", s.deviation}, {"se", s.error}}; }

Json settings_json(const ReproduceOptions& o) {
  return {{"splits", o.splits}, {"seed", o.seed}, {"binning", to_string(o.binning)}};
}

std::string heading(const char* what, const ReproduceOptions& o) {
  return fmt::format("{}, {}, 60/20/20, seed {}; ordinal targets cut by {}. Mean and standard error.\n\n", what,
                     counted(static_cast<std::uint64_t>(o.splits), "random split"), o.seed, to_string(o.binning));
}

}  // namespace

std::string table1_markdown(const std::vector<Table1Cell>& cells, const ReproduceOptions& options) {
  if (cells.empty()) return "";
  constexpr SurrogateKind surrogates[] = {SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::m4n};
  Rows rows{{"task", "set", "(d, n, k)", "surrogate", "printed"}}, times{{"set"}};
  for (const Protocol p : options.protocols) {
    rows[0].emplace_back(to_string(p));
    times[0].push_back(fmt::format("{}, s", to_string(p)));
  }
  const bool ratio = find(cells, cells[0].set, Protocol::paper, SurrogateKind::m4n) != nullptr &&
                     find(cells, cells[0].set, Protocol::exact, SurrogateKind::m4n) != nullptr;
  if (ratio) times[0].emplace_back("paper / exact, M4N alone");
  for (const Table1Cell* first : first_of_each_set(cells)) {
    const PaperSet& set = *first->set;
    std::map<Protocol, double> seconds;
    for (const SurrogateKind s : surrogates) {
      rows.push_back({in_percent(set) ? "MC" : "ORD", set.name, shape(set, first->n), upper(to_string(s)),
                      loss(set, printed(set, s))});
      for (const Protocol p : options.protocols) {
        const Table1Cell* cell = find(cells, &set, p, s);
        rows.back().push_back(cell == nullptr ? "" : loss(set, cell->test));
        if (cell != nullptr) seconds[p] += cell->seconds;
      }
    }
    times.push_back({set.name});
    for (const Protocol p : options.protocols) times.back().push_back(fmt::format("{:.3g}", seconds[p]));
    const Table1Cell *paper = find(cells, &set, Protocol::paper, SurrogateKind::m4n),
                     *exact = find(cells, &set, Protocol::exact, SurrogateKind::m4n);
    if (ratio)
      times.back().push_back(
          paper == nullptr || exact == nullptr ? "" : fmt::format("{:.3g}x", paper->seconds / exact->seconds));
  }
  return heading("Table 1: test losses", options) + markdown(rows) +
         "\nSeconds of solving, all splits, lambdas (and gammas) and the three surrogates together:\n\n" +
         markdown(times);
}

std::string table2_markdown(const std::vector<Table2Cell>& cells, const ReproduceOptions& options) {
  if (cells.empty()) return "";
  Rows rows{{"set", "lambda", "warm start", "K = 10", "K = 30", "K = 50", "K = 100"}};
  for (const Table2Cell& cell : cells) {
    const std::string warm = cell.warm_start ? "yes" : "no";
    if (rows.back()[0] != cell.set->name || rows.back()[2] != warm)
      rows.push_back({cell.set->name, lambda_text(cell.lambda), warm});
    rows.back().push_back(fmt::format("{:.3f} / {:.3g}", cell.test.mean, cell.oracle_error.mean));
  }
  for (auto& row : rows) row.resize(rows[0].size());
  return heading("Table 2: test loss / mean error of the oracle in the last of 100 passes", options) + markdown(rows);
}

std::string table1_json(const std::vector<Table1Cell>& cells, const ReproduceOptions& options) {
  Json out = settings_json(options);
  Json list = Json::array();
  for (const Table1Cell& cell : cells)
    list.push_back({{"set", cell.set->name},
                    {"task", to_string(cell.set->task)},
                    {"n", cell.n},
                    {"d", cell.set->d},
                    {"k", cell.set->k},
                    {"protocol", to_string(cell.protocol)},
                    {"surrogate", to_string(cell.surrogate)},
                    {"printed", printed(*cell.set, cell.surrogate)},
                    {"test", summary_json(cell.test)},
                    {"best_lambda", cell.best_lambda},
                    {"seconds", cell.seconds},
                    {"fits", cell.fits},
                    {"unconverged", cell.unconverged}});
  out["table1"] = std::move(list);
  return out.dump(1);
}

std::string table2_json(const std::vector<Table2Cell>& cells, const ReproduceOptions& options) {
  Json out = settings_json(options);
  Json list = Json::array();
  for (const Table2Cell& cell : cells)
    list.push_back({{"set", cell.set->name},
                    {"n", cell.n},
                    {"warm_start", cell.warm_start},
                    {"oracle_iterations", cell.iterations},
                    {"lambda", cell.lambda},
                    {"test", summary_json(cell.test)},
                    {"oracle_error", summary_json(cell.oracle_error)},
                    {"seconds", cell.seconds}});
  out["table2"] = std::move(list);
  return out.dump(1);
}

}  // namespace m4n

// Tables of examples, one row each: which format a file has, by its content, and the way to its reader.
#include "data/table.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "core/message.h"
#include "core/parallel.h"
#include "data/chunks.h"
#include "data/text.h"

namespace m4n::detail {

namespace {

// index:number, as in LIBSVM files.
bool is_pair(std::string_view token) {
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(token.begin(), token.begin() + static_cast<std::ptrdiff_t>(colon), is_digit) &&
         finite_number(token.substr(colon + 1)).has_value();
}

// The first line that tells decides: index:value among its first three words is LIBSVM (a label alone, or a comment,
// does not tell), a comma elsewhere is CSV.
const char* format_of(std::string_view text) {
  const char* format = "csv";
  any_line(text, [&](std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::string_view rest = trim(line);
    for (int word = 0; word < 3 && !rest.empty(); ++word) {
      const std::size_t blank = rest.find_first_of(" \t");
      if (is_pair(rest.substr(0, blank))) {
        format = "libsvm";
        return true;
      }
      rest = blank == std::string_view::npos ? std::string_view{} : trim(rest.substr(blank));
    }
    return line.find(',') != std::string_view::npos;
  });
  return format;
}

}  // namespace

bool BlankLines::pass(std::string_view line, const LineReader& lines, bool examples_before) {
  if (trim(line).empty()) {
    if (first_blank_ == 0) first_blank_ = lines.line_number();
    return true;
  }
  if (first_blank_ > 0 && examples_before)
    throw Error(say("{}: line {}: blank line between examples; => remove it, or write the example that is missing",
                    lines.file(), first_blank_));
  first_blank_ = 0;
  return false;
}

std::unique_ptr<TableRows> table_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                      const ExpectedColumns* expected) {
  if (lines.peek().empty()) throw Error(say("{}: is empty; expected a CSV or LIBSVM file", lines.file()));
  const std::string format = options.format.empty() ? format_of(lines.peek()) : options.format;
  if (format != "csv" && format != "libsvm")
    throw UsageError(say("--format {} holds no table of examples. => Leave it out", format));
  return format == "libsvm" ? libsvm_rows(lines, options, truth, expected) : csv_rows(lines, options, truth, expected);
}

RawTable read_table(LineReader& lines, const ReadOptions& options, Truth truth, const ExpectedColumns* expected) {
  const std::unique_ptr<TableRows> rows = table_rows(lines, options, truth, expected);
  if (thread_count(lines.chunking().threads) == 1)
    rows->read(lines);
  else
    in_chunks(
        lines,
        [&](LineReader& chunk, unsigned) {
          std::unique_ptr<TableRows> piece = rows->piece();
          piece->read(chunk);
          return piece;
        },
        [&](LineReader& chunk, std::unique_ptr<TableRows>* piece, unsigned) {
          if (piece != nullptr && rows->goes_on_with(**piece)) return rows->append(**piece, chunk);
          chunk.rewind();
          rows->read(chunk);
        });
  RawTable table = rows->finish(lines.file());
  table.path = lines.file();
  return table;
}

RawTable read_table(const std::string& path, const ReadOptions& options, Truth truth, const ExpectedColumns* expected) {
  Input input = Input::open(path);
  LineReader lines(input);
  return read_table(lines, options, truth, expected);
}

Dataset unlabelled(RawTable& table) {
  Dataset data;
  const std::size_t n = rows(table.x);
  data.x = std::move(table.x);
  data.feature_names = std::move(table.feature_names);
  data.weight = std::move(table.weight);
  data.costs = std::move(table.costs);
  data.feature_rows = data.labels = Groups(n);
  return data;
}

Dataset with_outputs(RawTable& table, OutputColumns outputs) {
  const bool ranks = outputs == OutputColumns::ranks;
  if (table.output_names.empty())
    throw Error(say("{}: no {}", table.path,
                    ranks ? "ranks; expected columns r1, r2, .." : "labels; expected columns y1, y2, .."));
  Dataset data = unlabelled(table);
  data.label = std::move(table.outputs);
  if (ranks)
    for (std::int32_t& rank : data.label) --rank;
  data.class_names = std::move(table.output_names);
  data.labels = Groups(data.examples(), data.class_names.size());
  return data;
}

LabelNumbers::LabelNumbers(std::vector<std::string> known) : names_(std::move(known)) {
  for (std::size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], static_cast<std::int32_t>(i));
}

std::int32_t LabelNumbers::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  const auto next = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(name, next);
  return next;
}

std::vector<std::string> sort_classes(const LabelNumbers& labels, std::vector<std::int32_t>& label,
                                      const std::string& file) {
  const std::vector<std::string>& names = labels.names();
  if (names.size() < 2)
    throw Error(say("{}: {}; at least two labels are needed to learn anything", file,
                    names.empty() ? "no labels" : "only one label, " + shown(names[0])));
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool numbers =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return finite_number(name).has_value(); });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = numbers ? *finite_number(names[a]) : 0, y = numbers ? *finite_number(names[b]) : 0;
    return x != y ? x < y : names[a] < names[b];
  });
  for (std::size_t i = 1; numbers && i < order.size(); ++i)
    if (*finite_number(names[order[i - 1]]) == *finite_number(names[order[i]]))
      throw Error(say("{}: the labels {} and {} are the same number; spell it one way", file,
                      shown(names[order[i - 1]]), shown(names[order[i]])));
  std::vector<std::int32_t> rank(names.size());
  std::vector<std::string> sorted;
  for (const std::size_t i : order) {
    rank[i] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(names[i]);
  }
  for (std::int32_t& l : label) l = rank[static_cast<std::size_t>(l)];
  return sorted;
}

std::vector<std::int32_t> known_labels(const std::vector<std::int32_t>& truth, std::size_t classes) {
  std::vector<std::int32_t> label = truth;
  for (std::int32_t& l : label)
    if (l >= static_cast<std::int32_t>(classes)) l = unknown_label;
  return label;
}

}  // namespace m4n::detail

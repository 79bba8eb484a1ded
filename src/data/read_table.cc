// Which format a file has, by its content, and the way to its reader.
#include <fmt/format.h>

#include "data/table.h"
#include "m4n/error.h"

namespace m4n {
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
Format format_of(std::string_view text) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = line.substr(0, line.find('#'));
    std::string_view rest = trim(line);
    for (int word = 0; word < 3 && !rest.empty(); ++word) {
      const std::size_t blank = rest.find_first_of(" \t");
      if (is_pair(rest.substr(0, blank))) return Format::libsvm;
      rest = blank == std::string_view::npos ? std::string_view{} : trim(rest.substr(blank));
    }
    if (line.find(',') != std::string_view::npos) return Format::csv;
  }
  return Format::csv;
}

}  // namespace

bool BlankLines::pass(std::string_view line, const LineReader& lines, bool examples_before) {
  if (trim(line).empty()) {
    if (first_blank_ == 0) first_blank_ = lines.line_number();
    return true;
  }
  if (first_blank_ > 0 && examples_before)
    throw Error(fmt::format("{}: line {}: blank line between examples; remove it, or write the example that is missing",
                            lines.file(), first_blank_));
  first_blank_ = 0;
  return false;
}

RawTable read_table(LineReader& lines, const ReadOptions& options, bool target_required, const Model* expected) {
  if (lines.peek().empty()) throw Error(fmt::format("{}: is empty; expected a CSV or LIBSVM file", lines.file()));
  if (options.format != Format::automatic && options.format != Format::csv && options.format != Format::libsvm)
    throw UsageError(fmt::format("--format {} holds {}, not a table of examples; leave it out, or use --task {}",
                                 to_string(options.format),
                                 options.format == Format::matching ? "matchings"
                                 : options.format == Format::graph  ? "graphs"
                                                                    : "sequences",
                                 options.format == Format::matching ? "matching"
                                 : options.format == Format::graph  ? "graph"
                                                                    : "sequence"));
  const Format format = options.format == Format::automatic ? format_of(lines.peek()) : options.format;
  RawTable table = format == Format::libsvm ? read_libsvm(lines, options, target_required, expected)
                                            : read_csv(lines, options, target_required, expected);
  table.path = lines.file();
  return table;
}

RawTable read_table(const std::string& path, const ReadOptions& options, bool target_required, const Model* expected) {
  Input input = Input::open(path);
  LineReader lines(input);
  return read_table(lines, options, target_required, expected);
}

}  // namespace m4n

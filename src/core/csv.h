// Text for CSV files.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace m4n::detail {

// A cell: quoted only where needed (a comma, a quote, a line break, a space at an end).
inline std::string csv_cell(std::string_view text) {
  const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!outer_space && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// ",1.5,2": numbers as cells behind others, which read back exactly.
inline void append_numbers(std::string& out, std::span<const double> numbers) {
  for (const double x : numbers) fmt::format_to(std::back_inserter(out), ",{}", x);
}

}  // namespace m4n::detail

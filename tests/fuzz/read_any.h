// Any bytes read as a data file: a table, or an Error; never a crash. Plain and gzip'd bytes, with and without labels,
// with and without a model that says which features to expect.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/table.h"
#include "m4n/error.h"
#include "structures/table_structure.h"

namespace m4n::detail::fuzz {

inline void read(std::string_view text, const char* format, Truth truth, const ExpectedColumns* expected) {
  ReadOptions options;
  options.format = format;
  try {
    Input input = Input::memory(text, "fuzz");
    LineReader lines(input);
    RawTable table = read_table(lines, options, truth, expected);
    if (truth == Truth::optional) return;
    const TrainOptions none;
    for (const Structure* structure : structures())
      if (const auto* own = dynamic_cast<const TableStructure*>(structure); own && own->recognises(table, none)) {
        own->training_data(std::move(table), none, [](const std::string&) {});
        return;
      }
  } catch (const Error&) {
    return;  // refused in words
  }
}

inline int read_any(const std::uint8_t* bytes, std::size_t size, const char* format) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const ExpectedColumns expected{{"x1", "x2"}, 2, 0, OutputColumns::one, {}, {}, {}};
  read(text, format, Truth::required, nullptr);
  read(text, format, Truth::optional, nullptr);
  read(text, format, Truth::optional, &expected);
  return 0;
}

}  // namespace m4n::detail::fuzz

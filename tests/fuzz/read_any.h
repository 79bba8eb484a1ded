// Any bytes read as a data file: a table, or an Error; never a crash. Plain and gzip'd bytes, with and without labels,
// with and without a model that says which features to expect.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/table.h"
#include "m4n/error.h"

namespace m4n::fuzz {

inline void read(std::string_view text, Format format, bool target_required, const Model* expected) {
  ReadOptions options;
  options.format = format;
  try {
    Input input = Input::memory(text, "fuzz");
    LineReader lines(input);
    RawTable table = read_table(lines, options, target_required, expected);
    if (!target_required) return;
    const Task task = guess_task(table, 0);
    label_for_training(std::move(table), task);
  } catch (const Error&) {
    return;  // refused in words
  }
}

inline int read_any(const std::uint8_t* bytes, std::size_t size, Format format) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  Model model;
  model.feature_names = {"x1", "x2"};
  model.d = 2;
  read(text, format, true, nullptr);
  read(text, format, false, nullptr);
  read(text, format, false, &model);
  return 0;
}

}  // namespace m4n::fuzz

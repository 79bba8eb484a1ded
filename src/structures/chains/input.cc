#include "structures/chains/input.h"

#include <fmt/format.h>

namespace m4n::detail {

const char* to_string(SequenceFormat format) {
  return format == SequenceFormat::conll ? "conll" : format == SequenceFormat::crfsuite ? "crfsuite" : "ocr";
}

std::optional<SequenceFormat> sequence_format(std::string_view name) {
  for (const SequenceFormat format : {SequenceFormat::conll, SequenceFormat::crfsuite, SequenceFormat::ocr})
    if (name == to_string(format)) return format;
  return std::nullopt;
}

std::string feature_name(const SequenceInput& input, std::size_t column) {
  if (input.format == SequenceFormat::ocr) return input.grid ? input.grid->name(column) : std::to_string(column + 1);
  if (input.dictionary.hash_bits() > 0) return fmt::format("(hash {})", column);
  return std::string(input.dictionary.name(column));
}

}  // namespace m4n::detail

#include "structures/chains/input.h"

#include <fmt/format.h>

namespace m4n {

std::string feature_name(const SequenceInput& input, std::size_t column) {
  if (input.format == Format::ocr) return input.grid ? input.grid->name(column) : std::to_string(column + 1);
  if (input.dictionary.hash_bits() > 0) return fmt::format("(hash {})", column);
  return std::string(input.dictionary.name(column));
}

}  // namespace m4n

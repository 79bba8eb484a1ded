// Numbers with their nouns, for messages and reports: "1 epoch", "2 epochs", "0 classes".
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace m4n {

// The plural is the noun and "s", or as given.
inline std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {}) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

}  // namespace m4n

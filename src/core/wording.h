// Numbers as people write them, for messages and reports; with their nouns: "1 epoch", "2 epochs", "0 classes".
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace m4n::detail {

// The plural is the noun and "s", or as given.
inline std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural = {}) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

// 2^-10 for powers of two, six digits otherwise.
inline std::string lambda_text(double lambda) {
  int exponent = 0;
  return std::frexp(lambda, &exponent) == 0.5 ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.6g}", lambda);
}

// The first few of a long list.
template <class Entry>
std::string abridged(const std::vector<Entry>& list) {
  constexpr std::size_t most = 30;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", list[i]);
  if (list.size() > most) text += ", ...";
  return text;
}

}  // namespace m4n::detail

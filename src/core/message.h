// Messages in which options keep their names: say("--gamma belongs to a kernel, not to {}", features).
//
// Every --name in the FORMAT becomes the name of an option; what stands for {} is text, whatever is in it, unless it is
// itself a Message or option("name"). So a value of the user's that looks like an option stays as it is. "=> " in the
// format is not shown; what follows it is the remedy: say("--gamma is not for {}; => leave it out", features).
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "m4n/error.h"

namespace m4n::detail {

// The name of an option that is not known when the format is written.
Message option(std::string name);

namespace message {

// `parts`: for every argument the message it is, or null.
Message format(std::string_view format, fmt::format_args args, std::span<const Message* const> parts);

// What fmt sees of an argument: a message takes no part in the formatting.
template <class T>
using Shown = std::conditional_t<std::is_same_v<T, Message>, int, T>;

template <class T>
const Shown<T>& shown_as(const T& value) {
  static constexpr int nothing = 0;
  if constexpr (std::is_same_v<T, Message>)
    return nothing;
  else
    return value;
}
template <class T>
const Message* part(const T& value) {
  if constexpr (std::is_same_v<T, Message>)
    return &value;
  else
    return nullptr;
}

}  // namespace message

template <class... Args>
Message say(fmt::format_string<std::type_identity_t<message::Shown<Args>>...> format, const Args&... args) {
  const std::array<const Message*, sizeof...(Args)> parts{message::part(args)...};
  const fmt::string_view text = format;
  return message::format({text.data(), text.size()}, fmt::make_format_args(message::shown_as(args)...), parts);
}

// An option that has a value it cannot have.
[[noreturn]] void refuse_value(std::string option, std::string value, const Message& expected);

// Numbers as people write them, for messages and reports; with their nouns: "1 epoch", "2 epochs", "0 classes".

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

// Parsing of numbers, lists, words and file names given as options (option_values.h).
#include "core/option_values.h"
#include "core/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

namespace m4n::detail {
namespace {

// The whole of `text` as a decimal number; nothing if any character is left over, or if it does not fit.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// B^E with decimal B and E, as in 2^-10.
std::optional<double> power_or_number(std::string_view text) {
  const std::size_t caret = text.find('^');
  if (caret == std::string_view::npos) return number<double>(text);
  const auto base = number<double>(text.substr(0, caret)), exponent = number<double>(text.substr(caret + 1));
  if (!base || !exponent) return std::nullopt;
  return std::pow(*base, *exponent);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j] is the distance between the letters of a seen so far and the first j letters of b.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest_word(std::string_view found, std::span<const std::string> valid) {
  std::string best;
  // A word cut short means the shortest of those that begin with it; dashes alone say nothing.
  if (found.find_first_not_of('-') != std::string_view::npos)
    for (const std::string& word : valid)
      if (word.starts_with(found) && (best.empty() || word.size() < best.size())) best = word;
  if (!best.empty()) return best;
  std::size_t best_distance = 0;
  for (const std::string& word : valid) {
    const std::size_t distance = edit_distance(found, word);
    if (best.empty() || distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  const std::size_t letters = std::max(found.size(), best.size());
  return best_distance <= std::max<std::size_t>(1, 2 * letters / 5) ? best : std::string();
}

std::string unknown_word_message(std::string_view what, std::string_view found, std::span<const std::string> valid) {
  const std::string nearest = nearest_word(found, valid);
  const std::string question = nearest.empty() ? "" : fmt::format(" Did you mean '{}'?", nearest);
  return fmt::format("unknown {} '{}'.{} Valid: {}", what, found, question, fmt::join(valid, ", "));
}

double parse_real(std::string_view option, const std::string& text, const RealRange& range) {
  const std::optional<double> value = power_or_number(text);
  const bool inside = value && std::isfinite(*value) &&
                      (range.low_included ? *value >= range.low : *value > range.low) &&
                      (range.high_included ? *value <= range.high : *value < range.high);
  if (!inside) refuse_value(std::string(option), text, range.words + " such as 0.01, 1e-3 or 2^-10");
  return *value;
}

std::vector<double> parse_reals(std::string_view option, const std::string& text, const RealRange& range) {
  constexpr double most = 1000, most_exponent = 1e6;  // of a range
  std::vector<double> out;
  for (const std::string& item : split_list(text)) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos) {
      out.push_back(parse_real(option, item, range));
      continue;
    }
    const std::string from = item.substr(0, colon), to = item.substr(colon + 1);
    const std::size_t a = from.find('^'), b = to.find('^');
    const auto exponent = [&](const std::string& power, std::size_t caret) {
      return caret == std::string::npos ? std::nullopt : number<double>(std::string_view(power).substr(caret + 1));
    };
    const auto start = exponent(from, a), stop = exponent(to, b);
    const bool fine = start && stop && from.substr(0, a) == to.substr(0, b) && std::abs(*start - *stop) < most &&
                      std::abs(*start) < most_exponent && std::floor(*start - *stop) == *start - *stop;
    if (!fine)
      refuse_value(std::string(option), item,
                   "two powers of one base with a whole number of steps between them, as 2^-1:2^-10");
    const double step = *start > *stop ? -1 : 1;
    for (double e = *start; step * e <= step * *stop; e += step)
      out.push_back(parse_real(option, fmt::format("{}^{}", from.substr(0, a), e), range));
  }
  return out;
}

std::uint64_t parse_whole(std::string_view option, const std::string& text, std::uint64_t low, std::uint64_t high) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value < low || *value > high)
    refuse_value(std::string(option), text, fmt::format("a whole number from {} to {}", low, high));
  return *value;
}

bool parse_yes_no(std::string_view option, const std::string& text) {
  if (text != "yes" && text != "no") refuse_value(std::string(option), text, "yes or no");
  return text == "yes";
}

std::string parse_nonempty(std::string_view option, const std::string& text, std::string_view what) {
  if (text.empty()) refuse_value(std::string(option), text, std::string(what));
  return text;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    out.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  return out;
}

bool names_a_file(std::string_view text) { return text.find_first_of("./") != std::string_view::npos; }

std::string parse_word_or_file(std::string_view option, const std::string& text, std::span<const std::string> words) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  if (names_a_file(text)) return text;
  throw UsageError(say("{}: {}, or a CSV file (write its name with a dot or a slash, as in ./costs)",
                       detail::option(std::string(option)), unknown_word_message("value", text, words)));
}

std::size_t parse_choice(std::string_view option, const std::string& text, std::span<const std::string> words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    throw UsageError(say("{}: {}", detail::option(std::string(option)), unknown_word_message("value", text, words)),
                     {std::string(option), text, fmt::format("one of {}", fmt::join(words, ", ")), {}});
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace m4n::detail

// Words on a command line to values: strict, and with messages a user can act on. Every refusal is a UsageError that
// names the option, the value found and what is allowed; for words also the nearest valid one.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "m4n/error.h"

namespace m4n::detail {

// Number of letters to insert, delete or replace to turn a into b (Levenshtein). Cost |a| |b|.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The shortest valid word that begins with `found`, else the nearest one, or an empty string if none is near (more than
// two in five of its letters differ).
std::string nearest_word(std::string_view found, std::span<const std::string> valid);

// "unknown WHAT 'found'; did you mean 'nearest'? Valid: a, b, c".
std::string unknown_word_message(std::string_view what, std::string_view found, std::span<const std::string> valid);

// The real numbers an option allows.
struct RealRange {
  double low, high;
  bool low_included, high_included;
  std::string words;  // "a positive number", for the message
};
// Plain decimals such as 0.01 or 1e-3, and powers such as 2^-10. Refuses the rest: trailing characters, nan, inf,
// values out of range or too large or small for a double.
double parse_real(std::string_view option, const std::string& text, const RealRange& range);

// Several of them: a list 0.1,0.01,2^-10, where A:B stands for the powers of one base from A to B (2^-1:2^-10).
std::vector<double> parse_reals(std::string_view option, const std::string& text, const RealRange& range);

// Decimal whole numbers in [low, high].
std::uint64_t parse_whole(std::string_view option, const std::string& text, std::uint64_t low, std::uint64_t high);

bool parse_yes_no(std::string_view option, const std::string& text);

// The name of a column or file: anything but nothing.
std::string parse_nonempty(std::string_view option, const std::string& text, std::string_view what);

// The items of a list a,b,c; an empty text has one empty item.
std::vector<std::string> split_list(const std::string& text);

// Where words and files are both possible, a dot or a slash tells a file.
bool names_a_file(std::string_view text);

// One of `words`, or the path of a file.
std::string parse_word_or_file(std::string_view option, const std::string& text, std::span<const std::string> words);

// The index of `text` in `words`.
std::size_t parse_choice(std::string_view option, const std::string& text, std::span<const std::string> words);

}  // namespace m4n::detail

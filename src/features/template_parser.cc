// Reading templates; see text_template.h for the syntax.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/message.h"
#include "data/text.h"
#include "features/text_template.h"

namespace m4n::detail {

class TemplateParser {
 public:
  TemplateParser(std::string_view text, const std::string& name) {
    result_.name_ = name;
    result_.text_ = text;
  }

  TextTemplate parse() {
    const std::string_view text = result_.text_;
    if (text.size() > largest_template)
      throw Error(
          say("{}: {} bytes, expected at most {}; is this a template?", result_.name_, text.size(), largest_template));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t newline = std::min(text.find('\n', at), text.size());
      ++line_number_;
      std::string_view line = text.substr(at, newline - at);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      parse_line(trim(line));
      at = newline + 1;
    }
    if (result_.rules_.empty() && !result_.transitions_)
      throw Error(say("{}: no template; expected lines such as U00:%x[0,0], and B for transitions", result_.name_));
    return std::move(result_);
  }

 private:
  static constexpr std::size_t largest_template = std::size_t{1} << 20;
  static constexpr std::int64_t farthest_row = 1000, largest_column = 1000, longest_affix = 1000;

  void parse_line(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    switch (line.front()) {
      case 'U':
      case 'u':
        parse_rule(line);
        break;
      case 'B':
      case 'b':
        if (line.find('%') != std::string_view::npos)
          refuse(line,
                 "transitions that depend on the text are not supported: write B alone, and the macros on a U line");
        result_.transitions_ = true;
        break;
      case '*':
        refuse(line, "Wapiti's * makes transitions depend on the text, which is not supported: write a U line, and B");
      default:
        refuse(line, "expected a line that starts with U (an attribute), B (transitions) or # (a comment)");
    }
  }

  void parse_rule(std::string_view line) {
    const auto first = static_cast<std::uint32_t>(result_.pieces_.size());
    while (!line.empty()) {
      const std::size_t literal = std::min(line.find('%'), line.size());
      if (literal > 0) {
        TextTemplate::Piece piece;
        place(piece, line.substr(0, literal));
        result_.pieces_.push_back(piece);
        line.remove_prefix(literal);
      }
      if (!line.empty()) line.remove_prefix(parse_macro(line));
    }
    result_.rules_.push_back({first, static_cast<std::uint32_t>(result_.pieces_.size())});
  }

  // The macro at the start of `rest`; returns its size.
  std::size_t parse_macro(std::string_view rest) {
    TextTemplate::Piece piece;
    piece.macro = rest.size() > 1 ? rest[1] : ' ';
    const std::size_t close = rest.find(']');
    const std::string_view macro = rest.substr(0, close == std::string_view::npos ? close : close + 1);
    if (piece.macro == 't' || piece.macro == 'm' || piece.macro == 'T' || piece.macro == 'M')
      refuse(macro,
             "regular expressions are not supported: use %p (prefix), %s (suffix), %h (shape) or %l (lower case)");
    if (piece.macro == 'X') refuse(macro, "write %l[row,col] for a cell in lower case");
    const bool affix = piece.macro == 'p' || piece.macro == 's';
    if (!affix && piece.macro != 'x' && piece.macro != 'l' && piece.macro != 'h') refuse(macro, expected_macros);
    if (rest.size() < 3 || rest[2] != '[' || close == std::string_view::npos) refuse(macro, expected_macros);
    std::string_view arguments = macro.substr(3, close - 3);
    piece.row = static_cast<std::int32_t>(argument(macro, arguments, "row", -farthest_row, farthest_row, false));
    piece.column = static_cast<std::uint32_t>(argument(macro, arguments, "column", 0, largest_column, !affix));
    if (affix) piece.length = static_cast<std::uint32_t>(argument(macro, arguments, "length", 1, longest_affix, true));
    place(piece, macro);
    result_.columns_ = std::max(result_.columns_, std::size_t{piece.column} + 1);
    result_.pieces_.push_back(piece);
    return macro.size();
  }

  // The next number of the arguments, followed by a comma or, if it is the last, by nothing.
  std::int64_t argument(std::string_view macro, std::string_view& arguments, const char* what, std::int64_t lowest,
                        std::int64_t highest, bool last) const {
    const std::size_t comma = arguments.find(',');
    std::string_view number = arguments.substr(0, comma);
    if ((comma == std::string_view::npos) != last) refuse(macro, expected_macros);
    arguments.remove_prefix(last ? arguments.size() : comma + 1);
    if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.remove_prefix(1);
    std::int64_t value = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, status] = std::from_chars(number.data(), end, value);
    if (status != std::errc{} || stop != end || value < lowest || value > highest)
      refuse(macro,
             fmt::format("the {} is {}, expected a whole number from {} to {}", what, shown(number), lowest, highest));
    return value;
  }

  void place(TextTemplate::Piece& piece, std::string_view part) const {
    piece.begin = static_cast<std::uint32_t>(part.data() - result_.text_.data());
    piece.size = static_cast<std::uint32_t>(part.size());
    piece.line = line_number_;
  }

  [[noreturn]] void refuse(std::string_view found, std::string_view why) const {
    throw Error(say("{}: line {}: found {}; {}", result_.name_, line_number_, shown(found), why));
  }

  static constexpr std::string_view expected_macros =
      "expected %x[row,col], %l[row,col] (lower case), %p[row,col,len] (prefix), %s[row,col,len] (suffix) or "
      "%h[row,col] (shape)";

  TextTemplate result_;
  std::size_t line_number_ = 0;
};

TextTemplate TextTemplate::parse(std::string_view text, const std::string& name) {
  return TemplateParser(text, name).parse();
}

TextTemplate TextTemplate::load(const std::string& name_or_file) {
  constexpr std::size_t limit = std::size_t{1} << 21;
  if (const std::string_view text = builtin_template(name_or_file); !text.empty())
    return parse(text, "template " + name_or_file);
  Input input = Input::open(name_or_file);
  std::string text = read_all(input, limit);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return parse(text, name_or_file);
}

}  // namespace m4n::detail

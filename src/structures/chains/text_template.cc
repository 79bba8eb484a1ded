// Templates: applying them, reading them, and the built-in ones (text_template.h).
#include "structures/chains/text_template.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

#include "core/message.h"
#include "data/text.h"

namespace m4n::detail {

namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void append_marker(std::ptrdiff_t beyond, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, beyond).ptr;
  out.append(beyond > 0 ? "_B+" : "_B").append(digits, static_cast<std::size_t>(end - digits));
}

void append_lower(std::string_view cell, std::string& out) {
  const std::size_t start = out.size();
  out.append(cell);
  for (std::size_t i = start; i < out.size(); ++i)
    if (out[i] >= 'A' && out[i] <= 'Z') out[i] = static_cast<char>(out[i] - 'A' + 'a');
}

std::string_view prefix(std::string_view cell, std::size_t length) {
  std::size_t i = 0;
  for (; i < cell.size(); ++i)
    if ((i == 0 || !continues_character(cell[i])) && length-- == 0) break;
  return cell.substr(0, i);
}

std::string_view suffix(std::string_view cell, std::size_t length) {
  std::size_t i = cell.size();
  while (i > 0 && length > 0)
    if (!continues_character(cell[--i])) --length;
  return cell.substr(i);
}

void append_shape(std::string_view cell, std::string& out) {
  constexpr int longest_run = 4;
  char last = 0;
  int run = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const char c = cell[i];
    if (i > 0 && continues_character(c)) continue;
    char sign = c;
    if (c >= 'A' && c <= 'Z') sign = 'X';
    if (c >= 'a' && c <= 'z') sign = 'x';
    if (c >= '0' && c <= '9') sign = '0';
    if (static_cast<unsigned char>(c) >= 0x80) sign = 'u';
    run = sign == last ? run + 1 : 1;
    last = sign;
    if (run <= longest_run) out.push_back(sign);
  }
}

}  // namespace

void TextTemplate::check_columns(const ConllText& text, std::size_t feature_columns) const {
  if (columns_ <= feature_columns) return;
  for (const Piece& piece : pieces_)
    if (piece.macro != 0 && piece.column >= feature_columns)
      throw Error(say(
          "{}: line {}: {} asks for column {}, but {}: line {} has {} column{} beside the label; columns count from 0",
          name_, piece.line, std::string_view(text_).substr(piece.begin, piece.size), piece.column, text.file(),
          text.first_line(0), feature_columns, feature_columns == 1 ? "" : "s"));
}

void TextTemplate::append(const ConllText& text, std::size_t sentence, AttributeBatch& out) const {
  const auto first = static_cast<std::ptrdiff_t>(text.begin(sentence));
  const auto last = static_cast<std::ptrdiff_t>(text.end(sentence)) - 1;
  std::string& bytes = out.bytes();
  for (std::ptrdiff_t t = first; t <= last; ++t) {
    for (const Rule rule : rules_) {
      for (std::uint32_t i = rule.begin; i < rule.end; ++i) {
        const Piece& piece = pieces_[i];
        const std::ptrdiff_t at = t + piece.row;
        if (piece.macro == 0) {
          bytes.append(text_, piece.begin, piece.size);
        } else if (at < first || at > last) {
          append_marker(at < first ? at - first : at - last, bytes);
        } else {
          const std::string_view cell = text.cell(static_cast<std::size_t>(at), piece.column);
          switch (piece.macro) {
            case 'x':
              bytes.append(cell);
              break;
            case 'l':
              append_lower(cell, bytes);
              break;
            case 'p':
              bytes.append(prefix(cell, piece.length));
              break;
            case 's':
              bytes.append(suffix(cell, piece.length));
              break;
            default:
              append_shape(cell, bytes);
          }
        }
      }
      out.end_attribute();
    }
    out.end_token();
  }
}

// Reading templates; see text_template.h for the syntax.

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

// The built-in templates. chunking: words and part-of-speech tags in a window of five, bigrams of both, trigrams of
// tags; the customary set for CoNLL-2000 (columns word, tag). ner: names from words alone (column word). pos: parts of
// speech from words alone.

namespace {

constexpr std::string_view chunking = R"(# Chunks from words (column 0) and part-of-speech tags (column 1)
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
)";

constexpr std::string_view ner = R"(# Names from words (column 0)
U00:%x[0,0]
U01:%l[-2,0]
U02:%l[-1,0]
U03:%l[0,0]
U04:%l[1,0]
U05:%l[2,0]
U06:%l[-1,0]/%l[0,0]
U07:%l[0,0]/%l[1,0]
U11:%p[0,0,1]
U12:%p[0,0,2]
U13:%p[0,0,3]
U14:%p[0,0,4]
U21:%s[0,0,1]
U22:%s[0,0,2]
U23:%s[0,0,3]
U24:%s[0,0,4]
U31:%h[-2,0]
U32:%h[-1,0]
U33:%h[0,0]
U34:%h[1,0]
U35:%h[2,0]
U36:%h[-1,0]/%h[0,0]
U37:%h[0,0]/%h[1,0]
U38:%h[-1,0]/%h[0,0]/%h[1,0]
U41:%p[-1,0,3]
U42:%s[-1,0,3]
U43:%p[1,0,3]
U44:%s[1,0,3]
U51:%l[-1,0]/%h[0,0]
U52:%h[0,0]/%l[1,0]
B
)";

constexpr std::string_view pos = R"(# Parts of speech from words (column 0)
U00:%x[0,0]
U01:%l[-2,0]
U02:%l[-1,0]
U03:%l[0,0]
U04:%l[1,0]
U05:%l[2,0]
U06:%l[-1,0]/%l[0,0]
U07:%l[0,0]/%l[1,0]
U11:%p[0,0,1]
U12:%p[0,0,2]
U13:%p[0,0,3]
U14:%p[0,0,4]
U21:%s[0,0,1]
U22:%s[0,0,2]
U23:%s[0,0,3]
U24:%s[0,0,4]
U31:%h[0,0]
U41:%s[-1,0,2]
U42:%s[-1,0,3]
U43:%s[1,0,2]
U44:%s[1,0,3]
B
)";

}  // namespace

std::string_view builtin_template(std::string_view name) {
  if (name == "chunking") return chunking;
  if (name == "ner") return ner;
  if (name == "pos") return pos;
  return {};
}

}  // namespace m4n::detail

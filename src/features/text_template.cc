// Applying templates; see text_template.h.
#include "features/text_template.h"

#include <fmt/format.h>

#include <charconv>

#include "core/message.h"

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

}  // namespace m4n::detail

// See conll.h.
#include "structures/chains/conll.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::size_t ConllText::line_number(std::size_t token) const {
  const auto after = std::upper_bound(sentence_start_.begin(), sentence_start_.end(), token);
  const auto sentence = static_cast<std::size_t>(after - sentence_start_.begin()) - 1;
  return sentence_line_[sentence] + (token - sentence_start_[sentence]);
}

void ConllText::clear() {
  bytes_.clear();
  cells_.clear();
  sentence_line_.clear();
  token_start_.assign(1, 0);
  sentence_start_.assign(1, 0);
}

bool ConllReader::next(ConllText& text) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (trim(line).empty());
  if (text.file_.empty()) text.file_ = lines_.file();
  make_room(text.sentence_line_, 1, lines_);
  make_room(text.sentence_start_, 1, lines_);
  text.sentence_line_.push_back(lines_.line_number());
  do add(line, text);
  while (lines_.next(line) && !trim(line).empty());
  text.sentence_start_.push_back(text.tokens());
  return true;
}

void ConllReader::add(std::string_view line, ConllText& text) {
  std::size_t count = 0;
  const char* const start = line.data();
  const char* const end = start + line.size();
  for (const char* p = start;;) {
    while (p != end && is_blank(*p)) ++p;
    if (p == end) break;
    const char* const cell = p;
    while (p != end && !is_blank(*p)) ++p;
    make_room(text.cells_, 1, lines_);
    text.cells_.push_back({static_cast<std::uint32_t>(cell - start), static_cast<std::uint32_t>(p - cell)});
    ++count;
  }
  if (columns_ == 0) {
    columns_ = count;
    columns_line_ = lines_.line_number();
  }
  if (count != columns_)
    throw Error(
        say("{}: line {}: found {} column{}, expected {} as on line {}; columns are separated by blanks or "
            "tabs, and none may be empty",
            lines_.file(), lines_.line_number(), count, count == 1 ? "" : "s", columns_, columns_line_));
  text.columns_ = columns_;
  make_room(text.bytes_, line.size(), lines_);
  make_room(text.token_start_, 1, lines_);
  text.bytes_.insert(text.bytes_.end(), start, end);
  text.token_start_.push_back(text.bytes_.size());
}

ConllText read_conll(LineReader& lines) {
  ConllReader reader(lines);
  ConllText text;
  while (reader.next(text)) {
  }
  if (text.tokens() == 0)
    throw Error(say("{}: no tokens; expected one a line, and a blank line after every sentence", lines.file()));
  return text;
}

}  // namespace m4n::detail

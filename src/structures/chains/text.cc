// The readers of CoNLL columns and of CRFsuite's attributes (text.h).
#include "structures/chains/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <new>

#include "core/message.h"
#include "core/parallel.h"
#include "data/chunks.h"
#include "data/table.h"

namespace m4n::detail {

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

void ConllText::append(ConllText& piece, const LineReader& chunk) {
  if (piece.tokens() == 0) return;
  const std::size_t before = tokens(), bytes_before = bytes_.size(), lines_before = chunk.lines_before();
  const bool goes_on = before > 0 && line_number(before - 1) == lines_before && piece.sentence_line_[0] == 1;
  file_ = piece.file_;
  columns_ = piece.columns_;
  append_moved(bytes_, piece.bytes_, chunk);
  append_moved(cells_, piece.cells_, chunk);
  make_room(token_start_, piece.tokens(), chunk);
  for (std::size_t t = 1; t < piece.token_start_.size(); ++t)
    token_start_.push_back(bytes_before + piece.token_start_[t]);
  if (goes_on) sentence_start_.pop_back();
  make_room(sentence_start_, piece.sentences(), chunk);
  make_room(sentence_line_, piece.sentences(), chunk);
  for (std::size_t s = 0; s < piece.sentences(); ++s) {
    sentence_start_.push_back(before + piece.sentence_start_[s + 1]);
    if (s > 0 || !goes_on) sentence_line_.push_back(lines_before + piece.sentence_line_[s]);
  }
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

namespace {

void read_sentences(ConllReader reader, ConllText& text) {
  while (reader.next(text)) {
  }
}

}  // namespace

ConllText read_conll(LineReader& lines) {
  ConllText text;
  if (thread_count(lines.chunking().threads) == 1)
    read_sentences(ConllReader(lines), text);
  else
    in_chunks(
        lines,
        [](LineReader& chunk, unsigned) {
          ConllText piece;
          read_sentences(ConllReader(chunk), piece);
          return piece;
        },
        [&](LineReader& chunk, ConllText* piece, unsigned) {
          const bool fits =
              piece != nullptr && (text.tokens() == 0 || piece->tokens() == 0 || piece->columns() == text.columns());
          if (fits) return text.append(*piece, chunk);
          chunk.rewind();
          read_sentences(ConllReader(chunk, text), text);
          throw std::bad_alloc();  // it was not the text that could not be read
        });
  if (text.tokens() == 0)
    throw Error(say("{}: no tokens; expected one per line, and a blank line after every sentence", lines.file()));
  return text;
}

bool is_unknown(std::string_view label) { return label.empty() || label == unknown_label_name; }

void refuse_unknown(const std::string& file, std::size_t line, std::string_view label, const char* use) {
  throw Error(
      say("{}: line {}: found {}, a label that is not known; {} needs the label of every token, so "
          "leave the sentence out",
          file, line, shown(label), use));
}

bool CrfsuiteReader::next(CrfsuiteSequence& sequence) {
  sequence.attributes_.clear();
  sequence.label_bytes_.clear();
  sequence.label_end_.clear();
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (trim(line).empty());
  sequence.first_line_ = lines_.line_number();
  do add(line, sequence);
  while (lines_.next(line) && !trim(line).empty());
  return true;
}

void CrfsuiteReader::add(std::string_view line, CrfsuiteSequence& sequence) {
  std::size_t tab = line.find('\t');
  const std::string_view label = line.substr(0, tab);
  if (label.starts_with("@weight")) refuse_weight(label);
  if (!unescape(label, sequence.label_bytes_).empty())
    throw Error(say("{}: label {} has a colon; => write \\: for a colon in a label", where(), shown(label)));
  sequence.label_end_.push_back(sequence.label_bytes_.size());
  if (const std::string_view name = sequence.label(sequence.tokens() - 1); use_ != nullptr && is_unknown(name))
    refuse_unknown(lines_.file(), lines_.line_number(), name, use_);
  while (tab != std::string_view::npos && tab + 1 < line.size()) {
    const std::size_t start = tab + 1;
    tab = line.find('\t', start);
    add_attribute(line.substr(start, tab == std::string_view::npos ? tab : tab - start), sequence.attributes_);
  }
  sequence.attributes_.end_token();
}

// Appends the name at the start of a field to `out`; returns what is left, from the colon on.
std::string_view CrfsuiteReader::unescape(std::string_view field, std::string& out) const {
  for (;;) {
    const auto special = std::find_if(field.begin(), field.end(), [](char c) { return c == '\\' || c == ':'; });
    out.append(field.begin(), special);
    if (special == field.end()) return {};
    field.remove_prefix(static_cast<std::size_t>(special - field.begin()));
    if (field.front() == ':') return field;
    if (field.size() < 2 || (field[1] != '\\' && field[1] != ':'))
      throw Error(say("{}: found {}; a backslash stands before a colon or another backslash: write \\\\ for one",
                      where(), shown(field)));
    out += field[1];
    field.remove_prefix(2);
  }
}

void CrfsuiteReader::add_attribute(std::string_view field, AttributeBatch& out) const {
  const std::size_t size_before = out.bytes().size();
  const std::string_view rest = unescape(field, out.bytes());
  if (out.bytes().size() == size_before)
    throw Error(say("{}: found {}, expected an attribute; is there a tab too many?", where(), shown(field)));
  if (std::string_view(out.bytes()).substr(size_before).starts_with("@weight")) refuse_weight(field);
  if (rest.empty()) return out.end_attribute();
  const auto value = finite_number(rest.substr(1));
  if (!value || std::abs(*value) > largest_value)
    throw Error(
        say("{}: found {} with the value {}, expected attribute or attribute:value with a number of at most {} in "
            "size; => write \\: for a colon in a name",
            where(), shown(field), shown(rest.substr(1)), largest_value));
  out.end_attribute(*value);
}

void CrfsuiteReader::refuse_weight(std::string_view field) const {
  throw Error(say("{}: found {}; weights of sequences are not supported, leave it out", where(), shown(field)));
}

std::string CrfsuiteReader::where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

}  // namespace m4n::detail

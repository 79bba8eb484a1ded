// Sequences as text: CoNLL columns, and below them CRFsuite's attributes.
//
// CoNLL columns: one token per line, its columns separated by blanks or tabs, a blank line after every sentence.
//
//     Confidence NN B-NP
//     in IN B-PP
//                          <- ends the sentence
//
// Every token has the same number of columns. Nothing but blanks, tabs and line ends has a meaning: a `#` is a token, a
// -DOCSTART- line is a sentence of one token, and bytes that are no UTF-8 pass through. Whether the last column is a
// label is for the caller to know.
//
// Cost: one pass; in memory the text, 8 bytes per token and 8 bytes per cell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/text.h"
#include "features/attributes.h"

namespace m4n::detail {

// Sentences as read: the lines in one arena of bytes, the cells as places in it. Tokens are numbered through.
class ConllText {
 public:
  const std::string& file() const { return file_; }
  std::size_t sentences() const { return sentence_line_.size(); }
  std::size_t tokens() const { return token_start_.size() - 1; }
  std::size_t columns() const { return columns_; }  // of every token; 0 while there is none
  std::size_t begin(std::size_t sentence) const { return sentence_start_[sentence]; }
  std::size_t end(std::size_t sentence) const { return sentence_start_[sentence + 1]; }
  const std::vector<std::size_t>& sentence_starts() const { return sentence_start_; }  // sentences + 1 entries

  // The whole line of a token as it stands in the file, without its line end.
  std::string_view line(std::size_t token) const {
    return {bytes_.data() + token_start_[token], token_start_[token + 1] - token_start_[token]};
  }
  std::string_view cell(std::size_t token, std::size_t column) const {
    const Cell place = cells_[token * columns_ + column];
    return {bytes_.data() + token_start_[token] + place.begin, place.size};
  }

  // Of a sentence's first line in the file, from 1. A sentence has no gaps, so its other lines follow one by one.
  std::size_t first_line(std::size_t sentence) const { return sentence_line_[sentence]; }
  // Of any token, by binary search: for messages.
  std::size_t line_number(std::size_t token) const;

  // No sentences, but the memory is kept for the next ones.
  void clear();
  // The tokens of the lines that follow what was read so far; a sentence may go on. The chunk stands behind them.
  void append(ConllText& piece, const LineReader& chunk);

 private:
  friend class ConllReader;
  struct Cell {
    std::uint32_t begin = 0, size = 0;  // within the line, which LineReader keeps far below 4 GiB
  };
  std::string file_;
  std::size_t columns_ = 0;
  std::vector<char> bytes_;
  std::vector<std::size_t> token_start_{0};  // tokens + 1 entries
  std::vector<Cell> cells_;                  // tokens x columns
  std::vector<std::size_t> sentence_start_{0}, sentence_line_;
};

// Sentence by sentence. With `text.clear()` before every call the memory stays that of the longest sentence.
class ConllReader {
 public:
  explicit ConllReader(LineReader& lines) : lines_(lines) {}
  // Of lines that follow this text: their tokens have as many columns.
  ConllReader(LineReader& lines, const ConllText& before)
      : lines_(lines), columns_(before.columns()), columns_line_(before.tokens() > 0 ? before.first_line(0) : 0) {}
  // Appends the next sentence; false if there is none. Throws Error where the number of columns changes.
  bool next(ConllText& text);
  // Lines read so far, blank ones included: where the echo of a file stands.
  std::size_t line_number() const { return lines_.line_number(); }

 private:
  void add(std::string_view line, ConllText& text);
  LineReader& lines_;
  std::size_t columns_ = 0, columns_line_ = 0;  // of the first token, and its line
};

// All of a file, which must hold at least one token, by as many threads as the reader of its lines says.
ConllText read_conll(LineReader& lines);

// CRFsuite's attribute format: one token per line, a blank line after every sequence, fields separated by tabs,
//
//     label TAB attribute TAB attribute:value TAB ...
//
// A colon or a backslash that belongs to a name is written \: or \\. A value is a number up to 1e12 in size; without
// one it is 1. An empty label, or `_`, is a label that is not known. What CRFsuite reads in silence as something else
// (a second colon, a value that is no number) is refused, and so are instance weights (@weight).

// One sequence as read.
class CrfsuiteSequence {
 public:
  std::size_t tokens() const { return label_end_.size(); }
  std::string_view label(std::size_t token) const {
    const std::size_t start = token == 0 ? 0 : label_end_[token - 1];
    return {label_bytes_.data() + start, label_end_[token] - start};
  }
  const AttributeBatch& attributes() const { return attributes_; }
  // In the file, from 1.
  std::size_t line_number(std::size_t token) const { return first_line_ + token; }

 private:
  friend class CrfsuiteReader;
  AttributeBatch attributes_;
  std::string label_bytes_;
  std::vector<std::size_t> label_end_;
  std::size_t first_line_ = 0;
};

class CrfsuiteReader {
 public:
  // `use`: what needs the labels of all tokens, for the message where one is not known; null: nothing does.
  explicit CrfsuiteReader(LineReader& lines, const char* use = nullptr) : lines_(lines), use_(use) {}
  // The next sequence in place of the last; false if there is none. The memory stays that of the longest sequence.
  bool next(CrfsuiteSequence& sequence);
  const std::string& file() const { return lines_.file(); }

 private:
  void add(std::string_view line, CrfsuiteSequence& sequence);
  std::string_view unescape(std::string_view field, std::string& out) const;
  void add_attribute(std::string_view field, AttributeBatch& out) const;
  [[noreturn]] void refuse_weight(std::string_view field) const;
  std::string where() const;
  LineReader& lines_;
  const char* use_;
};

// Labels that are not known: they are empty, or `_`.
bool is_unknown(std::string_view label);
[[noreturn]] void refuse_unknown(const std::string& file, std::size_t line, std::string_view label, const char* use);

}  // namespace m4n::detail

// CoNLL columns: one token a line, its columns separated by blanks or tabs, a blank line after every sentence.
//
//     Confidence NN B-NP
//     in IN B-PP
//                          <- ends the sentence
//
// Every token has the same number of columns. Nothing but blanks, tabs and line ends has a meaning: a `#` is a token, a
// -DOCSTART- line is a sentence of one token, and bytes that are no UTF-8 pass through. Whether the last column is a
// label is for the caller to know.
//
// Cost: one pass; in memory the text, 8 bytes a token and 8 bytes a cell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/text.h"

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
  // Appends the next sentence; false if there is none. Throws Error where the number of columns changes.
  bool next(ConllText& text);
  // Lines read so far, blank ones included: where the echo of a file stands.
  std::size_t line_number() const { return lines_.line_number(); }

 private:
  void add(std::string_view line, ConllText& text);
  LineReader& lines_;
  std::size_t columns_ = 0, columns_line_ = 0;  // of the first token, and its line
};

// All of a file, which must hold at least one token.
ConllText read_conll(LineReader& lines);

}  // namespace m4n::detail

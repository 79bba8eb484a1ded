// Small things about text that every reader needs: numbers, blanks, values as shown in messages, lines of a file, cells
// of a CSV line, and class names looked up as users write them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/input.h"

namespace m4n::detail {

// Of attributes, pairs and edges: squares of sums of such values still leave digits for a certificate.
inline constexpr double largest_value = 1e12;

// Without blanks and tabs at both ends.
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
std::string_view trim(std::string_view text);

// `text` as a terminal may show it: control characters (also those of Unicode, and its marks that turn the direction of
// writing) as \xNN. Line ends and tabs stay.
std::string printable(std::string_view text);

// `text` in single quotes as a message shows it: cut after 60 bytes, control characters as \xNN.
std::string shown(std::string_view text);

// At most `most` of the names, as shown, and how many more there are.
std::string shown_list(const std::vector<std::string>& names, std::size_t most);

// Reads the longest decimal number at `begin` (an optional sign, digits, point, exponent; also inf and nan, which the
// caller refuses), correctly rounded. Returns its end, or nullptr if there is none or it is outside double's range.
const char* scan_number(const char* begin, const char* end, double& value);

// All of `text` as a finite number; nullopt if it is not one.
std::optional<double> finite_number(std::string_view text);

// The lines of the start of a file, the last one possibly cut; calls body(line) until it returns true.
template <class Body>
bool any_line(std::string_view text, Body&& body) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (body(line)) return true;
  }
  return false;
}

// How a long file is read: by so many threads (0: all there are), in chunks of about so many bytes. What is read
// depends on neither.
struct Chunking {
  unsigned threads = 1;
  std::size_t bytes = std::size_t{1} << 19;
};

// One file, line by line: CRLF and LF, a missing last newline and a UTF-8 byte order mark are all the same. A line
// is a view into the buffer and lives until the next call.
//
// A file can be cut into chunks of whole lines (data/chunks.h), each a LineReader of its own. Where a chunk stands in
// the file is not known before the lines of those before it are counted: until place() its lines count from 1 and
// fraction_read() is of the chunk.
class LineReader {
 public:
  explicit LineReader(Input& input, const Chunking& chunking = {});
  bool next(std::string_view& line);
  std::size_t line_number() const { return lines_before_ + line_number_; }  // of the last line given, from 1
  // A good piece of the text to come (its last line may be cut), which is read into the buffer where it is not there.
  std::string_view peek();
  // Whether the next block of lines, up to a blank one behind it, has yet to arrive in full.
  bool block_waits() const;
  const std::string& file() const { return input_->name(); }
  // The share of the file behind the last line given, in (0, 1]; 0 where it is not known.
  double fraction_read() const;

  const Chunking& chunking() const { return chunking_; }
  // A chunk to be filled by cut().
  LineReader chunk() const;
  // Moves the next lines into `out`, whose memory is used again; false at the end. What cannot be read is an Error when
  // all lines before it were given.
  bool cut(LineReader& out);
  // Chunks of at least so many bytes from here on.
  void cut_at_least(std::size_t bytes) { chunking_.bytes = std::max(chunking_.bytes, bytes); }
  // Of a file: counts lines that chunks had.
  void pass(std::size_t lines) { lines_before_ += lines; }
  // Of a file: whether cut() has given all of it.
  bool ended() const { return begin_ == end_ && input_ended_; }
  // Of a chunk: it follows `lines` lines of the file.
  void place(std::size_t lines) {
    lines_before_ = lines;
    placed_ = true;
  }
  std::size_t lines_before() const { return lines_before_; }
  // Of a chunk: back to its first line.
  void rewind() { begin_ = line_number_ = 0; }

 private:
  struct Empty {};
  LineReader(Input& input, const Chunking& chunking, Empty) : input_(&input), chunking_(chunking) {}
  bool refill();
  bool read_behind(std::vector<char>& bytes, std::size_t& size);
  Input* input_;
  Chunking chunking_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, line_number_ = 0, lines_before_ = 0, text_read_ = 0;
  bool input_ended_ = false;
  double fraction_from_ = 0, fraction_to_ = 0;  // of a chunk
  bool is_chunk_ = false, placed_ = false;
  std::exception_ptr failure_;  // of reading, met behind the lines that cut() gave last
};

// Reads the next cell of a CSV line at `p`, moves `p` behind it, to the comma or the end. A cell may be in double
// quotes, with "" for one quote in it (RFC 4180, but on one line). Returns the cell, trimmed of blanks if unquoted; a
// view into the line or, for a cell with "" in it, into `storage`. nullopt: the quotes are not closed or text follows
// them.
std::optional<std::string_view> next_cell(const char*& p, const char* end, std::string& storage);

// All cells of a line; throws Error with file, line and column on broken quotes.
std::vector<std::string> split_cells(std::string_view line, const std::string& file, std::size_t line_number);

// Finds class names: as written; where every class is a number, also other spellings of the number (1.0 for 1).
class ClassIndex {
 public:
  explicit ClassIndex(const std::vector<std::string>& classes);
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<double, std::size_t> by_number_;
};

}  // namespace m4n::detail

// CRFsuite's attribute format: one token a line, a blank line after every sequence, fields separated by tabs,
//
//     label TAB attribute TAB attribute:value TAB ...
//
// A colon or a backslash that belongs to a name is written \: or \\. A value is a number up to 1e12 in size; without
// one it is 1. An empty label, or `_`, is a label that is not known. What CRFsuite reads in silence as something else
// (a second colon, a value that is no number) is refused, and so are instance weights (@weight).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/text.h"
#include "features/attribute_batch.h"

namespace m4n::detail {

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
  explicit CrfsuiteReader(LineReader& lines) : lines_(lines) {}
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
};

}  // namespace m4n::detail

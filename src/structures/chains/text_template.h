// Templates: which attributes a token of a text has, in the syntax of CRF++ and Wapiti. A line that starts with U gives
// every token one attribute, the line itself with its macros replaced by what they find in the text:
//
//     U05:%x[-1,0]/%x[0,0]        at `pound` in `the pound`:   U05:the/pound
//
//     %x[row,col]       the cell, row tokens further (negative: before), in column col from 0
//     %l[row,col]       the cell in lower case
//     %p[row,col,len]   its first len characters, or all if it has fewer
//     %s[row,col,len]   its last len characters
//     %h[row,col]       its shape: X for A-Z, x for a-z, 0 for digits, u for characters beyond ASCII, others as they
//                       are; of a run of equal signs at most four
//
// Beyond the ends of the sentence every macro gives _B-1, _B-2, .. before it and _B+1, _B+2, .. behind it. Characters
// are those of UTF-8: a byte and the continuation bytes (10xxxxxx) behind it, whether that is valid or not. Lower case
// and shape know the letters of ASCII only.
//
// A line B asks for scores of transitions between labels. Lines that start with # and blank lines are passed over.
// Transitions that depend on the text (B with a macro, Wapiti's *) and regular expressions (%t, %m) are refused.
//
// Cost: one copy of the bytes of the attributes; no allocation once the batch has its size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/attributes.h"
#include "structures/chains/text.h"

namespace m4n::detail {

class TextTemplate {
 public:
  // `name` stands for the file in messages.
  static TextTemplate parse(std::string_view text, const std::string& name);
  // chunking, ner, pos, or the name of a file (a file of such a name: ./chunking).
  static TextTemplate load(const std::string& name_or_file);

  const std::string& text() const { return text_; }  // as parsed; kept in the model
  bool transitions() const { return transitions_; }
  std::size_t attributes() const { return rules_.size(); }  // of every token
  std::size_t columns() const { return columns_; }          // one more than the largest that is asked for

  // Throws Error if a macro asks for a column that is not among the first `feature_columns` of the text.
  void check_columns(const ConllText& text, std::size_t feature_columns) const;
  // Appends the attributes of a sentence, token by token. The columns must have been checked.
  void append(const ConllText& text, std::size_t sentence, AttributeBatch& out) const;

 private:
  friend class TemplateParser;
  struct Piece {
    char macro = 0;  // x, l, p, s, h; 0: literal text
    std::int32_t row = 0;
    std::uint32_t column = 0, length = 0;
    std::uint32_t begin = 0, size = 0;  // of the literal or of the macro as written, in text_
    std::size_t line = 0;
  };
  struct Rule {
    std::uint32_t begin = 0, end = 0;  // its pieces
  };
  std::string name_, text_;
  std::vector<Piece> pieces_;
  std::vector<Rule> rules_;
  std::size_t columns_ = 0;
  bool transitions_ = false;
};

// The text of a built-in template; empty: there is none of that name.
std::string_view builtin_template(std::string_view name);

}  // namespace m4n::detail

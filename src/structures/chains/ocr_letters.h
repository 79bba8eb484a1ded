// Written words, letter by letter, in the layout of the OCR letters data set: tab separated, no header, one letter per
// line,
//
//     id  letter  next_id  word_id  position  fold  pixel  pixel ...
//
// next_id is the id of the next letter of the word, which stands on the next line, and -1 at the last letter. All
// letters of a word have its word_id and its fold, and positions increase. A letter is any word without blanks; a pixel
// is any number of at most 1e6 in size; every line has the same number of them. A tab may end the line.
#pragma once
#include <string>
#include <vector>

#include "data/table.h"
#include "data/text.h"
#include "m4n/read.h"

namespace m4n::detail {

struct OcrWords {
  Examples words;                  // a dense row of pixels per letter; a word is an example
  std::vector<std::string> folds;  // one per word
};

// For training. The classes are the letters that occur, sorted; `_` (unknown) is refused.
OcrWords read_ocr_letters(LineReader& lines);

// For a model with these classes and `pixels` columns, which the file must have. `_` is passed over where labels are
// optional.
OcrWords read_ocr_letters(LineReader& lines, const std::vector<std::string>& classes, std::size_t pixels, Truth truth);

}  // namespace m4n::detail

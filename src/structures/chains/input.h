// How a file of sequences becomes rows of features. It is fixed in training and kept in the model, so that every file
// the model meets is read the same way.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "features/attributes.h"
#include "features/pixel_products.h"
#include "features/text_template.h"
#include "m4n/dataset.h"

namespace m4n::detail {

// CoNLL columns, CRFsuite's attributes, letters of words with their pixels.
enum class SequenceFormat { conll, crfsuite, ocr };
const char* to_string(SequenceFormat format);
std::optional<SequenceFormat> sequence_format(std::string_view name);

struct SequenceInput : InputForm {
  SequenceFormat format = SequenceFormat::conll;
  TextTemplate attributes;          // conll
  std::size_t feature_columns = 0;  // conll: columns beside the label
  AttributeDictionary dictionary;   // conll, crfsuite
  std::optional<PixelGrid> grid;    // ocr, where products of pixels were asked for
  std::size_t counted_tokens = 0;   // over which rare attributes were left out; not in the model file
};

// Of sequences; null: the rows came as they are.
inline const SequenceInput* input_of(const Dataset& data) {
  return static_cast<const SequenceInput*>(data.input.get());
}

// The name of a column of the features, for people: an attribute, the number of a pixel (from 1) or of two of them.
std::string feature_name(const SequenceInput& input, std::size_t column);

}  // namespace m4n::detail

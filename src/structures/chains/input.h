// How a file of sequences becomes rows of features. It is fixed in training and kept in the model, so that every file
// the model meets is read the same way.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "m4n/options.h"
#include "features/attributes.h"
#include "features/pixel_products.h"
#include "features/text_template.h"

namespace m4n {

struct SequenceInput {
  Format format = Format::conll;    // conll, crfsuite or ocr
  TextTemplate attributes;          // conll
  std::size_t feature_columns = 0;  // conll: columns beside the label
  AttributeDictionary dictionary;   // conll, crfsuite
  std::optional<PixelGrid> grid;    // ocr, where products of pixels were asked for
};

// The name of a column of the features, for people: an attribute, the number of a pixel (from 1) or of two of them.
std::string feature_name(const SequenceInput& input, std::size_t column);

}  // namespace m4n

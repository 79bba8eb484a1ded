// Sequences as data: how a file becomes rows of features (SequenceInput), text to datasets for training and for a
// model, and files of any format.
//
// How a file of sequences becomes rows of features. It is fixed in training and kept in the model, so that every file
// the model meets is read the same way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/table.h"
#include "data/text.h"
#include "features/attributes.h"
#include "features/pixel_products.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "m4n/read.h"
#include "structures/chains/text.h"
#include "structures/chains/text_template.h"

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

// Text to the one form in which data reach the learner: a sparse row of attributes and a label per token, and which
// tokens belong together. From CoNLL columns by a template, the last column being the label; or from CRFsuite's format,
// which has the attributes ready.

struct DictionaryOptions {
  std::uint64_t min_count = 1;  // tokens that must have an attribute
  int hash_bits = 0;            // > 0: no dictionary, 2^bits columns
};

// Rows of training tokens, by a dictionary that is being learnt or by hashing.
class TrainingRows {
 public:
  // Throws UsageError on options that contradict each other.
  explicit TrainingRows(const DictionaryOptions& options);
  void reserve(std::size_t tokens, std::size_t attributes);
  void add(const AttributeBatch& batch);
  // For tokens that a thread adds by itself, and which are appended in their order.
  TrainingRows piece() const;
  void append(const TrainingRows& piece);
  // Throws Error, with `file`, where no attribute is left.
  AttributeDictionary finish(const std::string& file, Features& x);

 private:
  std::uint64_t min_count_;
  AttributeDictionary hashing_;
  AttributeCounter counter_;
  AttributeDictionary::Scratch scratch_;
  SparseMatrix rows_;
};

struct SequenceTraining {
  Dataset data;  // class_names sorted by bytes
  AttributeDictionary dictionary;
  std::size_t feature_columns = 0;  // of CoNLL text, beside the label; 0 for CRFsuite's format
};

// Throws Error, with file and line, on a label that is not known (`_`) and on a template that asks for columns the text
// does not have; UsageError on options that contradict each other.
SequenceTraining training_sequences(const ConllText& text, const TextTemplate& attributes,
                                    const DictionaryOptions& options, unsigned threads = 1);
SequenceTraining training_sequences(LineReader& crfsuite, const DictionaryOptions& options);

// For a trained model. The text has `feature_columns` columns, or one more, the label. Throws Error on any other
// number, and where labels are required and one is missing.
Examples model_sequences(const ConllText& text, const TextTemplate& attributes, const AttributeDictionary& dictionary,
                         std::size_t feature_columns, const std::vector<std::string>& classes, Truth use,
                         unsigned threads = 1);
Examples model_sequences(LineReader& crfsuite, const AttributeDictionary& dictionary,
                         const std::vector<std::string>& classes, Truth use);

// Sentence by sentence, with memory that does not grow.
class SequenceEncoder {
 public:
  SequenceEncoder(const TextTemplate& attributes, const AttributeDictionary& dictionary, std::size_t feature_columns)
      : template_(attributes), dictionary_(dictionary), feature_columns_(feature_columns) {}
  // The rows of one sentence, valid until the next call. Throws Error if the text has neither as many columns as the
  // model nor one more.
  const SparseMatrix& encode(const ConllText& text, std::size_t sentence);

 private:
  const TextTemplate& template_;
  const AttributeDictionary& dictionary_;
  std::size_t feature_columns_;
  AttributeBatch batch_;
  AttributeDictionary::Scratch scratch_;
  SparseMatrix rows_;
};

// Files of sequences to datasets, whatever their format.

// Whether data whose task was not said are sequences: by the format or an option that only sequences have, otherwise
// by the start of the file: letters of words, or lines of words without commas with blank lines between them.
bool means_sequences(const TrainOptions& options, std::string_view head);

// CoNLL columns become attributes by options.text_template, the last column being the label; CRFsuite's files hold
// their attributes ready; letters of words have pixels, and folds. Found by content unless options say.
TrainingData read_training_sequences(LineReader& lines, const TrainOptions& options);

Examples read_model_sequences(LineReader& lines, const SequenceInput& input, const std::vector<std::string>& classes,
                              std::size_t features, Truth truth);

}  // namespace m4n::detail

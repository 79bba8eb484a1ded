// Text to the one form in which data reach the learner: a sparse row of attributes a token, a label a token, and which
// tokens belong together. From CoNLL columns by a template, the last column being the label; or from CRFsuite's format,
// which has the attributes ready.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/label_names.h"
#include "features/attributes.h"
#include "features/text_template.h"
#include "m4n/dataset.h"
#include "m4n/read.h"
#include "structures/chains/conll.h"
#include "structures/chains/crfsuite.h"

namespace m4n::detail {

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
                                    const DictionaryOptions& options);
SequenceTraining training_sequences(CrfsuiteReader& reader, const DictionaryOptions& options);

// For a trained model. The text has `feature_columns` columns, or one more, the label. Throws Error on any other
// number, and where labels are required and one is missing.
Examples model_sequences(const ConllText& text, const TextTemplate& attributes, const AttributeDictionary& dictionary,
                         std::size_t feature_columns, const std::vector<std::string>& classes, Truth use);
Examples model_sequences(CrfsuiteReader& reader, const AttributeDictionary& dictionary,
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

}  // namespace m4n::detail

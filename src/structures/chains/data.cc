// Text and attributes to rows of features and labels, for training and for a model (data.h).
#include "structures/chains/data.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/message.h"

namespace m4n::detail {

const char* to_string(SequenceFormat format) {
  return format == SequenceFormat::conll ? "conll" : format == SequenceFormat::crfsuite ? "crfsuite" : "ocr";
}

std::optional<SequenceFormat> sequence_format(std::string_view name) {
  for (const SequenceFormat format : {SequenceFormat::conll, SequenceFormat::crfsuite, SequenceFormat::ocr})
    if (name == to_string(format)) return format;
  return std::nullopt;
}

std::string feature_name(const SequenceInput& input, std::size_t column) {
  if (input.format == SequenceFormat::ocr) return input.grid ? input.grid->name(column) : std::to_string(column + 1);
  if (input.dictionary.hash_bits() > 0) return fmt::format("(hash {})", column);
  return std::string(input.dictionary.name(column));
}

namespace {

bool is_unknown(std::string_view label) { return label.empty() || label == unknown_label_name; }

[[noreturn]] void refuse_unknown(const std::string& file, std::size_t line, std::string_view label, const char* use) {
  throw Error(
      say("{}: line {}: found {}, a label that is not known; {} needs the label of every token, so "
          "leave the sentence out",
          file, line, shown(label), use));
}

// The last column as numbers, which must be known if `use` says so.
std::vector<std::int32_t> column_labels(const ConllText& text, LabelNumbers& numbers, const char* use) {
  std::vector<std::int32_t> label(text.tokens());
  for (std::size_t t = 0; t < label.size(); ++t) {
    const std::string_view name = text.cell(t, text.columns() - 1);
    if (use != nullptr && is_unknown(name)) refuse_unknown(text.file(), text.line_number(t), name, use);
    label[t] = is_unknown(name) ? unknown_label : numbers.number(name);
  }
  return label;
}

void append_labels(const CrfsuiteSequence& sequence, const std::string& file, LabelNumbers& numbers, const char* use,
                   std::vector<std::int32_t>& label) {
  for (std::size_t t = 0; t < sequence.tokens(); ++t) {
    const std::string_view name = sequence.label(t);
    if (use != nullptr && is_unknown(name)) refuse_unknown(file, sequence.line_number(t), name, use);
    label.push_back(is_unknown(name) ? unknown_label : numbers.number(name));
  }
}

constexpr const char* needed_for_training = "training";
const char* needed_for(Truth use) { return use == Truth::required ? "evaluation" : nullptr; }

void finish(LabelNumbers& numbers, const std::vector<std::string>& classes, std::vector<std::size_t> starts,
            Examples& result) {
  result.names = numbers.names();
  result.data.class_names = classes;
  result.data.label = known_labels(result.truth, classes.size());
  result.data.feature_rows = result.data.labels = Groups(std::move(starts));
}

void check_columns(const ConllText& text, std::size_t feature_columns) {
  if (text.columns() == feature_columns || text.columns() == feature_columns + 1) return;
  throw Error(say("{}: line {}: found {} columns, expected {} as in training, or {} with the label", text.file(),
                  text.first_line(0), text.columns(), feature_columns, feature_columns + 1));
}

}  // namespace

TrainingRows::TrainingRows(const DictionaryOptions& options) : min_count_(options.min_count) {
  if (options.min_count < 1) throw UsageError(say("--min-count 0; expected 1 or more"));
  if (options.hash_bits == 0) return;
  hashing_ = AttributeDictionary::hashing(options.hash_bits);
  if (options.min_count > 1)
    throw UsageError(
        say("--min-count {} chooses the attributes of a dictionary, and --hash {} has none; => leave one of them out",
            options.min_count, options.hash_bits));
}

void TrainingRows::reserve(std::size_t tokens, std::size_t attributes) {
  if (hashing_.hash_bits() == 0) return counter_.reserve(tokens, attributes);
  rows_.row_start.reserve(tokens + 1);
  rows_.column.reserve(attributes);
  rows_.value.reserve(attributes);
}

void TrainingRows::add(const AttributeBatch& batch) {
  if (hashing_.hash_bits() == 0)
    counter_.add(batch);
  else
    hashing_.append_rows(batch, scratch_, rows_);
}

AttributeDictionary TrainingRows::finish(const std::string& file, Features& x) {
  AttributeDictionary dictionary = hashing_.hash_bits() == 0 ? counter_.finish(min_count_, rows_) : std::move(hashing_);
  if (dictionary.columns() == 0)
    throw Error(min_count_ > 1
                    ? say("{}: no attribute occurs in {} tokens or more; => lower --min-count", file, min_count_)
                    : say("{}: no token has an attribute; a label is followed by a tab and its attributes", file));
  // Attributes of texts are there or not; their ones need not be kept.
  if (std::all_of(rows_.value.begin(), rows_.value.end(), [](double value) { return value == 1; }))
    rows_.value = std::vector<double>();
  x = std::move(rows_);
  return dictionary;
}

SequenceTraining training_sequences(const ConllText& text, const TextTemplate& attributes,
                                    const DictionaryOptions& options) {
  SequenceTraining result;
  if (text.columns() < 2)
    throw Error(say("{}: line {}: found {} column, expected at least two: the token, and last the label", text.file(),
                    text.first_line(0), text.columns()));
  result.feature_columns = text.columns() - 1;
  attributes.check_columns(text, result.feature_columns);
  TrainingRows rows(options);
  LabelNumbers numbers;
  result.data.label = column_labels(text, numbers, needed_for_training);
  result.data.class_names = sort_classes(numbers, result.data.label, text.file());
  rows.reserve(text.tokens(), text.tokens() * attributes.attributes());
  AttributeBatch batch;
  for (std::size_t s = 0; s < text.sentences(); ++s) {
    batch.clear();
    attributes.append(text, s, batch);
    rows.add(batch);
  }
  result.dictionary = rows.finish(text.file(), result.data.x);
  result.data.feature_rows = result.data.labels = Groups(text.sentence_starts());
  return result;
}

SequenceTraining training_sequences(CrfsuiteReader& reader, const DictionaryOptions& options) {
  SequenceTraining result;
  TrainingRows rows(options);
  LabelNumbers numbers;
  std::vector<std::size_t> starts{0};
  for (CrfsuiteSequence sequence; reader.next(sequence);) {
    append_labels(sequence, reader.file(), numbers, needed_for_training, result.data.label);
    rows.add(sequence.attributes());
    starts.push_back(result.data.label.size());
  }
  result.data.class_names = sort_classes(numbers, result.data.label, reader.file());
  result.dictionary = rows.finish(reader.file(), result.data.x);
  result.data.feature_rows = result.data.labels = Groups(std::move(starts));
  return result;
}

Examples model_sequences(const ConllText& text, const TextTemplate& attributes, const AttributeDictionary& dictionary,
                         std::size_t feature_columns, const std::vector<std::string>& classes, Truth use) {
  check_columns(text, feature_columns);
  attributes.check_columns(text, feature_columns);
  Examples result;
  LabelNumbers numbers(classes);
  if (text.columns() > feature_columns)
    result.truth = column_labels(text, numbers, needed_for(use));
  else if (use == Truth::required)
    throw Error(say("{}: line {}: found {} columns and so no label; evaluation needs it in column {}", text.file(),
                    text.first_line(0), text.columns(), feature_columns + 1));
  else
    result.truth.assign(text.tokens(), unknown_label);
  SparseMatrix rows;
  AttributeBatch batch;
  AttributeDictionary::Scratch scratch;
  for (std::size_t s = 0; s < text.sentences(); ++s) {
    batch.clear();
    attributes.append(text, s, batch);
    dictionary.append_rows(batch, scratch, rows);
  }
  result.data.x = std::move(rows);
  finish(numbers, classes, text.sentence_starts(), result);
  return result;
}

Examples model_sequences(CrfsuiteReader& reader, const AttributeDictionary& dictionary,
                         const std::vector<std::string>& classes, Truth use) {
  Examples result;
  LabelNumbers numbers(classes);
  SparseMatrix rows;
  AttributeDictionary::Scratch scratch;
  std::vector<std::size_t> starts{0};
  for (CrfsuiteSequence sequence; reader.next(sequence);) {
    append_labels(sequence, reader.file(), numbers, needed_for(use), result.truth);
    dictionary.append_rows(sequence.attributes(), scratch, rows);
    starts.push_back(result.truth.size());
  }
  if (result.truth.empty()) throw Error(say("{}: no tokens; expected one per line", reader.file()));
  result.data.x = std::move(rows);
  finish(numbers, classes, std::move(starts), result);
  return result;
}

const SparseMatrix& SequenceEncoder::encode(const ConllText& text, std::size_t sentence) {
  check_columns(text, feature_columns_);
  template_.check_columns(text, feature_columns_);
  batch_.clear();
  template_.append(text, sentence, batch_);
  rows_.rows = 0;
  rows_.row_start.assign(1, 0);
  rows_.column.clear();
  rows_.value.clear();
  dictionary_.append_rows(batch_, scratch_, rows_);
  return rows_;
}

}  // namespace m4n::detail

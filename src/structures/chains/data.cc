// Text and attributes to rows of features and labels, for training and for a model (data.h).
#include "structures/chains/data.h"

#include <fmt/format.h>
#include <algorithm>
#include <new>

#include "core/in_order.h"
#include "core/message.h"
#include "data/chunks.h"

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

TrainingRows TrainingRows::piece() const {
  TrainingRows out(DictionaryOptions{});
  out.hashing_ = hashing_;
  return out;
}

void TrainingRows::append(const TrainingRows& piece) {
  if (hashing_.hash_bits() == 0)
    counter_.append(piece.counter_);
  else
    append_rows(piece.rows_, rows_);
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

namespace {

constexpr std::size_t sentences_in_a_piece = 256;  // a thread takes at a time

struct SentenceRange {
  std::size_t first = 0, last = 0;
};

// make(first, last) makes a piece of these sentences, append(piece) is called for them in order.
template <class MakePiece, class Append>
void by_sentences(std::size_t sentences, unsigned threads, MakePiece&& make, Append&& append) {
  const std::size_t pieces = (sentences + sentences_in_a_piece - 1) / sentences_in_a_piece;
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(thread_count(threads), pieces));
  std::size_t next = 0;
  in_order(
      std::vector<SentenceRange>(items_in_work(workers)), workers,
      [&](SentenceRange& range) {
        range = {next, std::min(next + sentences_in_a_piece, sentences)};
        next = range.last;
        return range.first < range.last;
      },
      [&](const SentenceRange& range) { return make(range.first, range.last); },
      [&](const SentenceRange& range, auto* piece) {
        if (piece != nullptr) return append(*piece);
        append(make(range.first, range.last));
      });
}

// The tokens of some lines in CRFsuite's format. What is learnt from them, or looked up, is in `rows`.
template <class Rows>
struct CrfsuiteTokens {
  Rows rows;
  std::vector<std::string> names;             // of labels, in order of appearance
  std::vector<std::int32_t> label;            // indices into these, or unknown_label
  std::vector<std::size_t> starts;            // of sequences
  std::size_t first_line = 0, last_line = 0;  // of tokens
};

// Reads all sequences: add(attributes, rows) on any thread, append(rows) in order. The labels as `numbers` say.
template <class Rows, class AddTokens, class AppendRows>
std::vector<std::size_t> read_crfsuite(LineReader& lines, const char* use, const Rows& empty, LabelNumbers& numbers,
                                       std::vector<std::int32_t>& label, AddTokens&& add, AppendRows&& append) {
  using Tokens = CrfsuiteTokens<Rows>;
  const auto parse = [&](LineReader& chunk, unsigned) {
    Tokens out{empty, {}, {}, {}, 0, 0};
    LabelNumbers own;
    CrfsuiteReader reader(chunk, use);
    for (CrfsuiteSequence sequence; reader.next(sequence);) {
      if (out.label.empty()) out.first_line = sequence.line_number(0);
      out.starts.push_back(out.label.size());
      for (std::size_t t = 0; t < sequence.tokens(); ++t) {
        const std::string_view name = sequence.label(t);
        out.label.push_back(is_unknown(name) ? unknown_label : own.number(name));
      }
      out.last_line = sequence.line_number(sequence.tokens() - 1);
      add(sequence.attributes(), out.rows);
    }
    out.names = own.names();
    return out;
  };
  std::vector<std::size_t> starts;
  std::size_t last_line = 0;
  in_chunks(lines, parse, [&](LineReader& chunk, Tokens* tokens, unsigned threads) {
    if (tokens == nullptr) {
      parse(chunk, threads);
      throw std::bad_alloc();  // it was not the text that could not be read
    }
    if (tokens->label.empty()) return;
    const std::size_t before = label.size();
    const bool goes_on = before > 0 && tokens->first_line == 1 && last_line == chunk.lines_before();
    for (std::size_t s = goes_on ? 1 : 0; s < tokens->starts.size(); ++s) starts.push_back(before + tokens->starts[s]);
    std::vector<std::int32_t> number;
    for (const std::string& name : tokens->names) number.push_back(numbers.number(name));
    for (const std::int32_t l : tokens->label)
      label.push_back(l == unknown_label ? unknown_label : number[static_cast<std::size_t>(l)]);
    last_line = chunk.lines_before() + tokens->last_line;
    append(tokens->rows);
  });
  starts.push_back(label.size());
  return starts;
}

}  // namespace

SequenceTraining training_sequences(const ConllText& text, const TextTemplate& attributes,
                                    const DictionaryOptions& options, unsigned threads) {
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
  by_sentences(
      text.sentences(), threads,
      [&](std::size_t first, std::size_t last) {
        TrainingRows piece = rows.piece();
        AttributeBatch batch;
        for (std::size_t s = first; s < last; ++s) {
          batch.clear();
          attributes.append(text, s, batch);
          piece.add(batch);
        }
        return piece;
      },
      [&](const TrainingRows& piece) { rows.append(piece); });
  result.dictionary = rows.finish(text.file(), result.data.x);
  result.data.feature_rows = result.data.labels = Groups(text.sentence_starts());
  return result;
}

SequenceTraining training_sequences(LineReader& crfsuite, const DictionaryOptions& options) {
  SequenceTraining result;
  TrainingRows rows(options);
  LabelNumbers numbers;
  std::vector<std::size_t> starts = read_crfsuite(
      crfsuite, needed_for_training, rows.piece(), numbers, result.data.label,
      [](const AttributeBatch& batch, TrainingRows& piece) { piece.add(batch); },
      [&](const TrainingRows& piece) { rows.append(piece); });
  result.data.class_names = sort_classes(numbers, result.data.label, crfsuite.file());
  result.dictionary = rows.finish(crfsuite.file(), result.data.x);
  result.data.feature_rows = result.data.labels = Groups(std::move(starts));
  return result;
}

Examples model_sequences(const ConllText& text, const TextTemplate& attributes, const AttributeDictionary& dictionary,
                         std::size_t feature_columns, const std::vector<std::string>& classes, Truth use,
                         unsigned threads) {
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
  by_sentences(
      text.sentences(), threads,
      [&](std::size_t first, std::size_t last) {
        SparseMatrix piece;
        AttributeBatch batch;
        AttributeDictionary::Scratch scratch;
        for (std::size_t s = first; s < last; ++s) {
          batch.clear();
          attributes.append(text, s, batch);
          dictionary.append_rows(batch, scratch, piece);
        }
        return piece;
      },
      [&](const SparseMatrix& piece) { append_rows(piece, rows); });
  result.data.x = std::move(rows);
  finish(numbers, classes, text.sentence_starts(), result);
  return result;
}

Examples model_sequences(LineReader& crfsuite, const AttributeDictionary& dictionary,
                         const std::vector<std::string>& classes, Truth use) {
  struct Rows {
    SparseMatrix matrix;
    AttributeDictionary::Scratch scratch;
  };
  Examples result;
  LabelNumbers numbers(classes);
  SparseMatrix rows;
  std::vector<std::size_t> starts = read_crfsuite(
      crfsuite, needed_for(use), Rows{}, numbers, result.truth,
      [&](const AttributeBatch& batch, Rows& piece) { dictionary.append_rows(batch, piece.scratch, piece.matrix); },
      [&](const Rows& piece) { append_rows(piece.matrix, rows); });
  if (result.truth.empty()) throw Error(say("{}: no tokens; expected one per line", crfsuite.file()));
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

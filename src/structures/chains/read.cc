// Which format a file of sequences has, by its content, and the way to its reader (data.h).
#include "structures/chains/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/message.h"
#include "structures/chains/constraints.h"
#include "structures/chains/ocr_letters.h"

namespace m4n::detail {
namespace {

std::string_view first_line(std::string_view head) {
  std::string_view first;
  any_line(head, [&](std::string_view line) { return !trim(first = line).empty(); });
  return first;
}

std::vector<std::string_view> split_at_tabs(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t start = 0; start <= line.size();) {
    const std::size_t tab = std::min(line.find('\t', start), line.size());
    out.push_back(line.substr(start, tab - start));
    start = tab + 1;
  }
  return out;
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// id, letter, next_id, word_id, position, fold, pixels.
bool looks_like_letters(std::string_view head) {
  const std::vector<std::string_view> field = split_at_tabs(first_line(head));
  return field.size() >= 7 && is_integer(field[0]) && is_integer(field[2]) && is_integer(field[3]) &&
         is_integer(field[4]) && finite_number(field[6]).has_value();
}

// A label, then attributes such as w[0]=the or bias:1.
bool looks_like_attributes(std::string_view head) {
  const std::vector<std::string_view> field = split_at_tabs(first_line(head));
  return std::any_of(field.begin() + 1, field.end(),
                     [](std::string_view f) { return f.find_first_of("=:") != std::string_view::npos; });
}

// Words, no commas, and a blank line with more behind it.
bool looks_like_sentences(std::string_view head) {
  const std::string_view first = trim(first_line(head));
  const std::size_t end = first.find_first_of(" \t");
  if (end == std::string_view::npos || first.find(',') != std::string_view::npos) return false;
  std::string_view second = trim(first.substr(end));
  second = second.substr(0, second.find_first_of(" \t"));
  const std::size_t colon = second.find(':');
  if (colon != std::string_view::npos && is_integer(second.substr(0, colon))) return false;  // LIBSVM
  bool words = false, gap = false;
  return any_line(head, [&](std::string_view line) {
    const bool blank = trim(line).empty();
    if (!blank && gap) return true;
    gap = words && blank;
    words = words || !blank;
    return false;
  });
}

SequenceFormat format_of(const TrainOptions& options, std::string_view head) {
  if (!options.read.format.empty()) {
    const auto asked = sequence_format(options.read.format);
    if (!asked)
      throw UsageError(
          say("--format {} has no sequences. => Leave it out, or use conll, crfsuite or ocr", options.read.format));
    return *asked;
  }
  if (looks_like_letters(head)) return SequenceFormat::ocr;
  return options.text_template.empty() && looks_like_attributes(head) ? SequenceFormat::crfsuite
                                                                      : SequenceFormat::conll;
}

// Options that the format does not have.
void check_format(const TrainOptions& o, SequenceFormat format, const std::string& file) {
  const auto refuse = [&](bool given, const char* name, const char* remedy) {
    if (given)
      throw UsageError(
          say("{}: {} means nothing for the format {}. {}", file, option(name), to_string(format), remedy));
  };
  const bool columns = format == SequenceFormat::conll, letters = format == SequenceFormat::ocr;
  refuse(!o.text_template.empty() && !columns, "template", "It makes attributes of CoNLL columns");
  refuse(o.min_count > 1 && letters, "min-count", "It chooses the attributes of texts");
  refuse(o.hash_bits > 0 && letters, "hash", "It hashes the attributes of texts");
  refuse(!o.pixel_products.empty() && !letters, "pixel-products", "It is for pictures of letters (ocr)");
  if (columns && o.text_template.empty())
    throw UsageError(say(
        "{}: CoNLL columns need a template, which says what attributes a token has: --template chunking, ner or pos, "
        "or a file in the syntax of CRF++ and Wapiti",
        file));
}

Dataset finished(SequenceTraining training, SequenceInput input) {
  input.feature_columns = training.feature_columns;
  input.dictionary = std::move(training.dictionary);
  input.counted_tokens = training.data.label.size();
  training.data.input = std::make_shared<const SequenceInput>(std::move(input));
  return std::move(training.data);
}

TrainingData with_data(Dataset data) {
  TrainingData out;
  out.data = std::move(data);
  return out;
}

TrainingData from_columns(LineReader& lines, const TrainOptions& options, const DictionaryOptions& dictionary) {
  SequenceInput input;
  input.attributes = TextTemplate::load(options.text_template);
  if (!input.attributes.transitions())
    throw Error(
        say("{}: no line B in the template, but m4n always learns scores of transitions between labels; => add a line "
            "with a B alone",
            options.text_template));
  if (input.attributes.attributes() == 0)
    throw Error(say("{}: no line U in the template, so no token would have an attribute; => add lines as U0:%x[0,0]",
                    options.text_template));
  const ConllText text = read_conll(lines);
  SequenceTraining training = training_sequences(text, input.attributes, dictionary, lines.chunking().threads);
  require_allowed(ChainConstraints::parse(options.constraints, training.data.class_names), training.data.label,
                  training.data.labels, training.data.class_names, [&](std::size_t sentence, std::size_t token) {
                    return fmt::format("{}: line {}", text.file(), text.first_line(sentence) + token);
                  });
  return with_data(finished(std::move(training), std::move(input)));
}

TrainingData from_attributes(LineReader& lines, const DictionaryOptions& dictionary) {
  SequenceInput input;
  input.format = SequenceFormat::crfsuite;
  SequenceTraining training = training_sequences(lines, dictionary);
  return with_data(finished(std::move(training), std::move(input)));
}

// The pixels, or with their products.
void add_products(const std::optional<PixelGrid>& grid, const std::string& file, Features& x) {
  if (!grid) return;
  grid->check(cols(x), file);
  x = with_pixel_products(*grid, std::get<DenseMatrix>(x).view());
}

TrainingData from_letters(LineReader& lines, const TrainOptions& options) {
  SequenceInput input;
  input.format = SequenceFormat::ocr;
  if (!options.pixel_products.empty()) input.grid = PixelGrid::parse(options.pixel_products);
  OcrWords words = read_ocr_letters(lines);
  TrainingData out = with_data(std::move(words.words.data));
  out.folds = std::move(words.folds);
  add_products(input.grid, lines.file(), out.data.x);
  out.data.input = std::make_shared<const SequenceInput>(std::move(input));
  return out;
}

}  // namespace

bool means_sequences(const TrainOptions& options, std::string_view head) {
  if (!options.read.format.empty()) return sequence_format(options.read.format).has_value();
  return !options.text_template.empty() || options.min_count > 1 || options.hash_bits > 0 ||
         !options.pixel_products.empty() || looks_like_letters(head) || looks_like_sentences(head);
}

TrainingData read_training_sequences(LineReader& lines, const TrainOptions& options) {
  const SequenceFormat format = format_of(options, lines.peek());
  check_format(options, format, lines.file());
  const DictionaryOptions dictionary{options.min_count, options.hash_bits};
  if (format == SequenceFormat::ocr) return from_letters(lines, options);
  return format == SequenceFormat::conll ? from_columns(lines, options, dictionary)
                                         : from_attributes(lines, dictionary);
}

Examples read_model_sequences(LineReader& lines, const SequenceInput& input, const std::vector<std::string>& classes,
                              std::size_t features, Truth truth) {
  if (input.format == SequenceFormat::conll)
    return model_sequences(read_conll(lines), input.attributes, input.dictionary, input.feature_columns, classes, truth,
                           lines.chunking().threads);
  if (input.format == SequenceFormat::crfsuite) return model_sequences(lines, input.dictionary, classes, truth);
  const std::size_t pixels = input.grid ? input.grid->pixels() : features;
  Examples out = std::move(read_ocr_letters(lines, classes, pixels, truth).words);
  add_products(input.grid, lines.file(), out.data.x);
  return out;
}

}  // namespace m4n::detail

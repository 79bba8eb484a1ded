// Sequences in, labels out. Text keeps its lines: CoNLL columns get one more (a column for each of --k-best),
// CRFsuite's attributes become one label per line; letters give a CSV with the header label. --marginals adds
// label:probability.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <type_traits>

#include "core/csv.h"
#include "core/message.h"
#include "core/parallel.h"
#include "data/table.h"
#include "structures/chains/data.h"
#include "structures/chains/structure.h"
#include "structures/chains/text.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

struct Labelling {
  std::vector<std::int32_t> label;
  double score = 0, probability = 0;  // the latter for crf only
};

// All that was asked for about one sentence.
struct Answer {
  std::vector<Labelling> best;    // the decoder's one, or the k best
  std::vector<double> marginals;  // M x k, where asked for
};

// What is written, as it comes: text with one more column or one line per token, a CSV, or one JSON object.
class SequenceWriter {
 public:
  SequenceWriter(const Model& model, const PredictionRequest& asked, TextSink& sink)
      : model_(model),
        asked_(asked),
        sink_(sink),
        csv_(part_of<ChainPart>(model).input->format == SequenceFormat::ocr),
        plain_names_(asked.k_best > 0 ? model.classes() : model.predictions()),
        names_(plain_names_),
        classes_(model.classes()) {
    if (!csv_) return;
    for (std::string& name : names_) name = csv_cell(name);
  }

  // A line per token; `begin(m, text)` writes what stands before the label of token m, with its separator.
  void add(const Answer& answer, char separator, const std::function<void(std::size_t, std::string&)>& begin) {
    if (asked_.json) return add_json(answer);
    for (std::size_t m = 0; m < answer.best[0].label.size(); ++m) {
      begin(m, text_);
      const std::size_t columns = std::max<std::size_t>(asked_.k_best, 1);
      for (std::size_t r = 0; r < columns; ++r) {
        if (r > 0) text_ += separator;
        // There may be fewer labellings than were asked for.
        text_ += r < answer.best.size() ? std::string_view(names_[static_cast<std::size_t>(answer.best[r].label[m])])
                                        : unknown_label_name;
      }
      for (std::size_t k = 0; asked_.marginals && k < model_.k(); ++k) {
        text_ += separator;
        if (!csv_) (text_ += classes_[k]) += ':';
        fmt::format_to(std::back_inserter(text_), "{}", answer.marginals[m * model_.k() + k]);
      }
      text_ += '\n';
    }
  }
  void add_line(std::string_view line) {
    if (!asked_.json) (text_ += line) += '\n';
  }
  void add_csv_header() {
    std::string line = "label";
    for (std::size_t r = 2; r <= asked_.k_best; ++r) line += fmt::format(",label_{}", r);
    for (std::size_t k = 0; asked_.marginals && k < model_.k(); ++k)
      (line += ',') += csv_cell("p_" + model_.classes()[k]);
    add_line(line);
  }

  // What there is goes out now.
  void flush() {
    if (asked_.json) return;
    sink_.write(text_);
    sink_.flush();
    text_.clear();
  }
  void finish() {
    if (!asked_.json) return flush();
    Json object = Json::object({{"n", sequences_}, {"tokens", tokens_}, {"classes", model_.classes()}});
    object.set(asked_.k_best > 0 ? "k_best" : "label", std::move(labels_));
    if (asked_.marginals) object.set("marginals", std::move(marginals_));
    sink_.write(object.text() + "\n");
  }

 private:
  Json names(const Labelling& labelling) const {
    Json out = Json::array();
    for (const std::int32_t label : labelling.label) out.push(plain_names_[static_cast<std::size_t>(label)]);
    return out;
  }
  void add_json(const Answer& answer) {
    ++sequences_;
    tokens_ += answer.best[0].label.size();
    if (asked_.k_best == 0) {
      labels_.push(names(answer.best[0]));
    } else {
      Json all = Json::array();
      for (const Labelling& labelling : answer.best) {
        Json one = Json::object({{"score", labelling.score}, {"label", names(labelling)}});
        if (surrogate_row(model_.surrogate()).probabilities) one.set("probability", labelling.probability);
        all.push(std::move(one));
      }
      labels_.push(std::move(all));
    }
    if (asked_.marginals) marginals_.push(Json::rows(std::span<const double>(answer.marginals), model_.k()));
  }

  const Model& model_;
  const PredictionRequest& asked_;
  TextSink& sink_;
  bool csv_;
  // What labels count: of the best labellings classes, of predictions perhaps others, too; and as they are written.
  std::vector<std::string> plain_names_, names_;
  const std::vector<std::string>& classes_;
  std::string text_;
  std::size_t sequences_ = 0, tokens_ = 0;
  Json labels_ = Json::array(), marginals_ = Json::array();
};

// Blank lines stay where they are.
class LineEcho {
 public:
  void before(std::size_t line, SequenceWriter& writer) {
    for (; line_ < line; ++line_) writer.add_line("");
  }
  void pass(std::size_t count) { line_ += count; }

 private:
  std::size_t line_ = 1;  // the next one to be written
};

constexpr std::size_t batch_size = 512;        // sentences that are read before they are tagged
constexpr std::size_t sequences_at_once = 16;  // of them a thread takes at a time

class Tagger {
 public:
  Tagger(const ChainPredictor& predictor, const Model& model, const PredictionRequest& asked)
      : tagger_(predictor), model_(model), asked_(asked) {}

  // False if the scores are not finite.
  bool answer(const FeaturesView& x, std::size_t first, std::size_t length, Answer& out) {
    if (!tagger_.read(x, first, length)) return false;
    const bool crf = surrogate_row(model_.surrogate()).probabilities;
    out.best.clear();
    if (asked_.k_best == 0) {
      out.best.push_back({std::vector<std::int32_t>(length), 0, 0});
      tagger_.decode(out.best[0].label);
    } else {
      const double log_partition = crf ? tagger_.log_partition() : 0;
      const KBest& found = tagger_.best(asked_.k_best);
      for (std::size_t r = 0; r < found.size(); ++r)
        out.best.push_back({{found.path(r).begin(), found.path(r).end()},
                            found.score(r),
                            crf ? std::exp(found.score(r) - log_partition) : 0});
    }
    if (asked_.marginals) {
      const PaddedRows<const double> mu = tagger_.marginals();
      out.marginals.clear();
      for (std::size_t m = 0; m < length; ++m)
        out.marginals.insert(out.marginals.end(), mu.row(m), mu.row(m) + model_.k());
    }
    return true;
  }

 private:
  ChainTagger tagger_;
  const Model& model_;
  const PredictionRequest& asked_;
};

constexpr const char* at_line = "the sequence at line";
[[noreturn]] void refuse_scores(const std::string& file, const char* what, std::size_t number) {
  throw Error(
      say("{}: the scores of {} {} are beyond what can be computed with: one of its values is too large for the model; "
          "=> correct it, or leave it out",
          file, what, number));
}

// Reads up to batch_size sentences, fewer where the next one has yet to arrive, tags them and writes them; until the
// end. read(i) reads a sentence into place i of the batch, make_worker() gives a thread a function (i, answer) that
// answers it, write(i, answer) writes it.
template <class Read, class MakeWorker, class Write>
void in_batches(LineReader& lines, const PredictionRequest& asked, LineEcho& echo, SequenceWriter& writer, Read&& read,
                MakeWorker&& make_worker, Write&& write) {
  std::vector<Answer> answers(batch_size);
  std::vector<std::optional<std::invoke_result_t<MakeWorker>>> workers(thread_count(asked.context.threads));
  for (bool more = true; more;) {
    std::size_t count = 0;
    std::exception_ptr failure;  // what was read before a bad line is answered all the same
    try {
      while (count < batch_size && (more = read(count))) {
        ++count;
        if (lines.block_waits()) break;
      }
    } catch (const Error&) {
      failure = std::current_exception();
    }
    parallel_chunks(count, sequences_at_once, asked.context.threads,
                    [&](std::size_t, std::size_t first, std::size_t last, unsigned worker) {
                      if (!workers[worker]) workers[worker].emplace(make_worker());
                      for (std::size_t i = first; i < last; ++i) (*workers[worker])(i, answers[i]);
                    });
    for (std::size_t i = 0; i < count; ++i) write(i, answers[i]);
    if (!failure) echo.before(lines.line_number() + 1, writer);
    writer.flush();
    if (failure) std::rethrow_exception(failure);
  }
}

void predict_columns(LineReader& lines, const ChainPredictor& predictor, const Model& model,
                     const PredictionRequest& asked, SequenceWriter& writer) {
  const SequenceInput& input = *part_of<ChainPart>(model).input;
  ConllReader reader(lines);
  std::vector<ConllText> text(batch_size);
  LineEcho echo;
  in_batches(
      lines, asked, echo, writer,
      [&](std::size_t i) {
        text[i].clear();
        return reader.next(text[i]);
      },
      [&] {
        return [&, tagger = Tagger(predictor, model, asked),
                encoder = SequenceEncoder(input.attributes, input.dictionary, input.feature_columns)](
                   std::size_t i, Answer& answer) mutable {
          const SparseMatrix& rows = encoder.encode(text[i], 0);
          if (!tagger.answer(rows.view(), 0, rows.rows, answer))
            refuse_scores(lines.file(), at_line, text[i].first_line(0));
        };
      },
      [&](std::size_t i, const Answer& answer) {
        const ConllText& own = text[i];
        echo.before(own.first_line(0), writer);
        const char separator = own.line(0).find('\t') == std::string_view::npos ? ' ' : '\t';
        writer.add(answer, separator, [&](std::size_t m, std::string& out) {
          std::string_view line = own.line(m);
          while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
          (out += line) += separator;
        });
        echo.pass(own.tokens());
      });
}

void predict_attributes(LineReader& lines, const ChainPredictor& predictor, const Model& model,
                        const PredictionRequest& asked, SequenceWriter& writer) {
  const AttributeDictionary& dictionary = part_of<ChainPart>(model).input->dictionary;
  CrfsuiteReader reader(lines);
  std::vector<CrfsuiteSequence> sequence(batch_size);
  std::atomic<bool> any_known = false;
  bool any_label = false;  // one that the model knows, or none
  const std::set<std::string_view> labels(model.classes().begin(), model.classes().end());
  LineEcho echo;
  in_batches(
      lines, asked, echo, writer, [&](std::size_t i) { return reader.next(sequence[i]); },
      [&] {
        return [&, tagger = Tagger(predictor, model, asked), scratch = AttributeDictionary::Scratch{}](
                   std::size_t i, Answer& answer) mutable {
          SparseMatrix rows;
          dictionary.append_rows(sequence[i].attributes(), scratch, rows);
          if (!rows.column.empty()) any_known = true;
          if (!tagger.answer(rows.view(), 0, rows.rows, answer))
            refuse_scores(lines.file(), at_line, sequence[i].line_number(0));
        };
      },
      [&](std::size_t i, const Answer& answer) {
        const std::string_view label = sequence[i].label(0);
        any_label = any_label || label.empty() || label == unknown_label_name || labels.contains(label);
        echo.before(sequence[i].line_number(0), writer);
        writer.add(answer, '\t', [](std::size_t, std::string&) {});
        echo.pass(sequence[i].tokens());
      });
  if (!any_known && lines.line_number() > 0)
    asked.warn(fmt::format("{}: the model knows none of its attributes; they follow the label, each after a tab",
                           lines.file()));
  else if (!any_label && lines.line_number() > 0)
    asked.warn(fmt::format(
        "{}: no sequence starts with a label that the model knows; is there one before the first tab? Write _ "
        "where it is not known",
        lines.file()));
}

void predict_letters(LineReader& lines, const ChainPredictor& predictor, const Model& model,
                     const PredictionRequest& asked, SequenceWriter& writer) {
  const Examples words =
      read_model_sequences(lines, *part_of<ChainPart>(model).input, model.classes(), model.d(), Truth::optional);
  const Groups& groups = words.data.feature_rows;
  std::vector<Answer> answers(groups.count());
  parallel_chunks(
      groups.count(), sequences_at_once, asked.context.threads,
      [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
        Tagger tagger(predictor, model, asked);
        for (std::size_t i = first; i < last; ++i)
          if (!tagger.answer(view(words.data.x), groups.begin(i), groups.end(i) - groups.begin(i), answers[i]))
            refuse_scores(lines.file(), "word", i + 1);
      });
  writer.add_csv_header();
  for (const Answer& answer : answers) writer.add(answer, ',', [](std::size_t, std::string&) {});
}

}  // namespace

void predict_file(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) {
  const ChainPredictor& predictor = chain_predictor(model);
  SequenceWriter writer(model, request, sink);
  switch (part_of<ChainPart>(model).input->format) {
    case SequenceFormat::conll:
      predict_columns(lines, predictor, model, request, writer);
      break;
    case SequenceFormat::crfsuite:
      predict_attributes(lines, predictor, model, request, writer);
      break;
    case SequenceFormat::ocr:
      predict_letters(lines, predictor, model, request, writer);
  }
  writer.finish();
}

}  // namespace m4n::detail

// Sequences in, labels out. Text keeps its lines: CoNLL columns get one more (a column for each of --k-best),
// CRFsuite's attributes become a label a line; letters give a CSV with the header label. --marginals adds
// label:probability.
#include "predict_sequences.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <optional>
#include <set>
#include <type_traits>

#include "core/parallel.h"
#include "structures/chains/conll.h"
#include "structures/chains/crfsuite.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "messages.h"
#include "sequence_writer.h"
#include "structures/chains/predictor.h"
#include "structures/chains/read.h"
#include "structures/chains/data.h"

namespace m4n::cli {
namespace {

constexpr std::size_t batch_size = 512;  // sentences that are read before they are tagged
constexpr std::size_t chunk = 16;        // of them a thread takes at a time

class Tagger {
 public:
  Tagger(const ChainPredictor& predictor, const Model& model, const SequencePrediction& asked)
      : tagger_(predictor), model_(model), asked_(asked) {}

  // False if the scores are not finite.
  bool answer(const FeaturesView& x, std::size_t first, std::size_t length, Answer& out) {
    if (!tagger_.read(x, first, length)) return false;
    const bool crf = model_.surrogate == SurrogateKind::crf;
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
  const SequencePrediction& asked_;
};

constexpr const char* at_line = "the sequence at line";
[[noreturn]] void refuse_scores(const std::string& file, const char* what, std::size_t number) {
  throw Error(
      fmt::format("{}: the scores of {} {} are beyond what can be computed with: one of its values is too large for "
                  "the model; correct "
                  "it, or leave it out",
                  file, what, number));
}

// Reads up to batch_size sentences, fewer where the next one has yet to arrive, tags them and writes them; until the
// end. read(i) reads a sentence into place i of the batch, make_worker() gives a thread a function (i, answer) that
// answers it, write(i, answer) writes it.
template <class Read, class MakeWorker, class Write>
void in_batches(LineReader& lines, const SequencePrediction& asked, LineEcho& echo, SequenceWriter& writer, Read&& read,
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
    parallel_chunks(count, chunk, asked.context.threads,
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
                     const SequencePrediction& asked, SequenceWriter& writer) {
  const SequenceInput& input = *model.input;
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
                        const SequencePrediction& asked, SequenceWriter& writer) {
  CrfsuiteReader reader(lines);
  std::vector<CrfsuiteSequence> sequence(batch_size);
  std::atomic<bool> any_known = false;
  bool any_label = false;  // one that the model knows, or none
  const std::set<std::string_view> labels(model.classes.begin(), model.classes.end());
  LineEcho echo;
  in_batches(
      lines, asked, echo, writer, [&](std::size_t i) { return reader.next(sequence[i]); },
      [&] {
        return [&, tagger = Tagger(predictor, model, asked), scratch = AttributeDictionary::Scratch{}](
                   std::size_t i, Answer& answer) mutable {
          SparseMatrix rows;
          model.input->dictionary.append_rows(sequence[i].attributes(), scratch, rows);
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
    warn(fmt::format("{}: the model knows none of its attributes; they follow the label, each after a tab",
                     lines.file()));
  else if (!any_label && lines.line_number() > 0)
    warn(fmt::format(
        "{}: no sequence starts with a label that the model knows; is there one before the first tab? Write _ "
        "where it is not known",
        lines.file()));
}

void predict_letters(LineReader& lines, const ChainPredictor& predictor, const Model& model,
                     const SequencePrediction& asked, SequenceWriter& writer) {
  const LabelledSequences words = read_model_sequences(lines, *model.input, model.classes, model.d, false);
  const Groups& groups = words.data.feature_rows;
  std::vector<Answer> answers(groups.count());
  parallel_chunks(
      groups.count(), chunk, asked.context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
        Tagger tagger(predictor, model, asked);
        for (std::size_t i = first; i < last; ++i)
          if (!tagger.answer(view(words.data.x), groups.begin(i), groups.end(i) - groups.begin(i), answers[i]))
            refuse_scores(lines.file(), "word", i + 1);
      });
  writer.add_csv_header();
  for (const Answer& answer : answers) writer.add(answer, ',', [](std::size_t, std::string&) {});
}

}  // namespace

void predict_sequences(const Model& model, const SequencePrediction& asked) {
  Input input = Input::open(asked.data);
  LineReader lines(input);
  const ChainPredictor predictor(model);
  SequenceWriter writer(model, asked);
  switch (model.input->format) {
    case Format::conll:
      predict_columns(lines, predictor, model, asked, writer);
      break;
    case Format::crfsuite:
      predict_attributes(lines, predictor, model, asked, writer);
      break;
    default:
      predict_letters(lines, predictor, model, asked, writer);
  }
  writer.finish();
}

}  // namespace m4n::cli

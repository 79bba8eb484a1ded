// Evaluation of sequences. The loss is the mean over sequences of the mean cost of their tokens; the metrics are
// token_accuracy, sequence_accuracy and, where the labels are tags of chunks, chunk_precision, chunk_recall and
// chunk_f1 as conlleval counts. All are ratios of sums over sequences.
#include <fmt/format.h>

#include <algorithm>

#include "core/message.h"
#include "structures/chains/chunks.h"
#include "structures/chains/structure.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {
namespace {

// A row by sequence: cost, tokens, right ones, whole sequences, and of chunks the true, the predicted and the found.
enum Column { cost, tokens, right, whole, actual, guessed, found, columns };

void check_inputs(const Model& model, const Examples& sequences, std::span<const std::int32_t> predicted) {
  const Groups& groups = sequences.data.labels;
  if (groups.count() == 0) throw Error("evaluation: there are no sequences");
  const std::size_t total = groups.end(groups.count() - 1);
  if (sequences.truth.size() != total || predicted.size() != total)
    throw Error(say("evaluation: {} tokens, {} true labels and {} predictions", total, sequences.truth.size(),
                    predicted.size()));
  for (std::size_t t = 0; t < total; ++t) {
    if (sequences.truth[t] < 0 || static_cast<std::size_t>(sequences.truth[t]) >= sequences.names.size())
      throw Error(say("evaluation: the label of token {} is not known", t + 1));
    if (predicted[t] < 0 || static_cast<std::size_t>(predicted[t]) >= model.k())
      throw Error(say("evaluation: prediction {} of token {} is not within 0..{}", predicted[t], t + 1, model.k() - 1));
  }
}

}  // namespace

std::unique_ptr<Evaluator> chain_evaluator(const Model& model, const Examples& sequences,
                                           std::span<const std::int32_t> predicted) {
  check_inputs(model, sequences, predicted);
  const std::size_t k = model.k();
  const bool chunks = are_chunk_tags(model.classes());
  const double largest = *std::max_element(model.cost().begin(), model.cost().end());
  auto counter = std::make_shared<ChunkCounter>(sequences.names);
  ExampleRows rows;
  rows.names = {"token_accuracy", "sequence_accuracy"};
  if (chunks) rows.names.insert(rows.names.end(), {"chunk_precision", "chunk_recall", "chunk_f1"});
  rows.width = columns;
  rows.measure = [chunks](std::span<const double> sum, double weight) {
    std::vector<double> out = {sum[cost] / weight, sum[right] / sum[tokens], sum[whole] / weight};
    if (chunks)
      out.insert(out.end(), {ratio(sum[found], sum[guessed]), ratio(sum[found], sum[actual]),
                             ratio(2 * sum[found], sum[actual] + sum[guessed])});
    return out;
  };
  const Groups& groups = sequences.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::size_t first = groups.begin(i), length = groups.end(i) - first;
    const auto truth = std::span(sequences.truth).subspan(first, length);
    const auto answer = predicted.subspan(first, length);
    std::vector<double> row(columns);
    row[tokens] = static_cast<double>(length);
    for (std::size_t m = 0; m < length; ++m) {
      const auto t = static_cast<std::size_t>(truth[m]), p = static_cast<std::size_t>(answer[m]);
      row[cost] += (t < k ? model.cost()[t * k + p] : largest) / row[tokens];
      row[right] += t == p ? 1 : 0;
    }
    row[whole] = row[right] == row[tokens] ? 1 : 0;
    const FoundCounts before = counter->score().chunks;
    counter->add(truth, answer);
    const FoundCounts& after = counter->score().chunks;
    row[actual] = static_cast<double>(after.actual - before.actual);
    row[guessed] = static_cast<double>(after.predicted - before.predicted);
    row[found] = static_cast<double>(after.found - before.found);
    rows.values.insert(rows.values.end(), row.begin(), row.end());
  }
  return rows_evaluator(std::move(rows), sequences.data.weight,
                        [&model, &sequences, predicted, counter, chunks](Evaluation& out) {
                          add_class_tables(model, sequences.truth, predicted, out);
                          // Labels that the model has never seen have their lines, too.
                          const ChunkScore& score = counter->score();
                          out.labels.clear();
                          for (std::size_t l = 0; l < sequences.names.size(); ++l)
                            out.labels.emplace_back(sequences.names[l], score.by_label[l]);
                          for (std::size_t t = 0; chunks && t < score.types.size(); ++t)
                            out.chunks.emplace_back(score.types[t], score.by_type[t]);
                        });
}

}  // namespace m4n::detail

// Evaluation of sequences; see m4n/evaluate.h. All metrics are ratios of sums over sequences, so a sequence is a
// handful of counts: a resample costs one addition of them a draw.
#include <fmt/format.h>

#include <algorithm>

#include "core/parallel.h"
#include "core/rng.h"
#include "structures/chains/chunks.h"
#include "api/intervals.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

struct Counts {
  double sequences = 0, cost = 0;  // cost: sum over sequences of the mean cost of their tokens
  double tokens = 0, correct = 0, whole = 0;
  double actual = 0, predicted = 0, found = 0;  // chunks

  Counts& operator+=(const Counts& o) {
    sequences += o.sequences;
    cost += o.cost;
    tokens += o.tokens;
    correct += o.correct;
    whole += o.whole;
    actual += o.actual;
    predicted += o.predicted;
    found += o.found;
    return *this;
  }
  double loss() const { return cost / sequences; }
  std::vector<std::pair<std::string, double>> metrics(bool chunks) const {
    const auto ratio = [](double part, double all) { return all > 0 ? part / all : 0; };
    std::vector<std::pair<std::string, double>> out = {{"token_accuracy", correct / tokens},
                                                       {"sequence_accuracy", whole / sequences}};
    if (chunks) {
      out.emplace_back("chunk_precision", ratio(found, predicted));
      out.emplace_back("chunk_recall", ratio(found, actual));
      out.emplace_back("chunk_f1", ratio(2 * found, actual + predicted));
    }
    return out;
  }
};

void check_inputs(const Model& model, const LabelledSequences& sequences, std::span<const std::int32_t> predicted) {
  const Groups& groups = sequences.data.labels;
  if (groups.count() == 0) throw Error("evaluation: there are no sequences");
  const std::size_t tokens = groups.end(groups.count() - 1);
  if (sequences.truth.size() != tokens || predicted.size() != tokens)
    throw Error(fmt::format("evaluation: {} tokens, {} true labels and {} predictions", tokens, sequences.truth.size(),
                            predicted.size()));
  for (std::size_t t = 0; t < tokens; ++t) {
    if (sequences.truth[t] < 0 || static_cast<std::size_t>(sequences.truth[t]) >= sequences.names.size())
      throw Error(fmt::format("evaluation: the label of token {} is not known", t + 1));
    if (predicted[t] < 0 || static_cast<std::size_t>(predicted[t]) >= model.k())
      throw Error(
          fmt::format("evaluation: prediction {} of token {} is not within 0..{}", predicted[t], t + 1, model.k() - 1));
  }
}

// The counts of every sequence, and the sums by label and type in `chunks`.
std::vector<Counts> count(const Model& model, const LabelledSequences& sequences,
                          std::span<const std::int32_t> predicted, ChunkCounter& chunks) {
  const std::size_t k = model.k();
  const double largest = *std::max_element(model.cost.begin(), model.cost.end());
  std::vector<Counts> out;
  const Groups& groups = sequences.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::size_t first = groups.begin(i), length = groups.end(i) - first;
    const auto truth = std::span(sequences.truth).subspan(first, length);
    const auto answer = predicted.subspan(first, length);
    Counts c;
    c.sequences = 1;
    c.tokens = static_cast<double>(length);
    for (std::size_t m = 0; m < length; ++m) {
      const auto t = static_cast<std::size_t>(truth[m]), p = static_cast<std::size_t>(answer[m]);
      c.cost += (t < k ? model.cost[t * k + p] : largest) / c.tokens;
      c.correct += t == p ? 1 : 0;
    }
    c.whole = c.correct == c.tokens ? 1 : 0;
    const FoundCounts before = chunks.score().chunks;
    chunks.add(truth, answer);
    const FoundCounts& after = chunks.score().chunks;
    c.actual = static_cast<double>(after.actual - before.actual);
    c.predicted = static_cast<double>(after.predicted - before.predicted);
    c.found = static_cast<double>(after.found - before.found);
    out.push_back(c);
  }
  return out;
}

}  // namespace

Evaluation evaluate(const Model& model, const LabelledSequences& sequences, std::span<const std::int32_t> predicted) {
  check_inputs(model, sequences, predicted);
  const std::size_t k = model.k();
  ChunkCounter counter(sequences.names);
  Counts sum;
  for (const Counts& c : count(model, sequences, predicted, counter)) sum += c;
  Evaluation result;
  result.n = sequences.data.labels.count();
  result.tokens = predicted.size();
  result.loss = sum.loss();
  const bool chunks = are_chunk_tags(model.classes);
  result.metrics = sum.metrics(chunks);
  result.confusion.resize(k * k);
  for (std::size_t t = 0; t < predicted.size(); ++t) {
    const auto truth = static_cast<std::size_t>(sequences.truth[t]);
    if (truth < k)
      ++result.confusion[truth * k + static_cast<std::size_t>(predicted[t])];
    else
      ++result.unseen;
  }
  const ChunkScore& score = counter.score();
  for (std::size_t l = 0; l < sequences.names.size(); ++l)
    result.labels.emplace_back(sequences.names[l], score.by_label[l]);
  for (std::size_t t = 0; chunks && t < score.types.size(); ++t)
    result.chunks.emplace_back(score.types[t], score.by_type[t]);
  return result;
}

Bootstrap bootstrap(const Model& model, const LabelledSequences& sequences, std::span<const std::int32_t> predicted,
                    std::uint64_t replicates, std::uint64_t seed, const Context& context) {
  if (replicates < 2) throw Error(fmt::format("bootstrap: {} replicates, expected at least 2", replicates));
  check_inputs(model, sequences, predicted);
  ChunkCounter counter(sequences.names);
  const std::vector<Counts> counts = count(model, sequences, predicted, counter);
  const bool chunks = are_chunk_tags(model.classes);
  const auto names = counts[0].metrics(chunks);
  std::vector<double> value((1 + names.size()) * replicates);
  constexpr std::size_t chunk = 16;
  parallel_chunks(replicates, chunk, context.threads, [&](std::size_t, std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t r = begin; r < end; ++r) {
      Rng rng(seed, r);
      Counts sum;
      for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[rng.below(counts.size())];
      value[r] = sum.loss();
      const auto measured = sum.metrics(chunks);
      for (std::size_t m = 0; m < measured.size(); ++m) value[(1 + m) * replicates + r] = measured[m].second;
    }
  });
  return intervals_of(names, value, replicates, seed);
}

}  // namespace m4n

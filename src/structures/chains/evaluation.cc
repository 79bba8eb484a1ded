// Chunks counted in one pass: a chunk that starts in both sequences at the same token with the same type is followed
// until one of the two ends (evaluation.h). Below them the loss and metrics of sequences.
#include "structures/chains/evaluation.h"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include "core/message.h"
#include "structures/chains/structure.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view type_of(std::string_view label) {
  const std::size_t hyphen = label.find('-');
  return hyphen == std::string_view::npos ? std::string_view{} : label.substr(hyphen + 1);
}
std::string_view prefix_of(std::string_view label) { return label.substr(0, label.find('-')); }

}  // namespace

double ChunkScore::token_accuracy() const { return ratio(correct, tokens); }

ChunkCounter::ChunkCounter(const std::vector<std::string>& labels) : tags_(labels.size()) {
  for (const std::string& label : labels)
    if (!type_of(label).empty()) score_.types.emplace_back(type_of(label));
  std::sort(score_.types.begin(), score_.types.end());
  score_.types.erase(std::unique(score_.types.begin(), score_.types.end()), score_.types.end());
  score_.by_type.resize(score_.types.size());
  score_.by_label.resize(labels.size());
  for (std::size_t l = 0; l < labels.size(); ++l) {
    const std::string_view prefix = prefix_of(labels[l]), type = type_of(labels[l]);
    Tag& tag = tags_[l];
    tag.prefix = prefix == "B"   ? Prefix::begin
                 : prefix == "I" ? Prefix::inside
                 : prefix == "E" ? Prefix::end
                 : prefix == "S" ? Prefix::single
                 : prefix == "O" ? Prefix::outside
                                 : Prefix::other;
    if (!type.empty())
      tag.type = 1 + static_cast<std::uint32_t>(std::lower_bound(score_.types.begin(), score_.types.end(), type) -
                                                score_.types.begin());
  }
}

bool ChunkCounter::starts(Tag before, Tag tag) {
  if (tag.prefix == Prefix::begin || tag.prefix == Prefix::single) return true;
  const bool fresh =
      before.prefix == Prefix::outside || before.prefix == Prefix::end || before.prefix == Prefix::single;
  if (fresh && (tag.prefix == Prefix::inside || tag.prefix == Prefix::end)) return true;
  return tag.prefix != Prefix::outside && before.type != tag.type;
}

bool ChunkCounter::ends(Tag last, Tag next) {
  if (last.prefix == Prefix::end || last.prefix == Prefix::single) return true;
  const bool closed = next.prefix == Prefix::outside || next.prefix == Prefix::begin || next.prefix == Prefix::single;
  if (closed && (last.prefix == Prefix::begin || last.prefix == Prefix::inside)) return true;
  return last.prefix != Prefix::outside && last.type != next.type;
}

void ChunkCounter::count(Tag tag, std::uint64_t FoundCounts::*what) {
  ++(score_.chunks.*what);
  if (tag.type > 0) ++(score_.by_type[tag.type - 1].*what);
}

void ChunkCounter::add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
  if (truth.size() != predicted.size())
    throw Error(say("evaluation: a sentence of {} labels has {} predictions", truth.size(), predicted.size()));
  const auto outside_range = [&](std::int32_t l) { return l < 0 || static_cast<std::size_t>(l) >= tags_.size(); };
  for (const std::span<const std::int32_t> labels : {truth, predicted})
    if (const auto at = std::find_if(labels.begin(), labels.end(), outside_range); at != labels.end())
      throw Error(say("evaluation: label {} is not within 0..{}", *at, tags_.size() - 1));
  Tag true_before, predicted_before;
  bool matching = false;  // the chunks the tokens before are in started together, with one type
  for (std::size_t t = 0; t <= truth.size(); ++t) {
    const bool last = t == truth.size();  // as if an O followed
    const Tag tag = last ? Tag{} : tags_[static_cast<std::size_t>(truth[t])];
    const Tag guess = last ? Tag{} : tags_[static_cast<std::size_t>(predicted[t])];
    if (matching) {
      const bool true_end = ends(true_before, tag), predicted_end = ends(predicted_before, guess);
      if (true_end && predicted_end) count(true_before, &FoundCounts::found);
      if (true_end || predicted_end || tag.type != guess.type) matching = false;
    }
    const bool true_start = starts(true_before, tag), predicted_start = starts(predicted_before, guess);
    if (true_start && predicted_start && tag.type == guess.type) matching = true;
    if (true_start) count(tag, &FoundCounts::actual);
    if (predicted_start) count(guess, &FoundCounts::predicted);
    if (last) break;
    ++score_.tokens;
    ++score_.by_label[static_cast<std::size_t>(truth[t])].actual;
    ++score_.by_label[static_cast<std::size_t>(predicted[t])].predicted;
    if (truth[t] == predicted[t]) {
      ++score_.correct;
      ++score_.by_label[static_cast<std::size_t>(truth[t])].found;
    }
    true_before = tag;
    predicted_before = guess;
  }
}

bool are_chunk_tags(const std::vector<std::string>& labels) {
  constexpr std::string_view prefixes = "BIES";
  bool any = false;
  for (const std::string& label : labels) {
    if (label == "O") continue;
    const std::string_view prefix = prefix_of(label);
    if (prefix.size() != 1 || prefixes.find(prefix[0]) == std::string_view::npos) return false;
    any = true;
  }
  return any;
}

// Evaluation of sequences. The loss is the mean over sequences of the mean cost of their tokens; the metrics are
// token_accuracy, sequence_accuracy and, where the labels are tags of chunks, chunk_precision, chunk_recall and
// chunk_f1 as conlleval counts. All are ratios of sums over sequences. Where predictions may be no label, such a token
// is rejected: it is wrong, and in no chunk; and there are the share of them and the error of the others.

namespace {

// A row by sequence: cost, tokens, right ones, rejected ones, whole sequences, and of chunks the true, the predicted
// and the found.
enum Column { cost, tokens, right, rejected, whole, actual, guessed, found, columns };

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
    const std::size_t width = model.predictions().size();
    if (predicted[t] < 0 || static_cast<std::size_t>(predicted[t]) >= width)
      throw Error(say("evaluation: prediction {} of token {} is not within 0..{}", predicted[t], t + 1, width - 1));
  }
}

}  // namespace

std::unique_ptr<Evaluator> chain_evaluator(const Model& model, const Examples& sequences,
                                           std::span<const std::int32_t> predicted) {
  check_inputs(model, sequences, predicted);
  const std::size_t k = model.k(), width = model.predictions().size();
  const bool chunks = are_chunk_tags(model.classes()), actions = !model.common().predictions.empty();
  const std::vector<std::size_t> class_of = classes_of_predictions(model);
  const double largest = *std::max_element(model.cost().begin(), model.cost().end());
  std::vector<std::string> tags = sequences.names;
  if (actions) tags.emplace_back("O");  // what is rejected
  auto counter = std::make_shared<ChunkCounter>(tags);
  ExampleRows rows;
  rows.names = {"token_accuracy", "sequence_accuracy"};
  if (chunks) rows.names.insert(rows.names.end(), {"chunk_precision", "chunk_recall", "chunk_f1"});
  if (actions) rows.names.insert(rows.names.end(), {"rejected", "error_of_rest"});
  rows.width = columns;
  rows.measure = [chunks, actions](std::span<const double> sum, double weight) {
    std::vector<double> out = {sum[cost] / weight, sum[right] / sum[tokens], sum[whole] / weight};
    if (chunks)
      out.insert(out.end(), {ratio(sum[found], sum[guessed]), ratio(sum[found], sum[actual]),
                             ratio(2 * sum[found], sum[actual] + sum[guessed])});
    if (actions)
      for (const double metric : rejection_metrics(sum[tokens], sum[rejected], sum[right])) out.push_back(metric);
    return out;
  };
  const Groups& groups = sequences.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::size_t first = groups.begin(i), length = groups.end(i) - first;
    const auto truth = std::span(sequences.truth).subspan(first, length);
    const auto answer = predicted.subspan(first, length);
    std::vector<double> row(columns);
    std::vector<std::int32_t> tag_of(length);
    row[tokens] = static_cast<double>(length);
    for (std::size_t m = 0; m < length; ++m) {
      const auto t = static_cast<std::size_t>(truth[m]), p = static_cast<std::size_t>(answer[m]);
      row[cost] += (t < k ? model.cost()[t * width + p] : largest) / row[tokens];
      row[right] += t == class_of[p] ? 1 : 0;
      row[rejected] += class_of[p] == k ? 1 : 0;
      tag_of[m] = static_cast<std::int32_t>(class_of[p] < k ? class_of[p] : sequences.names.size());
    }
    row[whole] = row[right] == row[tokens] ? 1 : 0;
    const FoundCounts before = counter->score().chunks;
    counter->add(truth, tag_of);
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

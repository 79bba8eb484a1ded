// Evaluation of sequences against the formulas written out, and the bootstrap against all resamples there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "support/flat_model.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using Labels = std::vector<std::int32_t>;

struct JudgedSequences {
  Examples truth;
  Labels predicted;
};

FlatModel model_of(std::vector<std::string> classes) {
  FlatModel model;
  model.task = "sequence";
  model.classes = std::move(classes);
  const std::size_t k = model.k();
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) model.cost.push_back(t == p ? 0 : 1.0 + static_cast<double>(2 * t + p));
  return model;
}

// Sentences of these lengths; labels beyond the classes are those the model has never seen.
JudgedSequences random_judged(const FlatModel& model, const std::vector<std::size_t>& lengths, Rng& rng) {
  JudgedSequences out;
  out.truth.names = model.classes;
  out.truth.names.emplace_back("B-NEW");
  std::vector<std::size_t> offsets{0};
  for (const std::size_t length : lengths) {
    for (std::size_t m = 0; m < length; ++m) {
      out.predicted.push_back(static_cast<std::int32_t>(rng.below(model.k())));
      out.truth.truth.push_back(rng.uniform() < 0.6 ? out.predicted.back()
                                                    : static_cast<std::int32_t>(rng.below(model.k() + 1)));
    }
    offsets.push_back(out.predicted.size());
  }
  out.truth.data.labels = out.truth.data.feature_rows = Groups(std::move(offsets));
  return out;
}

// The loss and the metrics that are no chunks', of the sentences `drawn`.
std::map<std::string, double> by_hand(const FlatModel& model, const JudgedSequences& judged,
                                      const std::vector<std::size_t>& drawn) {
  const std::size_t k = model.k();
  const double largest = *std::max_element(model.cost.begin(), model.cost.end());
  const Groups& groups = judged.truth.data.labels;
  double loss = 0, right = 0, tokens = 0, whole = 0;
  for (const std::size_t i : drawn) {
    double own = 0, hits = 0;
    for (std::size_t t = groups.begin(i); t < groups.end(i); ++t) {
      const auto truth = static_cast<std::size_t>(judged.truth.truth[t]);
      const auto answer = static_cast<std::size_t>(judged.predicted[t]);
      own += truth < k ? model.cost[truth * k + answer] : largest;
      hits += truth == answer ? 1 : 0;
    }
    const auto length = static_cast<double>(groups.end(i) - groups.begin(i));
    loss += own / length;
    right += hits;
    tokens += length;
    whole += hits == length ? 1 : 0;
  }
  const auto n = static_cast<double>(drawn.size());
  return {{"loss", loss / n}, {"token_accuracy", right / tokens}, {"sequence_accuracy", whole / n}};
}

std::vector<std::size_t> all_of(std::size_t n) {
  std::vector<std::size_t> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = i;
  return out;
}

TEST(SequenceMetrics, AreTheFormulas) {
  Rng rng(1);
  const FlatModel model = model_of({"a", "b", "c"});
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < 1 + rng.below(8); ++i) lengths.push_back(1 + rng.below(5));
    const JudgedSequences judged = random_judged(model, lengths, rng);
    const Evaluation result = evaluate(model, judged.truth, judged.predicted);
    auto expected = by_hand(model, judged, all_of(lengths.size()));
    EXPECT_NEAR(result.loss, expected["loss"], 1e-12);
    ASSERT_EQ(result.metrics.size(), 2U);  // a, b and c are no tags of chunks
    for (const auto& [name, value] : result.metrics) EXPECT_NEAR(value, expected.at(name), 1e-12) << name;
    EXPECT_EQ(result.n, lengths.size());
    EXPECT_EQ(result.parts, judged.predicted.size());

    std::size_t unseen = 0;
    std::vector<std::uint64_t> confusion(9);
    std::vector<FoundCounts> labels(4);
    for (std::size_t t = 0; t < judged.predicted.size(); ++t) {
      const auto truth = static_cast<std::size_t>(judged.truth.truth[t]);
      const auto answer = static_cast<std::size_t>(judged.predicted[t]);
      truth < 3 ? ++confusion[truth * 3 + answer] : ++unseen;
      ++labels[truth].actual;
      ++labels[answer].predicted;
      if (truth == answer) ++labels[truth].found;
    }
    EXPECT_EQ(result.unseen, unseen);
    EXPECT_EQ(result.confusion, confusion);
    ASSERT_EQ(result.labels.size(), 4U);
    for (std::size_t l = 0; l < 4; ++l) {
      EXPECT_EQ(result.labels[l].first, judged.truth.names[l]);
      EXPECT_EQ(result.labels[l].second.actual, labels[l].actual);
      EXPECT_EQ(result.labels[l].second.predicted, labels[l].predicted);
      EXPECT_EQ(result.labels[l].second.found, labels[l].found);
    }
    EXPECT_TRUE(result.chunks.empty());
  }
}

TEST(SequenceMetrics, ChunksOfASentenceByHand) {
  const FlatModel model = model_of({"O", "B-A", "I-A", "B-B", "I-B"});
  Examples truth;
  truth.names = model.classes;
  //             (A A) O (B)  |  (A)(B)      two sentences: a chunk does not go over their border
  truth.truth = {1, 2, 0, 3, /**/ 2, 4};
  //             (A A) O (A)  |  (A)(B)
  const Labels predicted = {1, 2, 0, 1, /**/ 2, 4};
  truth.data.labels = truth.data.feature_rows = Groups(std::vector<std::size_t>{0, 4, 6});
  const Evaluation result = evaluate(model, truth, predicted);
  const std::map<std::string, double> metrics(result.metrics.begin(), result.metrics.end());
  EXPECT_DOUBLE_EQ(metrics.at("chunk_precision"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("chunk_recall"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("chunk_f1"), 3.0 / 4);
  ASSERT_EQ(result.chunks.size(), 2U);
  EXPECT_EQ(result.chunks[0].first, "A");
  EXPECT_EQ(result.chunks[0].second.actual, 2U);
  EXPECT_EQ(result.chunks[0].second.predicted, 3U);
  EXPECT_EQ(result.chunks[0].second.found, 2U);
  EXPECT_EQ(result.chunks[1].second.actual, 2U);
  EXPECT_EQ(result.chunks[1].second.found, 1U);
}

// The 4^4 resamples of four sentences are all there are, and all alike.
TEST(SequenceBootstrap, AgainstAllResamples) {
  Rng rng(2);
  const FlatModel model = model_of({"a", "b", "c"});
  const JudgedSequences judged = random_judged(model, {5, 3, 4, 2}, rng);
  std::map<std::string, std::vector<double>> exact;
  for (std::size_t code = 0; code < 256; ++code)
    for (const auto& [name, value] : by_hand(model, judged, {code % 4, code / 4 % 4, code / 16 % 4, code / 64}))
      exact[name].push_back(value);

  const Bootstrap found = bootstrap(model, judged.truth, judged.predicted, 40000, 7);
  EXPECT_EQ(found.replicates, 40000U);
  std::map<std::string, Interval> intervals(found.metrics.begin(), found.metrics.end());
  intervals["loss"] = found.loss;
  ASSERT_EQ(intervals.size(), 3U);
  for (const auto& [name, between] : intervals) {
    const Interval interval = between;  // which lambdas may capture
    const std::vector<double>& values = exact.at(name);
    double mean = 0, square = 0;
    for (const double v : values) mean += v / 256;
    for (const double v : values) square += (v - mean) * (v - mean) / 256;
    EXPECT_NEAR(interval.se, std::sqrt(square), 0.02 * std::sqrt(square)) << name;
    const auto share = [&](auto&& holds) {
      return static_cast<double>(std::count_if(values.begin(), values.end(), holds)) / 256;
    };
    // Percentiles: not more than 2.5% lie below, not less than that up to it; the other end likewise.
    EXPECT_LE(share([&](double v) { return v < interval.low - 1e-9; }), 0.03) << name;
    EXPECT_GE(share([&](double v) { return v <= interval.low + 1e-9; }), 0.02) << name;
    EXPECT_LE(share([&](double v) { return v > interval.high + 1e-9; }), 0.03) << name;
    EXPECT_GE(share([&](double v) { return v >= interval.high - 1e-9; }), 0.02) << name;
  }
}

TEST(SequenceBootstrap, DependsOnTheSeedAndNotOnThreads) {
  Rng rng(3);
  const FlatModel model = model_of({"O", "B-A", "I-A"});
  const JudgedSequences judged = random_judged(model, {5, 3, 4, 2, 6, 1}, rng);
  Context one, four;
  one.threads = 1;
  four.threads = 4;
  const Bootstrap a = bootstrap(model, judged.truth, judged.predicted, 500, 1, one),
                  b = bootstrap(model, judged.truth, judged.predicted, 500, 1, four),
                  c = bootstrap(model, judged.truth, judged.predicted, 500, 2, four);
  ASSERT_EQ(a.metrics.size(), 5U);
  for (std::size_t m = 0; m < 5; ++m) {
    EXPECT_EQ(a.metrics[m].first, evaluate(model, judged.truth, judged.predicted).metrics[m].first);
    EXPECT_EQ(a.metrics[m].second.low, b.metrics[m].second.low);
    EXPECT_EQ(a.metrics[m].second.high, b.metrics[m].second.high);
    EXPECT_EQ(a.metrics[m].second.se, b.metrics[m].second.se);
  }
  EXPECT_EQ(a.loss.se, b.loss.se);
  EXPECT_NE(a.loss.se, c.loss.se);
}

TEST(SequenceMetrics, RefuseWhatDoesNotFit) {
  Rng rng(4);
  const FlatModel model = model_of({"a", "b"});
  const JudgedSequences good = random_judged(model, {3, 2}, rng);
  const auto refused = [&](auto&& spoil) {
    JudgedSequences judged = good;
    spoil(judged);
    EXPECT_THROW(evaluate(model, judged.truth, judged.predicted), Error);
    EXPECT_THROW(bootstrap(model, judged.truth, judged.predicted, 10, 0), Error);
  };
  EXPECT_NO_THROW(evaluate(model, good.truth, good.predicted));
  EXPECT_THROW(bootstrap(model, good.truth, good.predicted, 1, 0), Error);
  refused([](JudgedSequences& j) { j.predicted.pop_back(); });
  refused([](JudgedSequences& j) { j.truth.truth.pop_back(); });
  refused([](JudgedSequences& j) { j.truth.truth[1] = unknown_label; });
  refused([](JudgedSequences& j) { j.truth.truth[1] = 3; });
  refused([](JudgedSequences& j) { j.predicted[0] = 2; });
  refused([](JudgedSequences& j) { j.predicted[0] = -1; });
  refused([](JudgedSequences& j) { j.truth.data.labels = Groups(std::size_t{0}); });
}

}  // namespace
}  // namespace m4n::detail

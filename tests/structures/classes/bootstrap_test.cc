// Bootstrap intervals against the exact distribution over all n^n resamples, against the closed formula of a
// proportion, and by what they promise: 95 of 100 intervals cover the truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "support/flat_model.h"
#include "support/judge.h"

namespace m4n::detail {

using test::bootstrap;
using test::evaluate;

using test::FlatModel;
namespace {

using Labels = std::vector<std::int32_t>;
using testing::HasSubstr;
using testing::ThrowsMessage;

FlatModel model_of(const std::string& task, std::size_t k) {
  FlatModel model;
  model.task = task;
  for (std::size_t c = 0; c < k; ++c) model.classes.push_back(std::to_string(c));
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) model.cost.push_back(t == p ? 0 : 1.0 + static_cast<double>(3 * t + p));
  return model;
}

struct Sample {
  Labels truth, predicted;
  std::vector<double> weight;
};

Sample random_sample(std::size_t n, std::uint64_t k, Rng& rng) {
  Sample out;
  for (std::size_t i = 0; i < n; ++i) {
    out.truth.push_back(static_cast<std::int32_t>(rng.below(k + 1)) - 1);  // -1: unseen
    out.predicted.push_back(static_cast<std::int32_t>(rng.below(k)));
    out.weight.push_back(rng.uniform(0.5, 2));
  }
  return out;
}

// Loss and metrics by name, of the whole sample or of some of its rows.
std::map<std::string, double> measured(const FlatModel& model, const Sample& sample,
                                       const std::vector<std::size_t>& rows) {
  Sample drawn;
  for (const std::size_t i : rows) {
    drawn.truth.push_back(sample.truth[i]);
    drawn.predicted.push_back(sample.predicted[i]);
    if (!sample.weight.empty()) drawn.weight.push_back(sample.weight[i]);
  }
  const Evaluation result = evaluate(model, drawn.truth, drawn.predicted, drawn.weight);
  std::map<std::string, double> out(result.metrics.begin(), result.metrics.end());
  out["loss"] = result.loss;
  return out;
}

std::map<std::string, Interval> intervals(const Bootstrap& bootstrap) {
  std::map<std::string, Interval> out(bootstrap.metrics.begin(), bootstrap.metrics.end());
  out["loss"] = bootstrap.loss;
  return out;
}

std::map<std::string, Interval> intervals(const FlatModel& model, const Sample& sample, std::uint64_t replicates,
                                          std::uint64_t seed) {
  return intervals(bootstrap(model, sample.truth, sample.predicted, sample.weight, replicates, seed));
}

bool same(const Interval& a, const Interval& b) { return a.low == b.low && a.high == b.high && a.se == b.se; }

// Every resample of n rows there is, all equally likely.
std::map<std::string, std::vector<double>> all_resamples(const FlatModel& model, const Sample& sample) {
  const std::size_t n = sample.truth.size();
  std::map<std::string, std::vector<double>> out;
  std::vector<std::size_t> rows(n, 0);
  for (;;) {
    for (const auto& [name, value] : measured(model, sample, rows)) out[name].push_back(value);
    std::size_t digit = 0;
    while (digit < n && ++rows[digit] == n) rows[digit++] = 0;
    if (digit == n) return out;
  }
}

double share_up_to(const std::vector<double>& values, double limit) {
  double count = 0;
  for (const double v : values) count += v <= limit;
  return count / static_cast<double>(values.size());
}

TEST(Bootstrap, IsTheDistributionOverAllResamples) {
  Rng rng(1);
  const FlatModel model = model_of("ordinal", 3);
  for (int round = 0; round < 4; ++round) {
    Sample sample = random_sample(4, 3, rng);
    if (round % 2 == 0) sample.weight.clear();
    const auto exact = all_resamples(model, sample);
    const auto found = intervals(model, sample, 100000, 5);
    ASSERT_EQ(found.size(), 9U);
    for (const auto& [name, interval] : found) {
      const std::vector<double>& values = exact.at(name);
      ASSERT_EQ(values.size(), 256U);
      double mean = 0, variance = 0;
      for (const double v : values) mean += v / 256;
      for (const double v : values) variance += (v - mean) * (v - mean) / 256;
      EXPECT_NEAR(interval.se, std::sqrt(variance), 0.02 * std::sqrt(variance) + 1e-12) << name;
      const double rounding = 1e-9 * (1 + std::abs(mean));
      EXPECT_GE(share_up_to(values, interval.low + rounding), 0.02) << name;
      EXPECT_LE(share_up_to(values, interval.low - rounding), 0.03) << name;
      EXPECT_GE(share_up_to(values, interval.high + rounding), 0.97) << name;
      EXPECT_LE(share_up_to(values, interval.high - rounding), 0.98) << name;
    }
  }
}

TEST(Bootstrap, StandardErrorsHaveTheirClosedForms) {
  Rng rng(2);
  const FlatModel model = model_of("multiclass", 2);
  constexpr std::size_t n = 1000;
  Sample sample;
  double total = 0, wrong = 0, squares = 0, weighted = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sample.truth.push_back(0);
    sample.predicted.push_back(rng.uniform() < 0.3 ? 1 : 0);
    sample.weight.push_back(i % 10 == 0 ? 20 : 1);
    wrong += sample.predicted.back();
    total += sample.weight.back();
    weighted += sample.weight.back() * sample.predicted.back();
  }
  // sqrt(sum_i (s_i / W)^2 (e_i - e)^2) to first order; sqrt(p (1 - p) / n) without weights.
  for (std::size_t i = 0; i < n; ++i)
    squares += std::pow(sample.weight[i] / total * (sample.predicted[i] - weighted / total), 2);
  EXPECT_NEAR(intervals(model, sample, 20000, 3).at("error").se, std::sqrt(squares), 0.03 * std::sqrt(squares));
  sample.weight.clear();
  const double p = wrong / n, se = std::sqrt(p * (1 - p) / n);
  const Interval error = intervals(model, sample, 20000, 3).at("error");
  EXPECT_NEAR(error.se, se, 0.02 * se);
  EXPECT_NEAR(error.low, p - 1.96 * se, 0.1 * se);
  EXPECT_NEAR(error.high, p + 1.96 * se, 0.1 * se);
}

TEST(Bootstrap, NineteenOfTwentyIntervalsCoverTheTruth) {
  Rng rng(3);
  const FlatModel model = model_of("multiclass", 2);
  constexpr int sets = 1500;
  constexpr double share = 0.3;  // of wrong predictions, in both classes
  std::map<std::string, int> covered;
  for (int set = 0; set < sets; ++set) {
    Sample sample;
    for (int i = 0; i < 200; ++i) {
      sample.truth.push_back(static_cast<std::int32_t>(rng.below(2)));
      sample.predicted.push_back(rng.uniform() < share ? 1 - sample.truth.back() : sample.truth.back());
    }
    const auto found = intervals(model, sample, 400, static_cast<std::uint64_t>(set));
    const std::map<std::string, double> truth = {
        {"error", share}, {"balanced_accuracy", 1 - share}, {"macro_f1", 1 - share}};
    for (const auto& [name, value] : truth)
      covered[name] += found.at(name).low <= value && value <= found.at(name).high;
  }
  // 0.95 less what percentiles of 200 examples lack, give or take three standard deviations of 1500 coins.
  for (const auto& [name, count] : covered) {
    EXPECT_GT(count, 0.92 * sets) << name;
    EXPECT_LT(count, 0.97 * sets) << name;
  }
}

TEST(Bootstrap, TwoReplicatesAreInterpolated) {
  // v_0 < v_1 of a sample in which they differ: low = v_0 + 0.025 (v_1 - v_0), se = (v_1 - v_0) / sqrt(2).
  Rng rng(4);
  const Sample sample = random_sample(50, 3, rng);
  const auto found = intervals(model_of("ordinal", 3), sample, 2, 0);
  for (const auto& [name, interval] : found) {
    const double apart = (interval.high - interval.low) / 0.95;
    EXPECT_GT(apart, 0) << name;
    EXPECT_NEAR(interval.se, apart / std::sqrt(2), 1e-12 * (1 + apart)) << name;
  }
}

TEST(Bootstrap, DoesNotDependOnThreads) {
  Rng rng(5);
  const FlatModel model = model_of("ordinal", 4);
  const Sample sample = random_sample(300, 4, rng);
  Context context;
  context.threads = 1;
  const auto run = [&](std::uint64_t seed) {
    return intervals(bootstrap(model, sample.truth, sample.predicted, sample.weight, 333, seed, context));
  };
  const auto one = run(9), other_seed = run(10);
  EXPECT_FALSE(same(one.at("loss"), other_seed.at("loss")));
  for (const unsigned threads : {2U, 3U, 8U}) {
    context.threads = threads;
    for (const auto& [name, interval] : run(9)) EXPECT_TRUE(same(interval, one.at(name))) << name << threads;
  }
}

TEST(Bootstrap, IsAPointWhereResamplesCannotDiffer) {
  const FlatModel model = model_of("ordinal", 3);
  const std::vector<Sample> samples = {{{2, 2, 2}, {0, 0, 0}, {0.1, 0.7, 0.2}}, {{1, 1}, {2, 2}, {}}};
  for (const Sample& sample : samples) {
    std::vector<std::size_t> rows(sample.truth.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto whole = measured(model, sample, rows);
    for (const auto& [name, interval] : intervals(model, sample, 100, 1)) {
      EXPECT_NEAR(interval.low, whole.at(name), 1e-14 * std::abs(whole.at(name))) << name;
      EXPECT_NEAR(interval.high, whole.at(name), 1e-14 * std::abs(whole.at(name))) << name;
      EXPECT_LT(interval.se, 1e-14) << name;
    }
  }
}

// All resamples of one example are that example, which says nothing about others.
TEST(Bootstrap, OneExampleHasNoInterval) {
  const FlatModel model = model_of("ordinal", 3);
  const std::vector<Sample> samples = {
      {{1}, {2}, {}}, {{unknown_label}, {0}, {0.1}}, {{0, 1}, {1, 1}, {0, 3}}};  // a row of weight zero is not there
  for (const Sample& sample : samples)
    for (const auto& [name, interval] : intervals(model, sample, 100, 1)) {
      EXPECT_FALSE(interval.known()) << name;
      EXPECT_TRUE(std::isnan(interval.low) && std::isnan(interval.high) && std::isnan(interval.se)) << name;
    }
}

TEST(Bootstrap, TheScaleOfTheWeightsDoesNotMatter) {
  Rng rng(6);
  const FlatModel model = model_of("ordinal", 3);
  const Sample sample = random_sample(20, 3, rng);
  const auto expected = intervals(model, sample, 50, 2);
  for (const double scale : {0x1.0p-400, 0x1.0p+400}) {
    Sample scaled = sample;
    for (double& w : scaled.weight) w *= scale;
    for (const auto& [name, interval] : intervals(model, scaled, 50, 2))
      EXPECT_TRUE(same(interval, expected.at(name))) << name;
  }
}

TEST(Bootstrap, RefusesWhatHasNoSpreadAndWhatDoesNotFit) {
  const FlatModel model = model_of("multiclass", 2);
  const auto run = [&](const Labels& truth, std::uint64_t replicates) {
    return bootstrap(model, truth, Labels{0, 1}, {}, replicates, 0);
  };
  for (const std::uint64_t few : {0, 1})
    EXPECT_THAT([&] { run({0, 1}, few); }, ThrowsMessage<Error>(HasSubstr("expected at least 2")));
  EXPECT_THAT([&] { run({0, 2}, 10); }, ThrowsMessage<Error>(HasSubstr("true label 2 of example 2")));
  EXPECT_THAT([&] { run({0}, 10); }, ThrowsMessage<Error>(HasSubstr("1 true labels but 2 predictions")));
}

}  // namespace
}  // namespace m4n::detail

// Metrics against values worked out by hand and against textbook formulas written down a second time, example by
// example, without sums shared between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "support/flat_model.h"
#include "support/judge.h"

namespace m4n::detail {

using test::evaluate;

using test::FlatModel;
namespace {

using Labels = std::vector<std::int32_t>;
using testing::HasSubstr;
using testing::ThrowsMessage;

FlatModel model_of(const std::string& task, std::size_t k, std::vector<double> cost = {}) {
  FlatModel model;
  model.task = task;
  for (std::size_t c = 0; c < k; ++c) model.classes.push_back(std::to_string(c));
  model.cost = std::move(cost);
  if (model.cost.empty())
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p)
        model.cost.push_back(task == "ordinal" ? std::abs(static_cast<double>(t) - static_cast<double>(p))
                                               : static_cast<double>(t != p));
  return model;
}

std::map<std::string, double> named(const Evaluation& evaluation) {
  return {evaluation.metrics.begin(), evaluation.metrics.end()};
}

// ---- by hand ---------------------------------------------------------------------------------------------------

TEST(Metrics, MulticlassByHand) {
  //            truth 0: 0 0 1; truth 1: 1; truth 2: 0 2
  const Labels truth = {0, 0, 0, 1, 2, 2}, predicted = {0, 0, 1, 1, 0, 2};
  const Evaluation result = evaluate(model_of("multiclass", 3), truth, predicted);
  auto metrics = named(result);
  EXPECT_EQ(result.n, 6U);
  EXPECT_DOUBLE_EQ(result.loss, 2.0 / 6);
  EXPECT_EQ(metrics.size(), 4U);
  EXPECT_DOUBLE_EQ(metrics.at("error"), 2.0 / 6);
  EXPECT_DOUBLE_EQ(metrics.at("expected_cost"), 2.0 / 6);
  EXPECT_DOUBLE_EQ(metrics.at("balanced_accuracy"), (2.0 / 3 + 1.0 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("macro_f1"), (4.0 / 6 + 2.0 / 3 + 2.0 / 3) / 3);
  EXPECT_EQ(result.confusion, (std::vector<std::uint64_t>{2, 1, 0, 0, 1, 0, 1, 0, 1}));
}

TEST(Metrics, CostsAreByTruthThenPrediction) {
  const FlatModel model = model_of("multiclass", 2, {0, 7, 1, -2});
  EXPECT_DOUBLE_EQ(evaluate(model, Labels{0}, Labels{1}).loss, 7);
  EXPECT_DOUBLE_EQ(evaluate(model, Labels{1}, Labels{0}).loss, 1);
  EXPECT_DOUBLE_EQ(evaluate(model, Labels{1, 0}, Labels{1, 0}).loss, -1);
  EXPECT_DOUBLE_EQ(named(evaluate(model, Labels{0}, Labels{1})).at("expected_cost"), 7);
}

TEST(Metrics, OrdinalByHand) {
  const Labels truth = {0, 0, 1, 2}, predicted = {0, 2, 2, 2};
  const Evaluation result = evaluate(model_of("ordinal", 3), truth, predicted);
  auto metrics = named(result);
  EXPECT_EQ(metrics.size(), 8U);
  EXPECT_DOUBLE_EQ(result.loss, 3.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(metrics.at("mae"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("macro_mae"), (1.0 + 1.0 + 0.0) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("within_one"), 3.0 / 4);
  // observed 4 + 1 = 5; expected: truths 2,1,1 and predictions 1,0,3: (2*3*4 + 1*1*1 + 1*3*1 + 1*1*4) / 4 = 8
  EXPECT_DOUBLE_EQ(metrics.at("qwk"), 1 - 5.0 / 8);
}

TEST(Metrics, PerfectAndReversed) {
  const FlatModel model = model_of("ordinal", 4);
  const Labels grades = {0, 1, 2, 3}, reversed = {3, 2, 1, 0};
  auto perfect = named(evaluate(model, grades, grades));
  for (const char* one : {"balanced_accuracy", "macro_f1", "qwk", "within_one"}) EXPECT_EQ(perfect.at(one), 1) << one;
  for (const char* zero : {"error", "expected_cost", "mae", "macro_mae"}) EXPECT_EQ(perfect.at(zero), 0) << zero;
  EXPECT_DOUBLE_EQ(named(evaluate(model, grades, reversed)).at("qwk"), -1);
}

TEST(Metrics, OneExample) {
  const FlatModel model = model_of("ordinal", 3);
  auto right = named(evaluate(model, Labels{1}, Labels{1}));
  EXPECT_EQ(right.at("qwk"), 1);  // no disagreement observed, none expected
  EXPECT_EQ(right.at("balanced_accuracy"), 1);
  EXPECT_EQ(right.at("macro_f1"), 1);
  auto wrong = named(evaluate(model, Labels{0}, Labels{2}));
  EXPECT_EQ(wrong.at("qwk"), 0);  // as much disagreement as expected
  EXPECT_EQ(wrong.at("balanced_accuracy"), 0);
  EXPECT_EQ(wrong.at("macro_f1"), 0);
  EXPECT_EQ(wrong.at("mae"), 2);
  EXPECT_EQ(wrong.at("within_one"), 0);
}

TEST(Metrics, AbsentClassesDoNotCount) {
  // Class 2 of 4 occurs nowhere, class 3 only as a prediction.
  auto metrics = named(evaluate(model_of("multiclass", 4), Labels{0, 0, 1, 1}, Labels{0, 0, 1, 3}));
  EXPECT_DOUBLE_EQ(metrics.at("balanced_accuracy"), (1 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(metrics.at("macro_f1"), (1 + 2.0 / 3 + 0) / 3);
}

TEST(Metrics, UnseenLabelsAreAlwaysErrors) {
  const Labels truth = {0, 1, 2, unknown_label}, predicted = {0, 1, 2, 1};
  const Evaluation result = evaluate(model_of("ordinal", 3, {0, 1, 2, 1, 0, 5, 2, 1, 0}), truth, predicted);
  auto metrics = named(result);
  EXPECT_DOUBLE_EQ(result.loss, 5.0 / 4);  // the largest cost of the matrix
  EXPECT_DOUBLE_EQ(metrics.at("error"), 1.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("balanced_accuracy"), 3.0 / 4);           // one more class, recall 0
  EXPECT_DOUBLE_EQ(metrics.at("macro_f1"), (1 + 2.0 / 3 + 1 + 0) / 4);  // and its prediction is a false one
  EXPECT_DOUBLE_EQ(metrics.at("mae"), 2.0 / 4);                         // the largest distance
  EXPECT_DOUBLE_EQ(metrics.at("macro_mae"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.at("within_one"), 3.0 / 4);
  EXPECT_LT(metrics.at("qwk"), 1);
  EXPECT_EQ(result.n, 4U);
  EXPECT_EQ(result.unseen, 1U);
  EXPECT_EQ(result.confusion, (std::vector<std::uint64_t>{1, 0, 0, 0, 1, 0, 0, 0, 1}));

  const Labels none(3, unknown_label);
  auto nothing = named(evaluate(model_of("ordinal", 3), none, Labels{0, 1, 2}));
  EXPECT_EQ(nothing.at("error"), 1);
  EXPECT_EQ(nothing.at("balanced_accuracy"), 0);
  EXPECT_EQ(nothing.at("macro_f1"), 0);
  EXPECT_EQ(nothing.at("qwk"), 0);
}

// ---- against formulas written another way ----------------------------------------------------------------------

double f1_of(std::int32_t c, const Labels& truth, const Labels& predicted) {
  double true_positive = 0, false_positive = 0, false_negative = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    true_positive += truth[i] == c && predicted[i] == c;
    false_positive += truth[i] != c && predicted[i] == c;
    false_negative += truth[i] == c && predicted[i] != c;
  }
  if (true_positive == 0) return 0;
  const double precision = true_positive / (true_positive + false_positive);
  const double recall = true_positive / (true_positive + false_negative);
  return 2 / (1 / precision + 1 / recall);
}

double mean_where_truth_is(std::int32_t c, const Labels& truth, const Labels& predicted, double (*value)(int, int)) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] == c) sum += value(truth[i], predicted[i]), ++count;
  return sum / count;
}

// Kappa with quadratic weights: every truth paired with every prediction is what chance would give.
double kappa(const Labels& truth, const Labels& predicted) {
  double observed = 0, by_chance = 0;
  const auto n = static_cast<double>(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    observed += std::pow(truth[i] - predicted[i], 2) / n;
    for (const std::int32_t other : predicted) by_chance += std::pow(truth[i] - other, 2) / (n * n);
  }
  return 1 - observed / by_chance;
}

TEST(Metrics, AgreeWithTheTextbookOnRandomLabels) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const std::int32_t k = 2 + static_cast<std::int32_t>(random() % 6);
    const std::size_t n = 5 + random() % 60;
    Labels truth, predicted;
    for (std::size_t i = 0; i < n; ++i) {
      truth.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(k)));
      predicted.push_back(random() % 2 == 0 ? truth.back()
                                            : static_cast<std::int32_t>(random() % static_cast<unsigned>(k)));
    }
    truth[0] = 0, predicted[0] = 1;  // two grades at least, so that kappa is defined
    auto metrics = named(evaluate(model_of("ordinal", static_cast<std::size_t>(k)), truth, predicted));
    const std::set<std::int32_t> present(truth.begin(), truth.end());
    std::set<std::int32_t> either = present;
    either.insert(predicted.begin(), predicted.end());
    double recall = 0, f1 = 0, macro_mae = 0, wrong = 0, distance = 0, near = 0;
    for (const std::int32_t c : present) {
      recall += mean_where_truth_is(c, truth, predicted, [](int t, int p) { return t == p ? 1.0 : 0.0; });
      macro_mae += mean_where_truth_is(c, truth, predicted, [](int t, int p) { return 1.0 * std::abs(t - p); });
    }
    for (const std::int32_t c : either) f1 += f1_of(c, truth, predicted);
    for (std::size_t i = 0; i < n; ++i) {
      wrong += truth[i] != predicted[i];
      distance += std::abs(truth[i] - predicted[i]);
      near += std::abs(truth[i] - predicted[i]) <= 1;
    }
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(metrics.at("error"), wrong / count, 1e-12);
    EXPECT_NEAR(metrics.at("balanced_accuracy"), recall / static_cast<double>(present.size()), 1e-12);
    EXPECT_NEAR(metrics.at("macro_f1"), f1 / static_cast<double>(either.size()), 1e-12);
    EXPECT_NEAR(metrics.at("mae"), distance / count, 1e-12);
    EXPECT_NEAR(metrics.at("macro_mae"), macro_mae / static_cast<double>(present.size()), 1e-12);
    EXPECT_NEAR(metrics.at("within_one"), near / count, 1e-12);
    EXPECT_NEAR(metrics.at("qwk"), kappa(truth, predicted), 1e-12);
  }
}

TEST(Metrics, AWholeWeightIsARepeatedRow) {
  std::mt19937 random(6);
  const FlatModel model = model_of("ordinal", 4, {0, 1, 2, 3, 5, 0, 1, 2, 7, 2, 0, 1, 9, 8, 4, 0});
  for (int round = 0; round < 20; ++round) {
    Labels truth, predicted, many_truth, many_predicted;
    std::vector<double> weight;
    for (int i = 0; i < 15; ++i) {
      truth.push_back(static_cast<std::int32_t>(random() % 5) - 1);
      predicted.push_back(static_cast<std::int32_t>(random() % 4));
      weight.push_back(static_cast<double>(i == 0 ? 1 : random() % 4));  // a weight of zero: the row is not there
      many_truth.insert(many_truth.end(), static_cast<std::size_t>(weight.back()), truth.back());
      many_predicted.insert(many_predicted.end(), static_cast<std::size_t>(weight.back()), predicted.back());
    }
    const Evaluation weighted = evaluate(model, truth, predicted, weight);
    const Evaluation repeated = evaluate(model, many_truth, many_predicted);
    EXPECT_NEAR(weighted.loss, repeated.loss, 1e-12);
    ASSERT_EQ(weighted.metrics.size(), repeated.metrics.size());
    for (std::size_t m = 0; m < weighted.metrics.size(); ++m)
      EXPECT_NEAR(weighted.metrics[m].second, repeated.metrics[m].second, 1e-12) << weighted.metrics[m].first;
    EXPECT_EQ(weighted.n, 15U);
  }
}

TEST(Metrics, RefusesWhatDoesNotFit) {
  const FlatModel model = model_of("multiclass", 2);
  const auto refused = [&](const Labels& truth, const Labels& predicted, const std::vector<double>& weight,
                           const char* message) {
    EXPECT_THAT([&] { evaluate(model, truth, predicted, weight); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({}, {}, {}, "no examples");
  refused({0, 1}, {0}, {}, "2 true labels but 1 predictions");
  refused({0, 1}, {0, 1}, {1}, "2 examples but 1 weights");
  refused({0, 2}, {0, 1}, {}, "true label 2 of example 2");
  refused({-2, 0}, {0, 1}, {}, "true label -2 of example 1");
  refused({0, 1}, {0, 2}, {}, "prediction 2 of example 2");
  refused({0, 1}, {unknown_label, 1}, {}, "prediction -1 of example 1");
  refused({0, 1}, {0, 1}, {1, -1}, "weight -1 of example 2");
  refused({0, 1}, {0, 1}, {std::nan(""), 1}, "weight nan of example 1");
  refused({0, 1}, {0, 1}, {0, 0}, "weights sum to 0");
}

// ---- predictions that are no class -------------------------------------------------------------------------------

TEST(Metrics, RejectedByHand) {
  FlatModel model = model_of("multiclass", 2, {0, 1, 0.25, 4, 3, 0, 0.25, 5});
  model.predictions = {"0", "1", "reject", "call"};
  //            truth 0: 0 1 reject; truth 1: 1 call
  const Evaluation result = evaluate(model, Labels{0, 0, 0, 1, 1}, Labels{0, 1, 2, 1, 3});
  auto metrics = named(result);
  EXPECT_EQ(metrics.size(), 6U);
  EXPECT_DOUBLE_EQ(result.loss, (0 + 1 + 0.25 + 0 + 5) / 5);
  EXPECT_DOUBLE_EQ(metrics.at("error"), 3.0 / 5);
  EXPECT_DOUBLE_EQ(metrics.at("rejected"), 2.0 / 5);
  EXPECT_DOUBLE_EQ(metrics.at("error_of_rest"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.at("balanced_accuracy"), (1.0 / 3 + 1.0 / 2) / 2);
  EXPECT_DOUBLE_EQ(metrics.at("macro_f1"), (2.0 / (3 + 1) + 2.0 / (2 + 2)) / 2);
  EXPECT_EQ(result.confusion, (std::vector<std::uint64_t>{1, 1, 1, 0, 0, 1, 0, 1}));
  // Weights; all rejected; a label that was never seen costs the most there is.
  const std::vector<double> weight = {1, 2, 3, 4, 0};
  metrics = named(evaluate(model, Labels{0, 0, 0, 1, 1}, Labels{0, 1, 2, 1, 3}, weight));
  EXPECT_DOUBLE_EQ(metrics.at("rejected"), 3.0 / 10);
  EXPECT_DOUBLE_EQ(metrics.at("error_of_rest"), 2.0 / 7);
  metrics = named(evaluate(model, Labels{0, 1}, Labels{2, 3}));
  EXPECT_EQ(metrics.at("rejected"), 1);
  EXPECT_EQ(metrics.at("error_of_rest"), 0);
  EXPECT_EQ(metrics.at("error"), 1);
  EXPECT_DOUBLE_EQ(evaluate(model, Labels{unknown_label}, Labels{2}).loss, 5);
  EXPECT_THAT([&] { evaluate(model, Labels{0}, Labels{4}); }, ThrowsMessage<Error>(HasSubstr("0..3")));
}

TEST(Metrics, RejectedGradesLeaveTheOthersAsTheyAre) {
  FlatModel model = model_of("ordinal", 3, {0, 1, 2, 0.5, 1, 0, 1, 0.5, 2, 1, 0, 0.5});
  model.predictions = {"0", "1", "2", "reject"};
  const FlatModel plain = model_of("ordinal", 3);
  const Labels truth = {0, 0, 1, 2, 1, 0}, predicted = {0, 2, 2, 2, 3, 3};
  auto found = named(evaluate(model, truth, predicted));
  auto rest = named(evaluate(plain, Labels{0, 0, 1, 2}, Labels{0, 2, 2, 2}));
  for (const char* name : {"mae", "macro_mae", "qwk", "within_one"})
    EXPECT_DOUBLE_EQ(found.at(name), rest.at(name)) << name;
  EXPECT_DOUBLE_EQ(found.at("error_of_rest"), rest.at("error"));
  // A grade of which all are rejected is not there; nor are all.
  found = named(evaluate(model, Labels{0, 1, 2}, Labels{0, 3, 1}));
  EXPECT_DOUBLE_EQ(found.at("macro_mae"), 0.5);
  found = named(evaluate(model, Labels{0, 1}, Labels{3, 3}));
  for (const char* name : {"mae", "macro_mae", "within_one"}) EXPECT_EQ(found.at(name), 0) << name;
  EXPECT_EQ(found.at("qwk"), 1);
}

// Actions alone, none of which is a class: nothing is found.
TEST(Metrics, ActionsAlone) {
  FlatModel model = model_of("multiclass", 3, {0, 5, 1, 0, 2, 3});
  model.predictions = {"treat", "wait"};
  const Evaluation result = evaluate(model, Labels{0, 1, 2}, Labels{1, 1, 0});
  auto metrics = named(result);
  EXPECT_DOUBLE_EQ(result.loss, (5 + 0 + 2) / 3.0);
  EXPECT_EQ(metrics.at("rejected"), 1);
  EXPECT_EQ(metrics.at("error_of_rest"), 0);
  EXPECT_EQ(metrics.at("macro_f1"), 0);
  EXPECT_EQ(result.confusion, (std::vector<std::uint64_t>{0, 1, 0, 1, 1, 0}));
}

}  // namespace
}  // namespace m4n::detail

// Reports: the keys other tools rely on, numbers that read back as they were, valid JSON whatever the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports/report.h"
#include "support/flat_model.h"
#include "support/sample_models.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr double inf = std::numeric_limits<double>::infinity();

json parsed(const std::string& line) {
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  json object = json::parse(line);
  EXPECT_TRUE(object.is_object());
  return object;
}

TrainReport sample_report() {
  TrainReport report;
  report.task = "ordinal";
  report.surrogate = "m4n";
  report.loss = "absolute";
  report.features = "linear";
  report.solver = "prox";
  report.decode = "expected";
  report.n = 100;
  report.d = 7;
  report.k = 3;
  report.lambda = 0.01;
  report.smoothing = 0.25;
  report.epochs = 12;
  report.oracle_calls = 1200;
  report.seed = 18446744073709551615ULL;
  report.seconds = 0.1;
  report.seconds_total = 0.30000000000000004;
  report.certificate = {0.5, 0.375, true};
  report.train_loss = 1.0 / 3;
  report.norm_squared = 2.5;
  return report;
}

TEST(Certificate, RelativeGap) {
  EXPECT_DOUBLE_EQ((Certificate{0.5, 0.375, false}.relative_gap()), 0.25);
  EXPECT_DOUBLE_EQ((Certificate{-2, -3, false}.relative_gap()), 0.5);
  EXPECT_EQ((Certificate{0, 0, false}.relative_gap()), 0);
  EXPECT_DOUBLE_EQ((Certificate{0, -1e-12, false}.relative_gap()), 1);
}

TEST(JsonReport, TrainHasTheAgreedKeysAndExactValues) {
  const json object = parsed(train_json(sample_report(), "out/a \"b\".m4n"));
  const json expected = {{"task", "ordinal"},
                         {"surrogate", "m4n"},
                         {"loss", "absolute"},
                         {"features", "linear"},
                         {"n", 100},
                         {"d", 7},
                         {"k", 3},
                         {"lambda", 0.01},
                         {"epochs", 12},
                         {"seconds", 0.1},
                         {"seconds_total", 0.30000000000000004},
                         {"primal", 0.5},
                         {"dual", 0.375},
                         {"gap", 0.125},
                         {"relative_gap", 0.25},
                         {"converged", true},
                         {"train_loss", 1.0 / 3},
                         {"norm_squared", 2.5},
                         {"oracle_calls", 1200},
                         {"model", "out/a \"b\".m4n"},
                         {"solver", "prox"},
                         {"decode", "expected"},
                         {"smoothing", 0.25},
                         {"seed", 18446744073709551615ULL},
                         {"interrupted", false}};
  EXPECT_EQ(object, expected);
}

TEST(JsonReport, WhatIsNotFiniteOrNotUtf8IsStillValidJson) {
  TrainReport report = sample_report();
  report.certificate = {inf, -inf, false};
  report.train_loss = std::numeric_limits<double>::quiet_NaN();
  const json object = parsed(train_json(report, "caf\xe9.m4n"));
  for (const char* key : {"primal", "dual", "gap", "relative_gap", "train_loss"}) EXPECT_TRUE(object[key].is_null());
  EXPECT_EQ(object["model"], "caf\xef\xbf\xbd.m4n");
  EXPECT_TRUE(parsed(info_json(test::sample_sparse()))["primal"].is_null());
}

TEST(JsonReport, InfoHasWhatTrainPrintedButTimesAndPaths) {
  const FlatModel model = test::sample_linear();
  const json object = parsed(info_json(model));
  const json train = parsed(train_json(sample_report(), "x"));
  for (const auto& [key, value] : train.items()) {
    const bool left_out = key == "seconds" || key == "seconds_total" || key == "model";
    EXPECT_NE(object.contains(key), left_out) << key;
  }
  EXPECT_EQ(object["task"], "ordinal");
  EXPECT_EQ(object["loss"], "absolute");
  EXPECT_EQ(object["n"], 1000);
  EXPECT_EQ(object["d"], 2);
  EXPECT_EQ(object["k"], 3);
  EXPECT_EQ(object["seed"], 9007199254740993ULL);
  EXPECT_EQ(object["relative_gap"], model.certificate.relative_gap());
  EXPECT_EQ(object["classes"], json(model.classes));
  EXPECT_EQ(object["cuts"], json({-1.5, 2.1}));
  EXPECT_EQ(object["binning"], "width");
  EXPECT_EQ(object["decode"], "expected");
  EXPECT_EQ(object["bias"], true);
  EXPECT_EQ(object["standardize"], true);
  EXPECT_EQ(object["format_version"], 1);
  EXPECT_FALSE(object.contains("cost"));
  EXPECT_EQ(parsed(info_json(test::sample_sparse()))["cost"], json({{0.0, 1.0}, {10.0, -0.5}}));
  EXPECT_EQ(parsed(info_json(test::sample_smallest()))["standardize"], false);
}

FlatModel no_or_yes() {
  FlatModel model = test::sample_smallest();
  model.classes = {"no", "yes"};
  return model;
}

TEST(JsonReport, EvalHasMetricsAndConfusion) {
  const Evaluation evaluation{5, 0.1, {{"error", 0.2}, {"qwk", -inf}}, {3, 0, 1, 0}, 1};
  const json expected = {{"n", 5},
                         {"unseen", 1},
                         {"loss", 0.1},
                         {"metrics", {{"error", 0.2}, {"qwk", nullptr}, {"confusion", {{3, 0}, {1, 0}}}}},
                         {"classes", {"no", "yes"}}};
  EXPECT_EQ(parsed(eval_json(evaluation, no_or_yes())), expected);
}

TEST(JsonReport, EvalHasTheIntervalsOfABootstrap) {
  const Evaluation evaluation{5, 0.1, {{"error", 0.2}}, {3, 0, 1, 1}, 0};
  const Bootstrap bootstrap{1000, 18446744073709551615ULL, {0, 0.3, 0.01}, {{"error", {0.1, 1.0 / 3, 0.02}}}};
  const json object = parsed(eval_json(evaluation, no_or_yes(), &bootstrap));
  const json expected = {{"replicates", 1000},
                         {"seed", 18446744073709551615ULL},
                         {"confidence", 0.95},
                         {"loss", {{"low", 0.0}, {"high", 0.3}, {"se", 0.01}}},
                         {"metrics", {{"error", {{"low", 0.1}, {"high", 1.0 / 3}, {"se", 0.02}}}}}};
  EXPECT_EQ(object["bootstrap"], expected);
  EXPECT_FALSE(parsed(eval_json(evaluation, no_or_yes())).contains("bootstrap"));
}

TEST(TextReport, IntervalsStandBesideTheValues) {
  FlatModel model = test::sample_smallest();
  model.classes = {"no", "yes"};
  const Evaluation evaluation{50000, 0.25, {{"error", 0.2}, {"macro_f1", 1.0 / 3}}, {3, 0, 1, 1}, 0};
  const Bootstrap bootstrap{1000, 7, {0, 0.5, 1}, {{"error", {0.1, 0.3, 1}}, {"macro_f1", {0.25, 2.0 / 3, 1}}}};
  EXPECT_THAT(eval_text(evaluation, model, &bootstrap),
              HasSubstr("examples         50000\n"
                        "loss (zero-one)  0.25      [0, 0.5]\n"
                        "error            0.2       [0.1, 0.3]\n"
                        "macro_f1         0.333333  [0.25, 0.666667]\n"
                        "[low, high]: the middle 95% of the values on 1000 resamples of the examples (seed 7)\n"
                        "\n"));
}

TEST(TextReport, EvalIsAnAlignedTable) {
  FlatModel model = test::sample_smallest();
  model.classes = {"no", "certainly"};
  const Evaluation evaluation{5, 0.125, {{"error", 0.2}, {"macro_f1", 1.0 / 3}}, {3000, 0, 1, 1}, 0};
  EXPECT_EQ(eval_text(evaluation, model),
            "examples         5\n"
            "loss (zero-one)  0.125\n"
            "error            0.2\n"
            "macro_f1         0.333333\n"
            "\n"
            "true \\ predicted    no  certainly\n"
            "no                3000          0\n"
            "certainly            1          1\n");
}

TEST(TextReport, EvalSaysHowManyLabelsAreUnseen) {
  const FlatModel model = test::sample_smallest();
  EXPECT_THAT(eval_text({150, 0.5, {}, {20, 10, 10, 10}, 100}, model),
              HasSubstr("100 of the 150 examples with labels unseen in training: they are not in the table\n"));
  EXPECT_THAT(eval_text({50, 0.5, {}, {20, 10, 10, 10}, 0}, model), Not(HasSubstr("unseen")));
}

TEST(TextReport, OneIsSingular) {
  TrainReport report = sample_report();
  report.n = report.d = report.oracle_calls = 1;
  report.epochs = 1;
  EXPECT_THAT(train_text(report), HasSubstr("1 example, 1 feature (linear), 3 classes\n"));
  EXPECT_THAT(train_text(report), HasSubstr("1 epoch, 1 oracle call, "));
}

TEST(Info, MappedFeaturesShowKindGammaAndPoints) {
  const FlatModel model = test::sample_mapped();
  EXPECT_THAT(info_text(model), HasSubstr("features        rbf, gamma 0.25, 2 points, with bias"));
  const json object = parsed(info_json(model));
  EXPECT_EQ(object["features"], "rbf");
  EXPECT_EQ(object["gamma"], 0.25);
  EXPECT_EQ(object["points"], 2);
  EXPECT_FALSE(object.contains("degree"));
  EXPECT_FALSE(parsed(info_json(test::sample_linear())).contains("gamma"));
}

TEST(Info, SaysWhetherTrainingWasInterruptedAndWhatItsColumnsWere) {
  EXPECT_THAT(info_text(test::sample_linear()), HasSubstr("interrupted"));
  EXPECT_THAT(info_text(test::sample_smallest()), Not(HasSubstr("interrupted")));
  const json object = parsed(info_json(test::sample_linear()));
  EXPECT_EQ(object["interrupted"], true);
  EXPECT_EQ(object["target_column"], "grade");
  EXPECT_EQ(object["weights_column"], "w");
  EXPECT_EQ(object["id_column"], "name");
  EXPECT_TRUE(parsed(info_json(test::sample_smallest()))["id_column"].is_null());
}

TEST(TextReport, ManyClassesHaveNoConfusionMatrix) {
  for (const std::size_t k : {30U, 31U}) {
    FlatModel model = test::sample_smallest();
    model.classes.assign(k, "c");
    const Evaluation evaluation{1, 0, {}, std::vector<std::uint64_t>(k * k), 0};
    EXPECT_EQ(eval_text(evaluation, model).find("predicted") != std::string::npos, k == 30);
    EXPECT_EQ(eval_text(evaluation, model).find("--json") != std::string::npos, k == 31);
  }
}

TEST(TextReport, TrainAndInfoSayTheEssentials) {
  TrainReport report = sample_report();
  EXPECT_THAT(train_text(report), HasSubstr("relative gap  0.25 (converged); the optimum lies in [0.375, 0.5]\n"));
  EXPECT_THAT(train_text(report), HasSubstr("surrogate     m4n, smoothing 0.25, decoded by expected\n"));
  EXPECT_THAT(train_text(report), Not(HasSubstr("interrupted")));
  report.interrupted = true;
  report.certificate.converged = false;
  EXPECT_THAT(train_text(report), HasSubstr("interrupted"));
  EXPECT_THAT(train_text(report), HasSubstr("NOT converged"));

  const std::string info = info_text(test::sample_linear());
  EXPECT_THAT(info, HasSubstr("cuts            -1.5, 2.1 (width)\n"));
  EXPECT_THAT(info, HasSubstr("classes         low, middle, \"so so\", h\xc3\xb6her\n"));
  EXPECT_THAT(info, HasSubstr("features        linear, with bias, standardised\n"));
  EXPECT_THAT(info_text(test::sample_sparse()), Not(HasSubstr("cuts")));
  EXPECT_THAT(info_text(test::sample_sparse()), HasSubstr("3 sparse features"));
}

}  // namespace
}  // namespace m4n::detail

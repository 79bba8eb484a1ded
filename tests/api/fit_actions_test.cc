// fit() where predictions are actions: certificates, model files, cross-validation, refusals, and decisions on
// distributions that are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "m4n/cross_validate.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "support/expect_same_model.h"
#include "support/model_attacks.h"
#include "support/random_dataset.h"
#include "support/read_text.h"
#include "support/temp_dir.h"

namespace m4n::detail {
namespace {

using test::FlatModel;
using test::random_dataset;

struct Setting {
  const char* name;
  double smoothing;
  SurrogateKind surrogate;
  FeatureKind features;
};

void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }

const Setting settings[] = {
    {"m4n", 0, SurrogateKind::m4n, FeatureKind::linear},      {"m4n_rbf", 0, SurrogateKind::m4n, FeatureKind::rbf},
    {"smoothed", 1, SurrogateKind::m4n, FeatureKind::linear}, {"smoothed_rbf", 1, SurrogateKind::m4n, FeatureKind::rbf},
    {"crf", 0, SurrogateKind::crf, FeatureKind::linear},      {"crf_rbf", 0, SurrogateKind::crf, FeatureKind::rbf},
    {"qs", 0, SurrogateKind::qs, FeatureKind::linear},        {"qs_rbf", 0, SurrogateKind::qs, FeatureKind::rbf},
};

// Costs of k classes: with one action more, with several, with less actions than classes and no class among them.
struct Costs {
  const char* name;
  std::size_t k;
  std::vector<double> cost;
  std::vector<std::string> predictions;
};

std::vector<Costs> all_costs() {
  std::vector<Costs> out = {
      {"reject", 3, {0, 1, 1, 0.3, 1, 0, 1, 0.3, 1, 1, 0, 0.3}, {}},
      {"one action for two", 3, {0, 1, 5, .5, 2, 1, 0, 4, .5, .7, 9, 2, 0, 3, .4}, {"0", "1", "2", "ask", "call"}},
      {"fewer than classes", 4, {0, 5, 1, 0, 2, 3, -1, 0}, {"treat", "wait"}},
      {"as many as classes", 3, {0, 1, 2, 3, 0, 1, 1, 4, 0}, {"x", "y", "z"}},
      {"one only", 3, {1, 2, 3}, {"only"}},
      {"one only, for nothing", 3, {2, 2, 2}, {"only"}},
      {"all the same", 3, {1, 1, 2, 2, 5, 5}, {"x", "y"}},
  };
  // More classes than one vector of the processor holds, and two actions.
  Costs wide{"many classes", 11, {}, {"in", "out"}};
  for (std::size_t t = 0; t < wide.k; ++t) {
    wide.cost.push_back(t % 3 == 0 ? 0 : 1);
    wide.cost.push_back(t % 3 == 0 ? 2 : 0.25);
  }
  out.push_back(wide);
  return out;
}

TrainOptions options_of(const Setting& s, const Costs& costs, double tol = 1e-5) {
  TrainOptions o;
  o.task = "multiclass";
  o.surrogate = s.surrogate;
  o.smoothing = s.smoothing;
  o.features = s.features;
  o.cost = costs.cost;
  o.predictions = costs.predictions;
  o.lambda = 0.05;
  o.tol = tol;
  o.epochs = 100'000;
  return o;
}

double mean_cost_by_hand(const Model& model, const Dataset& data, std::span<const std::int32_t> predicted) {
  const std::size_t width = model.predictions().size();
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    sum += model.cost()[static_cast<std::size_t>(data.label[i]) * width + static_cast<std::size_t>(predicted[i])];
  return sum / static_cast<double>(predicted.size());
}

class FitActions : public ::testing::TestWithParam<Setting> {
 protected:
  template <class Body>
  void for_all_costs(Body&& body) {
    for (const Costs& costs : all_costs()) {
      SCOPED_TRACE(costs.name);
      Rng rng(7);
      body(random_dataset(rng, 90, 4, costs.k), costs);
    }
  }
};

TEST_P(FitActions, WeakDualityAndConvergence) {
  for_all_costs([](const Dataset& data, const Costs& costs) {
    Context context;
    context.threads = 1;
    context.observe = [](const Progress& progress) {
      EXPECT_GE(progress.primal, progress.dual - 1e-9 * (1 + std::abs(progress.primal)));
    };
    const FitResult found = fit(data, options_of(GetParam(), costs), context);
    EXPECT_TRUE(found.report.certificate.converged);
    EXPECT_GE(found.report.certificate.gap(), -1e-9 * (1 + std::abs(found.report.certificate.primal)));
    EXPECT_TRUE(std::isfinite(found.report.certificate.primal));
  });
}

TEST_P(FitActions, TrainLossIsThatOfThePredictions) {
  for_all_costs([](const Dataset& data, const Costs& costs) {
    const FitResult found = fit(data, options_of(GetParam(), costs, 1e-3));
    const std::vector<std::int32_t> predicted = found.model.predict(view(data.x));
    const std::size_t width = costs.cost.size() / costs.k;
    ASSERT_EQ(found.model.predictions().size(), width);
    for (const std::int32_t p : predicted) ASSERT_LT(static_cast<std::size_t>(p), width);
    EXPECT_NEAR(found.report.train_loss, mean_cost_by_hand(found.model, data, predicted), 1e-12);
    const Evaluation judged = evaluate(found.model, data, predicted);
    EXPECT_NEAR(found.report.train_loss, judged.loss, 1e-12);
    ASSERT_EQ(judged.confusion.size(), costs.k * width);
    EXPECT_EQ(std::accumulate(judged.confusion.begin(), judged.confusion.end(), std::uint64_t{0}), 90U);
    // No single prediction for all examples costs less than what was learnt, but for the penalty.
    double best_constant = 1e300;
    for (std::size_t p = 0; p < width; ++p) {
      const std::vector<std::int32_t> constant(90, static_cast<std::int32_t>(p));
      best_constant = std::min(best_constant, mean_cost_by_hand(found.model, data, constant));
    }
    EXPECT_LE(judged.loss, best_constant + 0.1);
  });
}

TEST_P(FitActions, SavedAndLoadedIsTheSameBitByBit) {
  for_all_costs([](const Dataset& data, const Costs& costs) {
    const Model model = fit(data, options_of(GetParam(), costs, 1e-3)).model;
    const test::TempDir dir;
    model.save(dir / "a.m4n");
    const Model loaded = Model::load(dir / "a.m4n");
    EXPECT_EQ(loaded.to_bytes(), model.to_bytes());
    EXPECT_EQ(loaded.predictions(), model.predictions());
    test::expect_same_model(loaded, model);
    EXPECT_EQ(loaded.scores(view(data.x)), model.scores(view(data.x)));
    EXPECT_EQ(loaded.predict(view(data.x)), model.predict(view(data.x)));
  });
}

TEST_P(FitActions, SameBytesForAnyNumberOfThreads) {
  Rng rng(8);
  const Dataset data = random_dataset(rng, GetParam().features == FeatureKind::rbf ? 200 : 1500, 3, 3);
  const TrainOptions o = options_of(GetParam(), all_costs()[1], 1e-3);
  EXPECT_EQ(fit(data, o, Context{1, {}, {}}).model.to_bytes(), fit(data, o, Context{4, {}, {}}).model.to_bytes());
}

// The objective of another order of the predictions is the same.
TEST_P(FitActions, TheOrderOfPredictionsDoesNotMatter) {
  Rng rng(9);
  const Dataset data = random_dataset(rng, 60, 3, 4);
  Costs costs{"", 4, {0, 5, 1, 1, 0, 1, 2, 3, 0.5, -1, 0, 1}, {"x", "y", "z"}}, turned = costs;
  turned.predictions = {"z", "x", "y"};
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t p = 0; p < 3; ++p) turned.cost[t * 3 + (p + 1) % 3] = costs.cost[t * 3 + p];
  const FitResult a = fit(data, options_of(GetParam(), costs)), b = fit(data, options_of(GetParam(), turned));
  EXPECT_LE(a.report.certificate.dual, b.report.certificate.primal + 1e-9);
  EXPECT_GE(a.report.certificate.primal, b.report.certificate.dual - 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Surrogates, FitActions, ::testing::ValuesIn(settings),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- what is refused --------------------------------------------------------------------------------------------

TEST(FitActionsRefuses, WhatKnowsClassesOnly) {
  Rng rng(1);
  const Dataset data = random_dataset(rng, 30, 2, 3);
  TrainOptions o;
  o.task = "multiclass";
  o.reject = 0.2;
  const auto says = [&](const TrainOptions& options) { return refusal<UsageError>([&] { fit(data, options); }); };
  TrainOptions bad = o;
  bad.surrogate = SurrogateKind::m3n;
  expect_says(says(bad), {"--surrogate m3n", "scores classes against classes", "reject", "m4n, crf or qs"});
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::crf}) {
    bad = o;
    bad.surrogate = surrogate;
    bad.decode = Decoder::argmax;
    expect_says(says(bad), {"--decode argmax", "predicts a class", "reject"});
  }
  bad = o;
  bad.oracle = OracleKind::spmp;
  expect_says(says(bad), {"--oracle spmp", "--oracle exact"});
  bad = o;
  bad.surrogate = SurrogateKind::crf;
  bad.decode = Decoder::adversary;
  expect_says(says(bad), {"--decode adversary"});
  // The same without rejection is fine, and so is qs by its scores.
  bad = o;
  bad.surrogate = SurrogateKind::qs;
  bad.decode = Decoder::argmax;
  EXPECT_EQ(fit(data, bad).model.predictions().size(), 4U);
  bad = o;
  bad.reject.reset();
  bad.surrogate = SurrogateKind::m3n;
  EXPECT_EQ(fit(data, bad).model.predictions().size(), 3U);
}

TEST(FitActionsRefuses, ValuesThatAreNoCosts) {
  Rng rng(2);
  const Dataset data = random_dataset(rng, 30, 2, 3);
  TrainOptions o;
  o.task = "multiclass";
  for (const double reject : {static_cast<double>(NAN), static_cast<double>(INFINITY), 1e31}) {
    o.reject = reject;
    EXPECT_THROW(fit(data, o), Error) << reject;
  }
  o.reject.reset();
  o.inner = true;
  EXPECT_THROW(fit(data, o), UsageError);
}

// ---- cross-validation -------------------------------------------------------------------------------------------

TEST(CrossValidateActions, AutomaticCandidatesKnowTheActions) {
  Rng rng(3);
  const Dataset data = random_dataset(rng, 60, 3, 3);
  TrainOptions o;
  o.task = "multiclass";
  const auto has = [](const std::vector<Candidate>& all, auto what) {
    return std::any_of(all.begin(), all.end(), what);
  };
  const auto m3n = [](const Candidate& c) { return c.surrogate == SurrogateKind::m3n; };
  const auto argmax = [](const Candidate& c) { return c.decode == Decoder::argmax; };
  EXPECT_TRUE(has(automatic_candidates(o, data), m3n));
  EXPECT_TRUE(has(automatic_candidates(o, data), argmax));
  o.reject = 0.3;
  const std::vector<Candidate> found = automatic_candidates(o, data);
  EXPECT_FALSE(has(found, m3n));
  EXPECT_FALSE(has(found, argmax));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].decode, Decoder::adversary);
  EXPECT_EQ(found[1].decode, Decoder::expected);
  EXPECT_GT(found[1].smoothing, 0);
  EXPECT_EQ(found[2].surrogate, SurrogateKind::crf);
}

// Every cell is the loss of the model that is fitted by hand.
TEST(CrossValidateActions, CellsAreLossesOfModels) {
  Rng rng(4);
  for (const FeatureKind features : {FeatureKind::linear, FeatureKind::rbf}) {
    const Dataset data = random_dataset(rng, 75, 3, 3);
    CvOptions o;
    o.train.task = "multiclass";
    o.train.reject = 0.3;
    o.train.features = features;
    o.lambdas = {0.1, 0.01};
    o.extend = o.warm_path = false;
    o.plan.splits = 2;
    o.candidates = listed_candidates({"m4n", "smoothed", "crf", "qs"}, o.train, data);
    const CvResult result = cross_validate(data, {}, o);
    const std::vector<Split> splits = make_splits(75, o.plan, o.train.seed, strata_of("multiclass", data));
    ASSERT_EQ(result.cells.size(), 4U * 2 * 2);
    int rejected = 0;
    for (const CvCell& cell : result.cells) {
      TrainOptions train = o.train;
      train.surrogate = result.candidates[cell.candidate].surrogate;
      train.smoothing = result.candidates[cell.candidate].smoothing;
      train.decode = result.candidates[cell.candidate].decode;
      train.lambda = cell.lambda;
      const Model model = fit(subset(data, splits[cell.split].train), train).model;
      const Dataset test = subset(data, splits[cell.split].test);
      const std::vector<std::int32_t> predicted = model.predict(view(test.x));
      EXPECT_NEAR(cell.test, mean_cost_by_hand(model, test, predicted), 1e-12);
      rejected += static_cast<int>(std::count(predicted.begin(), predicted.end(), 3));
    }
    EXPECT_GT(rejected, 0);
  }
}

TEST(CrossValidateActions, AutoChoosesWhatCanBeFitted) {
  Rng rng(5);
  const Dataset data = random_dataset(rng, 80, 3, 3);
  CvOptions o;
  o.train.task = "multiclass";
  o.train.reject = 0.25;
  o.plan.splits = 2;
  o.lambdas = {0.1, 0.01};
  o.extend = false;
  o.candidates = listed_candidates({"auto"}, o.train, data);
  const TrainOptions chosen = refit_options(cross_validate(data, {}, o), o);
  EXPECT_EQ(chosen.reject, 0.25);
  EXPECT_EQ(fit(data, chosen).model.predictions().back(), "reject");
  o.candidates = listed_candidates({"m3n"}, o.train, data);
  EXPECT_THROW(cross_validate(data, {}, o), UsageError);
}

// ---- consistency ------------------------------------------------------------------------------------------------

// A few inputs, one feature each, and the probabilities of the classes given the input. Every pair of an input and a
// class is an example whose weight is its probability: the population itself, without a sample's noise.
struct Population {
  std::vector<std::vector<double>> p;  // by input
  Dataset data;

  explicit Population(std::vector<std::vector<double>> probabilities) : p(std::move(probabilities)) {
    const std::size_t inputs = p.size(), k = p[0].size();
    DenseMatrix x{inputs * k, inputs, std::vector<double>(inputs * k * inputs)};
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t t = 0; t < k; ++t) {
        x.values[(i * k + t) * inputs + i] = 1;
        data.label.push_back(static_cast<std::int32_t>(t));
        data.weight.push_back(p[i][t]);
      }
    for (std::size_t c = 0; c < k; ++c) data.class_names.push_back(std::to_string(c));
    data.x = std::move(x);
    data.feature_rows = data.labels = Groups(inputs * k);
  }
  // The expected cost of what a model decides, less that of the best action, at its worst input.
  double worst_excess(const Model& model, const std::vector<double>& cost) const {
    const std::size_t k = p[0].size(), width = cost.size() / k;
    const std::vector<std::int32_t> predicted = model.predict(view(data.x));
    double worst = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      std::vector<double> expected(width);
      for (std::size_t a = 0; a < width; ++a)
        for (std::size_t t = 0; t < k; ++t) expected[a] += p[i][t] * cost[t * width + a];
      worst = std::max(worst, expected[static_cast<std::size_t>(predicted[i * k])] -
                                  *std::min_element(expected.begin(), expected.end()));
    }
    return worst;
  }
};

const std::vector<std::vector<double>> beliefs = {
    {0.90, 0.05, 0.05}, {0.10, 0.80, 0.10}, {0.02, 0.03, 0.95}, {0.40, 0.35, 0.25},
    {0.55, 0.44, 0.01}, {0.34, 0.33, 0.33}, {0.05, 0.60, 0.35}, {0.68, 0.02, 0.30},
};

std::vector<double> with_reject(double r) { return {0, 1, 1, r, 1, 0, 1, r, 1, 1, 0, r}; }

TrainOptions population_options(SurrogateKind surrogate, double smoothing, const std::vector<double>& cost) {
  TrainOptions o;
  o.task = "multiclass";
  o.surrogate = surrogate;
  o.smoothing = smoothing;
  o.cost = cost;
  o.lambda = 1e-6;
  o.tol = 1e-7;
  o.epochs = 200'000;
  o.standardize = false;
  return o;
}

class Consistency : public ::testing::TestWithParam<Setting> {};

TEST_P(Consistency, DecisionsHaveTheLeastExpectedCost) {
  const Population population(beliefs);
  for (const double r : {0.1, 0.25, 0.42, 0.5}) {
    const std::vector<double> cost = with_reject(r);
    const FitResult found = fit(population.data, population_options(GetParam().surrogate, GetParam().smoothing, cost));
    EXPECT_LE(population.worst_excess(found.model, cost), 1e-3) << "reject at " << r;
  }
  // Costs that differ by class, and an action that is good for two of them.
  const std::vector<double> uneven = {0, 2, 9, 0.4, 3, 1, 0, 4, 0.5, 2, 5, 3, 0, 6, 0.6};
  const FitResult found = fit(population.data, population_options(GetParam().surrogate, GetParam().smoothing, uneven));
  EXPECT_LE(population.worst_excess(found.model, uneven), 1e-3) << "uneven";
}

INSTANTIATE_TEST_SUITE_P(Surrogates, Consistency,
                         ::testing::Values(settings[0], Setting{"smoothed", 0.1, SurrogateKind::m4n, {}}, settings[4],
                                           settings[6]),
                         [](const auto& p) { return std::string(p.param.name); });

// The same costs among classes only, where the largest score decides, have nothing for doubt.
TEST(ConsistencyOfClasses, TheLargestScoreCannotReject) {
  const Population population(beliefs);
  TrainOptions o = population_options(SurrogateKind::m4n, 0, {0, 1, 1, 1, 0, 1, 1, 1, 0});
  o.decode = Decoder::argmax;
  const Model model = fit(population.data, o).model;
  const std::vector<double> cost = with_reject(0.25);
  std::vector<std::int32_t> predicted = model.predict(view(population.data.x));
  EXPECT_LT(*std::max_element(predicted.begin(), predicted.end()), 3);
  EXPECT_GT(population.worst_excess(model, cost), 0.3);
}

// ---- model files ------------------------------------------------------------------------------------------------

FlatModel sample_actions() {
  FlatModel model;
  model.surrogate = SurrogateKind::m4n;
  model.decode = Decoder::adversary;
  model.loss_name = "matrix";
  model.cost = {0, 1, 0.25, 2, 1, 0, 0.25, 3};
  model.classes = {"a", "b"};
  model.predictions = {"a", "b", "call, \"now\"", "wait, \"now\""};
  model.d = 1;
  model.weights = {0.5, -0.5, 1, -1};
  model.solver = "prox";
  model.lambda = 0.5;
  model.n = 2;
  return model;
}

FlatModel sample_quadratic_actions() {
  FlatModel model = sample_actions();
  model.surrogate = SurrogateKind::qs;
  model.decode = Decoder::argmax;
  model.weights = {0.5, -0.5, 1, -1, 2, 3, 4, 5};
  return model;
}

const test::ModelAttacks attacks{
    {sample_actions().model(), sample_quadratic_actions().model()}, [](const FlatModel& model) {
      if (model.d > 8) return;
      const std::vector<double> row(model.d, 0.5);
      Dataset data;
      data.x = DenseMatrix{1, model.d, row};
      const std::size_t width = model.predictions.empty() ? model.k() : model.predictions.size();
      try {
        EXPECT_LT(static_cast<std::size_t>(model.predict(view(data.x))[0]), width);
      } catch (const Error& error) {
        // Changed weights may have scores beyond what can be computed with.
        EXPECT_THAT(error.what(), testing::HasSubstr("beyond what can be computed with"));
        throw Error(test::attacked_name + ": " + error.what());
      }
    }};

TEST(ActionModelFile, RoundTrip) {
  for (const FlatModel& model : {sample_actions(), sample_quadratic_actions()}) {
    const FlatModel read = FlatModel::from_bytes(model.to_bytes(), "m.m4n");
    test::expect_same_model(read, model);
    EXPECT_EQ(read.predictions, model.predictions);
    EXPECT_EQ(read.to_bytes(), model.to_bytes());
  }
}

TEST(ActionModelFile, EveryTruncationIsRefused) { attacks.every_truncation_is_refused(); }
TEST(ActionModelFile, ResealedChangesAreRefusedOrGiveAValidModel) {
  attacks.resealed_changes_are_refused_or_give_a_valid_model();
}

TEST(ActionModelFile, DamagedPredictionsAreRefused) {
  const auto says = [](auto change) {
    FlatModel model = sample_actions();
    change(model);
    return refusal([&] { model.to_bytes(); });
  };
  expect_says(says([](FlatModel& m) { m.predictions[3] = "a"; }), {"not valid", "'a'", "twice"});
  expect_says(says([](FlatModel& m) { m.predictions.pop_back(); }), {"not valid", "cost"});
  expect_says(says([](FlatModel& m) { m.predictions.emplace_back("more"); }), {"not valid", "cost"});
  expect_says(says([](FlatModel& m) { m.predictions.clear(); }), {"not valid", "cost"});
  expect_says(says([](FlatModel& m) { m.cost[1] = 0; }), {"not valid", "every mistake"});
  expect_says(says([](FlatModel& m) { m.cost[3] = NAN; }), {"not valid"});
  expect_says(says([](FlatModel& m) { m.decode = Decoder::argmax; }), {"not valid", "decoder"});
  expect_says(says([](FlatModel& m) { m.surrogate = SurrogateKind::m3n; }), {"not valid"});
  expect_says(says([](FlatModel& m) { m.loss_name = "zero-one"; }), {"not valid"});
  expect_says(says([](FlatModel& m) { m.surrogate = SurrogateKind::qs, m.decode = Decoder::expected; }), {"not valid"});
}

TEST(ActionModelFile, DamagedFilesAreRefused) {
  const test::OpenedModel whole = test::open_model(sample_actions().to_bytes());
  // A name twice.
  test::OpenedModel file = whole;
  const std::size_t at = file.payload.find("wait");
  ASSERT_NE(at, std::string::npos);
  file.payload.replace(at, 4, "call");
  test::expect_refused(file.sealed(), "twice");
  // The number of names is not that of the list.
  file = whole;
  for (const int count : {0, 3, 5, 2147483647}) {
    file.header["fields"]["prediction_count"] = count;
    test::expect_refused(file.sealed(), "prediction");
  }
  // The list without its number, and the number without its list.
  file = whole;
  file.header["fields"].erase("prediction_count");
  test::expect_refused(file.sealed(), "prediction_count");
  file = whole;
  for (auto& array : file.header["arrays"])
    if (array["name"] == "predictions") array["name"] = "others";
  EXPECT_THROW(FlatModel::from_bytes(file.sealed(), "m.m4n"), Error);
}

}  // namespace
}  // namespace m4n::detail

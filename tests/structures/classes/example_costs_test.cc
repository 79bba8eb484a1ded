// Costs that differ from example to example: games and decoders against those of a matrix per example, learning against
// what it must come down to where the costs do not differ, or differ by a factor only, and against a known Bayes risk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "structures/classes/decoder.h"
#include "structures/classes/surrogates.h"
#include "structures/classes/synthetic.h"
#include "structures/structure.h"
#include "support/clp_game.h"
#include "support/random_dataset.h"
#include "support/temp_dir.h"

namespace m4n::detail {
namespace {

using test::random_dataset;

std::vector<std::string> names(const char* prefix, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(prefix + std::to_string(i));
  return out;
}

// k x K costs for each of n examples: a column per entry.
struct RandomCosts {
  RandomCosts(Rng& rng, std::size_t n, std::size_t classes, std::size_t width)
      : k(classes), columns{names("c", k * width), {n, k * width, {}}} {
    const double unit = std::exp(6 * rng.normal());
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = unit * std::exp(rng.normal());
      for (std::size_t t = 0; t < k; ++t)
        for (std::size_t p = 0; p < width; ++p)
          columns.values.values.push_back(p == t ? 0 : scale * rng.uniform(0.1, 1));
    }
    std::vector<double> mean(k * width);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t e = 0; e < mean.size(); ++e) mean[e] += of(i, e) / static_cast<double>(n);
    std::vector<std::string> predictions = names("", k);
    for (std::size_t p = k; p < width; ++p) predictions.push_back("action" + std::to_string(p));
    cost = CostMatrix::from_values(mean, k, "matrix", names("", k), "test", predictions, columns.names);
  }
  double of(std::size_t i, std::size_t entry) const { return columns.values.values[i * columns.values.cols + entry]; }
  // Those of example i as a matrix of their own, divided by `scale`.
  CostMatrix matrix(std::size_t i, double scale) const {
    std::vector<double> values;
    for (std::size_t e = 0; e < columns.names.size(); ++e) values.push_back(of(i, e) / scale);
    return CostMatrix::from_values(values, k, "matrix", names("", k), "test", cost.prediction_names());
  }

  std::size_t k;
  CostColumns columns;
  CostMatrix cost;
};

AlignedVector<double> random_scores(Rng& rng, std::size_t k, double size) {
  AlignedVector<double> v(kernels::padded(k), kernels::padding_score);
  for (std::size_t j = 0; j < k; ++j) v[j] = size * rng.normal();
  return v;
}

TEST(ExampleCosts, AreThoseOfTheColumnsInTheUnitOfTheMeans) {
  Rng rng(1, 0);
  const RandomCosts random(rng, 7, 3, 4);
  const ExampleCosts costs(random.cost, random.columns, 7);
  std::vector<double> scaled(12);
  for (std::size_t i = 0; i < 7; ++i) {
    costs.scaled(i, scaled);
    double largest = 0, excess = 0;
    for (std::size_t t = 0; t < 3; ++t) {
      const auto row = std::span<const double>(scaled).subspan(t * 4, 4);
      const double least = *std::min_element(row.begin(), row.end());
      for (const double cost : row) excess += cost - least;
    }
    for (std::size_t e = 0; e < 12; ++e) {
      EXPECT_EQ(costs(i, e / 4, e % 4), random.of(i, e));
      EXPECT_DOUBLE_EQ(scaled[e] * costs.scale(i), random.of(i, e));
      largest = std::max(largest, random.of(i, e));
    }
    EXPECT_EQ(costs.largest(i), largest);
    EXPECT_NEAR(excess / 9, random.cost.mean_off_diagonal(), 1e-12 * random.cost.mean_off_diagonal());
  }
}

// Visits in a random order, so that one game's numbers could be mistaken for another's.
TEST(ExampleCosts, EveryExampleHasItsOwnGame) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, 1);
    const std::size_t n = 5, k = 2 + rng.below(4), width = k + rng.below(3);
    const RandomCosts random(rng, n, k, width);
    const ExampleCosts costs(random.cost, random.columns, n);
    const ExampleMaxMin surrogate(costs, MatrixMaxMin::all_solves);
    auto workspace = surrogate.workspace();
    const double unit = random.cost.range();
    for (int visit = 0; visit < 20; ++visit) {
      const auto i = static_cast<std::int32_t>(rng.below(n));
      const std::vector<std::int32_t> y{0, i};
      const CostMatrix own = random.matrix(static_cast<std::size_t>(i), costs.scale(static_cast<std::size_t>(i)));
      const MatrixMaxMin alone(own, MatrixMaxMin::all_solves);
      auto own_workspace = alone.workspace();
      const AlignedVector<double> v = random_scores(rng, k, unit);
      std::vector<std::uint8_t> state(surrogate.state_size()), own_state(state);
      const double expected = test::clp_game_value(own, std::span(v).first(k));
      EXPECT_NEAR(surrogate.conjugate(v, y, state, workspace), expected, 1e-8 * unit);
      AlignedVector<double> mu(v.size()), own_mu(v.size());
      mu[0] = own_mu[0] = 1;
      surrogate.prox(v, unit, y, mu, state, workspace);
      alone.prox(v, unit, y, own_mu, own_state, own_workspace);
      for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(mu[j], own_mu[j], 1e-7);
      EXPECT_NEAR(surrogate.neg_omega(mu, y, workspace), alone.neg_omega(mu, y, own_workspace), 1e-12 * unit);
    }
  }
}

TEST(ExampleCosts, DecodersLookAtTheCostsOfTheirExample) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, 2);
    const std::size_t n = 6, k = 2 + rng.below(3), width = k + rng.below(2);
    const RandomCosts random(rng, n, k, width);
    const ExampleCosts costs(random.cost, random.columns, n);
    for (const auto& [surrogate, decode, smoothing] : {std::tuple{SurrogateKind::m4n, Decoder::adversary, 0.0},
                                                       {SurrogateKind::m4n, Decoder::expected, 0.7},
                                                       {SurrogateKind::crf, Decoder::expected, 0.0}}) {
      const auto decoder = make_decoder({surrogate, decode, smoothing, &random.cost, &costs});
      for (int visit = 0; visit < 12; ++visit) {
        const std::size_t i = rng.below(n);
        const CostMatrix own = random.matrix(i, costs.scale(i));
        const AlignedVector<double> v =
            random_scores(rng, k, decode == Decoder::expected && smoothing == 0 ? 1 : random.cost.mean_off_diagonal());
        // The unit of the smoothing is that of all examples; so is the scale of `own`, so it is the same.
        EXPECT_EQ(decoder->decode(v, i), make_decoder({surrogate, decode, smoothing, &own})->decode(v, 0));
      }
    }
  }
}

// ---- learning

Dataset with_costs(Dataset data, std::vector<std::string> columns, std::vector<double> values) {
  data.costs.values = {data.examples(), columns.size(), std::move(values)};
  data.costs.names = std::move(columns);
  return data;
}

const std::vector<double> asymmetric{0, 1, 3, 2, 0, 1, 5, 4, 0};

struct Case {
  double smoothing;
  SurrogateKind surrogate;
  FeatureKind features;
};
const Case cases[] = {{0, SurrogateKind::m4n, FeatureKind::linear}, {0.5, SurrogateKind::m4n, FeatureKind::linear},
                      {0, SurrogateKind::m3n, FeatureKind::linear}, {0, SurrogateKind::qs, FeatureKind::linear},
                      {0, SurrogateKind::crf, FeatureKind::linear}, {0, SurrogateKind::m4n, FeatureKind::rbf},
                      {0, SurrogateKind::qs, FeatureKind::rbf}};

TrainOptions options_of(const Case& c) {
  TrainOptions options;
  options.task = "multiclass";
  options.surrogate = c.surrogate;
  options.smoothing = c.smoothing;
  options.features = c.features;
  options.tol = 1e-7;
  options.epochs = 100'000;
  return options;
}

// The matrix itself, but told example by example: nothing may change.
TEST(ExampleCosts, TheSameForAllAreACostMatrix) {
  Rng rng(3, 0);
  const Dataset plain = random_dataset(rng, 60, 4, 3);
  std::vector<double> values;
  for (std::size_t i = 0; i < plain.examples(); ++i) values.insert(values.end(), asymmetric.begin(), asymmetric.end());
  const Dataset told = with_costs(plain, names("c", 9), values);
  for (const Case& c : cases) {
    TrainOptions options = options_of(c);
    options.cost = asymmetric;
    const FitResult expected = fit(plain, options);
    options.cost_columns = names("c", 9);
    const FitResult found = fit(told, options);
    SCOPED_TRACE(static_cast<int>(c.surrogate));
    EXPECT_NEAR(found.report.certificate.primal, expected.report.certificate.primal,
                1e-6 * expected.report.certificate.primal);
    EXPECT_EQ(found.model.predict(told), expected.model.predict(plain));
    EXPECT_EQ(found.model.cost(), expected.model.cost());
  }
}

// cost_i = s_i cost is the weight s_i beside cost.
TEST(ExampleCosts, AFactorIsAWeight) {
  Rng rng(4, 0);
  Dataset weighted = random_dataset(rng, 60, 4, 3);
  std::vector<double> values;
  for (std::size_t i = 0; i < weighted.examples(); ++i) {
    weighted.weight.push_back(std::exp(2 * rng.normal()));
    for (const double c : asymmetric) values.push_back(c * weighted.weight.back());
  }
  Dataset told = with_costs(weighted, names("c", 9), values);
  told.weight.clear();
  const double total = std::accumulate(weighted.weight.begin(), weighted.weight.end(), 0.0);
  for (const Case& c : cases) {
    if (c.surrogate == SurrogateKind::crf) continue;  // knows nothing of costs
    TrainOptions options = options_of(c);
    options.standardize = false;  // by the weights of the examples
    options.gamma = c.features == FeatureKind::rbf ? std::optional<double>(0.1) : std::nullopt;
    options.lambda = 0.01;
    for (const double cost : asymmetric) options.cost.push_back(cost * total / 60);
    const FitResult expected = fit(weighted, options);
    options.cost = asymmetric;
    options.cost_columns = names("c", 9);
    const FitResult found = fit(told, options);
    SCOPED_TRACE(static_cast<int>(c.surrogate));
    EXPECT_NEAR(found.report.certificate.primal, expected.report.certificate.primal,
                1e-5 * expected.report.certificate.primal);
    EXPECT_EQ(found.model.predict(told), expected.model.predict(weighted));
  }
}

TEST(ExampleCosts, UnitsAndThreadsDoNotMatter) {
  Rng rng(5, 0);
  const Dataset data = random_dataset(rng, 80, 4, 3);
  const RandomCosts random(rng, 80, 3, 4);
  for (const Case& c : cases) {
    if (c.surrogate == SurrogateKind::m3n) continue;  // some predictions are no class
    std::vector<std::int32_t> first;
    for (const double unit : {1.0, 1e-6, 1e6}) {
      TrainOptions options = options_of(c);
      options.tol = 1e-4;
      options.cost = std::vector<double>(12);
      options.cost_columns = random.columns.names;
      options.predictions = random.cost.prediction_names();
      std::vector<double> values = random.columns.values.values;
      for (double& value : values) value *= unit;
      const Dataset told = with_costs(data, random.columns.names, values);
      const FitResult one = fit(told, options, {1, {}, {}}), two = fit(told, options, {2, {}, {}});
      EXPECT_EQ(one.model.to_bytes(), two.model.to_bytes());
      const std::vector<std::int32_t> predicted = one.model.predict(told);
      if (first.empty()) first = predicted;
      EXPECT_EQ(predicted, first);
      const Model back = Model::from_bytes(one.model.to_bytes(), "memory");
      EXPECT_EQ(back.predict(told), predicted);
      EXPECT_EQ(back.common().cost_columns, random.columns.names);
    }
  }
}

TEST(ExampleCosts, EvaluationCountsTheCostsOfEveryExample) {
  Rng rng(6, 0);
  const RandomCosts random(rng, 50, 3, 4);
  Dataset data = with_costs(random_dataset(rng, 50, 4, 3), random.columns.names, random.columns.values.values);
  TrainOptions options = options_of({0, SurrogateKind::crf, FeatureKind::linear});
  options.cost = std::vector<double>(12);
  options.cost_columns = random.columns.names;
  options.predictions = random.cost.prediction_names();
  const Model model = fit(data, options).model;
  for (std::size_t i = 0; i < 50; ++i) data.weight.push_back(1 + static_cast<double>(i % 3));
  const std::vector<std::int32_t> predicted = model.predict(data);
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    sum += data.weight[i] *
           random.of(i, static_cast<std::size_t>(data.label[i]) * 4 + static_cast<std::size_t>(predicted[i]));
    total += data.weight[i];
  }
  Examples examples;
  examples.data = data;
  examples.truth = data.label;
  EXPECT_NEAR(evaluate(model, examples, predicted).loss, sum / total, 1e-12 * sum / total);
  // A resample that draws every example once is the evaluation itself.
  const auto evaluator = structure_of(model).evaluator(model, examples, predicted);
  const auto tally = evaluator->tally();
  tally->clear();
  for (std::size_t i = 0; i < 50; ++i) tally->add(i);
  EXPECT_NEAR(tally->values()[0], sum / total, 1e-12 * sum / total);
  // A truth that is not known costs the most that a prediction can.
  examples.data.label.assign(50, unknown_label);
  sum = 0;
  const ExampleCosts costs(random.cost, random.columns, 50);
  for (std::size_t i = 0; i < 50; ++i) sum += data.weight[i] * costs.largest(i);
  EXPECT_NEAR(evaluate(model, examples, predicted).loss, sum / total, 1e-12 * sum / total);
}

// ---- a known Bayes risk

struct FileSink : TextSink {
  explicit FileSink(const std::string& path) : file(path, std::ios::binary) {}
  void write(std::string_view text) override { file << text; }
  std::ofstream file;
};

TEST(ExampleCosts, ConsistentSurrogatesReachTheBayesRisk) {
  const test::TempDir folder;
  const std::string path = folder / "loans.csv", costs = folder / "loans_costs.csv";
  {
    FileSink data(path);
    const Generated made = write_loans(100'000, 1, data);
    FileSink(costs).write(made.costs);
    EXPECT_NEAR(made.bayes_risk, 4850 * 1.1825 / 8, 1e-9);
  }
  TrainOptions base;
  base.task = "multiclass";
  base.loss = costs;
  base.read.ignore = {"amount", "profit"};
  const Dataset data = read(path, base).data;
  ASSERT_EQ(data.feature_names.size(), loans::regions);
  // One applicant by region, with the costs of a middling loan there.
  Dataset regions;
  DenseMatrix x{loans::regions, loans::regions, std::vector<double>(loans::regions * loans::regions)};
  regions.costs.names = {"amount", "profit"};
  regions.costs.values = {loans::regions, 2, {}};
  for (std::size_t r = 0; r < loans::regions; ++r) {
    x.values[r * loans::regions + r] = 1;
    regions.costs.values.values.insert(regions.costs.values.values.end(), {1000, 1000 * loans::profit_share[r]});
  }
  regions.x = std::move(x);
  regions.label.assign(loans::regions, unknown_label);
  regions.feature_rows = regions.labels = Groups(loans::regions);
  const auto excess = [&](SurrogateKind surrogate, double smoothing) {
    TrainOptions options = base;
    options.surrogate = surrogate;
    options.smoothing = smoothing;
    const Model model = fit(data, options).model;
    const std::vector<std::int32_t> answer = model.predict(regions);
    double risk = 0;
    for (std::size_t r = 0; r < loans::regions; ++r)
      risk += loans::mean_amount() *
              loans::risk(r, model.predictions()[static_cast<std::size_t>(answer[r])] == "repaid") /
              static_cast<double>(loans::regions);
    return risk - loans::bayes_risk();
  };
  EXPECT_NEAR(excess(SurrogateKind::m4n, 0), 0, 1e-9);
  EXPECT_NEAR(excess(SurrogateKind::m4n, 1), 0, 1e-9);
  EXPECT_NEAR(excess(SurrogateKind::crf, 0), 0, 1e-9);
  EXPECT_NEAR(excess(SurrogateKind::qs, 0), 0, 1e-9);
  EXPECT_GT(excess(SurrogateKind::m3n, 0), 100);  // inconsistent: it lends where it should not
}

// ---- refusals

TEST(ExampleCosts, RefuseNumbersThatAreNoCosts) {
  Rng rng(7, 0);
  Dataset data = with_costs(random_dataset(rng, 5, 2, 2), {"amount"}, {1, 2, 3, 4, 5});
  TrainOptions options;
  options.task = "multiclass";
  options.cost = {0, 0, 1, 0};
  options.cost_columns = {"", "amount", "", ""};
  EXPECT_NO_THROW(fit(data, options));
  const auto refused = [&](double value, const char* text) {
    Dataset bad = data;
    bad.costs.values.values[3] = value;
    try {
      fit(bad, options);
      ADD_FAILURE() << "taken: " << value;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("example 4"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused(-1, "expected a cost from 0");
  refused(1e31, "expected a cost from 0");
  refused(std::nan(""), "expected a cost from 0");
  refused(0, "no more than the right answer");
  options.cost_columns[1] = "other";
  EXPECT_THROW(fit(data, options), Error);
  options.cost_columns = {"", "amount"};
  EXPECT_THROW(fit(data, options), Error);
}

TEST(ExampleCosts, PredictionAsksForThemUnlessTheLargestScoreDecides) {
  Rng rng(8, 0);
  const Dataset data = with_costs(random_dataset(rng, 30, 2, 2), {"amount"}, std::vector<double>(30, 2.0));
  TrainOptions options;
  options.task = "multiclass";
  options.cost = {0, 0, 1, 0};
  options.cost_columns = {"", "amount", "", ""};
  const Model adversary = fit(data, options).model;
  EXPECT_THROW(adversary.predict(view(data.x)), UsageError);
  options.decode = Decoder::argmax;
  EXPECT_EQ(fit(data, options).model.predict(view(data.x)).size(), 30U);
}

}  // namespace
}  // namespace m4n::detail

// Tokens and nodes that may be rejected: the labelling game with more, fewer and other predictions than labels, by its
// own certificate, recomputed here by counting all labellings; and predictions by counting, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "structures/chains/oracles.h"
#include "structures/structure.h"
#include "support/generated_file.h"
#include "support/random_chain.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::for_labellings;

CostMatrix random_actions(std::mt19937_64& random, std::size_t k, std::size_t width, double scale) {
  std::uniform_real_distribution<double> uniform(0, scale);
  std::vector<double> cost(k * width);
  for (double& c : cost) c = random() % 3 == 0 ? scale * static_cast<double>(random() % 2) : uniform(random);
  cost[0] += scale;  // not all the same
  std::vector<std::string> classes, predictions;
  for (std::size_t t = 0; t < k; ++t) classes.push_back("c" + std::to_string(t));
  for (std::size_t p = 0; p < width; ++p) predictions.push_back("a" + std::to_string(p));
  return CostMatrix::from_values(cost, k, "matrix", classes, "test", predictions);
}

TEST(ChainActions, TheGameIsSolvedForAnyNumberOfPredictions) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::size_t k = 2 + random() % 3, width = 1 + random() % 12, length = 1 + random() % 4;
    const double scale = std::pow(10.0, static_cast<int>(random() % 7) - 3);
    const CostMatrix cost = random_actions(random, k, width, scale);
    const ChainGame game(cost);
    ChainGame::Workspace workspace;
    GameSeeds seeds;
    for (int visit = 0; visit < 3; ++visit) {  // the later ones from the basis of the first
      const Chain chain(length, k, scale / 2, test::score_styles[random() % std::size(test::score_styles)], random);
      const ChainScores v = chain.scores();
      const GameAnswer answer = game.solve(v, {.gap = 1e-9 * scale}, seeds, workspace);
      const auto m_count = static_cast<double>(length);
      std::vector<double> mu(length * k);
      double lower = 0;
      for (std::size_t j = 0; j < answer.size(); ++j) {
        const LabelView y = answer.labels(j);
        lower += answer.weight[j] * static_cast<double>(chain.score({y.begin(), y.end()}));
        for (std::size_t m = 0; m < length; ++m) mu[m * k + static_cast<std::size_t>(y[m])] += answer.weight[j];
      }
      for (std::size_t m = 0; m < length; ++m) {
        double least = std::numeric_limits<double>::infinity(), mass = 0;
        for (std::size_t p = 0; p < width; ++p) {
          double risk = 0;
          for (std::size_t t = 0; t < k; ++t) risk += cost(t, p) * mu[m * k + t];
          least = std::min(least, risk);
          EXPECT_GE(answer.nu(m, p), 0);
          mass += answer.nu(m, p);
        }
        EXPECT_NEAR(mass, 1, 1e-9);
        lower += least / m_count;
      }
      double upper = -std::numeric_limits<double>::infinity();
      for_labellings(length, k, [&](const std::vector<std::int32_t>& y) {
        auto value = static_cast<double>(chain.score(y));
        for (std::size_t m = 0; m < length; ++m)
          for (std::size_t p = 0; p < width; ++p)
            value += answer.nu(m, p) * cost(static_cast<std::size_t>(y[m]), p) / m_count;
        upper = std::max(upper, value);
      });
      EXPECT_LE(upper - lower, 1e-8 * scale * m_count) << k << " labels, " << width << " predictions";
      EXPECT_NEAR(answer.bounds.lower, lower, 1e-9 * scale * m_count);
      EXPECT_NEAR(answer.bounds.upper, upper, 1e-9 * scale * m_count);
    }
  }
}

class PartActions : public testing::TestWithParam<const char*> {};

TrainOptions rejecting(TrainOptions options, SurrogateKind surrogate, double cost) {
  options.surrogate = surrogate;
  options.reject = cost;
  return options;
}

std::size_t rejected(const std::vector<std::int32_t>& labels, std::size_t k) {
  return static_cast<std::size_t>(
      std::count_if(labels.begin(), labels.end(), [&](std::int32_t l) { return static_cast<std::size_t>(l) == k; }));
}

TEST_P(PartActions, RejectWhereEveryLabelIsExpectedToCostMore) {
  const test::GeneratedFile file(GetParam(), 120, 1);
  const std::size_t k = file.data.class_names.size();
  const Model crf = fit(file.data, rejecting(file.options, SurrogateKind::crf, 0.2)).model;
  const std::vector<double> p = crf.marginals(file.data);
  const std::vector<std::int32_t> labels = crf.predict(file.data);
  for (std::size_t m = 0; m < labels.size(); ++m) {
    const double most = *std::max_element(p.begin() + static_cast<std::ptrdiff_t>(m * k),
                                          p.begin() + static_cast<std::ptrdiff_t>((m + 1) * k));
    if (std::abs(1 - most - 0.2) > 1e-9) {
      EXPECT_EQ(static_cast<std::size_t>(labels[m]) == k, 1 - most > 0.2);
    }
  }
  EXPECT_GT(rejected(labels, k), 0U);
  EXPECT_LT(rejected(labels, k), labels.size());
}

TEST_P(PartActions, TrainedModelsAreCertifiedSavedAndJudged) {
  const test::GeneratedFile file(GetParam(), 60, 2);
  const std::size_t k = file.data.class_names.size();
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::crf}) {
    const FitResult found = fit(file.data, rejecting(file.options, surrogate, 0.3));
    EXPECT_TRUE(found.report.certificate.converged);
    EXPECT_EQ(found.model.predictions().size(), k + 1);
    const Model back = Model::from_bytes(found.model.to_bytes(), "memory");
    const std::vector<std::int32_t> labels = back.predict(file.data);
    EXPECT_EQ(labels, found.model.predict(file.data));
    double sum = 0;
    for (std::size_t i = 0; i < file.data.examples(); ++i) {
      const std::size_t first = file.data.labels.begin(i), size = file.data.labels.end(i) - first;
      for (std::size_t m = first; m < first + size; ++m)
        sum += (static_cast<std::size_t>(labels[m]) == k ? 0.3
                : labels[m] == file.data.label[m]        ? 0
                                                         : 1) /
               static_cast<double>(size * file.data.examples());
    }
    Examples examples;
    examples.data = file.data;
    examples.truth = file.data.label;
    examples.names = file.data.class_names;
    const Evaluation judged = evaluate(back, examples, labels);
    EXPECT_NEAR(judged.loss, sum, 1e-9);
    EXPECT_NEAR(found.report.train_loss, sum, 1e-9);
    const auto metric = [&](const std::string& name) {
      for (const auto& [own, value] : judged.metrics)
        if (own == name) return value;
      ADD_FAILURE() << name;
      return 0.0;
    };
    const auto all = static_cast<double>(labels.size()), gone = static_cast<double>(rejected(labels, k));
    EXPECT_NEAR(metric("rejected"), gone / all, 1e-12);
    double wrong = 0;
    for (std::size_t m = 0; m < labels.size(); ++m)
      wrong += static_cast<std::size_t>(labels[m]) != k && labels[m] != file.data.label[m] ? 1 : 0;
    EXPECT_NEAR(metric("error_of_rest"), gone < all ? wrong / (all - gone) : 0, 1e-12);
    // Too dear to be ever chosen: the model without it.
    TrainOptions plain = file.options;
    plain.surrogate = surrogate;
    plain.decode = surrogate == SurrogateKind::m4n ? Decoder::adversary : Decoder::expected;
    plain.lambda = 0.01;
    TrainOptions dear = rejecting(plain, surrogate, 5);
    plain.tol = dear.tol = 1e-4;
    const FitResult without = fit(file.data, plain), with = fit(file.data, dear);
    EXPECT_NEAR(with.report.certificate.primal, without.report.certificate.primal,
                1e-3 * without.report.certificate.primal);
    EXPECT_EQ(rejected(with.model.predict(file.data), k), 0U);
  }
}

TEST_P(PartActions, OthersAreRefused) {
  const test::GeneratedFile file(GetParam(), 10, 3);
  EXPECT_THROW(fit(file.data, rejecting(file.options, SurrogateKind::m3n, 0.3)), UsageError);
  TrainOptions largest = rejecting(file.options, SurrogateKind::m4n, 0.3);
  largest.decode = structure_named(GetParam()).traits().largest;
  EXPECT_THROW(fit(file.data, largest), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Tasks, PartActions, testing::Values("sequence", "graph"),
                         [](const auto& task) { return std::string(task.param); });

TEST(ChainActions, ConstraintsAreOfLabels) {
  const test::GeneratedFile file("sequence", 10, 3);
  TrainOptions options = rejecting(file.options, SurrogateKind::crf, 0.3);
  options.constraints = "pairs:D,END\n";
  EXPECT_THROW(fit(file.data, options), UsageError);
}

}  // namespace
}  // namespace m4n::detail

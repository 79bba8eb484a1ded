// Loss and metrics of permutations as means over examples, their bootstrap intervals, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "structures/permutations/evaluation.h"
#include "support/flat_model.h"
#include "support/judge.h"

namespace m4n::detail {

using test::bootstrap;
using test::evaluate;

using test::FlatModel;
namespace {

using Positions = std::vector<std::int32_t>;
using testing::HasSubstr;
using testing::ThrowsMessage;

FlatModel model_of(const std::string& task, std::size_t k, const std::string& loss) {
  FlatModel model;
  model.task = task;
  model.loss_name = loss;
  for (std::size_t c = 0; c < k; ++c) model.classes.push_back("r" + std::to_string(c + 1));
  return model;
}

struct Sample {
  Positions truth, predicted;
  std::vector<double> weight;
  Groups items;
};

Sample random_sample(const std::vector<std::size_t>& sizes, Rng& rng) {
  Sample out;
  std::vector<std::size_t> starts{0};
  for (const std::size_t size : sizes) {
    for (Positions* side : {&out.truth, &out.predicted}) {
      Positions y(size);
      for (std::size_t i = 0; i < size; ++i) y[i] = static_cast<std::int32_t>(i);
      rng.shuffle(std::span(y));
      side->insert(side->end(), y.begin(), y.end());
    }
    starts.push_back(starts.back() + size);
    out.weight.push_back(rng.uniform(0.5, 2));
  }
  out.items = Groups(starts);
  return out;
}

std::map<std::string, double> named(const Evaluation& e) {
  std::map<std::string, double> out(e.metrics.begin(), e.metrics.end());
  out["loss"] = e.loss;
  return out;
}

TEST(PermutationEvaluation, RankingsHaveTheWeightedMeansOfTheirMetrics) {
  Rng rng(1, 1);
  const Sample s = random_sample(std::vector<std::size_t>(9, 5), rng);
  PermutationMeans means;
  for (std::size_t i = 0; i < 9; ++i)
    means.add(PermutationView(s.truth).subspan(5 * i, 5), PermutationView(s.predicted).subspan(5 * i, 5), s.weight[i]);
  const PermutationMetrics m = means.mean();
  const Evaluation e = evaluate(model_of("ranking", 5, "footrule"), s.items, s.truth, s.predicted, s.weight);
  EXPECT_EQ(e.n, 9U);
  const std::map<std::string, double> expected{{"loss", m.footrule},
                                               {"hamming", m.hamming},
                                               {"kendall_tau", m.kendall_tau},
                                               {"spearman_rho", m.spearman_rho},
                                               {"footrule", m.footrule},
                                               {"top1", m.top1},
                                               {"ndcg", m.ndcg}};
  const std::map<std::string, double> found = named(e);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, value] : expected) EXPECT_NEAR(found.at(name), value, 1e-14) << name;
}

TEST(PermutationEvaluation, MatchingsOfAnySizes) {
  Rng rng(2, 1);
  const std::vector<std::size_t> sizes{1, 4, 2, 3, 1};
  const Sample s = random_sample(sizes, rng);
  double sum = 0;
  for (std::size_t i = 0, at = 0; i < sizes.size(); at += sizes[i++]) {
    double wrong = 0;
    for (std::size_t p = at; p < at + sizes[i]; ++p) wrong += s.truth[p] != s.predicted[p] ? 1 : 0;
    sum += wrong / static_cast<double>(sizes[i]);
  }
  const std::map<std::string, double> found =
      named(evaluate(model_of("matching", 0, "hamming"), s.items, s.truth, s.predicted));
  EXPECT_EQ(found.size(), 3U);
  EXPECT_NEAR(found.at("loss"), sum / 5, 1e-15);
  EXPECT_NEAR(found.at("hamming"), sum / 5, 1e-15);
  EXPECT_NEAR(found.at("match_accuracy"), 1 - sum / 5, 1e-15);
}

// Of n examples the mean of a resample has the standard deviation sigma / sqrt(n).
TEST(PermutationEvaluation, BootstrapOfAMean) {
  Rng rng(3, 1);
  const std::size_t n = 60;
  Sample s = random_sample(std::vector<std::size_t>(n, 4), rng);
  const FlatModel model = model_of("ranking", 4, "hamming");
  double first = 0, second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double own =
        hamming_distance(PermutationView(s.truth).subspan(4 * i, 4), PermutationView(s.predicted).subspan(4 * i, 4));
    first += own / static_cast<double>(n);
    second += own * own / static_cast<double>(n);
  }
  const Bootstrap one = bootstrap(model, s.items, s.truth, s.predicted, {}, 4000, 7, {1, {}, {}});
  const double sigma = std::sqrt((second - first * first) / static_cast<double>(n));
  EXPECT_NEAR(one.loss.se, sigma, 0.05 * sigma);
  EXPECT_NEAR(one.loss.low, first - 1.96 * sigma, 0.2 * sigma);
  EXPECT_NEAR(one.loss.high, first + 1.96 * sigma, 0.2 * sigma);
  EXPECT_EQ(one.metrics.size(), 6U);
  EXPECT_EQ(one.metrics[0].second.low, one.loss.low);
  const Bootstrap two = bootstrap(model, s.items, s.truth, s.predicted, {}, 4000, 7, {3, {}, {}});
  for (std::size_t m = 0; m < 6; ++m) {
    EXPECT_EQ(one.metrics[m].first, two.metrics[m].first);
    EXPECT_EQ(one.metrics[m].second.low, two.metrics[m].second.low);
    EXPECT_EQ(one.metrics[m].second.high, two.metrics[m].second.high);
  }
  EXPECT_NE(bootstrap(model, s.items, s.truth, s.predicted, {}, 100, 8).loss.se,
            bootstrap(model, s.items, s.truth, s.predicted, {}, 100, 9).loss.se);
}

// Rows of weight zero are not there, whatever is drawn.
TEST(PermutationEvaluation, BootstrapLeavesOutWhatHasNoWeight) {
  Rng rng(4, 1);
  Sample s = random_sample(std::vector<std::size_t>(4, 3), rng);
  for (auto* positions : {&s.truth, &s.predicted}) std::copy_n(positions->begin() + 6, 3, positions->begin() + 9);
  const FlatModel model = model_of("ranking", 3, "spearman");
  s.weight = {0, 0, 2, 0};
  EXPECT_FALSE(bootstrap(model, s.items, s.truth, s.predicted, s.weight, 200, 1).loss.known());  // one alone
  s.weight = {0, 0, 2, 1};
  const double only =
      evaluate(model, Groups(1, 3), std::span(s.truth).subspan(9), std::span(s.predicted).subspan(9)).loss;
  EXPECT_NEAR(evaluate(model, s.items, s.truth, s.predicted, s.weight).loss, only, 1e-15);
  const Bootstrap found = bootstrap(model, s.items, s.truth, s.predicted, s.weight, 200, 1);
  EXPECT_NEAR(found.loss.low, only, 1e-15);
  EXPECT_NEAR(found.loss.high, only, 1e-15);
}

TEST(PermutationEvaluation, Refusals) {
  const FlatModel model = model_of("ranking", 2, "hamming");
  const Positions right{0, 1, 1, 0}, twice{0, 0, 1, 0}, outside{0, 2, 1, 0}, unknown{0, -1, 1, 0};
  const auto refused = [&](const Positions& truth, const Positions& predicted, const Groups& items,
                           const std::vector<double>& weight, const char* message) {
    EXPECT_THAT([&] { evaluate(model, items, truth, predicted, weight); }, ThrowsMessage<Error>(HasSubstr(message)));
    EXPECT_THAT([&] { bootstrap(model, items, truth, predicted, weight, 10, 0); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  const Groups two(2, 2);
  for (const Positions& wrong : {twice, outside, unknown}) {
    refused(wrong, right, two, {}, "the truth of example 1 is no permutation");
    refused(right, wrong, two, {}, "the prediction of example 1 is no permutation");
  }
  refused(right, {0, 1}, two, {}, "2 predictions");
  refused(right, right, two, {1}, "1 weights");
  refused(right, right, two, {1, -1}, "weight -1 of example 2");
  refused(right, right, two, {1, NAN}, "weight nan of example 2");
  refused(right, right, two, {0, 0}, "the weights sum to 0");
  refused(right, right, Groups(1, 4), {}, "ranking 1 has 4 items");
  refused({}, {}, Groups(0, 2), {}, "no examples");
  EXPECT_THAT([&] { bootstrap(model, two, right, right, {}, 1, 0); }, ThrowsMessage<Error>(HasSubstr("1 replicates")));
}

}  // namespace
}  // namespace m4n::detail

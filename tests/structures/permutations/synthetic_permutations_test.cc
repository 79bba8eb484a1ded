// Rankings and matchings with a known best loss: no prediction is better (all of them are tried), samples cost the best
// rule what is said, and linear scores are that rule.
#include "structures/permutations/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/assignment.h"
#include "m4n/error.h"

namespace m4n::detail {
namespace {

using Permutation = std::vector<std::int32_t>;

std::vector<Permutation> all_permutations(std::size_t size) {
  Permutation y(size);
  std::iota(y.begin(), y.end(), 0);
  std::vector<Permutation> all;
  do all.push_back(y);
  while (std::next_permutation(y.begin(), y.end()));
  return all;
}

std::vector<PositionLoss> losses(std::size_t size) {
  std::vector<double> gains, costs(size * size);
  for (std::size_t j = 0; j < size; ++j) gains.push_back(static_cast<double>(size - j));
  for (std::size_t k = 0; k < size; ++k)
    for (std::size_t j = 0; j < size; ++j)
      costs[k * size + j] = k == j ? 0.25 : 1 + static_cast<double>(k) + 0.5 * static_cast<double>(j);
  return {PositionLoss::hamming(size), PositionLoss::footrule(size),        PositionLoss::squared(size),
          PositionLoss::dcg(gains),    PositionLoss::precision_at(size, 2), PositionLoss::matrix(costs, size)};
}

std::span<const std::int32_t> truth(const Dataset& data, std::size_t e) {
  return std::span(data.label).subspan(data.labels.begin(e), data.labels.end(e) - data.labels.begin(e));
}

struct Sample {
  double mean = 0, error = 0;  // and its standard error
};
template <class Cost>
Sample mean_of(std::size_t n, Cost cost) {
  double sum = 0, squares = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const double value = cost(e);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / static_cast<double>(n);
  return {mean, std::sqrt((squares / static_cast<double>(n) - mean * mean) / static_cast<double>(n))};
}

TEST(SyntheticPermutations, RandomTruthsCostEveryPredictionTheSame) {
  for (const std::size_t size : {2, 3, 5}) {
    const auto all = all_permutations(size);
    for (const PositionLoss& loss : losses(size))
      for (const Permutation& y : {all.front(), all[all.size() / 2], all.back()}) {
        double sum = 0;
        for (const Permutation& t : all) sum += loss(t, y);
        EXPECT_NEAR(mean_random_loss(loss), sum / static_cast<double>(all.size()), 1e-12) << loss.name();
      }
  }
  EXPECT_NEAR(mean_random_loss(PositionLoss::hamming(5)), 0.8, 1e-12);
  EXPECT_EQ(mean_random_loss(PositionLoss::hamming(1)), 0);
  EXPECT_THROW(mean_random_loss(PositionLoss::weighted_hamming(std::vector<double>{1, 2, 3})), UsageError);
}

// Given x the truth is t with probability 1 - noise, and any otherwise.
TEST(SyntheticPermutations, BestLossIsTheLeastOfAllPredictions) {
  const std::size_t size = 4;
  const auto all = all_permutations(size);
  for (const double noise : {0.0, 0.3, 0.95})
    for (const PositionLoss& loss : losses(size)) {
      const Permutation& t = all[9];
      double least = INFINITY;
      for (const Permutation& y : all) {
        double risk = (1 - noise) * loss(t, y);
        for (const Permutation& other : all) risk += noise * loss(other, y) / static_cast<double>(all.size());
        least = std::min(least, risk);
      }
      EXPECT_NEAR(SyntheticRankings(noise, 3, size).best_loss(loss), least, 1e-12) << loss.name();
      const std::vector<PositionLoss> one{loss};
      EXPECT_NEAR(SyntheticMatchings(noise, size, size).best_loss(one), least, 1e-12) << loss.name();
    }
}

TEST(SyntheticRankings, SamplesCostTheBestRuleWhatIsSaid) {
  const SyntheticRankings rankings(0.3, 6, 5);
  const std::size_t n = 20000;
  const Dataset data = rankings.sample(n, 7);
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  for (const PositionLoss& loss : losses(5)) {
    const Sample cost = mean_of(n, [&](std::size_t e) { return loss(truth(data, e), rankings.best(x.row(e))); });
    EXPECT_NEAR(cost.mean, rankings.best_loss(loss), 4.5 * cost.error) << loss.name();
    EXPECT_GT(cost.error, 0);
  }
}

TEST(SyntheticRankings, SortsUtilitiesThatAreLinear) {
  const SyntheticRankings rankings(0, 3, 4);
  const Dataset data = rankings.sample(200, 1);
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  for (std::size_t e = 0; e < 200; ++e) {
    const std::span<const std::int32_t> t = truth(data, e);
    EXPECT_EQ(Permutation(t.begin(), t.end()), rankings.best(x.row(e)));
    std::vector<double> opposite(x.row(e).begin(), x.row(e).end());  // -x turns the order round
    for (double& v : opposite) v = -v;
    const Permutation reversed = rankings.best(opposite);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(reversed[i], 3 - t[i]);
  }
}

TEST(SyntheticMatchings, LinearScoresFindTheRightOnesAndCostWhatIsSaid) {
  const SyntheticMatchings matchings(0.25, 3, 8);
  const std::size_t n = 4000;
  const Dataset data = matchings.sample(n, 3);
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  std::vector<std::vector<PositionLoss>> by_loss(3);
  for (std::size_t size = 3; size <= 8; ++size) {
    by_loss[0].push_back(PositionLoss::hamming(size));
    by_loss[1].push_back(PositionLoss::footrule(size));
    by_loss[2].push_back(PositionLoss::squared(size));
  }
  Assignment lap;
  std::vector<Permutation> rule;
  std::size_t right = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const std::size_t size = truth(data, e).size(), first = data.feature_rows.begin(e);
    ASSERT_EQ(data.feature_rows.end(e) - first, size * size);
    std::vector<double> scores(size * size, 0.0);
    for (std::size_t p = 0; p < size * size; ++p)
      for (std::size_t c = 0; c < SyntheticMatchings::coordinates; ++c) scores[p] -= x.row(first + p)[c];
    lap.solve(scores, size);
    rule.emplace_back(lap.position().begin(), lap.position().end());
    right += std::equal(rule[e].begin(), rule[e].end(), truth(data, e).begin()) ? 1 : 0;
  }
  // A random label is the right one with probability 1 / M!, averaged over M = 3..8.
  double by_chance = 0, factorial = 2;
  for (int size = 3; size <= 8; ++size) by_chance += 1 / (factorial *= size) / 6;
  const double expected = 0.75 + 0.25 * by_chance;
  EXPECT_NEAR(static_cast<double>(right) / n, expected, 4.5 * std::sqrt(expected * (1 - expected) / n));
  for (const std::vector<PositionLoss>& sizes : by_loss) {
    const Sample cost = mean_of(n, [&](std::size_t e) { return sizes[rule[e].size() - 3](truth(data, e), rule[e]); });
    EXPECT_NEAR(cost.mean, matchings.best_loss(sizes), 4.5 * cost.error) << sizes[0].name();
  }
}

TEST(SyntheticMatchings, LargestSizeFits) {
  const Dataset data = SyntheticMatchings(0, 50, 50).sample(3, 1);
  EXPECT_EQ(rows(data.x), 7500U);
  const SyntheticMatchings single(0.5, 1, 1);
  EXPECT_EQ(single.sample(4, 1).label, Permutation(4, 0));
}

// Every example is a permutation, and every seed its own.
template <class Source>
void expect_reproducible(const Source& source) {
  const Dataset a = source.sample(40, 5), again = source.sample(40, 5), other = source.sample(40, 6);
  typename Source::Sampler sampler(source, 5);
  const Dataset first = sampler.next(15), rest = sampler.next(25);
  const auto& values = std::get<DenseMatrix>(a.x).values;
  EXPECT_EQ(values, std::get<DenseMatrix>(again.x).values);
  EXPECT_EQ(a.label, again.label);
  EXPECT_NE(values, std::get<DenseMatrix>(other.x).values);
  auto joined = std::get<DenseMatrix>(first.x).values;
  joined.insert(joined.end(), std::get<DenseMatrix>(rest.x).values.begin(), std::get<DenseMatrix>(rest.x).values.end());
  EXPECT_EQ(values, joined);
  auto labels = first.label;
  labels.insert(labels.end(), rest.label.begin(), rest.label.end());
  EXPECT_EQ(a.label, labels);
  EXPECT_EQ(rows(a.x), a.feature_rows.end(39));
  EXPECT_EQ(cols(a.x), a.feature_names.size());
  for (std::size_t e = 0; e < 40; ++e) {
    Permutation sorted(truth(a, e).begin(), truth(a, e).end());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<std::int32_t>(i));
  }
}

TEST(SyntheticPermutations, SameSeedSameDataInAnyPieces) {
  expect_reproducible(SyntheticRankings(0.4, 3, 6));
  expect_reproducible(SyntheticMatchings(0.4, 2, 9));
}

TEST(SyntheticPermutations, RefuseWhatMakesNoSense) {
  EXPECT_THROW(SyntheticRankings(-0.1), UsageError);
  EXPECT_THROW(SyntheticRankings(1), UsageError);
  EXPECT_THROW(SyntheticRankings(std::nan("")), UsageError);
  EXPECT_THROW(SyntheticRankings(0.1, 0, 3), UsageError);
  EXPECT_THROW(SyntheticRankings(0.1, 3, 0), UsageError);
  EXPECT_THROW(SyntheticMatchings(1.5), UsageError);
  EXPECT_THROW(SyntheticMatchings(0.1, 0, 3), UsageError);
  EXPECT_THROW(SyntheticMatchings(0.1, 4, 3), UsageError);
  EXPECT_THROW(SyntheticMatchings(0.1, 4, 51), UsageError);
}

}  // namespace
}  // namespace m4n::detail

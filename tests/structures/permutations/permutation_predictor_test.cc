// Predictions of rankings and matchings against all M! permutations: the best by scores, the least expected loss under
// the Gibbs distribution, marginals; any number of threads gives the same.
#include "structures/permutations/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "m4n/error.h"

namespace m4n::detail {
namespace {

using Positions = std::vector<std::int32_t>;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Positions> all_permutations(std::size_t size) {
  Positions y(size);
  std::iota(y.begin(), y.end(), 0);
  std::vector<Positions> out;
  do out.push_back(y);
  while (std::next_permutation(y.begin(), y.end()));
  return out;
}

double value_of(std::span<const double> cells, std::span<const std::int32_t> y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += cells[i * y.size() + static_cast<std::size_t>(y[i])];
  return sum;
}

// Scores of cells as a model has them: cells, or items times what a position gains.
std::vector<double> cells_of(const PositionLossChoice& choice, std::span<const double> v, std::size_t size) {
  if (!choice.scores_items()) return {v.begin(), v.end()};
  const PositionLoss loss = choice.make(size);
  std::vector<double> out;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) out.push_back(v[i] * loss.gains()[j]);
  return out;
}

std::vector<PositionLossChoice> choices(std::size_t size, Rng& rng) {
  std::vector<PositionLossChoice> out;
  for (const char* name : {"hamming", "footrule", "spearman", "dcg", "precision@1"})
    out.push_back(PositionLossChoice::remembered(name, {}, size));
  std::vector<double> weights(size), costs(size * size);
  for (double& w : weights) w = rng.uniform(0.1, 3);
  for (std::size_t e = 0; e < costs.size(); ++e) costs[e] = e % size == e / size ? 0 : rng.uniform(0.5, 2);
  out.push_back(PositionLossChoice::from_values(weights, size, "weights"));
  out.push_back(PositionLossChoice::from_values(costs, size, "costs"));
  return out;
}

std::vector<double> random_scores(std::size_t count, double scale, Rng& rng) {
  std::vector<double> v(count);
  for (double& x : v) x = scale * (rng.below(4) == 0 ? 0 : rng.normal());  // with ties
  return v;
}

RC_GTEST_PROP(PermutationPredictor, ArgmaxIsTheBestOfAllRankings, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint32_t>(), 1);
  const std::size_t size = 2 + rng.below(5), n = 1 + rng.below(70);
  const double scale = std::pow(10, rng.uniform(-6, 6));
  for (const PositionLossChoice& choice : choices(size, rng)) {
    const std::size_t parts = choice.scores_items() ? size : size * size;
    const std::vector<double> v = random_scores(n * parts, scale, rng);
    const PermutationPredictor predictor(choice, size, Decoder::argmax);
    const Positions y = predictor.rankings(v, {1, {}, {}});
    RC_ASSERT(y == predictor.rankings(v, {3, {}, {}}));
    RC_ASSERT(y.size() == n * size);
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<double> cells = cells_of(choice, std::span(v).subspan(i * parts, parts), size);
      double best = -1e300;
      for (const Positions& other : all_permutations(size)) best = std::max(best, value_of(cells, other));
      RC_ASSERT(value_of(cells, std::span(y).subspan(i * size, size)) >=
                best - 1e-12 * scale * static_cast<double>(size));
    }
  }
}

RC_GTEST_PROP(PermutationPredictor, ExpectedLossAndMarginalsByEnumeration, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint32_t>(), 2);
  const std::size_t size = 2 + rng.below(4);
  for (const PositionLossChoice& choice : choices(size, rng)) {
    const std::size_t parts = choice.scores_items() ? size : size * size;
    const std::vector<double> v = random_scores(parts, std::pow(10, rng.uniform(-2, 2)), rng);
    const PermutationPredictor predictor(choice, size, Decoder::expected);
    const Positions y = predictor.rankings(v, {});
    const std::vector<double> p = predictor.ranking_marginals(v, {}), cells = cells_of(choice, v, size);
    const PositionLoss loss = choice.make(size);
    const std::vector<Positions> all = all_permutations(size);
    double top = -1e300, total = 0;
    for (const Positions& t : all) top = std::max(top, value_of(cells, t));
    std::vector<double> mass, meant(size * size);
    for (const Positions& t : all) total += mass.emplace_back(std::exp(value_of(cells, t) - top));
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t i = 0; i < size; ++i) meant[i * size + static_cast<std::size_t>(all[a][i])] += mass[a] / total;
    for (std::size_t e = 0; e < meant.size(); ++e) RC_ASSERT(std::abs(p[e] - meant[e]) <= 1e-9);
    const auto expected = [&](std::span<const std::int32_t> z) {
      double sum = 0;
      for (std::size_t a = 0; a < all.size(); ++a) sum += mass[a] / total * loss(all[a], z);
      return sum;
    };
    double least = 1e300;
    for (const Positions& z : all) least = std::min(least, expected(z));
    RC_ASSERT(expected(y) <= least + 1e-9);
  }
}

RC_GTEST_PROP(PermutationPredictor, MatchingsOfAnySizes, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint32_t>(), 3);
  std::vector<std::size_t> starts{0};
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0, n = 1 + rng.below(40); i < n; ++i) {
    sizes.push_back(1 + rng.below(6));
    starts.push_back(starts.back() + sizes.back() * sizes.back());
  }
  const std::vector<double> v = random_scores(starts.back(), 1, rng);
  const Groups pairs(starts);
  const PermutationPredictor predictor(PositionLossChoice::remembered("hamming", {}, 0), 0, Decoder::argmax);
  const Positions y = predictor.matchings(v, pairs, {1, {}, {}});
  RC_ASSERT(y == predictor.matchings(v, pairs, {3, {}, {}}));
  const std::vector<double> p = predictor.matching_marginals(v, pairs, {});
  RC_ASSERT(p.size() == v.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::span<const double> cells = std::span(v).subspan(starts[i], sizes[i] * sizes[i]);
    double best = -1e300;
    for (const Positions& other : all_permutations(sizes[i])) best = std::max(best, value_of(cells, other));
    RC_ASSERT(value_of(cells, std::span(y).subspan(at, sizes[i])) >= best - 1e-12);
    for (std::size_t r = 0; r < sizes[i]; ++r) {
      const auto row = std::span(p).subspan(starts[i] + r * sizes[i], sizes[i]);
      RC_ASSERT(std::abs(std::accumulate(row.begin(), row.end(), 0.0) - 1) <= 1e-9);
    }
    at += sizes[i];
  }
  RC_ASSERT(points_of(pairs).end(sizes.size() - 1) == at);
}

TEST(PermutationPredictor, RefusesPairsThatAreNoSquareAndSumsThatAreTooLong) {
  EXPECT_THAT(
      [] {
        points_of(Groups(std::vector<std::size_t>{0, 4, 7}));
      },
      ThrowsMessage<Error>(HasSubstr("matching 2 (counted from 1) has 3 rows")));
  EXPECT_THAT([] { points_of(Groups(std::vector<std::size_t>{0, 0})); }, ThrowsMessage<Error>(HasSubstr("matching 1")));
  const PermutationPredictor predictor(PositionLossChoice::remembered("hamming", {}, 0), 0, Decoder::argmax);
  const std::vector<double> v(1 + 17 * 17);
  EXPECT_THAT(
      [&] {
        predictor.matching_marginals(v, Groups(std::vector<std::size_t>{0, 1, 290}), {});
      },
      ThrowsMessage<Error>(HasSubstr("example 2 (counted from 1) has 17 items")));
}

TEST(PermutationPredictor, MeanLossIsWeighted) {
  const auto hamming = PositionLossChoice::remembered("hamming", {}, 0);
  const Groups items(std::vector<std::size_t>{0, 2, 5, 6});
  const Positions truth{0, 1, 2, 1, 0, 0}, predicted{1, 0, 2, 0, 1, 0};
  EXPECT_NEAR(mean_position_loss(hamming, items, truth, predicted, {}), (1 + 2.0 / 3 + 0) / 3, 1e-15);
  const std::vector<double> weight{1, 3, 4};
  EXPECT_NEAR(mean_position_loss(hamming, items, truth, predicted, weight), (1 + 2.0 + 0) / 8, 1e-15);
}

}  // namespace
}  // namespace m4n::detail

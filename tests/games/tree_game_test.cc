// Games on trees against a linear program over the marginal polytope, with bounds recomputed from the definition.
#include "games/tree_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "structures/chains/oracles.h"
#include "support/clp_chain.h"
#include "support/random_chain.h"
#include "support/random_costs.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::cost_families;
using test::CostFamily;
using test::random_cost;
using test::ScoreStyle;

// A chain as a tree, played from the uniform distribution.
struct Played {
  Played(const CostMatrix& cost, const Chain& chain, double share, const std::function<bool()>* stop = nullptr)
      : length_(chain.scores().length()) {
    const ChainScores v = chain.scores();
    const std::size_t labels = v.labels();
    const UnitCosts costs(cost, 0, UnitCosts::unit_of(cost), labels, labels);
    unit = costs.range() / static_cast<double>(length_);
    gap = share * costs.range();
    EXPECT_TRUE(ChainProblem::tree(v, nodes_));
    for (TreeNode& node : nodes_) node.costs = &costs;
    PaddedMatrix<double> own, nu;
    const PaddedRows<double> rows = own.shape(length_, labels), min_player = nu.shape(length_, labels);
    std::fill_n(min_player.data(), length_ * min_player.stride(), 0.0);
    for (std::size_t m = 0; m < length_; ++m) {
      for (std::size_t k = 0; k < labels; ++k) {
        rows(m, k) = ChainProblem::own(v, m, k);
        min_player(m, k) = 1 / static_cast<double>(labels);
      }
    }
    reached = game.solve({nodes_, std::as_const(own).view(), unit, gap, 1e3 * costs.range(), stop}, min_player);
    if (!game.known()) return;
    game.labellings(weight, sequence);
    bound(cost, v, min_player);
    expect_same_masses(labels);
  }
  // The masses of labels at the nodes are those of the labellings.
  void expect_same_masses(std::size_t labels) {
    std::vector<double> mu(length_ * labels);
    for (std::size_t j = 0; j < weight.size(); ++j)
      for (std::size_t m = 0; m < length_; ++m)
        mu[m * labels + static_cast<std::size_t>(sequence[j * length_ + m])] -= weight[j];
    std::vector<TreeMass> masses;
    game.masses(masses);
    for (const TreeMass& part : masses) {
      EXPECT_GT(part.mass, 0);
      mu[nodes_[part.node].position * labels + part.label] += part.mass;
    }
    for (const double x : mu) EXPECT_NEAR(x, 0, 1e-12);
  }
  void bound(const CostMatrix& cost, const ChainScores& v, PaddedRows<const double> nu) {
    const std::size_t labels = v.labels();
    std::vector<double> mu(length_ * labels);
    double total = 0;
    for (std::size_t j = 0; j < weight.size(); ++j) {
      EXPECT_GT(weight[j], 0);
      total += weight[j];
      const std::span<const std::int32_t> y(sequence.data() + j * length_, length_);
      lower += weight[j] * score(v, y);
      for (std::size_t m = 0; m < length_; ++m) mu[m * labels + static_cast<std::size_t>(y[m])] += weight[j];
    }
    EXPECT_NEAR(total, 1, 1e-12);
    PaddedMatrix<double> augmented;
    const PaddedRows<double> rows = augmented.shape(length_, labels);
    for (std::size_t m = 0; m < length_; ++m) {
      double least = INFINITY, mass = 0;
      for (std::size_t y = 0; y < labels; ++y) {
        double expected = 0;
        for (std::size_t t = 0; t < labels; ++t) expected += cost(t, y) * mu[m * labels + t];
        least = std::min(least, expected);
        EXPECT_GE(nu(m, y), 0);
        mass += nu(m, y);
      }
      EXPECT_NEAR(mass, 1, 1e-12);
      lower += least / static_cast<double>(length_);
      for (std::size_t t = 0; t < labels; ++t) {
        double charge = 0;
        for (std::size_t y = 0; y < labels; ++y) charge += cost(t, y) * nu(m, y);
        rows(m, t) = v.unary(m, t) + charge / static_cast<double>(length_);
      }
    }
    Viterbi viterbi;
    std::vector<std::int32_t> path(length_);
    upper = viterbi.solve({std::as_const(augmented).view(), v.transitions}, path);
    top = viterbi.solve(v, path);
  }

  TreeGame game;
  bool reached = false;
  double unit = 1, gap = 0, lower = 0, upper = 0, top = 0;
  std::vector<double> weight;
  std::vector<std::int32_t> sequence;

 private:
  std::size_t length_;
  std::vector<TreeNode> nodes_;
};

class TreeGames : public ::testing::TestWithParam<CostFamily> {};

TEST_P(TreeGames, AgreeWithClp) {
  std::mt19937_64 random(5);
  struct Shape {
    std::size_t length, labels;
  };
  for (const auto& [length, labels] :
       {Shape{1, 1}, Shape{1, 5}, Shape{2, 2}, Shape{3, 1}, Shape{6, 4}, Shape{4, 9}, Shape{9, 3}, Shape{12, 2}}) {
    for (const double relative : {0.0, 0.01, 0.1, 0.5, 2.0}) {
      for (const ScoreStyle style : {ScoreStyle::normal, ScoreStyle::integer}) {
        const CostMatrix cost = random_cost(GetParam(), labels, 1.0, random);
        const double range = UnitCosts::unit_of(cost);
        const Chain chain(length, labels, relative * range / static_cast<double>(length), style, random);
        const Played played(cost, chain, 1e-6);
        EXPECT_TRUE(played.reached) << length << " x " << labels << ", scores " << relative;
        EXPECT_LE(played.upper - played.lower, played.gap + 1e-12 * range);
        const double truth = test::clp_chain_value(cost, chain.scores(), played.top);
        EXPECT_GE(played.upper, truth - 1e-8 * range);
        EXPECT_LE(played.lower, truth + 1e-8 * range);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Costs, TreeGames, ::testing::ValuesIn(cost_families));

TEST(TreeGame, TakesAsManyIterationsWhateverTheLength) {
  std::mt19937_64 random(6);
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  for (const std::size_t length : {10, 100, 500}) {
    const Chain chain(length, 3, 0.1 / static_cast<double>(length), ScoreStyle::normal, random);
    const Played played(cost, chain, 1e-4);
    EXPECT_TRUE(played.reached);
    EXPECT_LE(played.upper - played.lower, played.gap);
    EXPECT_LE(played.game.iterations(), 30) << length;
    EXPECT_LE(played.weight.size(), 1 + 2 * 3 * length);
  }
}

TEST(TreeGame, StopsAfterTheIterationInWhichItIsTold) {
  std::mt19937_64 random(7);
  const CostMatrix cost = CostMatrix::named("zero-one", 6);
  const Chain chain(20, 6, 0.01, ScoreStyle::normal, random);
  int questions = 0;
  const std::function<bool()> stop = [&] { return ++questions == 4; };
  const Played played(cost, chain, 1e-9, &stop);
  EXPECT_FALSE(played.reached);
  EXPECT_EQ(questions, 4);
  EXPECT_LE(played.game.iterations(), 4);
  EXPECT_LE(played.lower, played.upper);
}

}  // namespace
}  // namespace m4n::detail

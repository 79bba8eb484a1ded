// The agenda brings every block back in exactly the sweep it was put off to, and the mean of the weights follows them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "m4n/dataset.h"
#include "solvers/linear_scorer.h"
#include "solvers/prox_ascent.h"
#include "solvers/recent_mean.h"

namespace m4n::detail {
namespace {

TEST(Agenda, BringsEveryBlockBackWhenItIsDue) {
  constexpr std::size_t blocks = 50;
  Rng rng(1);
  Agenda agenda(blocks);
  std::vector<std::size_t> due(blocks, 0);  // the sweep each block was put off to
  std::vector<std::uint32_t> now;
  for (std::size_t sweep = 0; sweep < 1000; ++sweep) {
    agenda.begin_sweep(now);
    std::sort(now.begin(), now.end());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < blocks; ++i)
      if (due[i] == sweep) expected.push_back(i);
    ASSERT_EQ(now, expected) << sweep;
    for (const std::uint32_t i : now) {
      const std::size_t rest = rng.below(3) == 0 ? rng.below(Agenda::longest_rest + 1) : 0;
      agenda.add(i, rest);
      due[i] = sweep + 1 + rest;
    }
  }
}

TEST(Agenda, ASweepMayBeEmpty) {
  Agenda agenda(1);
  std::vector<std::uint32_t> now;
  agenda.begin_sweep(now);
  agenda.add(0, 1);
  agenda.begin_sweep(now);
  EXPECT_TRUE(now.empty());
  agenda.begin_sweep(now);
  EXPECT_EQ(now, std::vector<std::uint32_t>{0});
}

TEST(RecentMean, ForgetsWhatIsAnEpochAgo) {
  constexpr std::size_t n = 400, k = 3;
  const DenseMatrix x{n, 2, std::vector<double>(n * 2, 1.0)};
  LinearScorer scorer(x.view(), k, true);
  const std::vector<std::int32_t> label(n, 0);
  const std::vector<double> weight(n, 1.0 / n);
  const Problem<LinearScorer> problem{&scorer, label, Groups(n), weight, 1};
  RecentMean<LinearScorer> mean(problem);
  ASSERT_NE(&mean.weights(), &scorer);
  const auto first_weight = [&] { return mean.weights().raw()[0]; };
  scorer.raw()[0] = 8;
  EXPECT_EQ(first_weight(), 0);
  mean.follow(0.25);
  EXPECT_EQ(first_weight(), 2);
  mean.follow(0.5);
  EXPECT_EQ(first_weight(), 5);
  mean.follow(3);
  EXPECT_EQ(first_weight(), 8);
  scorer.raw()[0] = -1;
  mean.follow(1);
  EXPECT_EQ(mean.weights().raw(), scorer.raw());
}

TEST(RecentMean, IsThePresentWhereAnAverageWouldCostTooMuch) {
  // One entry per example in a vocabulary of 1000: a pass costs less than the weights are long.
  constexpr std::size_t n = 500, d = 1000;
  SparseMatrix x;
  x.rows = n;
  x.cols = d;
  for (std::size_t i = 0; i < n; ++i) {
    x.column.push_back(static_cast<std::uint32_t>(i));
    x.value.push_back(1);
    x.row_start.push_back(i + 1);
  }
  LinearScorer scorer(x.view(), 3, false);
  const std::vector<std::int32_t> label(n, 0);
  const std::vector<double> weight(n, 1.0 / n);
  const Problem<LinearScorer> problem{&scorer, label, Groups(n), weight, 1};
  RecentMean<LinearScorer> mean(problem);
  scorer.raw()[0] = 5;
  mean.follow(0.5);
  EXPECT_EQ(&mean.weights(), &scorer);
}

}  // namespace
}  // namespace m4n::detail

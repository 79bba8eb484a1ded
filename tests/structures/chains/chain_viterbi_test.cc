// Viterbi and the K best paths against all labellings of small chains.
#include "structures/chains/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/random_chain.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::enumerable_shapes;
using test::for_labellings;
using test::score_styles;
using test::ScoreStyle;

using Labels = std::vector<std::int32_t>;

// What scores of this scale can lose: a few roundings for every term.
double rounding(const Chain& chain, double scale) {
  return 1e-15 * scale * static_cast<double>(4 * chain.scores().length() + 8);
}

TEST(ChainScore, IsTheSumOfItsDefinition) {
  std::mt19937_64 random(1);
  for (const auto& [length, labels] : enumerable_shapes) {
    const Chain chain(length, labels, 1.0, ScoreStyle::normal, random);
    Labels y(length);
    for (auto& label : y) label = static_cast<std::int32_t>(random() % labels);
    EXPECT_NEAR(score(chain.scores(), y), static_cast<double>(chain.score(y)), 1e-13);
  }
}

TEST(ChainScore, EmptyStartAndEndAreZero) {
  PaddedMatrix<double> table, unary;
  table.shape(2, 2)(0, 1) = 5;
  unary.shape(2, 2)(0, 0) = 1;
  Transitions transitions;
  transitions.prepare(std::as_const(table).view(), {}, {});
  const ChainScores v{std::as_const(unary).view(), &transitions};
  EXPECT_EQ(score(v, Labels{0, 1}), 6);
  EXPECT_EQ(score(v, Labels{1, 1}), 0);
}

TEST(Viterbi, FindsTheBestOfAllLabellings) {
  std::mt19937_64 random(2);
  Viterbi viterbi;
  for (const auto& [length, labels] : enumerable_shapes) {
    for (const ScoreStyle style : score_styles) {
      for (const double scale : {1.0, 1e-9, 1e6}) {
        const Chain chain(length, labels, scale, style, random);
        FloatTransitions in_float;
        in_float.prepare(chain.transitions());
        long double best = -1e300L;
        Labels first(length);
        for_labellings(length, labels, [&](const Labels& y) {
          const long double s = chain.score(y);
          if (s > best) {
            best = s;
            first = y;
          }
        });
        Labels y(length, -1);
        const double value = viterbi.solve(chain.scores(), y);
        EXPECT_NEAR(value, static_cast<double>(best), rounding(chain, scale) * 4);
        EXPECT_EQ(value, score(chain.scores(), y));
        // Integers of scale 1 are summed without rounding: ties are ties, also in float.
        const bool exact = scale == 1.0 && style != ScoreStyle::normal && style != ScoreStyle::no_transitions;
        if (exact) {
          EXPECT_EQ(y, first);
        }
        Labels fast(length, -1);
        const double near = viterbi.solve_in_float(chain.scores(), in_float, fast);
        EXPECT_EQ(near, score(chain.scores(), fast));
        EXPECT_LE(near, value + rounding(chain, scale));
        EXPECT_GE(near, value - 1e-6 * scale * static_cast<double>(4 * length));
        if (exact) {
          EXPECT_EQ(fast, first);
        }
      }
    }
  }
}

TEST(Viterbi, ReadsNoPaddingOfTheUnaryScores) {
  std::mt19937_64 random(3);
  Viterbi viterbi;
  for (const std::size_t labels : {1, 7, 9, 17, 26}) {
    Chain chain(6, labels, 1.0, ScoreStyle::normal, random);
    FloatTransitions in_float;
    in_float.prepare(chain.transitions());
    Labels plain(6), padded(6), fast(6);
    viterbi.solve(chain.scores(), plain);
    for (const double padding : {1e3, kernels::padding_score}) {
      for (std::size_t m = 0; m < 6; ++m)
        std::fill(chain.unary().row(m) + labels, chain.unary().row(m) + chain.unary().stride(), padding);
      viterbi.solve(chain.scores(), padded);
      viterbi.solve_in_float(chain.scores(), in_float, fast);
      EXPECT_EQ(plain, padded);
      EXPECT_EQ(plain, fast);
    }
  }
}

TEST(Viterbi, AgreesWithAPlainRecursionOnLongChains) {
  std::mt19937_64 random(4);
  Viterbi viterbi;
  for (const std::size_t labels : {2, 5, 8, 16, 23, 26, 33, 100}) {
    for (const std::size_t length : {1, 2, 50, 200}) {
      const Chain chain(length, labels, 1.0, ScoreStyle::normal, random);
      const ChainScores v = chain.scores();
      std::vector<double> forward(labels), next(labels);
      for (std::size_t k = 0; k < labels; ++k) forward[k] = v.transitions->start(k) + v.unary(0, k);
      for (std::size_t m = 1; m < length; ++m) {
        for (std::size_t k = 0; k < labels; ++k) {
          double best = -1e300;
          for (std::size_t j = 0; j < labels; ++j) best = std::max(best, forward[j] + (*v.transitions)(j, k));
          next[k] = best + v.unary(m, k);
        }
        forward.swap(next);
      }
      for (std::size_t k = 0; k < labels; ++k) forward[k] += v.transitions->end(k);
      Labels y(length);
      EXPECT_NEAR(viterbi.solve(v, y), *std::max_element(forward.begin(), forward.end()), 1e-11);
    }
  }
}

TEST(KBest, AreTheFirstOfAllLabellingsInOrder) {
  std::mt19937_64 random(5);
  KBest best;
  Viterbi viterbi;
  for (const auto& [length, labels] : enumerable_shapes) {
    for (const ScoreStyle style : score_styles) {
      const Chain chain(length, labels, 1.0, style, random);
      std::vector<long double> all;
      for_labellings(length, labels, [&](const Labels& y) { all.push_back(chain.score(y)); });
      std::sort(all.rbegin(), all.rend());
      for (const std::size_t count : {0, 1, 2, 7, 40}) {
        best.solve(chain.scores(), count);
        ASSERT_EQ(best.size(), std::min(count, all.size()));
        std::vector<Labels> seen;
        for (std::size_t rank = 0; rank < best.size(); ++rank) {
          EXPECT_NEAR(best.score(rank), static_cast<double>(all[rank]), 1e-12);
          EXPECT_EQ(best.score(rank), score(chain.scores(), best.path(rank)));
          seen.emplace_back(best.path(rank).begin(), best.path(rank).end());
        }
        if (count > 0) {
          Labels y(length);
          viterbi.solve(chain.scores(), y);
          EXPECT_EQ(y, seen[0]);
        }
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
      }
    }
  }
}

}  // namespace
}  // namespace m4n::detail

// Sum-product against sums over all labellings of small chains, and its invariants on long ones.
#include "structures/chains/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
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

struct Answer {
  double log_partition = 0;
  std::vector<double> marginal, count;
};

Answer by_enumeration(const Chain& chain) {
  const std::size_t length = chain.scores().length(), labels = chain.scores().labels();
  long double top = -1e300L, total = 0;
  for_labellings(length, labels, [&](const Labels& y) { top = std::max(top, chain.score(y)); });
  std::vector<long double> marginal(length * labels), count(labels * labels);
  for_labellings(length, labels, [&](const Labels& y) {
    const long double p = std::exp(chain.score(y) - top);
    total += p;
    for (std::size_t m = 0; m < length; ++m) marginal[m * labels + static_cast<std::size_t>(y[m])] += p;
    for (std::size_t m = 1; m < length; ++m)
      count[static_cast<std::size_t>(y[m - 1]) * labels + static_cast<std::size_t>(y[m])] += p;
  });
  Answer out{static_cast<double>(top + std::log(total)), {}, {}};
  for (const long double p : marginal) out.marginal.push_back(static_cast<double>(p / total));
  for (const long double p : count) out.count.push_back(static_cast<double>(p / total));
  return out;
}

struct Solver {
  // Solves and gathers the answer without its padding, which must be zero.
  Answer solve(const Chain& chain) {
    const ChainScores v = chain.scores();
    exp.prepare(chain.transitions());
    Answer out;
    out.log_partition = sum_product.solve(v, exp);
    PaddedMatrix<double> count;
    sum_product.transition_counts(v, exp, count.shape(v.labels(), v.labels()));
    gather(sum_product.marginals(), out.marginal);
    gather(std::as_const(count).view(), out.count);
    return out;
  }
  static void gather(PaddedRows<const double> rows, std::vector<double>& out) {
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      out.insert(out.end(), rows.row(r), rows.row(r) + rows.columns());
      for (std::size_t c = rows.columns(); c < rows.stride(); ++c) EXPECT_EQ(rows.row(r)[c], 0);
    }
  }
  ExpTransitions exp;
  SumProduct sum_product;
};

TEST(SumProduct, EqualsTheSumOverAllLabellings) {
  std::mt19937_64 random(1);
  Solver solver;
  for (const auto& [length, labels] : enumerable_shapes) {
    if (std::pow(labels, length) > 2e4) continue;
    for (const ScoreStyle style : score_styles) {
      for (const double scale : {1e-9, 1.0, 30.0, 1e3, 1e6}) {
        const Chain chain(length, labels, scale, style, random);
        const Answer expected = by_enumeration(chain), found = solver.solve(chain);
        // Huge scores leave their own rounding in the exponents.
        const double slack = 1e-13 + 1e-14 * scale * static_cast<double>(length);
        EXPECT_NEAR(found.log_partition, expected.log_partition, slack + 1e-15 * std::abs(expected.log_partition));
        for (std::size_t e = 0; e < expected.marginal.size(); ++e)
          EXPECT_NEAR(found.marginal[e], expected.marginal[e], slack);
        for (std::size_t e = 0; e < expected.count.size(); ++e)
          EXPECT_NEAR(found.count[e], expected.count[e], slack * static_cast<double>(length));
        if (scale <= 30) {
          EXPECT_FALSE(solver.sum_product.used_logarithms());
        }
      }
    }
  }
}

// Every label at every position keeps its relative precision, however small its probability.
TEST(SumProduct, SmallMarginalsAreRelativelyExact) {
  std::mt19937_64 random(2);
  Solver solver;
  for (const double scale : {30.0, 60.0, 200.0}) {
    const Chain chain(4, 5, scale, ScoreStyle::normal, random);
    const Answer expected = by_enumeration(chain), found = solver.solve(chain);
    for (std::size_t e = 0; e < expected.marginal.size(); ++e) {
      if (expected.marginal[e] > 1e-280) {
        EXPECT_NEAR(found.marginal[e] / expected.marginal[e], 1, 1e-10) << "scale " << scale;
      }
    }
  }
}

TEST(SumProduct, LinearAndLogarithmicSpaceMeetAtTheLimit) {
  std::mt19937_64 random(3);
  Solver solver;
  Chain chain(20, 6, 1.0, ScoreStyle::normal, random);
  for (std::size_t j = 0; j < 6; ++j) chain.table()(j, (j + 1) % 6) = -550;
  chain.prepare();
  const Answer linear = solver.solve(chain);
  EXPECT_FALSE(solver.sum_product.used_logarithms());
  // A label that plays no role stretches the spread of a row beyond the limit.
  chain.unary()(3, 2) = -1e4;
  const Answer far = solver.solve(chain);
  EXPECT_TRUE(solver.sum_product.used_logarithms());
  chain.unary()(3, 2) = -40;
  const Answer near = solver.solve(chain);
  EXPECT_FALSE(solver.sum_product.used_logarithms());
  EXPECT_NEAR(far.log_partition, near.log_partition, 1e-9);
  for (std::size_t e = 0; e < far.marginal.size(); ++e) EXPECT_NEAR(far.marginal[e], near.marginal[e], 1e-9);
  for (std::size_t e = 0; e < far.count.size(); ++e) EXPECT_NEAR(far.count[e], near.count[e], 1e-9);
  EXPECT_GT(std::abs(linear.log_partition - near.log_partition), 1e-6);
}

TEST(SumProduct, LongChainsNeitherOverflowNorLoseMass) {
  std::mt19937_64 random(4);
  Solver solver;
  for (const double scale : {0.0, 1.0, 20.0, 100.0, 1e5}) {
    for (const std::size_t length : {200, 1000}) {
      const Chain chain(length, 9, scale, ScoreStyle::normal, random);
      const Answer found = solver.solve(chain);
      ASSERT_TRUE(std::isfinite(found.log_partition));
      if (scale == 0) {
        EXPECT_NEAR(found.log_partition, static_cast<double>(length) * std::log(9.0), 1e-9);
      }
      for (std::size_t m = 0; m < length; ++m) {
        const double* row = found.marginal.data() + m * 9;
        EXPECT_NEAR(std::accumulate(row, row + 9, 0.0), 1, 1e-11);
      }
      // Transitions out of and into a label happen as often as the label itself.
      for (std::size_t j = 0; j < 9; ++j) {
        double out = 0, in = 0, leaving = 0, entering = 0;
        for (std::size_t k = 0; k < 9; ++k) {
          out += found.count[j * 9 + k];
          in += found.count[k * 9 + j];
        }
        for (std::size_t m = 0; m < length; ++m) {
          if (m + 1 < length) leaving += found.marginal[m * 9 + j];
          if (m > 0) entering += found.marginal[m * 9 + j];
        }
        EXPECT_NEAR(out, leaving, 1e-9 * static_cast<double>(length));
        EXPECT_NEAR(in, entering, 1e-9 * static_cast<double>(length));
      }
    }
  }
}

}  // namespace
}  // namespace m4n::detail

// The kernels of chains on every vector width that the machine has.
#include "structures/chains/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <vector>

#include "structures/chains/space.h"
#include "support/random_chain.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::ScoreStyle;

void use_targets(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// body() once for every target, the best of the machine last.
template <class Body>
void on_every_target(Body&& body) {
  use_targets(0);
  for (std::int64_t left = hwy::SupportedTargets(); left != 0;) {
    const std::int64_t target = left & -left;
    left -= target;
    use_targets(target);
    body(hwy::TargetName(target));
  }
  use_targets(0);
}

TEST(ChainKernels, ViterbiHasTheSameBitsOnEveryTarget) {
  std::mt19937_64 random(1);
  for (const std::size_t labels : {1, 3, 8, 9, 17, 22, 26, 41, 70}) {
    const Chain chain(11, labels, 1.0, ScoreStyle::normal, random);
    FloatTransitions in_float;
    in_float.prepare(chain.transitions());
    std::vector<std::vector<std::int32_t>> exact, fast;
    on_every_target([&](const char*) {
      Viterbi viterbi;
      exact.emplace_back(11);
      fast.emplace_back(11);
      viterbi.solve(chain.scores(), exact.back());
      viterbi.solve_in_float(chain.scores(), in_float, fast.back());
    });
    for (const auto& path : exact) EXPECT_EQ(path, exact[0]);
    for (const auto& path : fast) EXPECT_EQ(path, fast[0]);
  }
}

TEST(ChainKernels, SumProductAgreesOnEveryTarget) {
  std::mt19937_64 random(2);
  for (const std::size_t labels : {1, 3, 8, 9, 22, 26, 41}) {
    for (const double scale : {1.0, 1000.0}) {
      const Chain chain(7, labels, scale, ScoreStyle::normal, random);
      std::vector<double> log_partition, first;
      on_every_target([&](const char* target) {
        ExpTransitions exp;
        exp.prepare(chain.transitions());
        SumProduct sum_product;
        log_partition.push_back(sum_product.solve(chain.scores(), exp));
        EXPECT_NEAR(log_partition.back(), log_partition[0], 1e-12 * scale) << target;
        PaddedMatrix<double> count;
        sum_product.transition_counts(chain.scores(), exp, count.shape(labels, labels));
        std::vector<double> all;
        for (std::size_t m = 0; m < 7; ++m)
          for (std::size_t k = 0; k < labels; ++k) all.push_back(sum_product.marginals()(m, k));
        for (std::size_t j = 0; j < labels; ++j)
          for (std::size_t k = 0; k < labels; ++k) all.push_back(count.view()(j, k));
        if (first.empty()) first = all;
        for (std::size_t e = 0; e < all.size(); ++e) EXPECT_NEAR(all[e], first[e], 1e-11 * scale) << target;
      });
    }
  }
}

TEST(ChainKernels, LogSumExpIsThatOfPlainLoops) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const std::size_t labels : {1, 5, 8, 13, 26}) {
    for (const double scale : {0.0, 1.0, 1e5}) {
      const Chain chain(1, labels, scale, ScoreStyle::normal, random);
      AlignedVector<double> from(row_stride<double>(labels)), out(from);
      for (double& x : from) x = scale * normal(random);
      on_every_target([&](const char* target) {
        kernels::log_sum_exp(from.data(), chain.transitions().rows().from_to, out);
        for (std::size_t k = 0; k < labels; ++k) {
          long double top = -1e300L, sum = 0;
          for (std::size_t j = 0; j < labels; ++j)
            top = std::max(top, static_cast<long double>(from[j]) + chain.transitions()(j, k));
          for (std::size_t j = 0; j < labels; ++j)
            sum += std::exp(static_cast<long double>(from[j]) + chain.transitions()(j, k) - top);
          EXPECT_NEAR(out[k], static_cast<double>(top + std::log(sum)), 1e-13 + 1e-15 * scale) << target;
        }
      });
    }
  }
}

TEST(ChainKernels, RowsAreReadWithoutTheirPadding) {
  for (const std::size_t columns : {1, 7, 8, 9, 15}) {
    AlignedVector<double> in(row_stride<double>(columns), 1e6), out(in);
    for (std::size_t c = 0; c < columns; ++c) in[c] = -static_cast<double>(c) - 1;
    on_every_target([&](const char* target) {
      const kernels::Extent extent = kernels::row_extent(in, columns);
      EXPECT_EQ(extent.most, -1) << target;
      EXPECT_EQ(extent.least, -static_cast<double>(columns)) << target;
      kernels::exp_row(in, columns, -1, out);
      for (std::size_t c = 0; c < out.size(); ++c)
        EXPECT_NEAR(out[c], c < columns ? std::exp(-static_cast<double>(c)) : 0.0, 1e-15) << target;
    });
  }
}

}  // namespace
}  // namespace m4n::detail

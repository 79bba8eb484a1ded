// Properties that every block-dual solver must have, for every surrogate and loss, on random problems: weak duality at
// every certificate, a dual that never falls when steps are exact, one optimum whichever solver finds it.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "solvers/gbcfw.h"
#include "solvers/linear_scorer.h"
#include "solvers/prox_ascent.h"
#include "structures/classes/surrogates.h"

namespace m4n::detail {
namespace {

using Scorer = LinearScorer;

CostMatrix cost_of(const std::string& name, std::size_t k, Rng& rng) {
  if (name != "random") return CostMatrix::named(name, k);
  std::vector<double> values(k * k, 0.0);
  std::vector<std::string> classes;
  for (std::size_t t = 0; t < k; ++t) {
    classes.push_back(std::to_string(t));
    for (std::size_t p = 0; p < k; ++p)
      if (p != t) values[t * k + p] = rng.uniform(0.2, 3);
  }
  return CostMatrix::from_values(values, k, "matrix", classes, "test");
}

struct Data {
  DenseMatrix x;
  std::vector<std::int32_t> y;
  std::vector<double> weight;
  CostMatrix cost;
};

Data random_data(const std::string& loss, Rng& rng, bool large = false) {
  const std::size_t k = 3 + rng.below(4), d = 1 + rng.below(4), n = large ? 600 : 1 + rng.below(40);
  Data out{{n, d, {}}, {}, {}, cost_of(loss, k, rng)};
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) out.x.values.push_back(i % 7 == 3 ? 0.0 : rng.normal());
    out.y.push_back(static_cast<std::int32_t>(rng.below(k)));
    out.weight.push_back(rng.uniform(0.5, 2));
    total += out.weight.back();
  }
  for (double& w : out.weight) w /= total;
  return out;
}

Problem<Scorer> problem_of(const Data& data, Scorer& scorer, double lambda) {
  return {&scorer, data.y, Groups(data.y.size()), data.weight, lambda};
}

// Runs `body(surrogate)` for each surrogate that exists for this loss.
template <class Body>
void for_each_surrogate(const CostMatrix& cost, Body&& body) {
  body(Margin(cost));
  body(Crf(cost.k()));
  switch (cost.kind()) {
    case LossKind::zero_one:
      body(ZeroOneMaxMin(cost));
      body(Smoothed(ZeroOneMaxMin(cost), 0.7));
      break;
    case LossKind::absolute:
      body(AbsoluteMaxMin(cost));
      body(Smoothed(AbsoluteMaxMin(cost), 0.7));
      break;
    default:
      body(MatrixMaxMin(cost));
      body(Smoothed(MatrixMaxMin(cost, 10'000), 0.7));
  }
}

class BlockDual : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockDual, ProxAscentNeverLowersTheDualAndNeverBreaksWeakDuality) {
  Rng rng(7);
  for (int trial = 0; trial < 12; ++trial) {
    // With hundreds of examples the solver returns the mean of recent weights, from which the next call must not start.
    const Data data = random_data(GetParam(), rng, trial % 6 == 5);
    const double lambda = std::exp(rng.uniform(-8, 2));
    for_each_surrogate(data.cost, [&](const auto& surrogate) {
      Scorer scorer(data.x.view(), data.cost.k(), trial % 2 == 0);
      const auto problem = problem_of(data, scorer, lambda);
      DualPoint dual(problem, surrogate);
      double last = -1e300, least_primal = 1e300;
      const int epochs = data.y.size() > 100 ? 5 : 1;  // of a call
      for (int call = 0; call < 15; ++call) {
        const SolveResult r =
            prox_ascent(problem, surrogate, dual, {0, epochs, 0, static_cast<std::uint64_t>(call)}, Context{1, {}, {}});
        EXPECT_GE(r.certificate.dual, last - 1e-11 * (1 + std::abs(last)));
        last = r.certificate.dual;
        least_primal = std::min(least_primal, r.certificate.primal);
        EXPECT_GE(least_primal, last - 1e-11 * (1 + std::abs(last)));
      }
    });
  }
}

TEST_P(BlockDual, LineSearchNeverLowersTheDual) {
  Rng rng(8);
  for (int trial = 0; trial < 8; ++trial) {
    const Data data = random_data(GetParam(), rng);
    for_each_surrogate(data.cost, [&](const auto& surrogate) {
      Scorer scorer(data.x.view(), data.cost.k(), true);
      const auto problem = problem_of(data, scorer, 0.05);
      DualPoint dual(problem, surrogate);
      double last = -1e300;
      for (int epoch = 0; epoch < 10; ++epoch) {
        const SolveResult r = gbcfw(problem, surrogate, dual, {0, 1, 0, static_cast<std::uint64_t>(epoch)},
                                    {true, false}, Context{1, {}, {}});
        EXPECT_GE(r.certificate.dual, last - 1e-11 * (1 + std::abs(last)));
        EXPECT_GE(r.certificate.primal, r.certificate.dual - 1e-11);
        last = r.certificate.dual;
      }
    });
  }
}

TEST_P(BlockDual, EverySolverFindsTheSameOptimum) {
  Rng rng(9);
  for (int trial = 0; trial < 4; ++trial) {
    const Data data = random_data(GetParam(), rng);
    const double lambda = 0.2;
    for_each_surrogate(data.cost, [&](const auto& surrogate) {
      const auto solve = [&](auto&& solver) {
        Scorer scorer(data.x.view(), data.cost.k(), true);
        const auto problem = problem_of(data, scorer, lambda);
        DualPoint dual(problem, surrogate);
        return solver(problem, dual).certificate;
      };
      const Context context{1, {}, {}};
      const Certificate prox = solve([&](const auto& problem, auto& dual) {
        return prox_ascent(problem, surrogate, dual, {1e-8, 20000, 0, 1}, context);
      });
      const Certificate search = solve([&](const auto& problem, auto& dual) {
        return gbcfw(problem, surrogate, dual, {1e-3, 5000, 0, 1}, {true, false}, context);
      });
      const Certificate paper = solve([&](const auto& problem, auto& dual) {
        return gbcfw(problem, surrogate, dual, {1e-2, 5000, 0, 1}, {false, true}, context);
      });
      EXPECT_TRUE(prox.converged) << prox.relative_gap();
      EXPECT_TRUE(search.converged) << search.relative_gap();
      EXPECT_TRUE(paper.converged) << paper.relative_gap();
      // Each bracket [dual, primal] holds the optimum, so any two of them overlap.
      for (const Certificate* other : {&search, &paper}) {
        EXPECT_LE(other->dual, prox.primal + 1e-9);
        EXPECT_GE(other->primal, prox.dual - 1e-9);
      }
    });
  }
}

// The paper's approximate oracle: its certificate must hold all the same, and more iterations must help.
TEST_P(BlockDual, MirrorProxIsCertifiedFromAbove) {
  Rng rng(10);
  for (int trial = 0; trial < 3; ++trial) {
    const Data data = random_data(GetParam(), rng);
    const SimplexLoss loss(data.cost);
    const Context context{1, {}, {}};
    const auto check = [&](auto maxmin) {
      Scorer scorer(data.x.view(), data.cost.k(), true);
      const auto problem = problem_of(data, scorer, 0.2);
      DualPoint exact_dual(problem, maxmin);
      const Certificate exact = prox_ascent(problem, maxmin, exact_dual, {1e-7, 20000, 0, 1}, context).certificate;
      double gap[2];
      for (const int which : {0, 1}) {
        const PaperMaxMin paper(maxmin, loss, which == 0 ? 2 : 200, true);
        scorer.reset();
        DualPoint dual(problem, paper);
        const Certificate c = gbcfw(problem, paper, dual, {1e-9, 300, 0, 1}, {false, true}, context).certificate;
        EXPECT_GE(c.primal, exact.dual - 1e-9);
        EXPECT_LE(c.dual, exact.primal + 1e-9);
        gap[which] = c.gap();
      }
      EXPECT_LE(gap[1], gap[0] + 1e-9);
      EXPECT_LE(gap[1], 0.1 * (1 + exact.primal));
    };
    switch (data.cost.kind()) {
      case LossKind::zero_one:
        check(ZeroOneMaxMin(data.cost));
        break;
      case LossKind::absolute:
        check(AbsoluteMaxMin(data.cost));
        break;
      default:
        check(MatrixMaxMin(data.cost));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, BlockDual, ::testing::Values("zero-one", "absolute", "squared", "random"),
                         [](const auto& p) { return std::string(p.param) == "zero-one" ? "zero_one" : p.param; });

}  // namespace
}  // namespace m4n::detail

// The smooth solver beside block ascent, for every surrogate and kind of costs, dense, sparse and kernel features: one
// optimum, values and gradients that belong together, the same digits for any number of threads, and obedience.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/fit.h"
#include "solvers/linear_scorer.h"
#include "solvers/primal_loss.h"
#include "solvers/smooth.h"
#include "structures/classes/surrogates.h"
#include "structures/label_sets/surrogates.h"
#include "support/random_dataset.h"

namespace m4n::detail {
namespace {

TrainOptions options_with(SurrogateKind surrogate, SolverKind solver, double lambda, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.solver = solver;
  o.lambda = lambda;
  o.tol = tol;
  o.epochs = 20'000;
  return o;
}

void expect_one_optimum(const Dataset& data, TrainOptions o) {
  o.solver = SolverKind::smooth;
  const FitResult smooth = fit(data, o);
  o.solver = SolverKind::prox;
  const FitResult ascent = fit(data, o);
  const Certificate &a = smooth.report.certificate, &b = ascent.report.certificate;
  EXPECT_TRUE(a.converged) << a.relative_gap();
  EXPECT_TRUE(b.converged) << b.relative_gap();
  const double scale = std::abs(b.primal) + 1e-300;
  EXPECT_LE(a.dual, b.primal + 1e-10 * scale);
  EXPECT_LE(b.dual, a.primal + 1e-10 * scale);
  EXPECT_NEAR(a.primal, b.primal, 2 * o.tol * scale);
}

class SmoothSolver : public ::testing::TestWithParam<SurrogateKind> {};

TEST_P(SmoothSolver, FindsTheOptimumOfBlockAscent) {
  Rng rng(1);
  for (const std::size_t k : {2, 4}) {
    for (const char* loss : {"zero-one", "absolute", "squared"}) {
      for (const FeatureKind features : {FeatureKind::linear, FeatureKind::rbf}) {
        for (const double unit : {1e-6, 1.0, 1e6}) {
          SCOPED_TRACE(::testing::Message() << loss << " k " << k << " unit " << unit << " " << to_string(features));
          Dataset data = test::random_dataset(rng, k == 4 ? 60 : 25, 3, k);
          if (k == 2) data.x = test::to_sparse(std::get<DenseMatrix>(data.x));
          TrainOptions o = options_with(GetParam(), SolverKind::smooth, 0.02, 1e-6);
          if (unit != 1) {
            for (std::size_t t = 0; t < k; ++t)
              for (std::size_t p = 0; p < k; ++p)
                o.cost.push_back(unit * (t == p ? 0 : 1 + std::abs(double(t) - double(p)) + 0.5 * rng.uniform()));
          } else {
            o.loss = loss;
          }
          // Scores have the unit of the costs, and lambda times their square has it once.
          if (GetParam() != SurrogateKind::crf) o.lambda = 0.02 / unit;
          o.features = features;
          expect_one_optimum(data, o);
        }
      }
    }
  }
}

TEST_P(SmoothSolver, TakesOneExampleDuplicatesAndWeights) {
  Rng rng(2);
  for (const std::size_t n : {1, 2, 30}) {
    Dataset data = test::random_dataset(rng, n, 2, 3);
    auto& x = std::get<DenseMatrix>(data.x).values;
    for (std::size_t j = 2; j < std::min<std::size_t>(x.size(), 20); ++j) x[j] = x[j % 2];
    for (std::size_t i = 0; i < n; ++i) data.weight.push_back(i % 3 == 0 ? 5 : rng.uniform(0.1, 1));
    TrainOptions o = options_with(GetParam(), SolverKind::smooth, 0.1, 1e-6);
    o.standardize = false;
    expect_one_optimum(data, o);
  }
}

TEST_P(SmoothSolver, GivesTheSameDigitsWithAnyNumberOfThreads) {
  Rng rng(3);
  const Dataset data = test::random_dataset(rng, 30'000, 40, 3);  // enough work for several threads
  TrainOptions o = options_with(GetParam(), SolverKind::smooth, 1e-3, 1e-3);
  o.epochs = 12;
  const std::string expected = fit(data, o, {1, {}, {}}).model.to_bytes();
  for (const unsigned threads : {2U, 3U, 8U}) EXPECT_EQ(fit(data, o, {threads, {}, {}}).model.to_bytes(), expected);
}

TEST_P(SmoothSolver, StopsInsideAPassWhenToldTo) {
  Rng rng(4);
  const Dataset data = test::random_dataset(rng, 30'000, 40, 3);
  const TrainOptions o = options_with(GetParam(), SolverKind::smooth, 1e-6, 1e-12);
  for (const int patience : {0, 3, 15}) {
    std::atomic<int> questions{0};
    Context context{2, {}, [&] { return ++questions > patience; }};
    const FitResult stopped = fit(data, o, context);
    EXPECT_TRUE(stopped.report.interrupted);
    EXPECT_LE(questions, patience + 60);
    EXPECT_LE(stopped.report.certificate.dual, stopped.report.certificate.primal);
    EXPECT_TRUE(std::isfinite(stopped.report.certificate.primal));
  }
}

INSTANTIATE_TEST_SUITE_P(Surrogates, SmoothSolver,
                         ::testing::Values(SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf),
                         [](const auto& p) { return std::string(to_string(p.param)); });

// Finite differences of the smoothed loss along random directions.
template <class S>
void expect_right_gradient(const S& surrogate, std::size_t parts, std::span<const std::int32_t> label,
                           std::size_t labels_each) {
  Rng rng(5);
  const std::size_t n = label.size() / labels_each, d = 3;
  DenseMatrix x{n, d, {}};
  for (std::size_t e = 0; e < n * d; ++e) x.values.push_back(rng.normal());
  const std::vector<double> weight(n, 1 / static_cast<double>(n));
  LinearScorer scorer(x.view(), parts, true);
  const Problem<LinearScorer> problem{&scorer, label, Groups(n, labels_each), weight, 0.1};
  DualPoint<S> dual(problem, surrogate);
  SmoothPass pass(problem, surrogate, dual, 1);
  SmoothLoss loss(pass, problem.lambda, 0.3 * surrogate.scale());
  AlignedVector<double>& w = loss.point();
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = j % kernels::padded(parts) < parts ? rng.normal() : 0.0;
  AlignedVector<double> gradient, other;
  const double value = *loss.evaluate(gradient, nullptr);
  EXPECT_LE(loss.certificate(value, gradient).dual, loss.certificate(value, gradient).primal);
  EXPECT_LE(value, loss.certificate(value, gradient).primal + 1e-12);
  const AlignedVector<double> start = w;
  for (int trial = 0; trial < 5; ++trial) {
    AlignedVector<double> direction(w.size(), 0.0);
    for (std::size_t j = 0; j < w.size(); ++j)
      if (j % kernels::padded(parts) < parts) direction[j] = rng.normal();
    constexpr double step = 1e-5;
    double ends[2];
    for (const int sign : {-1, 1}) {
      for (std::size_t j = 0; j < w.size(); ++j) w[j] = start[j] + sign * step * direction[j];
      ends[sign > 0] = *loss.evaluate(other, nullptr);
    }
    const double slope = kernels::dot(gradient, direction);
    EXPECT_NEAR((ends[1] - ends[0]) / (2 * step), slope, 1e-5 * (1 + std::abs(slope)));
    w = start;
  }
}

TEST(SmoothLoss, GradientIsThatOfTheValue) {
  Rng rng(6);
  const std::size_t k = 4;
  std::vector<std::int32_t> label, sets;
  for (int i = 0; i < 20; ++i) label.push_back(static_cast<std::int32_t>(rng.below(k)));
  for (int i = 0; i < 60; ++i) sets.push_back(static_cast<std::int32_t>(rng.below(2)));
  const CostMatrix zero_one = CostMatrix::named("zero-one", k), absolute = CostMatrix::named("absolute", k),
                   squared = CostMatrix::named("squared", k);
  expect_right_gradient(ZeroOneMaxMin(zero_one), k, label, 1);
  expect_right_gradient(AbsoluteMaxMin(absolute), k, label, 1);
  expect_right_gradient(MatrixMaxMin(squared).thorough(), k, label, 1);
  expect_right_gradient(Margin(squared), k, label, 1);
  expect_right_gradient(Smoothed(ZeroOneMaxMin(zero_one), 0.5), k, label, 1);
  const LabelCosts costs({1, 2, 3}, {2, 1, 0.5}, "test");
  expect_right_gradient(OnOffMaxMin(costs), 3, sets, 3);
  expect_right_gradient(OnOffMargin(costs), 3, sets, 3);
}

// A thread that throws must not leave the others waiting for its turn.
TEST(GradientPass, PassesOnWhatAThreadThrows) {
  const std::size_t n = 20'000, d = 40;
  DenseMatrix x{n, d, std::vector<double>(n * d, 1.0)};
  const std::vector<std::int32_t> label(n, 0);
  const std::vector<double> weight(n, 1 / static_cast<double>(n));
  LinearScorer scorer(x.view(), 2, true);
  const Problem<LinearScorer> problem{&scorer, label, Groups(n, 1), weight, 0.1};
  for (const std::size_t bad : {std::size_t{0}, n / 2, n - 1}) {
    const auto slope = [bad](std::size_t i, std::span<const double>, LabelView, std::span<double> out) {
      if (i == bad) throw Error("no such slope");
      std::fill(out.begin(), out.end(), 0.0);
      return 0.0;
    };
    for (const unsigned threads : {1U, 4U}) {
      PrimalLoss loss(problem, slope, threads);
      AlignedVector<double> gradient;
      EXPECT_THROW(loss.evaluate(gradient, nullptr), Error);
    }
  }
}

}  // namespace
}  // namespace m4n::detail

// The smooth solver by Newton's steps, which labels without edges take: beside block ascent, for symmetric and other
// costs, labels that can be answered by unsure, sparse features, equal and opposite rows, huge and tiny costs; the same
// digits for any number of threads, paths, and obedience.
#include "solvers/newton.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <tuple>

#include "m4n/error.h"
#include "structures/label_sets/surrogates.h"
#include "structures/label_sets/training.h"
#include "support/random_dataset.h"
#include "support/random_multilabel.h"

namespace m4n::detail::test {
namespace {

std::vector<MultilabelSolution> solve_path(const MultilabelSet& set, const FeaturesView& x, const LabelCosts& costs,
                                           const std::vector<double>& lambdas, const TrainOptions& o,
                                           const Context& context = {1, {}, {}}) {
  std::vector<MultilabelSolution> out;
  solve_multilabel({x, nullptr, o.bias, set.label, set.share, &costs, lambdas, Decoder::automatic, &o, &context},
                   [&](const std::unique_ptr<MultilabelSolution>& s) { out.push_back(*s); });
  return out;
}

TrainOptions options_for(SurrogateKind surrogate, SolverKind solver, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.solver = solver;
  o.tol = tol;
  o.epochs = 200'000;
  return o;
}

void expect_one_optimum(const MultilabelSet& set, const FeaturesView& x, const LabelCosts& costs,
                        const std::vector<double>& lambdas, double tol) {
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n}) {
    SCOPED_TRACE(to_string(surrogate));
    const auto newton = solve_path(set, x, costs, lambdas, options_for(surrogate, SolverKind::smooth, tol));
    const auto usual = solve_path(set, x, costs, lambdas, options_for(surrogate, SolverKind::automatic, tol));
    const auto ascent = solve_path(set, x, costs, lambdas, options_for(surrogate, SolverKind::prox, tol));
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      const Certificate& expected = ascent[l].result.certificate;
      const double slack = 1e-10 * expected.primal;
      EXPECT_EQ(newton[l].result.solver, std::string("smooth"));
      for (const Certificate& found : {newton[l].result.certificate, usual[l].result.certificate}) {
        EXPECT_TRUE(found.converged) << found.relative_gap() << " at " << lambdas[l];
        EXPECT_LE(found.dual, expected.primal + slack);
        EXPECT_LE(expected.dual, found.primal + slack);
        EXPECT_NEAR(found.primal, expected.primal, 2 * tol * expected.primal + slack);
      }
    }
  }
}

// P(w) of weights that come with the bias, from the definition alone.
double primal(const MultilabelSet& set, const LabelCosts& costs, SurrogateKind surrogate, double lambda,
              const std::vector<double>& w) {
  const auto m = static_cast<double>(set.labels);
  double sum = 0, norm = 0;
  for (std::size_t i = 0; i < set.examples(); ++i)
    for (std::size_t j = 0; j < set.labels; ++j) {
      double s = w[set.x.cols * set.labels + j];
      for (std::size_t f = 0; f < set.x.cols; ++f) s += set.x.view().row(i)[f] * w[f * set.labels + j];
      const double a = costs.miss(j) / m, b = costs.false_alarm(j) / m;
      const bool on = set.label[i * set.labels + j] == 1;
      double worst = 0;
      if (surrogate == SurrogateKind::m3n) {
        worst = on ? std::max(s, a - s) : std::max(-s, b + s);
      } else {  // of h(m) + s m, at the ends and the kink
        const double kink = (b - a) / (a + b);
        worst = std::max({s, -s, a * (1 + kink) / 2 + s * kink});
      }
      sum += set.share[i] * (worst - (on ? s : -s));
    }
  for (const double x : w) norm += x * x;
  return sum + lambda * norm;
}

TEST(Newton, FindsTheOptimumOfBlockAscent) {
  Rng rng(1);
  for (const auto& [n, d, labels] : {std::tuple{60, 4, 3}, {25, 7, 1}, {40, 12, 9}, {6, 5, 2}, {1, 2, 2}}) {
    SCOPED_TRACE(n);
    const MultilabelSet set = random_multilabel(rng, n, d, labels);
    const SparseMatrix sparse = to_sparse(set.x);
    expect_one_optimum(set, set.x.view(), LabelCosts::hamming(labels), {0.5, 0.03, 1e-3}, 1e-6);
    expect_one_optimum(set, sparse.view(), random_label_costs(rng, labels), {0.03, 1e-3}, 1e-6);
  }
}

TEST(Newton, ReachesTheLimitOfDoublePrecision) {
  Rng rng(2);
  const MultilabelSet set = random_multilabel(rng, 80, 6, 4);
  expect_one_optimum(set, set.x.view(), LabelCosts::hamming(4), {0.1, 1e-3}, 1e-10);
}

TEST(Newton, TakesEqualAndOppositeRowsAndLabelsThatNeverChange) {
  Rng rng(3);
  MultilabelSet set = random_multilabel(rng, 48, 3, 4);
  for (std::size_t i = 0; i < 24; ++i)
    for (std::size_t f = 0; f < 3; ++f)
      set.x.values[(24 + i) * 3 + f] = (i % 2 == 0 ? 1 : -1) * set.x.values[i * 3 + f];
  for (std::size_t i = 0; i < 48; ++i) {
    set.label[i * 4] = 1;      // always on
    set.label[i * 4 + 1] = 0;  // never
    if (i % 5 == 0)
      for (std::size_t f = 0; f < 3; ++f) set.x.values[i * 3 + f] = 0;
  }
  expect_one_optimum(set, set.x.view(), LabelCosts::hamming(4), {0.2, 0.01}, 1e-6);
}

TEST(Newton, FollowsTheUnitOfCosts) {
  Rng rng(4);
  const MultilabelSet set = random_multilabel(rng, 40, 3, 2);
  for (const double unit : {1e-9, 1e9}) {
    SCOPED_TRACE(unit);
    expect_one_optimum(set, set.x.view(), LabelCosts({unit, 2 * unit}, {unit, 0.5 * unit}, "test"), {0.02 / unit},
                       1e-6);
  }
}

TEST(Newton, KnowsUnsureAnswers) {
  Rng rng(5);
  const MultilabelSet set = random_multilabel(rng, 60, 4, 3);
  const LabelCosts costs({1, 2, 1}, {1, 1, 3}, "test", {}, {0.2, 0.5, 10});
  for (const double tol : {1e-4, 1e-8}) {
    const auto newton =
        solve_path(set, set.x.view(), costs, {0.05, 1e-3}, options_for(SurrogateKind::m4n, SolverKind::smooth, tol));
    const auto ascent =
        solve_path(set, set.x.view(), costs, {0.05, 1e-3}, options_for(SurrogateKind::m4n, SolverKind::prox, tol));
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_TRUE(newton[l].result.certificate.converged);
      EXPECT_NEAR(newton[l].result.certificate.primal, ascent[l].result.certificate.primal,
                  2 * tol * ascent[l].result.certificate.primal);
    }
  }
}

// The certificate against the definition of P at the weights that are handed over.
TEST(Newton, SaysThePrimalOfItsWeights) {
  Rng rng(6);
  const MultilabelSet set = random_multilabel(rng, 50, 5, 3);
  const LabelCosts costs = random_label_costs(rng, 3);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n})
    for (const double lambda : {0.1, 0.01}) {
      const MultilabelSolution found =
          solve_path(set, set.x.view(), costs, {lambda}, options_for(surrogate, SolverKind::smooth, 1e-3)).front();
      const double own = primal(set, costs, surrogate, lambda, found.weights);
      EXPECT_NEAR(found.result.certificate.primal, own, 1e-12 * own);
    }
}

TEST(Newton, GivesTheSameDigitsWithAnyNumberOfThreads) {
  Rng rng(7);
  const MultilabelSet set = random_multilabel(rng, 300, 8, 7);
  const LabelCosts costs = LabelCosts::hamming(7);
  for (const SolverKind solver : {SolverKind::smooth, SolverKind::automatic}) {
    const TrainOptions o = options_for(SurrogateKind::m4n, solver, 1e-5);
    const auto one = solve_path(set, set.x.view(), costs, {0.1, 1e-3}, o);
    for (const unsigned threads : {2U, 3U, 16U}) {
      const auto several = solve_path(set, set.x.view(), costs, {0.1, 1e-3}, o, {threads, {}, {}});
      for (std::size_t l = 0; l < 2; ++l) {
        EXPECT_EQ(one[l].weights, several[l].weights);
        EXPECT_EQ(one[l].result.certificate.primal, several[l].result.certificate.primal);
        EXPECT_EQ(one[l].result.certificate.dual, several[l].result.certificate.dual);
        EXPECT_EQ(one[l].result.epochs, several[l].result.epochs);
      }
    }
  }
}

TEST(Newton, StopsWhenToldToWithAValidBracket) {
  Rng rng(8);
  const MultilabelSet set = random_multilabel(rng, 200, 8, 5);
  const TrainOptions o = options_for(SurrogateKind::m3n, SolverKind::smooth, 1e-12);
  const Certificate best = solve_path(set, set.x.view(), LabelCosts::hamming(5), {1e-4}, o).front().result.certificate;
  for (const int patience : {0, 1, 7}) {
    std::atomic<int> questions{0};
    const auto stopped = solve_path(set, set.x.view(), LabelCosts::hamming(5), {1e-4}, o,
                                    {2, {}, [&] { return ++questions > patience; }});
    EXPECT_TRUE(stopped.front().result.interrupted);
    EXPECT_LE(questions, patience + 40);
    EXPECT_LE(stopped.front().result.certificate.dual, best.primal + 1e-12);
    EXPECT_GE(stopped.front().result.certificate.primal, best.dual - 1e-12);
  }
}

TEST(Newton, KeepsToTheEpochs) {
  Rng rng(9);
  const MultilabelSet set = random_multilabel(rng, 200, 8, 5);
  TrainOptions o = options_for(SurrogateKind::m3n, SolverKind::smooth, 1e-12);
  for (const int epochs : {1, 2, 5}) {
    o.epochs = epochs;
    const auto found = solve_path(set, set.x.view(), LabelCosts::hamming(5), {1e-4}, o).front();
    EXPECT_LE(found.result.epochs, epochs);
    EXPECT_LE(found.result.certificate.dual, found.result.certificate.primal);
  }
}

}  // namespace
}  // namespace m4n::detail::test

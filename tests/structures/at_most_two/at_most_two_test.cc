// The parts of at_most_two that every_structure_test.cc cannot know: the game is that of all labellings, the loop
// trains with it, and the trained rule is nearly as good as the best one.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "m4n/m4n.h"
#include "solvers/gbcfw.h"
#include "solvers/linear_scorer.h"
#include "structures/at_most_two/surrogates.h"
#include "support/generated_file.h"
#include "support/random_multilabel.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

// All labellings with at most two labels on.
std::vector<std::vector<std::int32_t>> listed(std::size_t labels) {
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t bits = 0; bits < std::size_t{1} << labels; ++bits) {
    std::vector<std::int32_t> y;
    for (std::size_t m = 0; m < labels; ++m) y.push_back(static_cast<std::int32_t>(bits >> m & 1));
    if (std::accumulate(y.begin(), y.end(), std::size_t{0}) <= most_on) out.push_back(y);
  }
  return out;
}

TEST(AtMostTwo, TheGameIsThatOfAllLabellings) {
  Rng rng(1);
  const std::size_t labels = 5;
  const CostMatrix cost = CostMatrix::from_values({0, 1, 3, 0}, 2, "matrix", {}, "test");
  const auto outputs = listed(labels);
  const AtMostTwoMaxMin surrogate(cost, labels);
  AtMostTwoMaxMin::Workspace ws;
  for (int trial = 0; trial < 200; ++trial) {
    AlignedVector<double> v(kernels::padded(labels), kernels::padding_score), mu(v.size());
    const double size = trial % 3 == 0 ? 0.05 : trial % 3 == 1 ? 0.5 : 3;
    for (std::size_t m = 0; m < labels; ++m) v[m] = size * rng.normal();
    const double upper = surrogate.conjugate(v, {}, {}, ws);
    surrogate.argmax(v, {}, mu, {}, ws);
    const auto value = [&](std::span<const double> point) {
      double sum = surrogate.neg_omega(point, {}, ws);
      for (std::size_t m = 0; m < labels; ++m) sum += v[m] * point[m];
      return sum;
    };
    EXPECT_NEAR(value(mu), upper, 1e-7);
    EXPECT_LE(std::accumulate(mu.begin(), mu.begin() + labels, 0.0), most_on + 1e-9);
    // Concave: no mixture with a labelling, nor between two, is better.
    AlignedVector<double> other(v.size()), vertex(v.size());
    for (const auto& y : outputs) {
      surrogate.space().embed(y, vertex);
      for (const double t : {1.0, 0.3, 0.01}) {
        for (std::size_t e = 0; e < other.size(); ++e) other[e] = mu[e] + t * (vertex[e] - mu[e]);
        EXPECT_LE(value(other), upper + 1e-9);
      }
    }
  }
}

TEST(AtMostTwo, MaxMarginIsTheLargestOfAllLabellings) {
  Rng rng(3);
  const std::size_t labels = 5;
  const CostMatrix cost = CostMatrix::from_values({0, 1, 3, 0}, 2, "matrix", {}, "test");
  const auto outputs = listed(labels);
  const AtMostTwoMargin surrogate(cost, labels);
  AtMostTwoMargin::Workspace ws = surrogate.workspace();
  for (int trial = 0; trial < 200; ++trial) {
    AlignedVector<double> v(kernels::padded(labels), kernels::padding_score), mu(v.size());
    for (std::size_t m = 0; m < labels; ++m) v[m] = rng.normal();
    const std::vector<std::int32_t>& truth = outputs[rng.below(outputs.size())];
    double best = -1e300;
    for (const auto& y : outputs) {
      double value = surrogate.space().score(v, y);
      for (std::size_t m = 0; m < labels; ++m)
        value += cost(static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(y[m])) / double(labels);
      best = std::max(best, value);
    }
    EXPECT_NEAR(surrogate.conjugate(v, truth, {}, ws), best, 1e-12);
    surrogate.argmax(v, truth, mu, {}, ws);
    double reached = surrogate.neg_omega(mu, truth, ws);
    for (std::size_t m = 0; m < labels; ++m) reached += v[m] * mu[m];
    EXPECT_NEAR(reached, best, 1e-12);
  }
}

TEST(AtMostTwo, TheLoopTrainsIt) {
  Rng rng(2);
  const std::size_t labels = 5;
  test::MultilabelSet set = test::random_multilabel(rng, 40, 3, labels);
  for (std::size_t i = 0; i < set.examples(); ++i)
    for (std::size_t m = 0, on = 0; m < labels; ++m)
      if (set.label[i * labels + m] == 1 && ++on > most_on) set.label[i * labels + m] = 0;
  const CostMatrix cost = CostMatrix::named("hamming", 2);
  const AtMostTwoMaxMin surrogate(cost, labels);
  LinearScorer scorer(set.x.view(), labels, true);
  const Problem<LinearScorer> problem{&scorer, set.label, Groups(set.examples(), labels), set.share, 0.05};
  double last = 0;
  for (const int epochs : {1, 3, 10, 200}) {
    DualPoint<AtMostTwoMaxMin> dual(problem, surrogate);
    rebuild_weights(problem, surrogate, dual);
    SolverOptions options;
    options.epochs = epochs;
    options.tol = 1e-2;
    const SolveResult result = gbcfw(problem, surrogate, dual, options, {true, false}, {1, {}, {}});
    EXPECT_GE(result.certificate.dual, last - 1e-12);
    EXPECT_LE(result.certificate.dual, result.certificate.primal + 1e-12);
    last = result.certificate.dual;
    if (epochs == 200) {
      EXPECT_TRUE(result.certificate.converged) << result.certificate.relative_gap();
    }
  }
}

TEST(AtMostTwo, TheRuleIsNearlyTheBestAndNeverTurnsOnMore) {
  const test::GeneratedFile training("at-most-two", 2000, 1), fresh("at-most-two", 2000, 2);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n}) {
    TrainOptions options = training.options;
    options.surrogate = surrogate;
    options.tol = 1e-2;
    const Model model = fit(training.data, options).model;
    const Examples examples = read(fresh.path(), model, {}, Truth::required);
    const std::vector<std::int32_t> predicted = model.predict(examples.data);
    EXPECT_NEAR(evaluate(model, examples, predicted).loss, fresh.made.bayes_risk, 0.01);
    for (std::size_t i = 0; i < predicted.size(); i += model.k())
      EXPECT_LE(std::accumulate(&predicted[i], &predicted[i] + model.k(), 0), 2);
  }
}

TEST(AtMostTwo, RefusesThreeLabelsThatAreOn) {
  const TemporaryFile file("x1,y1,y2,y3\n1,1,1,0\n0,1,1,1\n");
  TrainOptions options;
  options.task = "at-most-two";
  const Dataset data = read(file.path(), options).data;
  expect_says(refusal([&] { fit(data, options); }), {"example 2", "3 labels", "at most 2"});
}

}  // namespace
}  // namespace m4n::detail

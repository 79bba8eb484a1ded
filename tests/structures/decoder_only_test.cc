// A new output structure that brings nothing but a decoder: M labels that are on or off, at most two of them on. The
// labelling game turns the decoder into the exact max-min oracle, and the block-dual loop trains with it. docs/
// extending.md walks through this file.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "games/labelling_game.h"
#include "games/labelling_game_parts.h"
#include "games/matrix_game.h"
#include "solvers/gbcfw.h"
#include "solvers/linear_scorer.h"
#include "support/random_multilabel.h"

namespace m4n::detail {
namespace {

constexpr std::size_t budget = 2;

// 1. Scores: a row of k = 2 numbers a label, and the score of a labelling.
struct BudgetScores {
  PaddedRows<const double> unary;
  std::size_t length() const { return unary.rows(); }
};
double score(const BudgetScores& v, LabelView y) {
  double sum = 0;
  for (std::size_t m = 0; m < v.length(); ++m) sum += v.unary(m, static_cast<std::size_t>(y[m]));
  return sum;
}

// 2. The decoder: of the labels that gain by being on, the two that gain most.
struct BudgetProblem {
  using Scores = BudgetScores;
  struct Decoder {
    std::vector<std::size_t> order;
  };
  static constexpr bool one_cost = true;
  static const std::uint32_t* kinds(const BudgetScores&, const std::vector<UnitCosts>&) { return nullptr; }
  static bool apart(const BudgetScores& v) { return v.length() <= budget; }
  static double own(const BudgetScores& v, std::size_t m, std::size_t label) { return v.unary(m, label); }
  static double decode(Decoder& decoder, const BudgetScores& v, PaddedRows<const double> unary,
                       std::span<std::int32_t> y) {
    const auto gain = [&](std::size_t m) { return unary(m, 1) - unary(m, 0); };
    decoder.order.resize(v.length());
    std::iota(decoder.order.begin(), decoder.order.end(), std::size_t{0});
    std::sort(decoder.order.begin(), decoder.order.end(),
              [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
    double sum = 0;
    for (std::size_t place = 0; place < v.length(); ++place) {
      const std::size_t m = decoder.order[place];
      y[m] = place < budget && gain(m) > 0 ? 1 : 0;
      sum += unary(m, static_cast<std::size_t>(y[m]));
    }
    return sum;
  }
};

}  // namespace

template class LabellingGame<BudgetProblem>;

namespace {

// 3. The output space: which parts a labelling has. Part 2 m + k: label m is off (k = 0) or on (1).
class BudgetSpace {
 public:
  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t m = 0; m < y.size(); ++m) mu[2 * m + static_cast<std::size_t>(y[m])] = 1;
  }
  double score(std::span<const double> v, LabelView y) const {
    double sum = 0;
    for (std::size_t m = 0; m < y.size(); ++m) sum += v[2 * m + static_cast<std::size_t>(y[m])];
    return sum;
  }
};

// 4. The surrogate: the game's answer as a point of the marginal polytope, and its risk.
class BudgetMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    LabellingGame<BudgetProblem>::Workspace game;
    GameSeeds seeds;
    PaddedMatrix<double> unary;
  };
  BudgetMaxMin(const CostMatrix& cost, std::size_t labels) : game_(cost), cost_(cost), labels_(labels) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const BudgetSpace& space() const { return space_; }
  double scale() const { return cost_.range(); }
  std::size_t work() const { return 1000 * labels_; }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const {
    double risk = 0;
    for (std::size_t m = 0; m < labels_; ++m)
      risk += std::min(cost_(1, 0) * mu[2 * m + 1], cost_(0, 1) * mu[2 * m]) / static_cast<double>(labels_);
    return risk;
  }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace& ws) const {
    return solve(v, ws).bounds.upper;
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    const GameAnswer answer = solve(v, ws);
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t j = 0; j < answer.size(); ++j)
      for (std::size_t m = 0; m < labels_; ++m)
        mu[2 * m + static_cast<std::size_t>(answer.labels(j)[m])] += answer.weight[j];
  }

 private:
  GameAnswer solve(ScoreView v, Workspace& ws) const {
    const PaddedRows<double> unary = ws.unary.shape(labels_, 2);
    std::fill_n(unary.data(), labels_ * unary.stride(), 0.0);
    for (std::size_t m = 0; m < labels_; ++m) std::copy_n(v.data() + 2 * m, 2, unary.row(m));
    ws.seeds.clear();
    return game_.solve({unary}, {.gap = 1e-9}, ws.seeds, ws.game);
  }
  LabellingGame<BudgetProblem> game_;
  const CostMatrix& cost_;
  std::size_t labels_;
  BudgetSpace space_;
};

// All labellings with at most two labels on.
std::vector<std::vector<std::int32_t>> listed(std::size_t labels) {
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t bits = 0; bits < std::size_t{1} << labels; ++bits) {
    std::vector<std::int32_t> y;
    for (std::size_t m = 0; m < labels; ++m) y.push_back(static_cast<std::int32_t>(bits >> m & 1));
    if (std::accumulate(y.begin(), y.end(), std::size_t{0}) <= budget) out.push_back(y);
  }
  return out;
}

TEST(DecoderOnly, TheGameIsThatOfAllLabellings) {
  Rng rng(1);
  const std::size_t labels = 5;
  const CostMatrix cost = CostMatrix::from_values({0, 1, 3, 0}, 2, "matrix", {}, "test");
  const auto outputs = listed(labels);
  const BudgetMaxMin surrogate(cost, labels);
  BudgetMaxMin::Workspace ws;
  for (int trial = 0; trial < 200; ++trial) {
    AlignedVector<double> v(kernels::padded(2 * labels), kernels::padding_score), mu(v.size());
    const double size = trial % 3 == 0 ? 0.05 : trial % 3 == 1 ? 0.5 : 3;
    for (std::size_t e = 0; e < 2 * labels; ++e) v[e] = size * rng.normal();
    const double upper = surrogate.conjugate(v, {}, {}, ws);
    surrogate.argmax(v, {}, mu, {}, ws);
    const auto value = [&](std::span<const double> point) {
      double sum = surrogate.neg_omega(point, {}, ws);
      for (std::size_t e = 0; e < 2 * labels; ++e) sum += v[e] * point[e];
      return sum;
    };
    EXPECT_NEAR(value(mu), upper, 1e-7);
    double on = 0;
    for (std::size_t m = 0; m < labels; ++m) on += mu[2 * m + 1];
    EXPECT_LE(on, budget + 1e-9);
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

TEST(DecoderOnly, TheLoopTrainsIt) {
  Rng rng(2);
  const std::size_t labels = 5;
  test::MultilabelSet set = test::random_multilabel(rng, 40, 3, labels);
  for (std::size_t i = 0; i < set.examples(); ++i)
    for (std::size_t m = 0, on = 0; m < labels; ++m)
      if (set.label[i * labels + m] == 1 && ++on > budget) set.label[i * labels + m] = 0;
  const CostMatrix cost = CostMatrix::named("hamming", 2);
  const BudgetMaxMin surrogate(cost, labels);
  LinearScorer<DenseView> scorer(set.x.view(), 2 * labels, true);
  const Problem<LinearScorer<DenseView>> problem{&scorer, set.label, Groups(set.examples(), labels), set.share, 0.05};
  double last = 0;
  for (const int epochs : {1, 3, 10, 200}) {
    DualPoint<BudgetMaxMin> dual(problem, surrogate);
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

}  // namespace
}  // namespace m4n::detail

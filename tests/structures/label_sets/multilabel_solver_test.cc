// The solver of multi-label problems without dependencies: against one two-class problem per label, against objectives
// that list all 2^M outputs, and what must not change the result.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "games/matrix_game.h"
#include "m4n/error.h"
#include "structures/classes/decoder.h"
#include "structures/classes/solve.h"
#include "structures/label_sets/kernels.h"
#include "structures/label_sets/surrogates.h"
#include "structures/label_sets/training.h"
#include "support/random_dataset.h"
#include "support/random_multilabel.h"
#include "surrogates/registry.h"

namespace m4n::detail::test {
namespace {

constexpr SurrogateKind all_surrogates[] = {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf,
                                            SurrogateKind::qs};

TrainOptions options_for(SurrogateKind surrogate, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.tol = tol;
  o.epochs = 20000;
  return o;
}

std::vector<MultilabelSolution> solve_path(const MultilabelSet& set, const LabelCosts& costs,
                                           const std::vector<double>& lambdas, const TrainOptions& o,
                                           const Context& context = {1, {}, {}}, const GramMatrix* gram = nullptr) {
  std::vector<MultilabelSolution> out;
  solve_multilabel({set.x.view(), gram, o.bias, set.label, set.share, &costs, lambdas,
                    usual_decoder(o.surrogate, 0, costs.symmetric(), Decoder::argmax), &o, &context},
                   [&](std::unique_ptr<MultilabelSolution> s) { out.push_back(std::move(*s)); });
  return out;
}

MultilabelSolution solve_one(const MultilabelSet& set, const LabelCosts& costs, double lambda, const TrainOptions& o) {
  return solve_path(set, costs, {lambda}, o).front();
}

// The products of features and bias, as a Gram matrix.
GramMatrix linear_gram(const DenseMatrix& x) {
  GramMatrix gram(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < x.rows; ++j)
      gram.row(i)[j] = static_cast<float>(1 + kernels::dot(x.view().row(i), x.view().row(j)));
  return gram;
}

// Its weights and objective are those of M two-class problems with costs divided by M.
TEST(MultilabelSolver, IsOneTwoClassProblemALabel) {
  Rng rng(1);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
    for (const bool bias : {true, false}) {
      const MultilabelSet set = random_multilabel(rng, 40, 3, 11);
      const LabelCosts costs = bias ? LabelCosts::hamming(11) : random_label_costs(rng, 11);
      const double lambda = 0.02;
      TrainOptions o = options_for(surrogate, 1e-11);
      o.bias = bias;
      const MultilabelSolution found = solve_one(set, costs, lambda, o);
      ASSERT_TRUE(found.result.certificate.converged) << to_string(surrogate);
      double primal = 0, norm_squared = 0;
      const Context context{1, {}, {}};
      for (std::size_t j = 0; j < set.labels; ++j) {
        std::vector<std::int32_t> label;
        for (std::size_t i = 0; i < set.examples(); ++i) label.push_back(set.label[i * set.labels + j]);
        const auto m = static_cast<double>(set.labels);
        const CostMatrix cost = CostMatrix::from_values({0, costs.false_alarm(j) / m, costs.miss(j) / m, 0}, 2,
                                                        "matrix", {"0", "1"}, "test");
        const ClassRequest request{set.x.view(),       nullptr, bias,    label, set.share, &cost, {&lambda, 1},
                                   Decoder::automatic, &o,      &context};
        ClassSolution classes;
        const auto keep = [&](std::unique_ptr<ClassSolution> s) { classes = std::move(*s); };
        if (surrogate == SurrogateKind::m4n)
          solve_m4n(request, keep);
        else if (surrogate == SurrogateKind::m3n)
          solve_m3n(request, keep);
        else
          solve_crf(request, keep);
        ASSERT_TRUE(classes.result.certificate.converged);
        primal += classes.result.certificate.primal;
        norm_squared += classes.norm_squared;
        for (std::size_t f = 0; f < 3; ++f)
          EXPECT_NEAR(found.weights[f * set.labels + j], classes.weights[2 * f + 1], 3e-5) << to_string(surrogate);
      }
      EXPECT_NEAR(found.result.certificate.primal, primal, 1e-10 * primal) << to_string(surrogate);
      EXPECT_NEAR(found.norm_squared, norm_squared, 1e-4 * norm_squared) << to_string(surrogate);
    }
}

// S(s, y) over all 2^M outputs, for the surrogates that are a game, a maximum or a sum over them.
double listed_loss(SurrogateKind surrogate, const LabelCosts& costs, std::span<const double> s, LabelView y) {
  const std::size_t labels = costs.labels(), outputs = std::size_t{1} << labels;
  const auto loss = [&](std::size_t truth, std::size_t predicted) {
    double sum = 0;
    for (std::size_t j = 0; j < labels; ++j)
      if (((truth ^ predicted) >> j & 1) != 0) sum += (truth >> j & 1) != 0 ? costs.miss(j) : costs.false_alarm(j);
    return sum / static_cast<double>(labels);
  };
  std::vector<double> score(outputs, 0.0), cost(outputs * outputs);
  std::size_t truth = 0;
  for (std::size_t j = 0; j < labels; ++j) truth |= static_cast<std::size_t>(y[j]) << j;
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t j = 0; j < labels; ++j) score[o] += (o >> j & 1) != 0 ? s[j] : -s[j];
    for (std::size_t p = 0; p < outputs; ++p) cost[o * outputs + p] = loss(o, p);
  }
  double value = 0;
  if (surrogate == SurrogateKind::crf) {
    for (const double v : score) value += std::exp(v - score[truth]);
    return std::log(value);
  }
  if (surrogate == SurrogateKind::m3n) {
    value = -1e300;
    for (std::size_t o = 0; o < outputs; ++o) value = std::max(value, loss(truth, o) + score[o]);
    return value - score[truth];
  }
  const CostMatrix matrix = CostMatrix::from_values(cost, outputs, "matrix", {}, "test");
  const MatrixGame game(matrix);
  MatrixGame::Workspace ws(outputs);
  std::vector<double> mu(outputs), nu(outputs);
  std::vector<std::uint8_t> state(outputs);
  return game.solve(score, mu, nu, state, ws).upper - score[truth];
}

TEST(MultilabelSolver, ReachesTheOptimumOverAllOutputs) {
  Rng rng(2);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
    for (const std::size_t labels : {1U, 2U, 4U}) {
      const MultilabelSet set = random_multilabel(rng, 9, 2, labels);
      const LabelCosts costs = random_label_costs(rng, labels);
      const double lambda = 0.1;
      const MultilabelSolution found = solve_one(set, costs, lambda, options_for(surrogate, 1e-9));
      const auto objective = [&](std::span<const double> w) {
        double value = 0;
        for (const double x : w) value += lambda * x * x;
        std::vector<double> s(labels);
        for (std::size_t i = 0; i < set.examples(); ++i) {
          for (std::size_t j = 0; j < labels; ++j)
            s[j] = set.x.values[2 * i] * w[j] + set.x.values[2 * i + 1] * w[labels + j] + w[2 * labels + j];
          value += set.share[i] * listed_loss(surrogate, costs, s, std::span(set.label).subspan(i * labels, labels));
        }
        return value;
      };
      const Certificate& c = found.result.certificate;
      EXPECT_TRUE(c.converged);
      EXPECT_NEAR(objective(found.weights), c.primal, 1e-8 * c.primal) << to_string(surrogate) << labels;
      EXPECT_LE(c.dual, c.primal * (1 + 1e-12));
      std::vector<double> other = found.weights;
      for (const double step : {1.0, 0.1, 1e-2, 1e-3})
        for (int trial = 0; trial < 5; ++trial) {
          for (std::size_t e = 0; e < other.size(); ++e) other[e] = found.weights[e] + step * rng.normal();
          EXPECT_GE(objective(other), c.dual - 1e-9 * c.primal) << to_string(surrogate) << labels;
        }
    }
}

// The gradient of the sum of squares vanishes at the solution, and P is what its definition says.
TEST(MultilabelSolver, RegressesOntoHalfTheCosts) {
  Rng rng(3);
  const MultilabelSet set = random_multilabel(rng, 30, 3, 5);
  const LabelCosts costs = random_label_costs(rng, 5);
  const double lambda = 0.05;
  const MultilabelSolution found = solve_one(set, costs, lambda, options_for(SurrogateKind::qs, 1e-9));
  std::vector<double> gradient(20, 0.0);
  double value = 0;
  for (std::size_t e = 0; e < 20; ++e) {
    value += lambda * found.weights[e] * found.weights[e];
    gradient[e] = 2 * lambda * found.weights[e];
  }
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      const double phi[] = {set.x.values[3 * i], set.x.values[3 * i + 1], set.x.values[3 * i + 2], 1};
      double residual = set.label[5 * i + j] == 1 ? -costs.miss(j) / 2 : costs.false_alarm(j) / 2;
      for (std::size_t f = 0; f < 4; ++f) residual += phi[f] * found.weights[5 * f + j];
      value += set.share[i] * residual * residual;
      for (std::size_t f = 0; f < 4; ++f) gradient[5 * f + j] += 2 * set.share[i] * residual * phi[f];
    }
  EXPECT_NEAR(found.result.certificate.primal, value, 1e-12 * value);
  for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-12);
}

TEST(MultilabelSolver, TheDualNeverFalls) {
  Rng rng(4);
  const MultilabelSet set = random_multilabel(rng, 50, 4, 6);
  const LabelCosts costs = random_label_costs(rng, 6);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
    for (const SolverKind solver : {SolverKind::prox, SolverKind::gbcfw}) {
      double last = 0;
      for (int passes = 1; passes < 12; ++passes) {
        TrainOptions o = options_for(surrogate, 1e-12);
        o.epochs = passes;
        o.solver = solver;
        o.step = StepRule::line_search;
        const Certificate c = solve_one(set, costs, 1e-3, o).result.certificate;
        EXPECT_LE(c.dual, c.primal * (1 + 1e-12)) << to_string(surrogate) << passes;
        EXPECT_GE(c.dual, last * (1 - 1e-12)) << to_string(surrogate) << passes;
        last = c.dual;
      }
      EXPECT_GT(last, 0);
    }
}

// A linear kernel is the linear problem; a path ends where a cold solve does; sparse rows are the same rows.
TEST(MultilabelSolver, OneOptimumOnEveryWay) {
  Rng rng(5);
  const MultilabelSet set = random_multilabel(rng, 60, 4, 9);
  const LabelCosts costs = random_label_costs(rng, 9);
  const GramMatrix gram = linear_gram(set.x);
  const SparseMatrix sparse = to_sparse(set.x);
  for (const SurrogateKind surrogate : all_surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-6);
    const MultilabelSolution cold = solve_one(set, costs, 0.01, o);
    const Certificate& c = cold.result.certificate;
    ASSERT_TRUE(c.converged) << to_string(surrogate);
    const std::vector<MultilabelSolution> path = solve_path(set, costs, {1, 0.1, 0.01}, o);
    ASSERT_EQ(path.size(), 3U);
    EXPECT_NEAR(path[2].result.certificate.primal, c.primal, 2e-6 * c.primal) << to_string(surrogate);
    const MultilabelSolution kernel = solve_path(set, costs, {0.01}, o, {1, {}, {}}, &gram).front();
    EXPECT_NEAR(kernel.result.certificate.primal, c.primal, 3e-6 * c.primal) << to_string(surrogate);
    EXPECT_NEAR(kernel.norm_squared, cold.norm_squared, 0.02 * cold.norm_squared) << to_string(surrogate);
    EXPECT_EQ(kernel.weights.size(), 60U * 9);
    const Context context{1, {}, {}};
    const double lambda = 0.01;
    solve_multilabel(
        {sparse.view(), nullptr, true, set.label, set.share, &costs, {&lambda, 1}, Decoder::automatic, &o, &context},
        [&](std::unique_ptr<MultilabelSolution> s) {
          EXPECT_NEAR(s->result.certificate.primal, c.primal, 2e-6 * c.primal) << to_string(surrogate);
          EXPECT_TRUE(s->predicted.empty());
        });
  }
}

TEST(MultilabelSolver, ThreadsDoNotChangeABit) {
  Rng rng(6);
  const MultilabelSet set = random_multilabel(rng, 600, 3, 5);
  const LabelCosts costs = LabelCosts::hamming(5);
  for (const SurrogateKind surrogate : all_surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-3);
    const MultilabelSolution one = solve_path(set, costs, {0.01}, o, {1, {}, {}}).front(),
                             three = solve_path(set, costs, {0.01}, o, {3, {}, {}}).front();
    EXPECT_EQ(one.weights, three.weights) << to_string(surrogate);
    EXPECT_EQ(one.predicted, three.predicted) << to_string(surrogate);
    EXPECT_EQ(one.result.certificate.dual, three.result.certificate.dual) << to_string(surrogate);
  }
}

// Rows of zeros, equal rows with different labels, labels that never change, costs that are far apart.
TEST(MultilabelSolver, DegenerateSets) {
  Rng rng(7);
  MultilabelSet set = random_multilabel(rng, 12, 2, 3);
  for (std::size_t e = 0; e < 8; ++e) set.x.values[e] = e < 4 ? 0 : 1;
  for (std::size_t i = 0; i < 12; ++i) set.label[3 * i] = 1;
  const LabelCosts far({0.1, 1, 10}, {1, 10, 0.1}, "test");
  for (const SurrogateKind surrogate : all_surrogates)
    for (const bool bias : {true, false})
      for (const double lambda : {1e-3, 1e-1, 1e6}) {
        TrainOptions o = options_for(surrogate, 1e-3);
        o.bias = bias;
        const Certificate c = solve_one(set, far, lambda, o).result.certificate;
        EXPECT_TRUE(c.converged) << to_string(surrogate) << " " << lambda << " bias " << bias << " gap "
                                 << c.relative_gap() << " P " << c.primal;
      }
}

TEST(MultilabelSolver, RefusesWhatItCannotDo) {
  Rng rng(8);
  MultilabelSet set = random_multilabel(rng, 4, 2, 3);
  const LabelCosts costs = LabelCosts::hamming(3), two = LabelCosts::hamming(2);
  TrainOptions o = options_for(SurrogateKind::m4n, 1e-3);
  EXPECT_THROW(solve_one(set, two, 0.1, o), Error);
  o.oracle = OracleKind::spmp;
  EXPECT_THROW(solve_one(set, costs, 0.1, o), UsageError);
  o.oracle = OracleKind::exact;
  set.label[4] = 2;
  try {
    solve_one(set, costs, 0.1, o);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "example 2: label 2 is 2; expected 0 or 1");
  }
}

// The thresholds are where the decoders of two classes change their mind.
TEST(MultilabelDecoding, ThresholdsAreThoseOfTwoClasses) {
  Rng rng(9);
  const std::size_t labels = 7;
  const LabelCosts costs = random_label_costs(rng, labels);
  EXPECT_EQ(usual_decoder(SurrogateKind::m4n, 0, costs.symmetric(), Decoder::argmax), Decoder::adversary);
  EXPECT_EQ(usual_decoder(SurrogateKind::m4n, 0, LabelCosts::hamming(3).symmetric(), Decoder::argmax), Decoder::argmax);
  for (const auto& [surrogate, decode] :
       {std::pair(SurrogateKind::m4n, Decoder::adversary), std::pair(SurrogateKind::m4n, Decoder::argmax),
        std::pair(SurrogateKind::crf, Decoder::expected)}) {
    const std::vector<LabelThreshold> threshold = label_thresholds(surrogate, decode, costs);
    for (std::size_t j = 0; j < labels; ++j) {
      const auto m = static_cast<double>(labels);
      const CostMatrix cost =
          CostMatrix::from_values({0, costs.false_alarm(j) / m, costs.miss(j) / m, 0}, 2, "matrix", {"0", "1"}, "test");
      const auto decoder = make_decoder({surrogate, decode, 0, &cost});
      for (const double off : {-1.0, -0.01, -1e-6, 1e-6, 0.01, 1.0}) {
        AlignedVector<double> v(kernels::padded(2), kernels::padding_score);
        v[1] = threshold[j].high + off;
        v[0] = -v[1];
        EXPECT_EQ(decoder->decode(v, 0), off > 0 ? 1 : 0) << to_string(decode) << " " << off;
      }
    }
  }
  EXPECT_THROW(label_thresholds(SurrogateKind::m3n, Decoder::adversary, costs), UsageError);
}

// The logistic kernels against formulas in long double, far into both tails.
TEST(OnOffKernels, AgreeWithTheFormulas) {
  Rng rng(10);
  for (const std::size_t count : {1U, 7U, 8U, 21U})
    for (const double scale : {1e-9, 1.0, 30.0, 1e6}) {
      const std::size_t padded = kernels::padded(count);
      AlignedVector<double> s(padded, kernels::padding_score), m(padded), old(padded, 0.0);
      long double sum = 0, entropy = 0;
      for (std::size_t j = 0; j < count; ++j) {
        s[j] = scale * rng.normal();
        old[j] = j % 3 == 0 ? 1 : j % 3 == 1 ? -1 : rng.uniform(-1, 1);
        sum += std::abs(static_cast<long double>(s[j])) +
               std::log1p(std::exp(-2 * std::abs(static_cast<long double>(s[j]))));
        for (const long double q :
             {(1 + static_cast<long double>(old[j])) / 2, (1 - static_cast<long double>(old[j])) / 2})
          entropy -= q > 0 ? q * std::log(q) : 0;
      }
      EXPECT_NEAR(kernels::on_off_log_sum(s, count), static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
      EXPECT_NEAR(kernels::on_off_log_sum(s, count, m), static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
      for (std::size_t j = 0; j < padded; ++j)
        EXPECT_NEAR(m[j], j < count ? std::tanh(s[j]) : 0, 1e-15 + 1e-14 * std::abs(m[j]));
      EXPECT_NEAR(kernels::on_off_entropy(old, count), static_cast<double>(entropy), 1e-13);
      for (const double c : {1e-12, 1e-3, 1.0, 1e3, 1e12}) {
        m = old;
        kernels::on_off_entropy_prox(s, c, count, m);
        for (std::size_t j = 0; j < padded; ++j) {
          ASSERT_TRUE(std::abs(m[j]) <= 1) << m[j];
          if (j >= count) {
            EXPECT_EQ(m[j], 0);
            continue;
          }
          // The slope s - c (x - old) - atanh(x) changes its sign at m.
          const auto slope = [&](double x) { return s[j] - c * (x - old[j]) - std::atanh(x); };
          const double width = 1e-9;
          if (m[j] - width > -1) {
            EXPECT_GE(slope(m[j] - width), -1e-9 * (1 + std::abs(s[j]))) << s[j] << " " << c;
          }
          if (m[j] + width < 1) {
            EXPECT_LE(slope(m[j] + width), 1e-9 * (1 + std::abs(s[j]))) << s[j] << " " << c;
          }
        }
      }
    }
}

}  // namespace
}  // namespace m4n::detail::test

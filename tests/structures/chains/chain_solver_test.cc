// The solvers of chains: certificates against objectives that are computed by enumeration or by Clp, optima against
// perturbed weights, other solvers and the multi-class solver, and what must not change the result.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <random>

#include "m4n/error.h"
#include "m4n/fit.h"
#include "support/clp_chain.h"
#include "support/random_chain.h"
#include "support/random_sentences.h"

namespace m4n::detail::test {
namespace {

constexpr SurrogateKind surrogates[] = {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf};

CostMatrix some_cost(Rng& rng, std::size_t k) {
  std::vector<double> values(k * k, 0.0);
  std::vector<std::string> classes;
  for (std::size_t t = 0; t < k; ++t) {
    classes.push_back(std::to_string(t));
    for (std::size_t p = 0; p < k; ++p) values[t * k + p] = t == p ? 0.05 * static_cast<double>(t) : 1 + rng.uniform();
  }
  return CostMatrix::from_values(std::move(values), k, "matrix", classes, "test");
}

TrainOptions options_for(SurrogateKind surrogate, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.tol = tol;
  o.epochs = 20000;
  return o;
}

// The scores of a sentence from weights as flat() orders them.
class OwnScores {
 public:
  OwnScores(const Sentences& set, const std::vector<double>& w, bool bias, std::size_t i) {
    const auto& x = std::get<DenseMatrix>(set.x);
    const std::size_t labels = set.labels, d = x.cols, tail = (d + (bias ? 1 : 0)) * labels;
    const PaddedRows<double> unary = unary_.shape(set.length(i), labels), table = table_.shape(labels, labels);
    for (std::size_t m = 0; m < set.length(i); ++m)
      for (std::size_t k = 0; k < labels; ++k) {
        unary(m, k) = bias ? w[d * labels + k] : 0;
        for (std::size_t j = 0; j < d; ++j)
          unary(m, k) += x.values[(set.tokens.begin(i) + m) * d + j] * w[j * labels + k];
      }
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) table(j, k) = w[tail + j * labels + k];
    const std::span<const double> ends = std::span(w).subspan(tail + labels * labels);
    transitions_.prepare(table, ends.first(labels), ends.subspan(labels, labels));
  }
  ChainScores view() const { return {unary_.view(), &transitions_}; }

 private:
  PaddedMatrix<double> unary_, table_;
  Transitions transitions_;
};

// P(w) from its definition: by enumeration of all labellings, and by Clp for M4N.
double objective(const Sentences& set, const CostMatrix& cost, SurrogateKind surrogate, double lambda,
                 const std::vector<double>& w, bool bias) {
  double sum = 0;
  for (const double x : w) sum += 0.5 * lambda * x * x;
  for (std::size_t i = 0; i < set.examples(); ++i) {
    const OwnScores scores(set, w, bias, i);
    const ChainScores v = scores.view();
    const LabelView y = set.y(i);
    double top = -1e300, augmented = -1e300, partition = 0;
    for_labellings(set.length(i), set.labels, [&](const std::vector<std::int32_t>& other) {
      double loss = 0;
      for (std::size_t m = 0; m < y.size(); ++m)
        loss +=
            cost(static_cast<std::size_t>(y[m]), static_cast<std::size_t>(other[m])) / static_cast<double>(y.size());
      top = std::max(top, score(v, other));
      augmented = std::max(augmented, score(v, other) + loss);
      partition += std::exp(score(v, other) - score(v, y));
    });
    double value = 0;
    switch (surrogate) {
      case SurrogateKind::m4n:
        value = clp_chain_value(cost, v, top) - score(v, y);
        break;
      case SurrogateKind::m3n:
        value = augmented - score(v, y);
        break;
      default:
        value = std::log(partition);
    }
    sum += set.share[i] * value;
  }
  return sum;
}

TEST(ChainSolver, ObjectiveIsTheDefinitionAndNothingIsBelowTheDual) {
  for (const SurrogateKind surrogate : surrogates) {
    Rng rng(5);
    for (int trial = 0; trial < 6; ++trial) {
      const std::size_t labels = 2 + rng.below(2), longest = 1 + rng.below(4);
      const Sentences set = random_sentences(rng, 6 + rng.below(6), 2 + rng.below(3), labels, longest);
      const CostMatrix cost = trial % 2 == 0 ? CostMatrix::named("zero-one", labels) : some_cost(rng, labels);
      const double lambda = std::pow(10, -rng.uniform(0, 2.5));
      TrainOptions o = options_for(surrogate, 1e-7);
      o.bias = trial % 3 != 0;
      const ChainSolution found = solve(set, cost, lambda, o);
      const Certificate& c = found.result.certificate;
      ASSERT_TRUE(c.converged) << to_string(surrogate) << " " << trial << " gap " << c.relative_gap();
      const std::vector<double> w = flat(found.weights);
      EXPECT_NEAR(objective(set, cost, surrogate, lambda, w, o.bias), c.primal, 1e-7 * c.primal)
          << to_string(surrogate) << " " << trial;
      const auto expect_above = [&](const std::vector<double>& other) {
        EXPECT_GE(objective(set, cost, surrogate, lambda, other, o.bias), c.dual - 1e-9 * c.primal)
            << to_string(surrogate) << " " << trial;
      };
      std::vector<double> other = w;
      for (const double size : {1.0, 0.1, 1e-2, 1e-3})
        for (int direction = 0; direction < 8; ++direction) {
          for (std::size_t j = 0; j < w.size(); ++j) other[j] = w[j] + size * rng.normal();
          expect_above(other);
        }
      for (std::size_t j = 0; j < w.size(); ++j)
        for (const double step : {-0.01, 0.01}) {
          other = w;
          other[j] += step;
          expect_above(other);
        }
    }
  }
}

TEST(ChainSolver, DualNeverFallsAndPrimalStaysAbove) {
  for (const SurrogateKind surrogate : surrogates) {
    Rng rng(6);
    for (int trial = 0; trial < 4; ++trial) {
      const Sentences set = random_sentences(rng, 30, 5, 4, 6);
      const CostMatrix cost = trial % 2 == 0 ? CostMatrix::named("zero-one", 4) : some_cost(rng, 4);
      const double lambda = trial < 2 ? 0.1 : 1e-3;
      TrainOptions o = options_for(surrogate, 1e-10);
      double dual = -1e300, least_primal = 1e300;
      for (o.epochs = 1; o.epochs <= 12; ++o.epochs) {
        const Certificate c = solve(set, cost, lambda, o).result.certificate;
        EXPECT_GE(c.dual, dual - 1e-12 * std::abs(dual)) << to_string(surrogate) << " epochs " << o.epochs;
        EXPECT_GE(c.primal, c.dual);
        dual = c.dual;
        least_primal = std::min(least_primal, c.primal);
      }
      EXPECT_LE(dual, least_primal);
    }
  }
}

TEST(ChainSolver, SinglePositionsAreTheMultiClassProblem) {
  for (const SurrogateKind surrogate : surrogates) {
    Rng rng(7);
    for (const double lambda : {0.1, 0.003}) {
      const std::size_t labels = 4, d = 5;
      Dataset data = random_dataset(rng, 50, d, labels);
      Sentences set;
      set.labels = labels;
      set.x = data.x;
      set.tokens = Groups(data.examples());
      set.label = data.label;
      set.share.assign(data.examples(), 1 / static_cast<double>(data.examples()));
      const TrainOptions o = options_for(surrogate, 1e-8);
      const CostMatrix cost = CostMatrix::named("zero-one", labels);
      const Certificate chain = solve(set, cost, lambda, o).result.certificate;
      // Start and end are two more biases.
      DenseMatrix wide;
      const auto& x = std::get<DenseMatrix>(data.x);
      wide.rows = x.rows;
      wide.cols = d + 2;
      for (std::size_t i = 0; i < x.rows; ++i) {
        wide.values.insert(wide.values.end(), x.values.begin() + static_cast<std::ptrdiff_t>(i * d),
                           x.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
        wide.values.insert(wide.values.end(), {1.0, 1.0});
      }
      data.x = std::move(wide);
      data.feature_names.clear();
      TrainOptions flat_options = o;
      flat_options.standardize = false;
      flat_options.lambda = lambda;
      const Certificate flat_certificate = fit(data, flat_options).report.certificate;
      ASSERT_TRUE(chain.converged) << to_string(surrogate) << " " << chain.relative_gap();
      EXPECT_NEAR(chain.primal, flat_certificate.primal, 1e-6 * flat_certificate.primal) << to_string(surrogate);
    }
  }
}

TEST(ChainSolver, ThePaperAndOtherSolversAgree) {
  Rng rng(8);
  const Sentences set = random_sentences(rng, 20, 4, 3, 4);
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  const Certificate exact = solve(set, cost, 0.1, options_for(SurrogateKind::m4n, 1e-8)).result.certificate;
  TrainOptions paper = options_for(SurrogateKind::m4n, 1e-3);
  paper.solver = SolverKind::gbcfw;
  paper.oracle = OracleKind::spmp;
  paper.oracle_iterations = 30;
  paper.iterations_per_part = true;
  paper.epochs = 100;
  const Certificate approximate = solve(set, cost, 0.1, paper).result.certificate;
  EXPECT_GE(approximate.primal, exact.dual);
  EXPECT_LE(approximate.dual, exact.primal);
  EXPECT_LE(approximate.relative_gap(), 0.1);

  const Certificate gradient = solve(set, cost, 0.01, options_for(SurrogateKind::crf, 1e-9)).result.certificate;
  TrainOptions primal = options_for(SurrogateKind::crf, 1e-9);
  primal.solver = SolverKind::lbfgs;
  const Certificate lbfgs = solve(set, cost, 0.01, primal).result.certificate;
  EXPECT_NEAR(gradient.primal, lbfgs.primal, 1e-8 * lbfgs.primal);
}

TEST(ChainSolver, ThreadsDoNotChangeABit) {
  Rng rng(9);
  const Sentences set = random_sentences(rng, 300, 6, 5, 7);
  const CostMatrix cost = CostMatrix::named("zero-one", 5);
  for (const SurrogateKind surrogate : surrogates) {
    Context one, several;
    one.threads = 1;
    several.threads = 3;
    const ChainSolution a = solve(set, cost, 0.01, options_for(surrogate, 1e-4), one),
                        b = solve(set, cost, 0.01, options_for(surrogate, 1e-4), several);
    EXPECT_EQ(flat(a.weights), flat(b.weights));
    EXPECT_EQ(a.result.certificate.primal, b.result.certificate.primal);
    EXPECT_EQ(a.result.certificate.dual, b.result.certificate.dual);
  }
}

TEST(ChainSolver, WarmPathEndsWhereColdStartsEnd) {
  Rng rng(10);
  const Sentences set = random_sentences(rng, 40, 5, 3, 5);
  const CostMatrix cost = some_cost(rng, 3);
  const std::vector<double> lambdas{0.3, 0.03, 0.003};
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-4);
    const std::vector<ChainSolution> path = solve_path(set, cost, lambdas, o);
    ASSERT_EQ(path.size(), lambdas.size());
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      const Certificate cold = solve(set, cost, lambdas[l], o).result.certificate, warm = path[l].result.certificate;
      EXPECT_TRUE(warm.converged) << to_string(surrogate) << " " << lambdas[l];
      EXPECT_NEAR(warm.primal, cold.primal, 2e-4 * cold.primal) << to_string(surrogate) << " " << lambdas[l];
    }
  }
}

TEST(ChainSolver, FormsOfTheSameFeaturesAgree) {
  Rng rng(11);
  Sentences dense = random_sentences(rng, 40, 6, 3, 5, 2), thin = random_sentences(rng, 40, 6, 3, 5, 8);
  for (double& value : std::get<DenseMatrix>(thin.x).values) value = value != 0 ? 1 : 0;
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-4);
    for (const Sentences* set : {&dense, &thin}) {
      Sentences sparse = *set;
      sparse.x = to_sparse(std::get<DenseMatrix>(set->x));
      const double primal = solve(*set, cost, 0.01, o).result.certificate.primal;
      EXPECT_NEAR(solve(sparse, cost, 0.01, o).result.certificate.primal, primal, 2e-4 * primal);
      if (set == &dense) continue;
      std::get<SparseMatrix>(sparse.x).value.clear();  // all of them are one
      EXPECT_NEAR(solve(sparse, cost, 0.01, o).result.certificate.primal, primal, 2e-4 * primal);
    }
  }
}

TEST(ChainSolver, LargeVocabulariesInFloatReachTheSameObjective) {
  Rng rng(12);
  Sentences set = random_sentences(rng, 60, 12, 3, 5, 7);
  SparseMatrix x = to_sparse(std::get<DenseMatrix>(set.x));
  x.cols = 400'000;
  for (std::uint32_t& column : x.column) column = column * 33'331 + 5;
  set.x = std::move(x);
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  for (const SurrogateKind surrogate : surrogates) {
    const ChainSolution narrow = solve(set, cost, 0.01, options_for(surrogate, 1e-5)),
                        wide = solve(set, cost, 0.01, options_for(surrogate, 9e-6));
    EXPECT_TRUE(std::holds_alternative<std::vector<float>>(narrow.weights.features));
    EXPECT_TRUE(std::holds_alternative<std::vector<double>>(wide.weights.features));
    EXPECT_TRUE(narrow.result.certificate.converged);
    EXPECT_NEAR(narrow.result.certificate.primal, wide.result.certificate.primal,
                2e-5 * wide.result.certificate.primal);
  }
}

TEST(ChainSolver, WeightsOfExamplesCountAsRepetitions) {
  Rng rng(13);
  const Sentences set = random_sentences(rng, 12, 3, 3, 4);
  Sentences weighted = set, repeated = set;
  auto& x = std::get<DenseMatrix>(repeated.x);
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < set.examples(); ++i) offsets.push_back(set.tokens.end(i));
  for (int copy = 0; copy < 2; ++copy) {  // the first sentence counts three times
    x.values.insert(x.values.end(), x.values.begin(),
                    x.values.begin() + static_cast<std::ptrdiff_t>(set.length(0) * 3));
    repeated.label.insert(repeated.label.end(), set.label.begin(),
                          set.label.begin() + static_cast<std::ptrdiff_t>(set.length(0)));
    offsets.push_back(repeated.label.size());
  }
  x.rows = repeated.label.size();
  repeated.tokens = Groups(std::move(offsets));
  repeated.share.assign(14, 1.0 / 14);
  weighted.share.assign(12, 1.0 / 14);
  weighted.share[0] = 3.0 / 14;
  const CostMatrix cost = CostMatrix::named("zero-one", 3);
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-7);
    const double once = solve(weighted, cost, 0.05, o).result.certificate.primal;
    EXPECT_NEAR(once, solve(repeated, cost, 0.05, o).result.certificate.primal, 2e-7 * once);
  }
}

TEST(ChainSolver, DegenerateDataAreSolved) {
  Rng rng(14);
  for (const SurrogateKind surrogate : surrogates) {
    for (const double scale : {0.0, 1e-6, 1e6}) {  // features that say nothing, little, or are huge
      Sentences set = random_sentences(rng, 10, 3, 3, 4);
      for (double& value : std::get<DenseMatrix>(set.x).values) value *= scale;
      TrainOptions o = options_for(surrogate, 1e-3);
      o.epochs = 300;
      const Certificate c = solve(set, CostMatrix::named("zero-one", 3), 0.01, o).result.certificate;
      EXPECT_TRUE(std::isfinite(c.primal) && std::isfinite(c.dual)) << to_string(surrogate) << " " << scale;
      EXPECT_GE(c.primal, c.dual) << to_string(surrogate) << " " << scale;
      if (scale < 1) {
        EXPECT_TRUE(c.converged) << to_string(surrogate) << " " << scale << " " << c.relative_gap();
      }
    }
    Sentences single = random_sentences(rng, 1, 3, 2, 3);  // one sentence, tiny and large lambda
    for (const double lambda : {1e-7, 1e3}) {
      const Certificate c =
          solve(single, CostMatrix::named("zero-one", 2), lambda, options_for(surrogate, 1e-3)).result.certificate;
      EXPECT_TRUE(c.converged) << to_string(surrogate) << " " << lambda << " " << c.primal << " " << c.dual;
    }
  }
}

TEST(ChainSolver, SmallLambdaDoesNotStall) {
  Rng rng(15);
  const Sentences set = random_sentences(rng, 60, 4, 4, 6);
  const CostMatrix cost = CostMatrix::named("zero-one", 4);
  for (const SurrogateKind surrogate : surrogates) {
    const Certificate c = solve(set, cost, 1e-3, options_for(surrogate, 1e-3)).result.certificate;
    EXPECT_TRUE(c.converged) << to_string(surrogate) << " " << c.relative_gap();
  }
}

TEST(ChainSolver, StopsWhenToldTo) {
  Rng rng(16);
  const Sentences set = random_sentences(rng, 400, 8, 6, 10);
  const CostMatrix cost = CostMatrix::named("zero-one", 6);
  for (const SurrogateKind surrogate : surrogates) {
    for (const int patience : {0, 20}) {
      std::atomic<int> asked = 0;  // from several threads
      Context context;
      context.cancelled = [&] { return ++asked > patience; };
      const SolveResult result = solve(set, cost, 1e-6, options_for(surrogate, 1e-12), context).result;
      EXPECT_TRUE(result.interrupted);
      EXPECT_FALSE(result.certificate.converged);
      EXPECT_GE(result.certificate.primal, result.certificate.dual);
      EXPECT_GT(result.certificate.primal, 0);
    }
    TrainOptions o = options_for(surrogate, 1e-12);
    o.time_limit = 0.02;
    const SolveResult late = solve(set, cost, 1e-6, o).result;
    EXPECT_FALSE(late.interrupted);
    EXPECT_FALSE(late.certificate.converged);
    EXPECT_GE(late.certificate.primal, late.certificate.dual);
  }
}

TEST(ChainSolver, RefusesWhatItCannotDo) {
  Rng rng(17);
  const Sentences set = random_sentences(rng, 5, 2, 2, 3);
  const CostMatrix cost = CostMatrix::named("zero-one", 2);
  EXPECT_THROW(solve(set, cost, 0.1, options_for(SurrogateKind::qs, 1e-3)), UsageError);
}

}  // namespace
}  // namespace m4n::detail::test

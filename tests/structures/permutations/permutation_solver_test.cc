// The solvers of rankings and matchings: certificates and optima against objectives that list every permutation and a
// subgradient method on them, against the multi-class solver for two items, and what must not change the result.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "m4n/error.h"
#include "structures/classes/solve.h"
#include "structures/permutations/predictor.h"
#include "support/decoders.h"
#include "support/random_permutations.h"

namespace m4n::detail::test {
namespace {

constexpr SurrogateKind with_oracles[] = {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf};

const PositionLosses::Make hamming = [](std::size_t m) { return PositionLoss::hamming(m); };
const PositionLosses::Make footrule = [](std::size_t m) { return PositionLoss::footrule(m); };
const PositionLosses::Make squared = [](std::size_t m) { return PositionLoss::squared(m); };
const PositionLosses::Make asymmetric = [](std::size_t m) {
  std::vector<double> costs(m * m);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < m; ++j)
      costs[k * m + j] = (j > k ? 2.0 : 1.0) * std::abs(static_cast<double>(j) - static_cast<double>(k));
  return PositionLoss::matrix(costs, m);
};

TrainOptions options_for(SurrogateKind surrogate, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.tol = tol;
  o.epochs = 20000;
  return o;
}

RowSolution solve_one(const PermutationSet& set, const PositionLosses::Make& loss, double lambda,
                      const TrainOptions& o) {
  return solve_path(set, loss, {lambda}, o).front();
}

// P is what its definition says, nothing is below D, and a subgradient method from zero comes down to it.
void expect_optimum(const PermutationSet& set, const PositionLosses::Make& loss, SurrogateKind surrogate, double lambda,
                    Rng& rng, const std::string& where) {
  const RowSolution found = solve_one(set, loss, lambda, options_for(surrogate, 1e-6));
  const Certificate& c = found.result.certificate;
  ASSERT_TRUE(c.converged) << where << " gap " << c.relative_gap();
  const ListedObjective objective(set, loss, surrogate, lambda);
  EXPECT_NEAR(objective(found.weights), c.primal, 1e-7 * c.primal) << where;
  EXPECT_LE(c.dual, c.primal * (1 + 1e-12)) << where;
  std::vector<double> other = found.weights;
  for (const double step : {1.0, 0.1, 1e-2, 1e-3}) {
    for (std::size_t j = 0; j < other.size(); ++j) other[j] = found.weights[j] + step * rng.normal();
    EXPECT_GE(objective(other), c.dual - 1e-9 * c.primal) << where;
  }
  std::vector<double> w(found.weights.size(), 0.0), mean = w, gradient;
  constexpr int steps = 3000;
  for (int t = 0; t < steps; ++t) {
    objective(w, &gradient);
    const double rate = 1 / (lambda * (t + 20.0)), weight = 2.0 / (t + 2);
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] -= rate * gradient[j];
      mean[j] += weight * (w[j] - mean[j]);
    }
  }
  const double reached = objective(mean);
  EXPECT_GE(reached, c.dual - 1e-9 * c.primal) << where;
  EXPECT_LE(reached, c.primal * 1.02 + 5e-4) << where;
}

// With K = x x^T + 1 the kernel and the rows are the same problem; floats hold K.
TEST(PermutationSolver, AKernelReachesTheOptimumOfItsFeatures) {
  Rng rng(11);
  const std::vector<double> lambdas{0.3, 0.02};
  for (const auto& loss : {hamming, squared}) {
    const PermutationSet set = random_rankings(rng, 40, 3, 4, true);
    const DenseView x = std::get<DenseMatrix>(set.x).view();
    GramMatrix gram(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i)
      for (std::size_t j = 0; j < x.rows; ++j) {
        double inner = 1;
        for (std::size_t f = 0; f < x.cols; ++f) inner += x.row(i)[f] * x.row(j)[f];
        gram.row(i)[j] = static_cast<float>(inner);
      }
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
      const TrainOptions options = options_for(surrogate, 1e-4);
      const Context context{1, {}, {}};
      const std::vector<RowSolution> expected = solve_path(set, loss, lambdas, options);
      std::vector<RowSolution> found;
      solve_permutations(
          {view(set.x), nullptr, true, &set.items, set.position, set.share, loss, lambdas, &options, &context, &gram},
          [&](std::unique_ptr<RowSolution> s) { found.push_back(std::move(*s)); });
      ASSERT_EQ(found.size(), lambdas.size());
      for (std::size_t l = 0; l < lambdas.size(); ++l) {
        const Certificate &a = expected[l].result.certificate, &b = found[l].result.certificate;
        const std::string where = fmt::format("{} {} lambda {}", to_string(surrogate), loss(4).name(), lambdas[l]);
        EXPECT_TRUE(b.converged) << where;
        const double rounding = 1e-5 * std::abs(a.primal);
        EXPECT_LE(b.dual, a.primal + rounding) << where;
        EXPECT_LE(a.dual, b.primal + rounding) << where;
        // |w - w'|^2 <= 2 gap / lambda for each of the two.
        const std::size_t outputs = found[l].weights.size() / x.rows;
        double distance = 0, squared_norm = 0;
        for (std::size_t f = 0; f <= x.cols; ++f)
          for (std::size_t c = 0; c < outputs; ++c) {
            double w = 0;
            for (std::size_t i = 0; i < x.rows; ++i)
              w += found[l].weights[i * outputs + c] * (f < x.cols ? x.row(i)[f] : 1);
            squared_norm += w * w;
            distance += (w - expected[l].weights[f * outputs + c]) * (w - expected[l].weights[f * outputs + c]);
          }
        EXPECT_LE(std::sqrt(distance), 2 * std::sqrt(2 * 1.1e-4 * std::abs(a.primal) / lambdas[l])) << where;
        EXPECT_NEAR(squared_norm, found[l].norm_squared, 1e-4 * (1 + squared_norm)) << where;
      }
    }
  }
}

TEST(PermutationSolver, RankingsReachTheOptimumOverAllPermutations) {
  Rng rng(3);
  const std::vector<PositionLosses::Make> losses{hamming, footrule, squared, asymmetric};
  for (const SurrogateKind surrogate : with_oracles)
    for (std::size_t which = 0; which < losses.size(); ++which) {
      const std::size_t size = which == 0 ? 4 : 3;
      const PermutationSet set = random_rankings(rng, 7, 2, size, which % 2 == 0);
      expect_optimum(set, losses[which], surrogate, 0.3, rng, fmt::format("{} {}", to_string(surrogate), which));
    }
}

TEST(PermutationSolver, MatchingsReachTheOptimumOverAllPermutations) {
  Rng rng(4);
  for (const SurrogateKind surrogate : with_oracles)
    for (const PositionLosses::Make& loss : {hamming, footrule}) {
      const PermutationSet set = random_matchings(rng, 6, 4, 4);
      expect_optimum(set, loss, surrogate, 0.3, rng, to_string(surrogate));
      expect_optimum(random_matchings(rng, 1, 3, 4), loss, surrogate, 0.5, rng, "one example");
    }
}

// Two items, Hamming: a permutation is one of two classes. Their matrices are twice as far apart as unit vectors.
TEST(PermutationSolver, TwoItemsAreTwoClasses) {
  Rng rng(5);
  const PermutationSet set = random_rankings(rng, 30, 3, 2, true);
  std::vector<std::int32_t> label;
  for (std::size_t i = 0; i < set.examples(); ++i) label.push_back(set.y(i)[0]);
  const CostMatrix cost = CostMatrix::named("zero-one", 2);
  const double lambda = 0.05, halved = lambda / 2;
  const Context context{1, {}, {}};
  for (const SurrogateKind surrogate : with_oracles) {
    const TrainOptions o = options_for(surrogate, 1e-8);
    const ClassRequest request{view(set.x),        nullptr, true,    label, set.share, &cost, {&halved, 1},
                               Decoder::automatic, &o,      &context};
    ClassSolution classes;
    const auto keep = [&](std::unique_ptr<ClassSolution> s) { classes = std::move(*s); };
    if (surrogate == SurrogateKind::m4n)
      solve_m4n(request, keep);
    else if (surrogate == SurrogateKind::m3n)
      solve_m3n(request, keep);
    else
      solve_crf(request, keep);
    const RowSolution found = solve_one(set, hamming, lambda, o);
    EXPECT_NEAR(found.result.certificate.primal, classes.result.certificate.primal, 1e-6) << to_string(surrogate);
  }
}

// Solves that end after one pass, two, three, ... are the beginnings of the same solve, each with one certificate.
TEST(PermutationSolver, TheDualNeverFalls) {
  Rng rng(6);
  const PermutationSet set = random_rankings(rng, 20, 3, 5, true), pairs = random_matchings(rng, 15, 3, 4);
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n})
    for (const PermutationSet* data : {&set, &pairs}) {
      double last = 0;
      for (int passes = 1; passes < 10; ++passes) {
        TrainOptions o = options_for(surrogate, 1e-12);
        o.epochs = passes;
        const Certificate c = solve_one(*data, hamming, 1e-3, o).result.certificate;
        EXPECT_LE(c.dual, c.primal * (1 + 1e-12)) << to_string(surrogate) << " " << passes;
        EXPECT_GE(c.dual, last * (1 - 1e-12)) << to_string(surrogate) << " " << passes;
        last = c.dual;
      }
      EXPECT_GT(last, 0);
    }
}

TEST(PermutationSolver, ThePaperReachesTheSameOptimum) {
  Rng rng(7);
  for (const PositionLosses::Make& loss : {hamming, squared}) {
    const PermutationSet set = random_rankings(rng, 8, 2, 3, true);
    const RowSolution exact = solve_one(set, loss, 0.2, options_for(SurrogateKind::m4n, 1e-6));
    TrainOptions o = options_for(SurrogateKind::m4n, 1e-2);
    o.solver = SolverKind::gbcfw;
    o.oracle = OracleKind::spmp;
    o.oracle_iterations = 200;
    o.epochs = 200;
    const Certificate paper = solve_one(set, loss, 0.2, o).result.certificate;
    EXPECT_NEAR(paper.primal, exact.result.certificate.primal, 0.02 * exact.result.certificate.primal);
    EXPECT_LE(paper.dual, exact.result.certificate.primal);
    EXPECT_GE(paper.primal, exact.result.certificate.dual);
  }
}

TEST(PermutationSolver, APathEndsWhereColdSolvesDo) {
  Rng rng(8);
  const PermutationSet set = random_rankings(rng, 25, 3, 4, true), pairs = random_matchings(rng, 10, 3, 4);
  for (const SurrogateKind surrogate :
       {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
    const TrainOptions o = options_for(surrogate, 1e-5);
    for (const PermutationSet* data : {&set, &pairs}) {
      const std::vector<RowSolution> path = solve_path(*data, hamming, {1.0, 0.1, 0.03}, o);
      ASSERT_EQ(path.size(), 3U);
      const Certificate cold = solve_one(*data, hamming, 0.03, o).result.certificate;
      EXPECT_TRUE(path[2].result.certificate.converged);
      EXPECT_NEAR(path[2].result.certificate.primal, cold.primal, 2e-5 * cold.primal) << to_string(surrogate);
    }
  }
}

TEST(PermutationSolver, ThreadsDoNotChangeABit) {
  Rng rng(9);
  const PermutationSet set = random_rankings(rng, 300, 3, 4, true);
  for (const SurrogateKind surrogate :
       {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
    const TrainOptions o = options_for(surrogate, 1e-3);
    const RowSolution one = solve_path(set, hamming, {0.01}, o, {1, {}, {}}).front(),
                      three = solve_path(set, hamming, {0.01}, o, {3, {}, {}}).front();
    EXPECT_EQ(one.weights, three.weights) << to_string(surrogate);
    EXPECT_EQ(one.result.certificate.primal, three.result.certificate.primal) << to_string(surrogate);
    EXPECT_EQ(one.result.certificate.dual, three.result.certificate.dual) << to_string(surrogate);
  }
}

TEST(PermutationSolver, SparseRowsAreTheSameRows) {
  Rng rng(10);
  PermutationSet set = random_rankings(rng, 20, 4, 3, true), pairs = random_matchings(rng, 8, 3, 3);
  for (PermutationSet* data : {&set, &pairs}) {
    const DenseMatrix dense = std::get<DenseMatrix>(data->x);
    SparseMatrix sparse;
    sparse.rows = dense.rows;
    sparse.cols = dense.cols;
    for (std::size_t e = 0; e < dense.values.size(); ++e) {
      sparse.column.push_back(static_cast<std::uint32_t>(e % dense.cols));
      sparse.value.push_back(dense.values[e]);
      if ((e + 1) % dense.cols == 0) sparse.row_start.push_back(e + 1);
    }
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
      const TrainOptions o = options_for(surrogate, 1e-6);
      data->x = dense;
      const double expected = solve_one(*data, hamming, 0.1, o).result.certificate.primal;
      data->x = sparse;
      EXPECT_NEAR(solve_one(*data, hamming, 0.1, o).result.certificate.primal, expected, 2e-6 * expected);
    }
  }
}

TEST(PermutationSolver, DegenerateSets) {
  Rng rng(11);
  PermutationSet twice = random_rankings(rng, 8, 2, 3, true);  // equal rows, different truths, and rows of zeros
  auto& x = std::get<DenseMatrix>(twice.x);
  for (std::size_t j = 0; j < x.cols; ++j) {
    x.values[j] = x.values[x.cols + j] = 1;
    x.values[2 * x.cols + j] = 0;
  }
  const PermutationSet single = random_rankings(rng, 5, 2, 1, true);
  for (const SurrogateKind surrogate :
       {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
    const TrainOptions o = options_for(surrogate, 1e-4);
    EXPECT_TRUE(solve_one(twice, hamming, 1e-3, o).result.certificate.converged) << to_string(surrogate);
    EXPECT_TRUE(solve_one(single, hamming, 0.1, o).result.certificate.converged) << to_string(surrogate);
  }
}

TEST(PermutationSolver, RefusesWhatItCannotDo) {
  Rng rng(12);
  PermutationSet set = random_rankings(rng, 2, 2, 17, true);
  EXPECT_THROW(solve_one(set, hamming, 0.1, options_for(SurrogateKind::crf, 1e-3)), UsageError);
  set.position[1] = set.position[0];
  EXPECT_THROW(solve_one(set, hamming, 0.1, options_for(SurrogateKind::m4n, 1e-3)), Error);
  PermutationSet pairs = random_matchings(rng, 2, 2, 3);
  pairs.pairs = Groups(2, 1000);
  EXPECT_THROW(solve_one(pairs, hamming, 0.1, options_for(SurrogateKind::m4n, 1e-3)), Error);
}

// Scores that leave no doubt are decoded to their permutation by every rule; CRF weighs costs.
TEST(PermutationDecoder, FollowsTheScores) {
  Rng rng(13);
  for (const PositionLosses::Make& loss : {hamming, footrule, squared, asymmetric}) {
    PositionLosses losses(loss);
    losses.prepare(4);
    const PermutationParts parts = ranking_parts(losses.of(4), true);
    PermutationSet set;
    add_permutation(rng, 4, set);
    std::vector<double> v(parts.count(4));
    for (std::size_t i = 0; i < 4; ++i) {
      const auto place = static_cast<std::size_t>(set.position[i]);
      if (parts.items()) {
        v[i] = -100.0 * static_cast<double>(place);
      } else {
        v[i * 4 + place] = 100;
      }
    }
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
      std::vector<std::int32_t> out(4);
      PermutationDecoder(test::decoder_of("ranking", Decoder::automatic, surrogate, decodes_by_scores(losses.of(4))),
                         losses, parts)
          .decode(v, out);
      EXPECT_EQ(out, set.position) << losses.of(4).name() << " " << to_string(surrogate);
    }
  }
}

TEST(PermutationDecoder, CrfTakesTheLeastExpectedCost) {
  Rng rng(14);
  PositionLosses losses(asymmetric);
  losses.prepare(4);
  const PositionLoss& loss = losses.of(4);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> v(16);
    for (double& x : v) x = rng.normal();
    std::vector<std::vector<std::int32_t>> list;
    std::vector<std::int32_t> y{0, 1, 2, 3}, out(4);
    do list.push_back(y);
    while (std::next_permutation(y.begin(), y.end()));
    const auto expected = [&](const std::vector<std::int32_t>& prediction) {
      double cost = 0, total = 0;
      for (const auto& truth : list) {
        double score = 0;
        for (std::size_t i = 0; i < 4; ++i) score += v[i * 4 + static_cast<std::size_t>(truth[i])];
        total += std::exp(score);
        cost += std::exp(score) * loss(truth, prediction);
      }
      return cost / total;
    };
    PermutationDecoder(Decoder::expected, losses, PermutationParts()).decode(v, out);
    double least = 1e300;
    for (const auto& prediction : list) least = std::min(least, expected(prediction));
    EXPECT_NEAR(expected(out), least, 1e-9);
  }
}

}  // namespace
}  // namespace m4n::detail::test

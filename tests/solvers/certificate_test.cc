// The certificate is that of the weights that are returned. P(w) is computed here a second time from Model.weights,
// with formulas that share no code with the surrogates: the max-min value by Clp, its smoothed form by trying every
// face of the simplex, the others from their definitions. Each solver's bracket [dual, primal] must hold the optimum,
// so the brackets of all solvers of a problem overlap.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "m4n/fit.h"
#include "support/clp_game.h"
#include "support/flat_model.h"
#include "support/random_dataset.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using Scores = std::span<const double>;

double bayes_risk(const CostMatrix& cost, const Eigen::VectorXd& mu) {
  double least = INFINITY;
  for (std::size_t p = 0; p < cost.k(); ++p) {
    double risk = 0;
    for (std::size_t t = 0; t < cost.k(); ++t) risk += cost(t, p) * mu(static_cast<Eigen::Index>(t));
    least = std::min(least, risk);
  }
  return least;
}

// max over the simplex of h(mu) + v.mu - (g/2)|mu|^2. At the optimum some classes S carry mass and some rows Y have the
// least risk t; given S and Y it solves linear equations in (mu_S, nu_Y, theta, t):
//   v_j + sum_y A_yj nu_y - g mu_j = theta (j in S),   A_y mu = t (y in Y),   sum mu = 1,   sum nu = 1.
// Every solution that is a distribution is a feasible point, so the best of all choices of S and Y is the optimum.
double smoothed_value(const CostMatrix& cost, Scores v, double g) {
  const unsigned faces = 1U << cost.k();
  const auto members = [&](unsigned set) {
    std::vector<std::size_t> out;
    for (std::size_t j = 0; j < cost.k(); ++j)
      if ((set >> j & 1U) != 0) out.push_back(j);
    return out;
  };
  double best = -INFINITY;
  for (unsigned s = 1; s < faces; ++s) {
    for (unsigned r = 1; r < faces; ++r) {
      const std::vector<std::size_t> support = members(s), rows = members(r);
      const auto m = static_cast<Eigen::Index>(support.size()), q = static_cast<Eigen::Index>(rows.size());
      Eigen::MatrixXd system = Eigen::MatrixXd::Zero(m + q + 2, m + q + 2);
      Eigen::VectorXd right = Eigen::VectorXd::Zero(m + q + 2);
      for (Eigen::Index i = 0; i < m; ++i) {
        system(i, i) = -g;
        system(i, m + q) = -1;
        right(i) = -v[support[static_cast<std::size_t>(i)]];
        for (Eigen::Index l = 0; l < q; ++l)
          system(i, m + l) = system(m + l, i) =
              cost(support[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(l)]);
        system(m + q, i) = 1;
      }
      for (Eigen::Index l = 0; l < q; ++l) system(m + l, m + q + 1) = -1, system(m + q + 1, m + l) = 1;
      right(m + q) = right(m + q + 1) = 1;
      const Eigen::VectorXd solution = system.fullPivLu().solve(right);
      if (!solution.allFinite() || solution.head(m).minCoeff() < -1e-12) continue;
      Eigen::VectorXd mu = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(cost.k()));
      for (Eigen::Index i = 0; i < m; ++i)
        mu(static_cast<Eigen::Index>(support[static_cast<std::size_t>(i)])) = std::max(solution(i), 0.0);
      mu /= mu.sum();
      double value = bayes_risk(cost, mu) - 0.5 * g * mu.squaredNorm();
      for (std::size_t j = 0; j < cost.k(); ++j) value += v[j] * mu(static_cast<Eigen::Index>(j));
      best = std::max(best, value);
    }
  }
  return best;
}

// S(v, y) of the surrogate that was asked for.
double surrogate_loss(const TrainOptions& o, const CostMatrix& cost, Scores v, std::size_t y) {
  const std::size_t k = cost.k();
  double out = 0;
  switch (o.surrogate) {
    case SurrogateKind::m4n: {
      const double g = o.smoothing * cost.mean_off_diagonal();
      return (g > 0 ? smoothed_value(cost, v, g) + 0.5 * g : test::clp_game_value(cost, v)) - v[y];
    }
    case SurrogateKind::m3n:
      out = -INFINITY;
      for (std::size_t j = 0; j < k; ++j) out = std::max(out, cost(y, j) + v[j] - v[y]);
      return out;
    case SurrogateKind::crf:
      for (std::size_t j = 0; j < k; ++j) out += std::exp(v[j] - v[y]);
      return std::log(out);
    case SurrogateKind::qs:
      for (std::size_t j = 0; j < k; ++j) {
        const double indicator = j == y ? cost.scale() : 0.0;
        const double target = cost.kind() == LossKind::zero_one ? indicator : -cost(y, j);
        out += (v[j] - target) * (v[j] - target);
      }
      return out;
  }
  return out;
}

double squared_norm(const std::vector<double>& w) {
  double sum = 0;
  for (const double x : w) sum += x * x;
  return sum;
}

double objective(const Dataset& data, const TrainOptions& o, const CostMatrix& cost, const FlatModel& model) {
  const std::vector<double> scores = model.scores(view(data.x));
  double loss = 0, total = 0;
  for (std::size_t i = 0; i < data.examples(); ++i) {
    const Scores v = std::span(scores).subspan(i * cost.k(), cost.k());
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    loss += weight * surrogate_loss(o, cost, v, static_cast<std::size_t>(data.label[i]));
    total += weight;
  }
  return loss / total + 0.5 * model.lambda * squared_norm(model.weights);
}

struct Way {
  const char* name;
  SolverKind solver;
  OracleKind oracle;
  StepRule step;
  std::optional<bool> average;
};
constexpr Way prox{"prox", SolverKind::prox, OracleKind::exact, StepRule::automatic, {}};
constexpr Way line_search{"line search", SolverKind::gbcfw, OracleKind::exact, StepRule::line_search, {}};
constexpr Way paper_step{"paper step", SolverKind::gbcfw, OracleKind::exact, StepRule::paper, true};
constexpr Way paper{"paper", SolverKind::gbcfw, OracleKind::spmp, StepRule::paper, true};
constexpr Way lbfgs{"lbfgs", SolverKind::lbfgs, OracleKind::exact, StepRule::automatic, {}};
constexpr Way smooth{"smooth", SolverKind::smooth, OracleKind::exact, StepRule::automatic, {}};
constexpr Way usual{"automatic", SolverKind::automatic, OracleKind::exact, StepRule::automatic, {}};

struct Setting {
  SurrogateKind surrogate;
  double smoothing;
  std::vector<Way> ways;
};
const Setting settings[] = {
    {SurrogateKind::m4n, 0, {prox, line_search, paper_step, paper, smooth, usual}},
    {SurrogateKind::m4n, 0.6, {prox, line_search, paper_step, smooth}},
    {SurrogateKind::m3n, 0, {prox, line_search, paper_step, smooth, usual}},
    {SurrogateKind::crf, 0, {prox, line_search, lbfgs, smooth, usual}},
    {SurrogateKind::qs, 0, {usual}},
};

class CertificateTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CertificateTest, IsThatOfTheReturnedWeights) {
  const std::string loss = GetParam();
  Rng rng(51);
  for (const std::size_t k : {2, 3, 5}) {
    for (const Setting& setting : settings) {
      if (setting.smoothing > 0 && k > 3) continue;  // 4^k faces
      for (const bool weighted : {false, true}) {
        // Of hundreds of examples block ascent returns the mean of recent weights.
        const bool large = k == 3 && !weighted && setting.smoothing == 0;
        Dataset data = test::random_dataset(rng, large ? 400 : 24, 3, k);
        if (weighted)
          for (std::size_t i = 0; i < data.examples(); ++i) data.weight.push_back(rng.uniform(0.3, 3));
        if (weighted == (k == 2)) data.x = test::to_sparse(std::get<DenseMatrix>(data.x));
        TrainOptions o;
        o.surrogate = setting.surrogate;
        o.smoothing = setting.smoothing;
        o.lambda = std::exp(rng.uniform(-6, -1));
        o.standardize = false;
        o.bias = rng.below(2) == 0;
        o.seed = rng.below(1000);
        if (loss == "random" || loss == "negative") {
          for (std::size_t t = 0; t < k; ++t)
            for (std::size_t p = 0; p < k; ++p)
              o.cost.push_back(loss == "random" ? (t == p ? 0 : rng.uniform(0.2, 3))
                                                : (t == p ? -3 : -rng.uniform(0.2, 2.5)));
        } else {
          o.loss = loss;
        }
        const CostMatrix cost =
            o.cost.empty() ? CostMatrix::named(loss, k) : CostMatrix::from_values(o.cost, k, "matrix", {}, "test");
        double least_primal = INFINITY, largest_dual = -INFINITY;
        for (const Way& way : setting.ways) {
          const bool fast = way.solver == SolverKind::prox || way.solver == SolverKind::automatic;
          if (large && !fast) continue;
          for (const int epochs : {1, 7, fast ? 20'000 : 300}) {  // far from the optimum, nearer, as far as it goes
            o.solver = way.solver;
            o.oracle = way.oracle;
            o.step = way.step;
            o.average = way.average;
            o.epochs = epochs;
            o.tol = 1e-4;
            SCOPED_TRACE(::testing::Message() << to_string(o.surrogate) << " smoothing " << o.smoothing << " k " << k
                                              << " weighted " << weighted << " " << way.name << " epochs " << epochs);
            const FitResult r = fit(data, o);
            const Certificate& c = r.report.certificate;
            const double expected = objective(data, o, cost, r.model);
            EXPECT_NEAR(c.primal, expected, 1e-9 * std::abs(expected));
            EXPECT_NEAR(r.report.norm_squared, squared_norm(FlatModel(r.model).weights),
                        1e-12 * (1e-300 + r.report.norm_squared));
            EXPECT_LE(c.dual, c.primal + 1e-12 * std::abs(c.primal));
            EXPECT_EQ(c.converged, c.relative_gap() <= o.tol);
            EXPECT_EQ(FlatModel(r.model).certificate.primal, c.primal);
            least_primal = std::min(least_primal, c.primal);
            largest_dual = std::max(largest_dual, c.dual);
          }
        }
        EXPECT_LE(largest_dual, least_primal + 1e-10 * std::abs(least_primal));
        // One of the solvers at least has arrived, so the brackets say something.
        EXPECT_LE(least_primal - largest_dual, 2e-4 * std::abs(least_primal));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, CertificateTest,
                         ::testing::Values("zero-one", "absolute", "squared", "random", "negative"),
                         [](const auto& p) { return std::string(p.param) == "zero-one" ? "zero_one" : p.param; });

}  // namespace
}  // namespace m4n::detail

// Games and decoders where predictions are actions: k truths, K predictions, K smaller than, equal to and larger than
// k. Values are compared with a linear program (Clp), proximal steps with their conditions of optimality and a search
// that knows nothing of active sets, decoders with enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.h"
#include "m4n/error.h"
#include "structures/classes/decoder.h"
#include "structures/classes/surrogates.h"
#include "support/clp_game.h"

namespace m4n::detail {
namespace {

using Vector = AlignedVector<double>;

std::vector<std::string> names(const char* prefix, std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(prefix + std::to_string(i));
  return out;
}

CostMatrix actions_of(std::vector<double> cost, std::size_t k) {
  const std::size_t width = cost.size() / k;
  return CostMatrix::from_values(std::move(cost), k, "matrix", names("class", k), "test", names("action", width));
}

enum class Style { random, integers, duplicates, mostly_zero, reject, shifted, count };

// `scale` times a random matrix: with ties, zeros, columns that stand twice, a column that always costs the same.
CostMatrix random_actions(Rng& rng, std::size_t k, std::size_t width, double scale) {
  const auto style = static_cast<Style>(rng.below(static_cast<std::uint64_t>(Style::count)));
  std::vector<double> cost(k * width);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < width; ++p) {
      double& c = cost[t * width + p];
      c = rng.uniform(-1, 1);
      if (style == Style::integers) c = static_cast<double>(rng.below(3));
      if (style == Style::duplicates && p > 0 && p % 2 == 1) c = cost[t * width + p - 1];
      if (style == Style::mostly_zero) c = rng.below(4) == 0 ? rng.uniform(0.5, 1) : 0;
      if (style == Style::reject) c = p + 1 == width ? 0.3 : p == t ? 0 : 1;
      if (style == Style::shifted) c += 5;
      c *= scale;
    }
  if (*std::min_element(cost.begin(), cost.end()) == *std::max_element(cost.begin(), cost.end())) cost[0] += scale;
  return actions_of(std::move(cost), k);
}

Vector padded(std::span<const double> v) {
  Vector out(kernels::padded(v.size()), kernels::padding_score);
  std::copy(v.begin(), v.end(), out.begin());
  return out;
}

Vector random_scores(Rng& rng, std::size_t k, double size) {
  const auto style = rng.below(5);
  std::vector<double> v(k);
  for (double& x : v) {
    x = size * rng.normal();
    if (style == 1) x = size * std::floor(2 * rng.normal());  // ties
    if (style == 2) x = 0;
    if (style == 3) x *= 1e3;
    if (style == 4) x = 0.1 * x + 50 * size;  // far from zero
  }
  return padded(v);
}

std::vector<double> random_distribution(Rng& rng, std::size_t k) {
  std::vector<double> mu(k);
  const auto style = rng.below(3);
  if (style == 0) mu[rng.below(k)] = 1;
  for (double& m : mu)
    if (style == 1 || (style == 2 && rng.below(2) == 0)) m = -std::log(1 - rng.uniform());
  const double total = std::accumulate(mu.begin(), mu.end(), 0.0);
  if (total == 0) return std::vector<double>(k, 1 / static_cast<double>(k));
  for (double& m : mu) m /= total;
  return mu;
}

// ---- the definitions, written down once more --------------------------------------------------------------------

std::vector<double> risks(const CostMatrix& cost, std::span<const double> mu) {
  std::vector<double> out(cost.predictions());
  for (std::size_t p = 0; p < out.size(); ++p)
    for (std::size_t t = 0; t < cost.k(); ++t) out[p] += cost(t, p) * mu[t];
  return out;
}
double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }
double bayes_risk(const CostMatrix& cost, std::span<const double> mu) { return least(risks(cost, mu)); }
double inner(std::span<const double> v, std::span<const double> mu) {
  return std::inner_product(mu.begin(), mu.end(), v.begin(), 0.0);
}
// What the max player gets against nu: max_t v_t + (A^T nu)_t.
double best_reply(const CostMatrix& cost, std::span<const double> v, std::span<const double> nu) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < cost.k(); ++t) {
    double sum = v[t];
    for (std::size_t p = 0; p < cost.predictions(); ++p) sum += nu[p] * cost(t, p);
    best = std::max(best, sum);
  }
  return best;
}

void expect_distribution(std::span<const double> p, std::size_t parts) {
  double total = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    EXPECT_GE(p[j], 0);
    if (j >= parts) {
      EXPECT_EQ(p[j], 0) << "beyond the end";
    }
    total += p[j];
  }
  EXPECT_NEAR(total, 1, 1e-12);
}

struct Case {
  std::size_t k, width;
  CostMatrix cost;
  Vector v;
  double unit;  // of the game: errors are judged by it
  std::span<const double> scores() const { return std::span<const double>(v).first(k); }
};

// Small games of every shape, and some whose truths or predictions need more than one vector of the processor.
template <class Body>
void repeat(int times, std::uint64_t seed, Body&& body) {
  Rng rng(seed);
  for (int trial = 0; trial < times; ++trial) {
    const bool large = trial % 8 == 0;
    const std::size_t k = 2 + rng.below(large ? 20 : 5), width = 1 + rng.below(large ? 20 : 8);
    constexpr double scales[] = {1, 1, 1e12, 1e-12, 0.01};
    const double scale = scales[rng.below(std::size(scales))];
    CostMatrix cost = random_actions(rng, k, width, scale);
    Vector v = random_scores(rng, k, scale);
    const auto [low, high] = std::minmax_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k));
    const double unit =
        cost.range() + (*high - *low) + std::max(std::abs(*high), std::abs(*low)) + std::abs(cost.largest());
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << k << " truths, " << width
                                      << " predictions, scale " << scale);
    body(Case{k, width, std::move(cost), std::move(v), unit}, rng);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// ---- the game ---------------------------------------------------------------------------------------------------

TEST(ActionGames, ValueAndBothPlayersAreThoseOfTheLinearProgram) {
  repeat(600, 1, [](const Case& c, Rng&) {
    const MatrixMaxMin game(c.cost);
    auto ws = game.workspace();
    std::vector<std::uint8_t> state(game.state_size());
    const double value = test::clp_game_value(c.cost, c.scores());
    EXPECT_NEAR(game.conjugate(c.v, {}, state, ws), value, 1e-9 * c.unit);
    EXPECT_NEAR(game.conjugate(c.v, {}, state, ws), value, 1e-9 * c.unit) << "warm";

    Vector mu(c.v.size(), -1.0);
    game.argmax(c.v, {}, mu, state, ws);
    expect_distribution(mu, c.k);
    const std::span<const double> own = std::span<const double>(mu).first(c.k);
    EXPECT_NEAR(bayes_risk(c.cost, own) + inner(c.v, own), value, 1e-9 * c.unit);
    EXPECT_NEAR(game.neg_omega(mu, {}, ws), bayes_risk(c.cost, own), 1e-12 * c.unit);

    Vector nu(kernels::padded(std::max(c.k, c.width)), 0.0);
    game.adversary(c.v, nu, ws);
    expect_distribution(nu, c.width);
    EXPECT_NEAR(best_reply(c.cost, c.scores(), nu), value, 1e-9 * c.unit);
  });
}

TEST(ActionGames, BayesRiskIsTheLeastOverAllPredictions) {
  repeat(300, 2, [](const Case& c, Rng& rng) {
    const MatrixMaxMin game(c.cost);
    auto ws = game.workspace();
    const std::vector<double> mu = random_distribution(rng, c.k);
    Vector given(c.v.size(), 0.0);
    std::copy(mu.begin(), mu.end(), given.begin());
    EXPECT_NEAR(game.neg_omega(given, {}, ws), bayes_risk(c.cost, mu), 1e-13 * c.unit);
  });
}

// A warm start from other scores changes nothing.
TEST(ActionGames, AnotherStartGivesTheSameValue) {
  repeat(200, 3, [](const Case& c, Rng& rng) {
    const MatrixMaxMin game(c.cost);
    auto ws = game.workspace();
    std::vector<std::uint8_t> state(game.state_size());
    for (int visit = 0; visit < 4; ++visit) {
      const Vector other = random_scores(rng, c.k, c.cost.range());
      game.conjugate(other, {}, state, ws);
      EXPECT_NEAR(game.conjugate(c.v, {}, state, ws), test::clp_game_value(c.cost, c.scores()), 1e-9 * c.unit);
    }
  });
}

// Where some predictions stand twice, the game is the one without the copies, and so is what is decided.
TEST(ActionGames, CopiesOfPredictionsChangeNothing) {
  repeat(200, 4, [](const Case& c, Rng&) {
    std::vector<double> twice;
    for (std::size_t t = 0; t < c.k; ++t)
      for (int copy = 0; copy < 2; ++copy)
        twice.insert(twice.end(), c.cost.of_truth(t).begin(), c.cost.of_truth(t).end());
    const CostMatrix doubled = actions_of(twice, c.k);
    const MatrixMaxMin one(c.cost), two(doubled);
    auto ws = one.workspace();
    auto other = two.workspace();
    std::vector<std::uint8_t> state(one.state_size()), cold(two.state_size());
    EXPECT_NEAR(one.conjugate(c.v, {}, state, ws), two.conjugate(c.v, {}, cold, other), 1e-10 * c.unit);
  });
}

// Where there are fewer predictions than truths, the square game has copies of the first; what they carry is its own.
TEST(ActionGames, MassOfCopiesIsThatOfTheFirstPrediction) {
  const CostMatrix two_of_four = actions_of({0, 1, 1, 0, 2, 1, 0, 3}, 4),
                   three_of_two = actions_of({0, 1, 2, 1, 0, 2}, 2);
  const MatrixMaxMin narrow(two_of_four), wide(three_of_two);
  std::vector<double> nu = {0.125, 0.25, 0.125, 0.5};
  narrow.fold_copies(nu);
  EXPECT_EQ(nu, (std::vector<double>{0.75, 0.25, 0, 0}));
  nu = {0.25, 0.5, 0.25};
  wide.fold_copies(nu);
  EXPECT_EQ(nu, (std::vector<double>{0.25, 0.5, 0.25}));
}

// ---- the proximal step ------------------------------------------------------------------------------------------

// By Euclidean projection: sorting.
std::vector<double> projected(std::vector<double> u) {
  std::vector<double> sorted = u;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, tau = 0;
  for (std::size_t j = 0; j < sorted.size(); ++j) {
    sum += sorted[j];
    const double candidate = (sum - 1) / static_cast<double>(j + 1);
    if (sorted[j] > candidate) tau = candidate;
  }
  for (double& x : u) x = std::max(x - tau, 0.0);
  return u;
}

// An upper bound of max over mu of h(mu) + v.mu - (c/2)|mu - old|^2, by descent in nu, which is projected too: for
// every nu the best mu is a projection. Also the mu of the last one.
struct Bound {
  double value;
  std::vector<double> mu;
};
Bound dual_bound(const Case& c, std::span<const double> v, double curvature, const std::vector<double>& old) {
  const std::size_t width = c.width;
  std::vector<double> nu(width, 1 / static_cast<double>(width)), ahead = nu, last = nu;
  double norm = 0;
  for (const double x : c.cost.values()) norm += x * x;
  const double step = norm > 0 ? curvature / norm : 0;
  Bound best{std::numeric_limits<double>::infinity(), {}};
  double momentum = 1;
  for (int iteration = 0; iteration < 5000; ++iteration) {
    std::vector<double> target(c.k), pull(c.k);
    for (std::size_t t = 0; t < c.k; ++t) {
      pull[t] = v[t];
      for (std::size_t p = 0; p < width; ++p) pull[t] += ahead[p] * c.cost(t, p);
      target[t] = old[t] + pull[t] / curvature;
    }
    const std::vector<double> mu = projected(target);
    double value = inner(pull, mu);
    for (std::size_t t = 0; t < c.k; ++t) value -= 0.5 * curvature * (mu[t] - old[t]) * (mu[t] - old[t]);
    if (value < best.value) best = {value, mu};
    last = nu;
    const std::vector<double> gradient = risks(c.cost, mu);
    for (std::size_t p = 0; p < width; ++p) ahead[p] -= step * gradient[p];
    nu = projected(ahead);
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t p = 0; p < width; ++p) ahead[p] = nu[p] + (momentum - 1) / next * (nu[p] - last[p]);
    ahead = projected(ahead);
    momentum = next;
  }
  return best;
}

double block_value(const Case& c, std::span<const double> mu, double curvature, const std::vector<double>& old) {
  double sum = bayes_risk(c.cost, mu) + inner(c.v, mu);
  for (std::size_t t = 0; t < c.k; ++t) sum -= 0.5 * curvature * (mu[t] - old[t]) * (mu[t] - old[t]);
  return sum;
}

// mu is optimal if and only if some nu on the predictions of least risk has a projection that is mu. The multipliers of
// the step are such a nu.
void expect_optimal(const Case& c, std::span<const double> mu, std::span<const double> nu, double curvature,
                    const std::vector<double>& old) {
  const std::vector<double> risk = risks(c.cost, mu);
  const double floor = least(risk);
  double slack = 0;
  for (std::size_t p = 0; p < c.width; ++p) slack += nu[p] * (risk[p] - floor);
  EXPECT_LE(slack, 1e-9 * c.unit) << "nu is positive on predictions that are not the best";
  std::vector<double> pull(c.k);
  for (std::size_t t = 0; t < c.k; ++t) {
    pull[t] = c.v[t] - curvature * (mu[t] - old[t]);
    for (std::size_t p = 0; p < c.width; ++p) pull[t] += nu[p] * c.cost(t, p);
  }
  const double top = *std::max_element(pull.begin(), pull.end());
  const double scale = c.unit + curvature;
  for (std::size_t t = 0; t < c.k; ++t)
    EXPECT_LE(mu[t] * (top - pull[t]), 1e-9 * scale) << "truth " << t << " has mass and no reason for it";
}

TEST(ActionGames, ProximalStepIsOptimal) {
  repeat(400, 5, [](const Case& c, Rng& rng) {
    const double curvature = c.cost.range() * std::exp(rng.uniform(-4, 4));
    const std::vector<double> old = random_distribution(rng, c.k);
    const MatrixMaxMin game(c.cost, MatrixMaxMin::all_solves);
    auto ws = game.workspace();
    std::vector<std::uint8_t> state(game.state_size());
    Vector mu(c.v.size(), 0.0);
    for (int visit = 0; visit < 2; ++visit) {  // the second with what the first has left
      std::copy(old.begin(), old.end(), mu.begin());
      game.prox(c.v, curvature, {}, mu, state, ws);
      expect_distribution(mu, c.k);
      Vector nu = ws.nu;
      game.fold_copies(nu);
      expect_distribution(std::span<const double>(nu).first(c.width), c.width);
      expect_optimal(c, std::span<const double>(mu).first(c.k), nu, curvature, old);
    }
  });
}

TEST(ActionGames, ProximalStepReachesTheBoundOfDescentInTheDual) {
  repeat(60, 6, [](const Case& c, Rng& rng) {
    const double curvature = c.cost.range() * std::exp(rng.uniform(0, 3));
    const std::vector<double> old = random_distribution(rng, c.k);
    const MatrixMaxMin game(c.cost, MatrixMaxMin::all_solves);
    auto ws = game.workspace();
    std::vector<std::uint8_t> state(game.state_size());
    Vector mu(c.v.size(), 0.0);
    std::copy(old.begin(), old.end(), mu.begin());
    game.prox(c.v, curvature, {}, mu, state, ws);
    const double found = block_value(c, std::span<const double>(mu).first(c.k), curvature, old);
    const double bound = dual_bound(c, c.scores(), curvature, old).value;
    EXPECT_LE(found, bound + 1e-11 * c.unit);  // weak duality
    EXPECT_GE(found, bound - 1e-4 * c.unit);   // as near as that descent comes
  });
}

// Training caps the inner solves; a capped step may stop early, but never below where it began.
TEST(ActionGames, CappedStepsAscend) {
  repeat(200, 7, [](const Case& c, Rng& rng) {
    const double curvature = c.cost.range() * std::exp(rng.uniform(-4, 4));
    const std::vector<double> old = random_distribution(rng, c.k);
    for (const int solves : {1, 2, 6}) {
      const MatrixMaxMin game(c.cost, solves);
      auto ws = game.workspace();
      std::vector<std::uint8_t> state(game.state_size());
      Vector mu(c.v.size(), 0.0);
      std::copy(old.begin(), old.end(), mu.begin());
      game.prox(c.v, curvature, {}, mu, state, ws);
      expect_distribution(mu, c.k);
      EXPECT_GE(block_value(c, std::span<const double>(mu).first(c.k), curvature, old),
                block_value(c, old, curvature, old) - 1e-11 * c.unit);
    }
  });
}

// ---- smoothed ---------------------------------------------------------------------------------------------------

TEST(ActionGames, SmoothedConjugateIsBetweenAPointAndABound) {
  repeat(60, 8, [](const Case& c, Rng& rng) {
    const double g = c.cost.range() * std::exp(rng.uniform(-1, 2));
    const Smoothed smoothed(MatrixMaxMin(c.cost, MatrixMaxMin::all_solves), g);
    auto ws = smoothed.workspace();
    std::vector<std::uint8_t> state(smoothed.state_size());
    const double value = smoothed.conjugate(c.v, {}, state, ws) - g / 2;
    for (int probe = 0; probe < 20; ++probe) {
      const std::vector<double> mu = random_distribution(rng, c.k);
      EXPECT_GE(value, bayes_risk(c.cost, mu) + inner(c.v, mu) - g / 2 * inner(mu, mu) - 1e-12 * c.unit);
    }
    Vector mu(c.v.size(), 0.0);
    smoothed.argmax(c.v, {}, mu, state, ws);
    expect_distribution(mu, c.k);
    const std::span<const double> own = std::span<const double>(mu).first(c.k);
    EXPECT_NEAR(bayes_risk(c.cost, own) + inner(c.v, own) - g / 2 * inner(own, own), value, 1e-9 * (c.unit + g));
    // (g/2)|mu|^2 is the proximal term around nothing.
    const double bound = dual_bound(c, c.scores(), g, std::vector<double>(c.k)).value;
    EXPECT_LE(value, bound + 1e-10 * (c.unit + g));
    EXPECT_GE(value, bound - 1e-4 * (c.unit + g));
  });
}

// Of a step that was cut short the bound is one all the same.
TEST(ActionGames, SmoothedBoundHoldsForStepsCutShort) {
  int loose = 0;
  repeat(150, 9, [&](const Case& c, Rng& rng) {
    const double g = c.cost.range() * std::exp(rng.uniform(-3, 1));
    const Smoothed hasty(MatrixMaxMin(c.cost, 1), g), exact(MatrixMaxMin(c.cost, MatrixMaxMin::all_solves), g);
    auto ws = hasty.workspace();
    auto other = exact.workspace();
    std::vector<std::uint8_t> state(hasty.state_size()), cold(exact.state_size());
    const double bound = hasty.conjugate(c.v, {}, state, ws), value = exact.conjugate(c.v, {}, cold, other);
    EXPECT_GE(bound, value - 1e-11 * (c.unit + g));
    if (bound > value + 1e-6 * (c.unit + g)) ++loose;
  });
  EXPECT_GT(loose, 0);  // else nothing was cut short
}

// ---- decoders ---------------------------------------------------------------------------------------------------

std::size_t decoded(SurrogateKind surrogate, Decoder decode, double smoothing, const CostMatrix& cost,
                    const Vector& v) {
  return static_cast<std::size_t>(make_decoder({surrogate, decode, smoothing, &cost})->decode(v, 0));
}

TEST(ActionDecoders, CrfChoosesTheLeastExpectedCost) {
  repeat(300, 11, [](const Case& c, Rng& rng) {
    const Vector v = random_scores(rng, c.k, 1);
    const double top = *std::max_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(c.k));
    std::vector<double> mu(c.k);
    double total = 0;
    for (std::size_t t = 0; t < c.k; ++t) total += mu[t] = std::exp(v[t] - top);
    for (double& m : mu) m /= total;
    const std::vector<double> risk = risks(c.cost, mu);
    for (const Decoder decode : {Decoder::expected, Decoder::automatic}) {
      const std::size_t found = decoded(SurrogateKind::crf, decode, 0, c.cost, v);
      ASSERT_LT(found, c.width);
      EXPECT_LE(risk[found], least(risk) + 1e-13 * (c.cost.range() + std::abs(c.cost.largest())));
    }
  });
}

// nu is a best reply to the mu of a saddle point: what is decoded has the least expected cost under it, and is played
// with the largest probability by some optimal nu.
TEST(ActionDecoders, AdversaryHasTheLeastExpectedCostAtTheSaddlePoint) {
  repeat(300, 12, [](const Case& c, Rng&) {
    const MatrixMaxMin game(c.cost);
    auto ws = game.workspace();
    std::vector<std::uint8_t> state(game.state_size());
    Vector mu(c.v.size(), 0.0), nu(kernels::padded(std::max(c.k, c.width)), 0.0);
    game.argmax(c.v, {}, mu, state, ws);
    game.adversary(c.v, nu, ws);
    const std::vector<double> risk = risks(c.cost, mu);
    for (std::size_t p = 0; p < c.width; ++p)
      EXPECT_LE(nu[p] * (risk[p] - least(risk)), 1e-9 * c.unit) << "prediction " << p;
    for (const Decoder decode : {Decoder::adversary, Decoder::automatic}) {
      const std::size_t found = decoded(SurrogateKind::m4n, decode, 0, c.cost, c.v);
      ASSERT_LT(found, c.width);
      EXPECT_GE(nu[found], *std::max_element(nu.begin(), nu.end()) - 1e-8);
      EXPECT_LE(risk[found] - least(risk), 1e-8 * static_cast<double>(c.width) * c.unit);
    }
  });
}

TEST(ActionDecoders, SmoothedChoosesTheLeastExpectedCostOfItsDistribution) {
  repeat(200, 13, [](const Case& c, Rng& rng) {
    const double smoothing = std::exp(rng.uniform(-2, 3)), mistake = c.cost.mean_off_diagonal();
    const double g = smoothing * (mistake > 0 ? mistake : c.cost.range());  // 0: all predictions are the same
    const Smoothed smoothed(MatrixMaxMin(c.cost, MatrixMaxMin::all_solves), g);
    auto ws = smoothed.workspace();
    std::vector<std::uint8_t> state(smoothed.state_size());
    Vector mu(c.v.size(), 0.0);
    smoothed.argmax(c.v, {}, mu, state, ws);
    const std::vector<double> risk = risks(c.cost, mu);
    for (const Decoder decode : {Decoder::expected, Decoder::automatic}) {
      const std::size_t found = decoded(SurrogateKind::m4n, decode, smoothing, c.cost, c.v);
      ASSERT_LT(found, c.width);
      EXPECT_LE(risk[found] - least(risk), 1e-8 * static_cast<double>(c.width) * c.unit);
    }
  });
}

TEST(ActionDecoders, QuadraticScoresArePredictionsAndTheLargestWins) {
  repeat(200, 14, [](const Case& c, Rng& rng) {
    EXPECT_EQ(score_count(SurrogateKind::qs, c.cost), c.width);
    EXPECT_EQ(score_count(SurrogateKind::m4n, c.cost), c.k);
    const Vector v = random_scores(rng, c.width, 1);
    const auto end = v.begin() + static_cast<std::ptrdiff_t>(c.width);
    for (const Decoder decode : {Decoder::argmax, Decoder::expected, Decoder::automatic}) {
      const std::size_t found = decoded(SurrogateKind::qs, decode, 0, c.cost, v);
      ASSERT_LT(found, c.width);
      EXPECT_EQ(v[found], *std::max_element(v.begin(), end));
    }
  });
}

// The rule of Chow: with zero-one costs and rejection at r, a class of probability above 1 - r is predicted, else
// nothing; the crf by its softmax.
TEST(ActionDecoders, RejectsBelowTheThresholdOfChow) {
  const std::vector<std::string> classes = names("class", 3);
  for (const double r : {0.05, 0.2, 0.5}) {
    const CostMatrix cost = CostMatrix::named("zero-one", 3).with_reject(r, classes);
    EXPECT_EQ(cost.prediction_names(), (std::vector<std::string>{"class0", "class1", "class2", "reject"}));
    int rejected = 0, kept = 0;
    Rng rng(16);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<double> p = random_distribution(rng, 3);
      for (double& x : p) x = 0.997 * x + 0.001;
      const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
      if (std::abs(1 - p[best] - r) < 1e-9) continue;
      const std::size_t expected = 1 - p[best] < r ? best : 3;
      const std::vector<double> v = {std::log(p[0]), std::log(p[1]), std::log(p[2])};
      EXPECT_EQ(decoded(SurrogateKind::crf, Decoder::expected, 0, cost, padded(v)), expected);
      ++(expected == 3 ? rejected : kept);
    }
    EXPECT_GT(rejected, 10);
    EXPECT_GT(kept, 10);
  }
}

}  // namespace
}  // namespace m4n::detail

// The surrogates of classes and grades: M4N for three kinds of costs, M4N as the paper trains it, smoothed M4N, M3N and
// CRF. (QS has no dual steps; it is in solvers/quadratic.h.)
//
// M4N: Omega*(v) = max over mu of h(mu) + v.mu with the Bayes risk h(mu) = min_y (A mu)_y (the paper's max-min loss).
// Each kind of costs has its exact oracle and its exact proximal step.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/views.h"
#include "games/closed_form.h"
#include "games/matrix_game.h"
#include "games/matrix_prox.h"
#include "games/mirror_prox.h"
#include "losses/cost_matrix.h"
#include "losses/example_costs.h"
#include "structures/classes/space.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

// s [y != t]
class ZeroOneMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> mu, nu;
  };
  explicit ZeroOneMaxMin(const CostMatrix& cost) : space_(cost.k()), s_(cost.scale()) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const {
    const AlignedVector<double> zero(space_.padded_parts());
    return {zero, zero};
  }
  const Simplex& space() const { return space_; }
  double scale() const { return s_; }
  std::size_t work() const { return 16 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const {
    return s_ * (1 - *std::max_element(mu.begin(), mu.end()));
  }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace&) const {
    return closed_form::zero_one_value(v, s_);
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    closed_form::zero_one(v, s_, mu, ws.nu);
  }
  void adversary(ScoreView v, std::span<double> nu, Workspace& ws) const { closed_form::zero_one(v, s_, ws.mu, nu); }
  void prox(ScoreView v, double c, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    closed_form::zero_one_prox(v, s_, c, mu, ws.nu);
  }
  // An upper bound of the smoothed conjugate, given its maximiser (see Smoothed below).
  double smoothed_bound(ScoreView, double, double value, Workspace&) const { return value; }

 private:
  Simplex space_;
  double s_;
};

// s |y - t|
class AbsoluteMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> scratch;
  };
  explicit AbsoluteMaxMin(const CostMatrix& cost) : space_(cost.k()), s_(cost.scale()) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {AlignedVector<double>(2 * space_.padded_parts())}; }
  const Simplex& space() const { return space_; }
  double scale() const { return s_; }
  std::size_t work() const { return 16 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const {
    return closed_form::absolute_bayes_risk(mu, s_, space_.parts());
  }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace&) const {
    return closed_form::absolute_value(v, s_, space_.parts());
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace&) const {
    closed_form::absolute(v, s_, space_.parts(), mu);
  }
  void adversary(ScoreView v, std::span<double> nu, Workspace&) const {
    closed_form::absolute_adversary(v, s_, space_.parts(), nu);
  }
  void prox(ScoreView v, double c, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    closed_form::absolute_prox(v, s_, c, space_.parts(), mu, ws.scratch);
  }
  double smoothed_bound(ScoreView, double, double value, Workspace&) const { return value; }

 private:
  Simplex space_;
  double s_;
};

// Any cost matrix, of any number of predictions K. The matrix game keeps a basis per example; the proximal step keeps
// its active rows. Both play a square game of m = max(k, K) (CostMatrix::squared); truths beyond the k classes have
// scores so low that they never carry mass.
class MatrixMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    MatrixGame::Workspace game;
    MatrixProx::Workspace prox;
    AlignedVector<double> mu, nu, risk;  // of the game: m, padded
    AlignedVector<double> scores, mass;
    std::vector<std::uint8_t> cold;
  };
  // `solves`: inner solves a proximal step may take. Few are best while the scores still move with every visit.
  static constexpr int few_solves = 6, all_solves = 10'000;
  explicit MatrixMaxMin(const CostMatrix& cost, int solves = few_solves)
      : space_(cost.k()),
        loss_(cost),
        square_(cost.has_actions() ? std::make_shared<CostMatrix>(cost.squared()) : nullptr),
        game_(square_ ? *square_ : cost),
        prox_(square_ ? *square_ : cost),
        size_(square_ ? square_->k() : cost.k()),
        solves_(solves) {}
  // Reads the numbers of the cost matrix again.
  void read() {
    loss_.read();
    if (square_) square_->replace_by_square(loss_.cost());
    game_.read();
    prox_.read(square_ ? *square_ : loss_.cost());
  }
  // The same with proximal steps that are taken to the end.
  MatrixMaxMin thorough() const {
    MatrixMaxMin out = *this;
    out.solves_ = all_solves;
    return out;
  }
  std::size_t state_size() const { return size_; }
  Workspace workspace() const {
    const AlignedVector<double> zero(kernels::padded(size_));
    return {MatrixGame::Workspace(size_),    MatrixProx::Workspace(size_), zero, zero, zero, zero, zero,
            std::vector<std::uint8_t>(size_)};
  }
  const Simplex& space() const { return space_; }
  std::size_t predictions() const { return loss_.cost().predictions(); }
  double scale() const { return loss_.cost().range(); }
  std::size_t work() const { return kernels::padded(size_) * (64 + kernels::padded(size_)); }

  double neg_omega(MarginalView mu, LabelView, Workspace& ws) const { return loss_.bayes_risk(mu, ws.risk); }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit> state, Workspace& ws) const {
    return solve(v, ws.mu, ws.nu, state, ws).upper;
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    solve(v, mu, ws.nu, state, ws);
  }
  void adversary(ScoreView v, std::span<double> nu, Workspace& ws) const {
    std::fill(ws.cold.begin(), ws.cold.end(), std::uint8_t{0});
    solve(v, ws.mu, nu, ws.cold, ws);
  }
  void prox(ScoreView v, double c, LabelView, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const std::size_t k = space_.parts();
    if (size_ == k) {
      prox_.step(v.first(k), c, mu.first(k), std::span<double>(ws.nu).first(k), state, solves_, ws.prox);
      return;
    }
    extend(v, c, ws);
    std::copy_n(mu.begin(), k, ws.mass.begin());
    prox_.step(std::span<const double>(ws.scores).first(size_), c, std::span<double>(ws.mass).first(size_),
               std::span<double>(ws.nu).first(size_), state, solves_, ws.prox);
    std::copy_n(ws.mass.begin(), k, mu.begin());
  }
  // Of the square game predictions beyond K are copies of the first; a step leaves them apart.
  void fold_copies(std::span<double> nu) const {
    for (std::size_t p = predictions(); p < size_; ++p) nu[0] += std::exchange(nu[p], 0.0);
  }
  // max over mu of (v + A^T nu).mu - (g/2)|mu|^2 for the nu of the last step: a projection.
  double smoothed_bound(ScoreView v, double g, double value, Workspace& ws) const {
    const std::size_t k = space_.parts();
    fold_copies(ws.nu);
    const std::size_t padded = space_.padded_parts();
    const std::span<double> risk = std::span<double>(ws.risk).first(padded);
    const std::span<double> mu = std::span<double>(ws.mu).first(padded);
    loss_.apply_transposed(ws.nu, risk);
    for (std::size_t j = 0; j < padded; ++j) risk[j] = j < k ? (v[j] + risk[j]) / g : kernels::padding_score;
    kernels::project_simplex(risk, mu);
    return std::max(value, g * (kernels::dot(risk, mu) - 0.5 * kernels::dot(mu, mu)));
  }

 private:
  Bounds solve(ScoreView v, std::span<double> mu, std::span<double> nu, std::span<StateUnit> state,
               Workspace& ws) const {
    const std::size_t k = space_.parts();
    std::fill(mu.begin() + static_cast<std::ptrdiff_t>(k), mu.end(), 0.0);
    if (size_ == k) {
      const Bounds bounds = game_.solve(v.first(k), mu.first(k), nu.first(k), state, ws.game);
      fold_copies(nu);
      return bounds;
    }
    extend(v, 0, ws);
    const Bounds bounds = game_.solve(std::span<const double>(ws.scores).first(size_),
                                      std::span<double>(ws.mass).first(size_), nu.first(size_), state, ws.game);
    std::copy_n(ws.mass.begin(), k, mu.begin());
    fold_copies(nu);
    return bounds;
  }
  // Scores of the square game, and no mass beyond the classes. A truth there is out of the game if its score is lower
  // than any other by more than costs and the proximal term can make up for.
  void extend(ScoreView v, double c, Workspace& ws) const {
    const std::size_t k = space_.parts();
    const double lowest = *std::min_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k));
    std::copy_n(v.begin(), k, ws.scores.begin());
    std::fill(ws.scores.begin() + static_cast<std::ptrdiff_t>(k), ws.scores.end(), lowest - 4 * scale() - 4 * c);
    std::fill(ws.mass.begin() + static_cast<std::ptrdiff_t>(k), ws.mass.end(), 0.0);
  }
  Simplex space_;
  SimplexLoss loss_;
  std::shared_ptr<CostMatrix> square_;  // where there are actions
  MatrixGame game_;
  MatrixProx prox_;
  std::size_t size_;  // m
  int solves_;
};

// M4N with costs that differ from example to example: a game for each, all in the unit of the mean costs
// (losses/example_costs.h). Labels are pairs: the class, and which example it is.
class ExampleMaxMin {
 public:
  using StateUnit = MatrixMaxMin::StateUnit;
  // The game of one example at a time.
  struct Game {
    Game(const CostMatrix& mean, int solves)
        : cost(mean), numbers(mean.values().size()), maxmin(cost, solves), workspace(maxmin.workspace()) {}
    Game(const Game&) = delete;  // maxmin points to cost
    Game& operator=(const Game&) = delete;
    ~Game() = default;
    CostMatrix cost;
    std::vector<double> numbers;
    MatrixMaxMin maxmin;
    MatrixMaxMin::Workspace workspace;
    std::optional<std::size_t> example;  // whose costs these are
  };
  using Workspace = std::unique_ptr<Game>;

  explicit ExampleMaxMin(const ExampleCosts& costs, int solves)
      : costs_(&costs), mean_(costs.cost(), solves), solves_(solves) {}
  ExampleMaxMin thorough() const { return ExampleMaxMin(*costs_, MatrixMaxMin::all_solves); }
  std::size_t state_size() const { return mean_.state_size(); }
  Workspace workspace() const { return std::make_unique<Game>(costs_->cost(), solves_); }
  const Simplex& space() const { return mean_.space(); }
  std::size_t predictions() const { return mean_.predictions(); }
  double scale() const { return mean_.scale(); }
  std::size_t work() const { return mean_.work() + 8 * costs_->cost().values().size(); }

  // What follows is about this example.
  void choose(std::size_t i, Workspace& ws) const {
    if (ws->example == i) return;
    costs_->scaled(i, ws->numbers);
    ws->cost.replace(ws->numbers);
    ws->maxmin.read();
    ws->example = i;
  }
  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    return of(y, ws).neg_omega(mu, y, ws->workspace);
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit> state, Workspace& ws) const {
    return of(y, ws).conjugate(v, y, state, ws->workspace);
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    of(y, ws).argmax(v, y, mu, state, ws->workspace);
  }
  void prox(ScoreView v, double c, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    of(y, ws).prox(v, c, y, mu, state, ws->workspace);
  }
  // Of the example that was chosen last.
  void adversary(ScoreView v, std::span<double> nu, Workspace& ws) const { ws->maxmin.adversary(v, nu, ws->workspace); }
  double smoothed_bound(ScoreView v, double g, double value, Workspace& ws) const {
    return ws->maxmin.smoothed_bound(v, g, value, ws->workspace);
  }

 private:
  const MatrixMaxMin& of(LabelView y, Workspace& ws) const {
    choose(static_cast<std::size_t>(y[1]), ws);
    return ws->maxmin;
  }
  const ExampleCosts* costs_;
  MatrixMaxMin mean_;
  int solves_;
};

// M4N as the paper trains it: argmax is K iterations of mirror prox, warm-started for every example with the pair it
// returned last time, or from the uniform distributions. The steps are multiplicative, so a label whose probability has
// gone would take long to come back: a warm start keeps a hundredth of the uniform distribution. (Without it the error
// of the oracle was two to seven times larger after 100 passes, and larger than from cold starts for K >= 30.) What is
// reported stays exact: -Omega and Omega* come from the exact surrogate, since the value of an approximate maximiser is
// only a lower bound and no certificate.

template <class MaxMin>
class PaperMaxMin {
 public:
  using StateUnit = double;  // the pair (mu, nu)
  static constexpr bool approximate = true;
  struct Workspace {
    typename MaxMin::Workspace exact;
    MirrorProx<Simplex, SimplexLoss>::Workspace mirror;
    AlignedVector<double> nu;
    std::vector<std::uint8_t> cold;
  };
  PaperMaxMin(MaxMin exact, const SimplexLoss& loss, int iterations, bool warm_start)
      : exact_(std::move(exact)),
        mirror_(exact_.space(), loss, loss.cost().range(), iterations),
        warm_start_(warm_start) {}
  PaperMaxMin(const PaperMaxMin&) = delete;  // mirror_ points into exact_
  PaperMaxMin& operator=(const PaperMaxMin&) = delete;
  ~PaperMaxMin() = default;

  std::size_t state_size() const { return warm_start_ ? 2 * space().parts() : 0; }
  Workspace workspace() const {
    return {exact_.workspace(), mirror_.workspace(), AlignedVector<double>(space().padded_parts()),
            std::vector<std::uint8_t>(exact_.state_size())};
  }
  const Simplex& space() const { return exact_.space(); }
  double scale() const { return exact_.scale(); }
  std::size_t work() const { return mirror_.work(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const { return exact_.neg_omega(mu, y, ws.exact); }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    std::fill(ws.cold.begin(), ws.cold.end(), std::uint8_t{0});
    return exact_.conjugate(v, y, ws.cold, ws.exact);
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const std::size_t k = space().parts();
    std::fill(mu.begin(), mu.end(), 0.0);
    std::fill(ws.nu.begin(), ws.nu.end(), 0.0);
    const bool warm = std::any_of(state.begin(), state.end(), [](double x) { return x > 0; });
    const double uniform = 1 / static_cast<double>(k);
    for (std::size_t j = 0; j < k; ++j) {
      mu[j] = warm ? (1 - renewed) * state[j] + renewed * uniform : uniform;
      ws.nu[j] = warm ? (1 - renewed) * state[k + j] + renewed * uniform : uniform;
    }
    mirror_.solve(v, mu, ws.nu, ws.mirror);
    if (state.empty()) return;
    std::copy_n(mu.begin(), k, state.begin());
    std::copy_n(ws.nu.begin(), k, state.begin() + static_cast<std::ptrdiff_t>(k));
  }

 private:
  static constexpr double renewed = 0.01;  // share of the uniform distribution in a warm start

  MaxMin exact_;
  MirrorProx<Simplex, SimplexLoss> mirror_;
  bool warm_start_;
};

// Smoothed M4N: Omega_g(mu) = -h(mu) + (g/2)|mu|^2 (docs/math.md). The dual becomes strongly concave, and the
// maximiser mu(v) a sparse distribution that can be decoded by expected cost. Its proximal step is the plain one with
// other numbers:
//
//   h(mu) + v.mu - (g/2)|mu|^2 - (c/2)|mu - m|^2  =  h(mu) + (v - g m).mu - ((c+g)/2)|mu - m|^2 + constant.
//
// The constant (g/2)|phi(y)|^2 = g/2 is added to -Omega and Omega*, so that S >= 0.

template <class MaxMin>
class Smoothed {
 public:
  using StateUnit = typename MaxMin::StateUnit;
  struct Workspace {
    typename MaxMin::Workspace inner;
    AlignedVector<double> v, mu;
  };
  // g in units of the cost.
  Smoothed(MaxMin inner, double g) : inner_(std::move(inner)), g_(g) {}
  std::size_t state_size() const { return inner_.state_size(); }
  Workspace workspace() const {
    const AlignedVector<double> zero(space().padded_parts());
    return {inner_.workspace(), zero, zero};
  }
  const Simplex& space() const { return inner_.space(); }
  double scale() const { return inner_.scale(); }
  std::size_t work() const { return inner_.work(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    return inner_.neg_omega(mu, y, ws.inner) - 0.5 * g_ * kernels::dot(mu, mu) + 0.5 * g_;
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit> state, Workspace& ws) const {
    argmax(v, y, ws.mu, state, ws);
    const std::size_t k = space().parts();
    const double value = kernels::dot(v.first(k), std::span<const double>(ws.mu).first(k)) + neg_omega(ws.mu, y, ws);
    return inner_.smoothed_bound(v, g_, value - 0.5 * g_, ws.inner) + 0.5 * g_;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const std::size_t k = space().parts();
    std::fill(mu.begin(), mu.end(), 0.0);
    std::fill(mu.begin(), mu.begin() + static_cast<std::ptrdiff_t>(k), 1 / static_cast<double>(k));
    prox(v, 0, y, mu, state, ws);
  }
  void prox(ScoreView v, double c, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    for (std::size_t j = 0; j < v.size(); ++j) ws.v[j] = v[j] - g_ * mu[j];
    inner_.prox(ws.v, c + g_, y, mu, state, ws.inner);
  }

 private:
  MaxMin inner_;
  double g_;
};

// g for a smoothing in units of the mean cost of a mistake; of the costs themselves where no mistake costs anything.
inline double smoothing_in_costs(double smoothing, const CostMatrix& cost) {
  for (const double unit : {cost.mean_off_diagonal(), cost.range()})
    if (unit > 0) return smoothing * unit;
  return smoothing;
}

// body(maxmin) with the class that the costs have; `solves` as in MatrixMaxMin.
template <class Body>
decltype(auto) with_maxmin(const CostMatrix& cost, int solves, Body&& body) {
  switch (cost.kind()) {
    case LossKind::zero_one:
      return body(ZeroOneMaxMin(cost));
    case LossKind::absolute:
      return body(AbsoluteMaxMin(cost));
    default:
      return body(MatrixMaxMin(cost, solves));
  }
}

// The same, with the costs of the examples where these differ, else null.
template <class Body>
decltype(auto) with_maxmin(const CostMatrix& cost, const ExampleCosts* examples, int solves, Body&& body) {
  if (examples != nullptr) return body(ExampleMaxMin(*examples, solves));
  return with_maxmin(cost, solves, std::forward<Body>(body));
}

// M3N, the structural SVM: Omega_y*(v) = max_j cost[y][j] + v_j, so -Omega_y(mu) = cost[y].mu is linear and the
// proximal step is a projection onto the simplex.

class Margin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> scratch, cost;
  };
  // `examples`: their costs where these differ, else null.
  explicit Margin(const CostMatrix& cost, const ExampleCosts* examples = nullptr)
      : space_(cost.k()), loss_(cost), examples_(examples) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const {
    const AlignedVector<double> zero(space_.padded_parts());
    return {zero, zero};
  }
  const Simplex& space() const { return space_; }
  double scale() const { return loss_.cost().range(); }
  std::size_t work() const { return 16 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const { return kernels::dot(mu, cost(y, ws)); }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    augment(v, y, ws);
    return *std::max_element(ws.scratch.begin(), ws.scratch.end());
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    augment(v, y, ws);
    const std::int32_t best = space_.decode(ws.scratch);
    space_.embed({&best, 1}, mu);
  }
  void prox(ScoreView v, double c, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    kernels::prox_linear(v, cost(y, ws), 1 / c, mu, ws.scratch);
  }

 private:
  std::span<const double> cost(LabelView y, Workspace& ws) const {
    if (examples_ == nullptr) return loss_.of_truth(static_cast<std::size_t>(y[0]));
    examples_->scaled_of_truth(static_cast<std::size_t>(y[1]), static_cast<std::size_t>(y[0]), ws.cost);
    return ws.cost;
  }
  void augment(ScoreView v, LabelView y, Workspace& ws) const {
    const std::span<const double> row = cost(y, ws);
    for (std::size_t j = 0; j < v.size(); ++j) ws.scratch[j] = v[j] + row[j];
  }

  Simplex space_;
  SimplexLoss loss_;
  const ExampleCosts* examples_;
};

// CRF (multinomial logistic regression): -Omega(mu) is the entropy, argmax the softmax. The block step is that of
// SDCA: from mu towards softmax(v), as far as maximises the block dual
//
//   f(t) = H(mu + t delta) + t v.delta - (c/2) t^2 |delta|^2,   delta = softmax(v) - mu,   0 <= t <= 1.
//
// f is concave with f'(1) = -c |delta|^2 <= 0; a Newton iteration kept inside a shrinking bracket finds f' = 0.

class Crf {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> target, delta;
  };
  explicit Crf(std::size_t k) : space_(k) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const {
    const AlignedVector<double> zero(space_.padded_parts());
    return {zero, zero};
  }
  const Simplex& space() const { return space_; }
  double scale() const { return 0; }  // the line search needs no curvature
  std::size_t work() const { return 128 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const { return kernels::entropy(mu); }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace& ws) const {
    return space_.marginals(v, ws.target);
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace&) const { space_.marginals(v, mu); }
  void prox(ScoreView v, double c, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    space_.marginals(v, ws.target);
    if (kernels::difference(ws.target, mu, ws.delta) == 0) return;
    const std::size_t k = space_.parts();
    const double linear = kernels::dot(v.first(k), std::span<const double>(ws.delta).first(k));
    const double quadratic = c * kernels::dot(ws.delta, ws.delta);
    double low = 0, high = 1, t = 1 / (1 + c);
    for (int iteration = 0; iteration < 12; ++iteration) {
      const kernels::Slope s = kernels::entropy_slope(mu, ws.delta, t);
      const double first = s.first + linear - t * quadratic, second = s.second - quadratic;
      (first > 0 ? low : high) = t;
      double next = t - first / second;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const bool done = std::abs(next - t) <= 1e-3 * t;
      t = next;
      if (done) break;
    }
    for (std::size_t j = 0; j < mu.size(); ++j) mu[j] += t * ws.delta[j];
  }
  // S(v, y) and its gradient in v.
  double slope(ScoreView v, LabelView y, std::span<double> gradient) const {
    const double value = space_.marginals(v, gradient);
    gradient[static_cast<std::size_t>(y[0])] -= 1;
    return value - space_.score(v, y);
  }

 private:
  Simplex space_;
};

}  // namespace m4n::detail

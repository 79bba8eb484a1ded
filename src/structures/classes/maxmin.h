// M4N: Omega*(v) = max over mu of h(mu) + v.mu with the Bayes risk h(mu) = min_y (A mu)_y (the paper's max-min loss).
// Three kinds of costs, each with its exact oracle and its exact proximal step.
#pragma once
#include <algorithm>

#include "core/aligned.h"
#include "games/matrix_game.h"
#include "games/matrix_prox.h"
#include "losses/simplex_loss.h"
#include "structures/classes/closed_form.h"
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
  // An upper bound of the smoothed conjugate, given its maximiser (see smoothed.h).
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

// Any cost matrix. The matrix game keeps a basis an example; the proximal step keeps its active rows.
class MatrixMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    MatrixGame::Workspace game;
    MatrixProx::Workspace prox;
    AlignedVector<double> mu, nu, risk;
    std::vector<std::uint8_t> cold;
  };
  // `solves`: inner solves a proximal step may take. Few are best while the scores still move with every visit.
  explicit MatrixMaxMin(const CostMatrix& cost, int solves = 6)
      : space_(cost.k()), loss_(cost), game_(cost), prox_(cost), solves_(solves) {}
  std::size_t state_size() const { return space_.parts(); }
  Workspace workspace() const {
    const std::size_t k = space_.parts();
    const AlignedVector<double> zero(space_.padded_parts());
    return {MatrixGame::Workspace(k), MatrixProx::Workspace(k), zero, zero, zero, std::vector<std::uint8_t>(k)};
  }
  const Simplex& space() const { return space_; }
  double scale() const { return loss_.cost().range(); }
  std::size_t work() const { return space_.padded_parts() * (64 + space_.padded_parts()); }

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
    prox_.step(v.first(k), c, mu.first(k), std::span<double>(ws.nu).first(k), state, solves_, ws.prox);
  }
  // max over mu of (v + A^T nu).mu - (g/2)|mu|^2 for the nu of the last step: a projection.
  double smoothed_bound(ScoreView v, double g, double value, Workspace& ws) const {
    const std::size_t k = space_.parts();
    loss_.apply_transposed(ws.nu, ws.risk);
    for (std::size_t j = 0; j < ws.risk.size(); ++j)
      ws.risk[j] = j < k ? (v[j] + ws.risk[j]) / g : kernels::padding_score;
    kernels::project_simplex(ws.risk, ws.mu);
    return std::max(value, g * (kernels::dot(ws.risk, ws.mu) - 0.5 * kernels::dot(ws.mu, ws.mu)));
  }

 private:
  Bounds solve(ScoreView v, std::span<double> mu, std::span<double> nu, std::span<StateUnit> state,
               Workspace& ws) const {
    const std::size_t k = space_.parts();
    std::fill(mu.begin() + static_cast<std::ptrdiff_t>(k), mu.end(), 0.0);
    return game_.solve(v.first(k), mu.first(k), nu.first(k), state, ws.game);
  }

  Simplex space_;
  SimplexLoss loss_;
  MatrixGame game_;
  MatrixProx prox_;
  int solves_;
};

}  // namespace m4n::detail

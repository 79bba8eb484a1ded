// The oracles of permutations as the atoms solver sees them (structures/permutations/ascent.h). For the scores v and
// the truth y of one example, an answer is a mean mu of parts with its risk -Omega_y(mu), from below, and an upper
// bound of Omega_y*(v) = max over mu of  v.mu - Omega_y(mu):
//
//   PermutationMaxMin      M4N   risk h(mu); parts are the M x M cells
//   PermutationMaxMargin   M3N   risk: the loss of one permutation; the cells; one assignment
//   RankOneMaxMin          M4N   parts are the expected gains of the M items; the closed form
//   RankOneMaxMargin       M3N   the same parts; one assignment
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "core/views.h"
#include "losses/position_loss.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/rank_one_game.h"

namespace m4n::detail {

struct PermutationAnswer {
  double upper = 0, risk = 0;
  std::span<const double> mu;
};

class PermutationMaxMin {
 public:
  using Seeds = BirkhoffSeeds;
  struct Workspace {
    BirkhoffGame game;
    Assignment assignment;
    AlignedVector<double> scores;
  };
  explicit PermutationMaxMin(const PositionLosses& losses) : losses_(&losses) {}
  // upper - lower <= gap, where rounding allows it.
  PermutationAnswer answer(std::span<const double> v, LabelView y, double gap, Seeds& seeds, Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    const double range = loss.range() > 0 ? loss.range() : 1;
    const BirkhoffAnswer found = ws.game.solve(v, loss, {.gap = gap / range}, seeds);
    return {found.bounds.upper, found.risk, found.p};
  }
  // h(mu), from below.
  double risk(std::span<const double> mu, LabelView y, Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    ws.scores.resize(mu.size());
    loss.apply(mu, ws.scores);
    for (double& x : ws.scores) x = -x;
    ws.assignment.solve(ws.scores, y.size());
    return loss.constant() - ws.assignment.bound();
  }

 private:
  const PositionLosses* losses_;
};

class RankOneMaxMin {
 public:
  struct Seeds {};
  struct Workspace {
    RankOneGame game;
    AlignedVector<double> m, n;
  };
  explicit RankOneMaxMin(const PositionLosses& losses) : losses_(&losses) {}
  PermutationAnswer answer(std::span<const double> v, LabelView y, double, Seeds&, Workspace& ws) const {
    ws.m.resize(y.size());
    ws.n.resize(y.size());
    const Bounds bounds = ws.game.solve(v, losses_->of(y.size()), ws.m, ws.n);
    return {bounds.upper, ws.game.risk(), ws.m};
  }
  // h(mu)
  double risk(std::span<const double> mu, LabelView y, Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    ws.m.assign(mu.begin(), mu.end());
    std::sort(ws.m.begin(), ws.m.end(), std::greater<>());
    double value = loss.constant();
    for (std::size_t i = 0; i < ws.m.size(); ++i) value -= ws.m[i] * loss.discounts()[i];
    return value;
  }

 private:
  const PositionLosses* losses_;
};

class PermutationMaxMargin {
 public:
  struct Seeds {};
  struct Workspace {
    Assignment assignment;
    AlignedVector<double> scores, mu;
  };
  explicit PermutationMaxMargin(const PositionLosses& losses) : losses_(&losses) {}
  PermutationAnswer answer(std::span<const double> v, LabelView y, double, Seeds&, Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    const std::size_t m = y.size();
    ws.scores.resize(m * m);
    ws.mu.assign(m * m, 0.0);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j)
        ws.scores[i * m + j] = v[i * m + j] + loss.weights()[i] * loss.cost(static_cast<std::size_t>(y[i]), j);
    ws.assignment.solve(ws.scores, m);
    const auto best = ws.assignment.position();
    for (std::size_t i = 0; i < m; ++i) ws.mu[i * m + static_cast<std::size_t>(best[i])] = 1;
    return {loss.constant() + ws.assignment.bound(), loss(y, best), ws.mu};
  }

 private:
  const PositionLosses* losses_;
};

class RankOneMaxMargin {
 public:
  using Seeds = PermutationMaxMargin::Seeds;
  using Workspace = PermutationMaxMargin::Workspace;
  explicit RankOneMaxMargin(const PositionLosses& losses) : losses_(&losses) {}
  PermutationAnswer answer(std::span<const double> v, LabelView y, double, Seeds&, Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    const std::size_t m = y.size();
    ws.scores.resize(m * m);
    ws.mu.resize(m);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j)
        ws.scores[i * m + j] =
            v[i] * loss.gains()[j] + loss.weights()[i] * loss.cost(static_cast<std::size_t>(y[i]), j);
    ws.assignment.solve(ws.scores, m);
    const auto best = ws.assignment.position();
    for (std::size_t i = 0; i < m; ++i) ws.mu[i] = loss.gains()[static_cast<std::size_t>(best[i])];
    return {loss.constant() + ws.assignment.bound(), loss(y, best), ws.mu};
  }

 private:
  const PositionLosses* losses_;
};

}  // namespace m4n::detail

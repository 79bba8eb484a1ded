// The oracles of permutations as the atoms solver sees them (structures/permutations/ascent.h). For the scores v and
// the truth y of one example, an answer is a mean mu of parts with its risk -Omega_y(mu), from below, and an upper
// bound of Omega_y*(v) = max over mu of  v.mu - Omega_y(mu); valid however early it was told to stop:
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

// upper - lower <= gap, where rounding allows it, unless `stop` says before that it will do as it is.
struct PermutationAccuracy {
  double gap = 0;
  const std::function<bool()>* stop = nullptr;
};

class PermutationOracle {
 public:
  explicit PermutationOracle(const PositionLosses& losses) : losses_(&losses) {}
  double largest_loss(std::size_t size) const { return losses_->of(size).maximum(); }

 protected:
  const PositionLosses* losses_;
};

class PermutationMaxMin : public PermutationOracle {
 public:
  using Seeds = BirkhoffSeeds;
  struct Workspace {
    BirkhoffGame game;
    Assignment assignment;
    AlignedVector<double> scores;
  };
  using PermutationOracle::PermutationOracle;
  PermutationAnswer answer(std::span<const double> v, LabelView y, const PermutationAccuracy& accuracy, Seeds& seeds,
                           Workspace& ws) const {
    const PositionLoss& loss = losses_->of(y.size());
    const double range = loss.range() > 0 ? loss.range() : 1;
    const BirkhoffAnswer found = ws.game.solve(v, loss, {.gap = accuracy.gap / range, .stop = accuracy.stop}, seeds);
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
};

class RankOneMaxMin : public PermutationOracle {
 public:
  struct Seeds {};
  struct Workspace {
    RankOneGame game;
    AlignedVector<double> m, n;
  };
  using PermutationOracle::PermutationOracle;
  PermutationAnswer answer(std::span<const double> v, LabelView y, const PermutationAccuracy&, Seeds&,
                           Workspace& ws) const {
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
};

class PermutationMaxMargin : public PermutationOracle {
 public:
  struct Seeds {};
  struct Workspace {
    Assignment assignment;
    AlignedVector<double> scores, mu;
  };
  using PermutationOracle::PermutationOracle;
  PermutationAnswer answer(std::span<const double> v, LabelView y, const PermutationAccuracy&, Seeds&,
                           Workspace& ws) const {
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
};

class RankOneMaxMargin : public PermutationOracle {
 public:
  using Seeds = PermutationMaxMargin::Seeds;
  using Workspace = PermutationMaxMargin::Workspace;
  using PermutationOracle::PermutationOracle;
  PermutationAnswer answer(std::span<const double> v, LabelView y, const PermutationAccuracy&, Seeds&,
                           Workspace& ws) const {
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
};

}  // namespace m4n::detail

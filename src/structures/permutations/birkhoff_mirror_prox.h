// The paper's approximate max-min oracle over the Birkhoff polytope, for any position loss: saddle-point mirror prox
// with the entropy as mirror map, its projections by Sinkhorn's scaling. In units of the largest cost of an item,
//
//     P <- scaled(P . exp(eta (C + A^T Q))),     Q <- scaled(Q . exp(-eta A P)),       eta = 1
//
// twice per iteration: to the point ahead, then from the start again with the gradients found there. The iterates
// carry their scalings with them, so that a sweep or two per projection are enough where steps are small. The answer is
// the mean of the points ahead, rounded into the polytope; its bounds are those of every oracle. The gap falls like
// 1/iterations.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "core/views.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/oracles.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

class BirkhoffMirrorProx {
 public:
  // From the uniform matrices. Rounds are iterations; the gap is looked at every 32 of them.
  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits);
  // From P and Q of an earlier answer. Entries are kept above zero.
  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits,
                       std::span<const double> p, std::span<const double> q);
  // The same on scores that the referee has reduced already.
  BirkhoffAnswer solve(BirkhoffReferee& referee, const BirkhoffLimits& limits, std::span<const double> p,
                       std::span<const double> q);

 private:
  BirkhoffAnswer run(BirkhoffReferee& referee, const BirkhoffLimits& limits);
  BirkhoffAnswer judge(BirkhoffReferee& referee, std::span<double> p, std::span<double> q);
  void shape(std::size_t size);
  void step(std::span<const double> from, double eta, std::span<double> to);

  std::size_t size_ = 0;
  BirkhoffReferee own_;
  AlignedVector<double> p_, q_, ahead_p_, ahead_q_, sum_p_, sum_q_, mean_p_, mean_q_;
  AlignedVector<double> gradient_, gradient_q_, scratch_, rows_;
};

// M4N on permutations as the paper trains it, for solvers/gbcfw.h: argmax is K iterations of saddle-point mirror prox
// with Sinkhorn projections, from the uniform matrices. What is reported stays exact: -Omega is h(mu), Omega* the upper
// bound of the exact oracle. `Exact` is PermutationMaxMin or RankOneMaxMin of oracles.h.

template <class Exact>
class PermutationPaper {
 public:
  using StateUnit = std::uint8_t;
  static constexpr bool approximate = true;
  struct Workspace {
    typename Exact::Workspace exact;
    const std::function<bool()>* stop = nullptr;  // asked by conjugate
    BirkhoffMirrorProx mirror;
    AlignedVector<double> cells;
  };

  PermutationPaper(const PositionLosses& losses, const PermutationParts& parts, int iterations, std::size_t largest)
      : losses_(&losses), exact_(losses), parts_(parts), iterations_(iterations), largest_(largest) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const PermutationParts& space() const { return parts_; }
  double scale() const { return losses_->of(largest_).range(); }
  // Four scalings of M x M exponentials per iteration.
  std::size_t work() const { return 64 * static_cast<std::size_t>(iterations_) * largest_ * largest_; }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    return exact_.risk(mu.first(parts_.count(y.size())), y, ws.exact);
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    constexpr double gap = 1e-9;
    typename Exact::Seeds cold;
    return exact_.answer(v.first(parts_.count(y.size())), y, {gap, ws.stop}, cold, ws.exact).upper;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    const std::size_t size = y.size();
    ws.cells.resize(size * size);
    parts_.cells(v, size, ws.cells);
    const BirkhoffLimits limits{.gap = 0, .rounds = iterations_};
    std::fill(mu.begin(), mu.end(), 0.0);
    parts_.gather(ws.mirror.solve(ws.cells, losses_->of(size), limits).p, size, mu);
  }

 private:
  const PositionLosses* losses_;
  Exact exact_;
  PermutationParts parts_;
  int iterations_;
  std::size_t largest_;
};

}  // namespace m4n::detail

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
#include <span>

#include "core/views.h"
#include "structures/permutations/birkhoff_game.h"

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

}  // namespace m4n::detail

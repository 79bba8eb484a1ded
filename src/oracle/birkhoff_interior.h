// Max-min oracle over the Birkhoff polytope for Hamming losses, weighted or not: a feasible primal-dual interior point.
// It also takes the proximal step of coordinate ascent. In units of the largest w_i, with C the reduced scores:
//
//     max over doubly stochastic P    <C, P> - max_Q sum_ij w_i P_ij Q_ij - (kappa/2) |P - P0|^2
//   = max  <C, P> - sum a - sum b - (kappa/2) |P - P0|^2    s.t.   T = a (+) b - w P >= 0,   P >= 0
//
// where (a (+) b)_ij = a_i + b_j. The multipliers of T >= 0 are the adversary Q, doubly stochastic too; those of P >= 0
// are R = w Q + u (+) v - C + kappa (P - P0) >= 0, with u, v those of the sums of P. At every iterate P, Q > 0 have
// their sums, and the gap is <P, R> + <Q, T>. Newton's method on P R = Q T = const (Mehrotra's predictor and corrector)
// leads to the system of birkhoff_newton.h with
//
//     det = (R + kappa P) T + w^2 P Q,   al = T P / det,   be = w P Q / det,   ga = (R + kappa P) Q / det
//
// O(M^3) an iteration, 7 to 12 iterations whatever the scores.
#pragma once
#include <cstddef>
#include <span>

#include "core/aligned.h"
#include "oracle/birkhoff_newton.h"
#include "oracle/birkhoff_referee.h"

namespace m4n {

class BirkhoffInterior {
 public:
  // `loss` must be of the Hamming form. Allocates only when M is larger than before; scratch for one thread.
  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits);
  // The same on scores that the referee has reduced already.
  BirkhoffAnswer solve(BirkhoffReferee& referee, const BirkhoffLimits& limits);

  // The proximal step: the maximiser of  <S, P> + h(P) - (kappa/2) |P - centre|^2,  kappa > 0. The bounds are those of
  // that maximum. Q is a best adversary at P.
  BirkhoffAnswer prox(std::span<const double> scores, const PositionLoss& loss, double kappa,
                      std::span<const double> centre, const BirkhoffLimits& limits);

 private:
  void start(const BirkhoffReferee& referee, double kappa, std::span<const double> centre);
  int iterate(double gap, int most);
  void weigh();
  void direct();
  void step(double primal, double dual);
  double products() const;
  double upper_bound(const BirkhoffReferee& referee, double kappa, std::span<const double> centre) const;

  std::size_t size_ = 0;
  double unit_ = 1, kappa_ = 0;
  BirkhoffReferee referee_;
  BirkhoffNewton newton_;
  AlignedVector<double> weight_;                               // w in units of the largest
  AlignedVector<double> p_, q_, r_, t_;                        // by rows of M
  AlignedVector<double> dp_, dq_, dr_, dt_, side_p_, side_q_;  // the step, and what P dR + R dP, Q dT + T dQ are to be
  AlignedVector<double> inverse_;                              // 1 / det
  AlignedVector<double> u_, v_, rows_, columns_;
};

}  // namespace m4n

// Max-min oracle over the Birkhoff polytope for any position loss: a feasible primal-dual interior point. It also takes
// the proximal step of coordinate ascent. In units of the largest cost of an item, with C the reduced scores and A the
// loss (losses/position_loss.h) less what is the same for all:
//
//     max over doubly stochastic P    <C, P> + min_Q <Q, A P> - (kappa/2) |P - P0|^2
//   = max  <C, P> - sum a - sum b - (kappa/2) |P - P0|^2    s.t.   T = A P + a (+) b >= 0,   P >= 0
//
// where (a (+) b)_ij = a_i + b_j. The multipliers of T >= 0 are the adversary Q, doubly stochastic too; those of P >= 0
// are R = u (+) v - C - A^T Q + kappa (P - P0) >= 0, with u, v those of the sums of P. At every iterate P, Q > 0 have
// their sums, and the gap is <P, R> + <Q, T>. Newton's method on P R = Q T = const (Mehrotra's predictor and
// corrector), with right-hand sides r1, r2 and x = r1 / P - du (+) dv, y = r2 / Q - da (+) db, has in every row the
// solution
//
//     dP = al x - be y,      dQ = be^T x + ga y
//
// and birkhoff_newton.h finds du, dv, da, db that leave the sums of P and Q as they are. For Hamming losses, A P = -w P
// but for a constant, the matrices are diagonal:
//
//     det = (R + kappa P) T + w^2 P Q,   al = T P / det,   be = w P Q / det,   ga = (R + kappa P) Q / det
//
// and an iteration is O(M^3); otherwise they come from birkhoff_cells.h and it is O(M^4). 4 to 14 iterations to a gap
// of 1e-6 for M up to 20. Degenerate losses (of rank one, say) end at gaps of up to 1e-4.
#pragma once
#include <cstddef>
#include <span>

#include "core/views.h"
#include "structures/permutations/birkhoff_cells.h"
#include "structures/permutations/birkhoff_newton.h"
#include "structures/permutations/birkhoff_referee.h"

namespace m4n::detail {

class BirkhoffInterior {
 public:
  // Allocates only when M changes; scratch for one thread.
  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits);
  // The same on scores that the referee has reduced already.
  BirkhoffAnswer solve(BirkhoffReferee& referee, const BirkhoffLimits& limits);

  // The proximal step: the maximiser of  <S, P> + h(P) - (kappa/2) |P - centre|^2,  kappa > 0. The bounds are those of
  // that maximum. Q is a best adversary at P. With scores and weights of zero it is the Euclidean projection of the
  // centre.
  BirkhoffAnswer prox(std::span<const double> scores, const PositionLoss& loss, double kappa,
                      std::span<const double> centre, const BirkhoffLimits& limits);

 private:
  void start(const BirkhoffReferee& referee, double kappa, std::span<const double> centre);
  void read_loss(const PositionLoss& loss);
  int iterate(double gap, const BirkhoffLimits& limits);
  bool factorise(const BirkhoffLimits& limits);
  bool direct();
  double balance();
  void add_costs();
  double upper_bound(double kappa, std::span<const double> centre);

  std::size_t size_ = 0;
  bool diagonal_ = true;
  double unit_ = 1, least_ = 0;  // a cost of an item of weight w is w * least + unit * (its scaled cost)
  BirkhoffReferee referee_;
  BirkhoffNewton newton_;
  BirkhoffBlocks blocks_;
  BirkhoffCells cells_;
  AlignedVector<double> weight_;  // w in units of the largest
  AlignedVector<double> u_, v_, du_, dv_, rows_, columns_;
};

}  // namespace m4n::detail

// What the interior-point oracle (birkhoff_interior.h) does cell by cell, compiled once for every vector width; the
// numbers do not depend on it.
#pragma once
#include <cstddef>

#include "core/aligned.h"
#include "structures/permutations/birkhoff_newton.h"

namespace m4n::detail {

// The iterate and its step, M x M by rows each.
struct BirkhoffCells {
  std::size_t size = 0;
  double kappa = 0;
  AlignedVector<double> weight;  // w of the item, in every cell
  AlignedVector<double> p, q, r, t, dp, dq, dr, dt;
  AlignedVector<double> x, y;  // right-hand sides over P and Q, less du (+) dv and da (+) db

  void shape(std::size_t m);
};

// al, be, ga of Hamming losses, into the Newton system.
void weigh(const BirkhoffCells& cells, BirkhoffNewton& newton);
// x = (target - dP dR) / P - R,  y = (target - dQ dT) / Q - T, the products only in the corrector.
void aim(BirkhoffCells& cells, double target, bool corrector);
// dP = al x - be y,  dQ = be x + ga y.
void multiply(const BirkhoffNewton& newton, BirkhoffCells& cells);
// Row and column sums of P + dP and Q + dQ, less 1, as the right-hand sides of the system; returns the largest.
double sum_errors(const BirkhoffCells& cells, BirkhoffNewton& newton);
// du (+) dv and da (+) db of the system, from x and y to dR and dT.
void move_sums(const BirkhoffNewton& newton, BirkhoffCells& cells);
// The largest step in (0, 1] that keeps P, T (or Q, R) above zero, at most a share of the way to it.
double primal_length(const BirkhoffCells& cells, double share);
double dual_length(const BirkhoffCells& cells, double share);
// <P, R> + <Q, T> after a step of these lengths: P and T move by the one, Q and R by the other.
double gap_after(const BirkhoffCells& cells, double primal, double dual);
void step(BirkhoffCells& cells, double primal, double dual);

}  // namespace m4n::detail

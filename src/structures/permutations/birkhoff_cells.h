// What the interior-point oracle (birkhoff_interior.h) does cell by cell, compiled once for every vector width; the
// numbers do not depend on it.
#pragma once
#include <cstddef>
#include <span>

#include "core/views.h"
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

// The matrices of the interior-point oracle that couple the cells of a row (birkhoff_interior.h): for row i with
// p = P / (R + kappa P), d = Q / T and the costs B = w_i (B - min B) of its item, in units,
//
//     al = (1/p + B d B^T)^-1,      ga = (1/d + B^T p B)^-1,      be = -al B d        (p and d as diagonal matrices)
//
// computed from X = p^1/2 B d^1/2 as p^1/2 (1 + X X^T)^-1 p^1/2 and so on, where nothing cancels. O(M^3) per row,
// O(M^4) in all. For Hamming losses B is -w_i times the identity but for a constant: there all are diagonal and nothing
// of this is needed.

struct BirkhoffBlocks {
  std::size_t size = 0;
  AlignedVector<double> costs;               // B of an item of weight 1, by rows of true positions
  AlignedVector<double> alpha, beta, gamma;  // M matrices each
  AlignedVector<double> x, xx, wx, root_p, root_d;

  void shape(std::size_t m);
};

// The matrices of row i, of that weight, and what the Newton system, cleared before the first row, wants to know of
// them. p, d: by rows of M.
void add_block(BirkhoffBlocks& blocks, std::size_t i, std::span<const double> p, std::span<const double> d,
               double weight, BirkhoffNewton& newton);
// Row by row  out_p = al x - be y,  out_q = be^T x + ga y.
void apply_blocks(const BirkhoffBlocks& blocks, std::span<const double> x, std::span<const double> y,
                  std::span<double> out_p, std::span<double> out_q);

}  // namespace m4n::detail

// Ways into the Birkhoff polytope, the doubly stochastic M x M matrices. Matrices are by rows.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace m4n::detail {

// One sweep of Sinkhorn's scaling: rows to sum 1, then columns. A matrix that is scaled on from one call to the next
// (multiplied entry by entry in between) carries its scalings with it: one sweep is then as good as many from scratch.
// Returns the largest error of a row sum before the sweep. `sums` is scratch of M. Entries must be nonnegative, no row
// or column all zero.
double sinkhorn_sweep(std::span<double> p, std::size_t size, std::span<double> sums);

// The rounding of Altschuler, Weed and Rigollet: rows and columns that hold too much are scaled down to 1, and what is
// then missing is added as a matrix of rank one. Moves p by at most twice the sum of the errors of its row and column
// sums; what comes out is doubly stochastic to rounding. `rows`, `columns` are scratch of M.
void round_to_birkhoff(std::span<double> p, std::size_t size, std::span<double> rows, std::span<double> columns);

// The doubly stochastic matrix P = diag(a) exp(S) diag(b) of any scores S. With rows scaled exactly, the logarithm g of
// b minimises the convex
//
//     sum_i log sum_j exp(S_ij + g_j) - sum_j g_j,        gradient c - 1,   Hessian diag(c) - P^T P,
//
// c the column sums: a Laplacian with the weights W = P^T P, eliminated without a subtraction, so that weak links
// between parts of the matrix keep their digits. Newton's step d is taken by log(1 + r) / r of its length, r the range
// of d, which is safe for sums of log-sum-exp from any start. Large scores are approached from small ones, S / 2^q for
// falling q, each time from twice the g before. Alternate scaling of rows and columns would need as many sweeps as the
// weakest link is weak.
class SinkhornScaling {
 public:
  // P to `p`, M x M. Stops when column sums are right to `tol`, or after `most_steps`; returns the largest error.
  double solve(std::span<const double> scores, std::size_t size, double tol, int most_steps, std::span<double> p);

 private:
  double scale_rows(std::span<const double> scores, double factor, std::span<double> p);
  double newton_step(std::span<const double> p);

  std::size_t size_ = 0;
  std::vector<double> g_, column_, link_, step_, ground_, total_;
};

}  // namespace m4n::detail

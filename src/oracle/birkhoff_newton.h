// The linear system of the interior-point oracle (birkhoff_interior.h). For entrywise weights al, be, ga > 0 (M x M)
// find x = (du, dv) and z = (da, db), one number a row and one a column each, with
//
//     N(al) x - N(be) z = s          N(w) (r, c) = (row sums, column sums) of w[i][j] (r_i + c_j)
//     N(be) x + N(ga) z = t
//
// The 2 x 2 blocks of the rows (du_i, da_i) are eliminated; dv and db of the last column are 0, for only sums r_i + c_j
// count; what is left, 2 (M-1) equations, is symmetric and quasi-definite (after a change of sign), so that it has
// factors L D L^T in any order. O(M^3) once a pair of weights, O(M^2) a right-hand side. Compiled once for every vector
// width; the numbers do not depend on it.
#pragma once
#include <cstddef>

#include "core/aligned.h"

namespace m4n {

struct BirkhoffNewton {
  std::size_t size = 0, order = 0, stride = 0;           // order = 2 (M-1)
  AlignedVector<double> alpha, beta, gamma;              // the weights, by rows of M
  AlignedVector<double> row_alpha, row_beta, row_gamma;  // their row sums
  AlignedVector<double> determinant;                     // of the blocks of rows
  AlignedVector<double> first, second;                   // rows of the inverse block times its coupling, 2 (M-1) long
  AlignedVector<double> factor;                          // upper triangle: D on the diagonal, D L^T above it
  AlignedVector<double> rest;
  // Right-hand sides, and then the solution: by rows (du, da), by columns (dv, db).
  AlignedVector<double> row_s, row_t, column_s, column_t;

  void shape(std::size_t m);
};

// Factors for the weights in `system`.
void factor(BirkhoffNewton& system);
// Overwrites row_s, row_t, column_s, column_t by du, da, dv, db.
void solve(BirkhoffNewton& system);

}  // namespace m4n

// The linear system of the interior-point oracle (birkhoff_interior.h). Every row i has three M x M matrices al, be,
// ga, diagonal for Hamming losses; wanted are x = (du, dv) and z = (da, db), one number per row and one per column
// each, so that the matrices with the rows
//
//     al (du_i + dv) - be (da_i + db)      have the row and column sums s
//     be^T (du_i + dv) + ga (da_i + db)    have the row and column sums t
//
// The 2 x 2 blocks of the rows (du_i, da_i) are eliminated; dv and db of the last column are 0, for only sums du_i +
// dv_j count; what is left, 2 (M-1) equations, is symmetric and quasi-definite (after a change of sign), so that it has
// factors L D L^T in any order. O(M^3) once per set of matrices, O(M^2) per right-hand side. Compiled once for every
// vector width.
#pragma once
#include <cstddef>

#include "core/views.h"

namespace m4n::detail {

struct BirkhoffNewton {
  std::size_t size = 0, order = 0, stride = 0;  // order = 2 (M-1)
  // Sums over the columns of al, be, ga, and over the rows of be, for every i: by rows of M. If the matrices are
  // diagonal, their diagonals, and beta_across is not read.
  AlignedVector<double> alpha, beta, gamma, beta_across;
  bool diagonal = true;
  AlignedVector<double> sum_alpha, sum_beta, sum_gamma;  // sums over i of the matrices, unless they are diagonal
  AlignedVector<double> row_alpha, row_beta, row_gamma;  // sums of all their entries
  AlignedVector<double> determinant;                     // of the blocks of rows
  AlignedVector<double> first, second;  // for every row i, the rows of its inverse block times its coupling
  AlignedVector<double> factor;         // D L^T above the diagonal, 0 on it
  AlignedVector<double> transposed;     // the same, L D below the diagonal
  AlignedVector<double> rest, inverse_pivot;
  // Right-hand sides, and then the solution: by rows (du, da), by columns (dv, db).
  AlignedVector<double> row_s, row_t, column_s, column_t;

  void shape(std::size_t m);
  void clear();  // no matrix was added yet
};

// Factors for the matrices in `system`.
void factor(BirkhoffNewton& system);
// Overwrites row_s, row_t, column_s, column_t by du, da, dv, db.
void solve(BirkhoffNewton& system);

}  // namespace m4n::detail

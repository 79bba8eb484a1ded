// Ways into the Birkhoff polytope, the doubly stochastic M x M matrices. Matrices are by rows.
#pragma once
#include <cstddef>
#include <span>

namespace m4n {

// One sweep of Sinkhorn's scaling: rows to sum 1, then columns. A matrix that is scaled on from one call to the next
// (multiplied entry by entry in between) carries its scalings with it: one sweep is then as good as many from scratch.
// Returns the largest error of a row sum before the sweep. `sums` is scratch of M. Entries must be nonnegative, no row
// or column all zero.
double sinkhorn_sweep(std::span<double> p, std::size_t size, std::span<double> sums);

// The rounding of Altschuler, Weed and Rigollet: rows and columns that hold too much are scaled down to 1, and what is
// then missing is added as a matrix of rank one. Moves p by at most twice the sum of the errors of its row and column
// sums; what comes out is doubly stochastic to rounding. `rows`, `columns` are scratch of M.
void round_to_birkhoff(std::span<double> p, std::size_t size, std::span<double> rows, std::span<double> columns);

}  // namespace m4n

// A linear program of a few hundred variables, dense and exact to rounding:
//
//     max  gain . x    s.t.   rows x <= bound,   x >= 0,       bound >= 0, so that x = 0 is feasible
//
// The primal simplex method on a tableau; Dantzig's rule, and Bland's where a step gained nothing, so it ends. A pivot
// costs O(rows columns). For games that are solved millions of times there is MatrixGame (games/matrix_game.h).
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace m4n::detail {

// The value; infinity where there is no limit. `rows`: bound.size() x gain.size().
double maximise_dense(std::span<const double> gain, std::span<const double> rows, std::span<const double> bound);

}  // namespace m4n::detail

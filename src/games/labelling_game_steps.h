// What the parts of a labelling game share.
#pragma once
#include <algorithm>

#include "core/padded_rows.h"

namespace m4n::detail::game {

// The inverse is computed afresh after so many pivots.
inline constexpr int refresh_interval = 100, careful_interval = 1;

// Steps that do not raise the value by this (in units of range/M) stall. After `patience` of them in a row the rows are
// shaken, so that steps have a length again; should it stall even so, what enters is chosen at random, and the rows are
// shaken anew a few times; after `long_patience` small violations count less, which ends a chase after roundings; in
// the end the method gives up.
inline constexpr double least_progress = 1e-13;
inline constexpr int patience = 30, long_patience = 500, most_shakes = 30;

inline void zero(PaddedRows<double> rows) { std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0); }

}  // namespace m4n::detail::game

// What the two halves of the chain game share.
#pragma once
#include <algorithm>

#include "oracle/chain_game.h"

namespace m4n {

// The inverse is computed afresh after so many pivots.
inline constexpr int refresh_interval = 100, careful_interval = 1;

// Steps that do not raise the value by this (in units of range/M) stall. After `patience` of them in a row the rows are
// shaken, so that steps have a length again; should it stall even so, what enters is chosen at random, and the rows are
// shaken anew a few times; after `long_patience` small violations count less, which ends a chase after roundings; in
// the end the method gives up.
inline constexpr double least_progress = 1e-13;
inline constexpr int patience = 30, long_patience = 500, most_shakes = 30;

inline void zero(PaddedRows<double> rows) { std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0); }

// What would improve the restricted program: a sequence of the pool, an active row whose weight in nu is negative
// (index = its place in the basis) or the reference row of a position (index = the position).
struct ChainGame::Entering {
  Kind kind = Kind::none;
  std::size_t index = 0;
};

// What blocks the step: a sequence whose weight falls to zero (index = its place in the basis) or a row that becomes
// active.
struct ChainGame::Leaving {
  Kind kind = Kind::none;
  std::size_t index = 0;
  ChainRow row{};
  double step = 0;   // length of the step
  double pivot = 0;  // how fast it falls
};

}  // namespace m4n

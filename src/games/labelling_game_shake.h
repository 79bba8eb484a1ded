// What a labelling game does when it stalls. Where scores hardly differ and costs have symmetries, many weights and
// slacks of a basis are zero at once, steps have no length, and which of the bases of the same point comes next is a
// matter of chance: the way out may be longer than any patience. So the rows are eased, each by a random hair e >= 0,
//
//     t_m <= sum_j alpha_j L[y][y_jm] + e[m][y],
//
// chosen so that the present basis stays one, with all of its weights and slacks above zero. Its weights are then
// W (1, e[reference] - e[row], ...) instead of the first column of the inverse W. They still are a distribution, and
// what they attain is at most sum_m max_y e[m][y] less than what the eased rows promise.
#pragma once
#include <algorithm>
#include <utility>

#include "games/labelling_game.h"
#include "games/labelling_game_steps.h"

namespace m4n::detail {
namespace game {

// The largest hair: a weight, or a slack in units of how much its row differs from the reference. Far above what a step
// may push below zero, far below the gaps that are asked for.
inline constexpr double hair = 2e-10;

}  // namespace game

// alpha, from the inverse and the right hand sides.
template <class Problem>
void LabellingGame<Problem>::weigh(Workspace& ws) const {
  const std::size_t size = ws.support.size();
  ws.alpha.resize(ws.inverse.stride());
  if (!ws.shaken) {
    for (std::size_t q = 0; q < size; ++q) ws.alpha[q] = ws.inverse(q, 0);
    return;
  }
  const PaddedRows<const double> ease = std::as_const(ws.ease).view();
  ws.side.resize(ws.inverse.stride());
  ws.side[0] = 1;
  for (std::size_t p = 1; p < size; ++p) {
    const auto [position, label] = ws.rows[p];
    ws.side[p] = ease(position, ws.reference[position]) - ease(position, label);
  }
  ws.inverse.apply(ws.side, ws.alpha);
}

template <class Problem>
void LabellingGame<Problem>::shake(Workspace& ws) const {
  ws.shaken = true;
  ++ws.shakes;
  const std::size_t size = ws.support.size();
  double total = 0;
  for (std::size_t q = 0; q < size; ++q) {
    ws.alpha[q] = std::max(ws.alpha[q], 0.0) + game::hair * ws.rng.uniform(0.5, 1);
    total += ws.alpha[q];
  }
  for (std::size_t q = 0; q < size; ++q) ws.alpha[q] /= total;
  expected_risks(ws);
  const PaddedRows<double> ease = ws.ease.view();
  game::zero(ease);
  for (std::size_t m = 0; m < ws.length; ++m) {
    const double* active = ws.active.view().row(m);
    const double* risk = ws.risk.view().row(m);
    const double* unit = at(m, ws).contrast(ws.reference[m]).data();
    double level = 0;
    if (ws.is_varied[m] != 0) {
      level = risk[ws.reference[m]];
      for (std::size_t y = 0; y < labels(m, ws); ++y)
        if (active[y] != 0) level = std::max(level, risk[y]);
    }
    for (std::size_t y = 0; y < labels(m, ws); ++y) {
      if (ws.is_varied[m] != 0) ease(m, y) = active[y] != 0 ? level - risk[y] : std::max(level - risk[y], 0.0);
      if (active[y] == 0) ease(m, y) += game::hair * unit[y] * ws.rng.uniform(0.5, 1);
    }
  }
  ease_risks(ws);
  price_rows(ws);
}

// The risks of the eased rows.
template <class Problem>
void LabellingGame<Problem>::ease_risks(Workspace& ws) const {
  for (const std::size_t m : ws.varied)
    for (std::size_t y = 0; y < labels(m, ws); ++y) ws.risk.view()(m, y) += ws.ease.view()(m, y);
}

}  // namespace m4n::detail

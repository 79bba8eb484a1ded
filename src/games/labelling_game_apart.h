// The game where no pair of labels scores, as before training has begun: every position is a matrix game of its own.
// Their solutions are joined by laying the masses of all positions side by side on [0, 1]: each piece in which no
// position changes its label is a sequence, at most 1 + sum_m (|S_m| - 1) of them for supports S_m. The simplex method
// would come to the same end, but slowly, for there the support is large and many steps have no length.
#pragma once
#include <algorithm>
#include <cmath>

#include "structures/classes/closed_form.h"

#include "games/labelling_game.h"
#include "games/labelling_game_steps.h"

namespace m4n::detail {

template <class Problem>
void LabellingGame<Problem>::solve_apart(const Scores& v, Workspace& ws) const {
  ws.position.resize(exact_.size());
  const PaddedRows<double> mu = ws.risk.view(), nu = ws.query_nu.view(), scores = ws.augmented.view();
  const auto length = static_cast<double>(ws.length);
  for (std::optional<Position>& position : ws.position)
    if (position) std::fill(position->state.begin(), position->state.end(), std::uint8_t{0});
  for (std::size_t m = 0; m < ws.length; ++m) {
    std::fill_n(scores.row(m), scores.stride(), kernels::padding_score);
    const std::size_t count = labels(m, ws);
    for (std::size_t k = 0; k < count; ++k) scores(m, k) = length * Problem::own(v, m, k);
    if (exact_at(m, ws).zero_one()) {
      closed_form::zero_one(scores.padded_row(m), exact_at(m, ws).range(), mu.padded_row(m), nu.padded_row(m));
    } else {
      // The basis of one position is a good start for the next with the same costs.
      std::optional<Position>& position = ws.position[kind(m, ws)];
      if (!position) position.emplace(count);
      std::fill_n(nu.row(m), nu.stride(), 0.0);
      position_games_[kind(m, ws)].solve({scores.row(m), count}, {mu.row(m), count}, {nu.row(m), count},
                                         position->state, position->workspace);
    }
  }
  ws.upper = query(v, nu, ws);
  ++ws.rounds;
  std::swap(ws.best_nu, ws.query_nu);

  const auto next = [&](std::size_t m, std::size_t from) {
    while (from < labels(m, ws) && !(mu(m, from) > 0)) ++from;
    return from;
  };
  for (std::size_t m = 0; m < ws.length; ++m)  // (there is mass somewhere, unless a score is not a number)
    ws.path[m] = static_cast<std::int32_t>(std::min(next(m, 0), labels(m, ws) - 1));
  ws.weight.clear();
  ws.sequence.clear();
  for (bool changed = true; changed;) {
    double width = 1;
    for (std::size_t m = 0; m < ws.length; ++m) width = std::min(width, mu(m, static_cast<std::size_t>(ws.path[m])));
    if (width > 0) {
      ws.weight.push_back(width);
      ws.sequence.insert(ws.sequence.end(), ws.path.begin(), ws.path.end());
    }
    changed = false;
    for (std::size_t m = 0; m < ws.length; ++m) {
      double& left = mu(m, static_cast<std::size_t>(ws.path[m]));
      left -= width;
      const std::size_t following = left > 0 ? labels(m, ws) : next(m, static_cast<std::size_t>(ws.path[m]) + 1);
      if (following == labels(m, ws)) continue;
      ws.path[m] = static_cast<std::int32_t>(following);
      changed = true;
    }
  }
}

}  // namespace m4n::detail

// The chain game where all transitions score alike, as they do before training has begun: every position is a matrix
// game of its own. Their solutions are joined by laying the masses of all positions side by side on [0, 1]: each piece
// in which no position changes its label is a sequence, at most 1 + sum_m (|S_m| - 1) of them for supports S_m. The
// simplex method would come to the same end, but slowly, for there the support is large and many steps have no length.
#include <algorithm>
#include <cmath>

#include "oracle/chain_game_steps.h"
#include "oracle/closed_form.h"

namespace m4n {

void ChainGame::solve_apart(const ChainScores& v, Workspace& ws) const {
  if (!ws.position) ws.position.emplace(labels_);
  const Transitions& t = *v.transitions;
  const PaddedRows<double> mu = ws.risk.view(), nu = ws.query_nu.view(), scores = ws.augmented.view();
  const auto length = static_cast<double>(ws.length);
  ws.state.assign(labels_, 0);
  for (std::size_t m = 0; m < ws.length; ++m) {
    std::fill_n(scores.row(m), scores.stride(), kernels::padding_score);
    for (std::size_t k = 0; k < labels_; ++k)
      scores(m, k) = length * (v.unary(m, k) + (m == 0 ? t.start(k) : 0) + (m + 1 == ws.length ? t.end(k) : 0));
    if (zero_one_) {
      closed_form::zero_one(scores.padded_row(m), exact_.range(), mu.padded_row(m), nu.padded_row(m));
    } else {
      // The basis of one position is a good start for the next.
      std::fill_n(nu.row(m), nu.stride(), 0.0);
      position_game_.solve({scores.row(m), labels_}, {mu.row(m), labels_}, {nu.row(m), labels_}, ws.state,
                           *ws.position);
    }
  }
  ws.upper = query(v, nu, ws);
  ++ws.rounds;
  std::swap(ws.best_nu, ws.query_nu);

  const auto next = [&](std::size_t m, std::size_t from) {
    while (from < labels_ && !(mu(m, from) > 0)) ++from;
    return from;
  };
  for (std::size_t m = 0; m < ws.length; ++m)  // (there is mass somewhere, unless a score is not a number)
    ws.path[m] = static_cast<std::int32_t>(std::min(next(m, 0), labels_ - 1));
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
      const std::size_t following = left > 0 ? labels_ : next(m, static_cast<std::size_t>(ws.path[m]) + 1);
      if (following == labels_) continue;
      ws.path[m] = static_cast<std::int32_t>(following);
      changed = true;
    }
  }
}

}  // namespace m4n

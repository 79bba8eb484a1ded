// The choice between the double oracle and the interior point (birkhoff_game.h).
#include "structures/permutations/birkhoff_game.h"

namespace m4n::detail {
namespace {

// An example whose game was too diffuse for the double oracle goes straight to the interior point for this many visits.
constexpr int visits_without = 8;

}  // namespace

BirkhoffAnswer BirkhoffGame::solve(std::span<const double> scores, const PositionLoss& loss,
                                   const BirkhoffLimits& limits, BirkhoffSeeds& seeds) {
  referee_.start(scores, loss);
  const std::size_t m = loss.size();
  const bool hamming = loss.form() == PositionLoss::Form::hamming;
  const auto solved = [&](const BirkhoffAnswer& answer) {
    return answer.bounds.upper - answer.bounds.lower <= limits.gap * loss.range();
  };
  // Bounds are there, and nobody waits for better ones.
  const auto over = [&](const BirkhoffAnswer& answer) { return solved(answer) || limits.stopped(); };
  BirkhoffAnswer answer;
  const bool skip = seeds.skip > 0;
  if (skip) {
    --seeds.skip;
  } else {
    // An interior point costs O(M) times more for other losses than Hamming: more is tried before.
    answer = double_.solve(referee_, limits, hamming ? BirkhoffDouble::usual_room(m) : 4 * m + 16, seeds);
    if (over(answer)) return answer;
  }
  const BirkhoffAnswer inner = interior_.solve(referee_, limits);
  if (skip) {
    answer = inner;
  } else {
    take_better(inner, answer);
  }
  if (solved(answer)) {
    if (!skip) {
      seeds.clear();
      seeds.skip = visits_without;
    }
    return answer;
  }
  if (limits.stopped()) return answer;
  take_better(roomy_.solve(referee_, limits, 16 * m + 64, seeds), answer);
  return answer;
}

}  // namespace m4n::detail

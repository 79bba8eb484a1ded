// Max-min oracle over the Birkhoff polytope for any position loss: a double oracle. Both players start from a few
// permutations, their restricted game is solved exactly (games/growing_game.h), and each learns its best answer to the
// mixture of the other, an assignment, until nobody gains. Exact to rounding, and fast where few permutations carry
// weight (large scores); where many do, the sets grow too large, and birkhoff_interior.h is the better choice.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/growing_game.h"
#include "structures/permutations/birkhoff_referee.h"

namespace m4n::detail {

// The permutations that had weight at the last visit of an example, M positions each. Empty = cold. Seeds of other
// scores cost time and never correctness; those that are no permutations are dropped.
struct BirkhoffSeeds {
  std::vector<std::uint16_t> truth, prediction;
  int skip = 0;  // visits for which birkhoff_game.h does without the double oracle
  void clear() {
    truth.clear();
    prediction.clear();
  }
  template <class Archive>
  void archive(Archive& a) {
    a(truth, prediction, skip);
  }
};

class BirkhoffDouble {
 public:
  // At most so many permutations per player: then it gives up, with bounds that hold. Most of the time a game that
  // needs more is better left to others.
  static std::size_t usual_room(std::size_t size) { return std::min<std::size_t>(size, 64) + 8; }

  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits,
                       std::size_t room, BirkhoffSeeds& seeds);
  // The same on scores that the referee has reduced already.
  BirkhoffAnswer solve(BirkhoffReferee& referee, const BirkhoffLimits& limits, std::size_t room, BirkhoffSeeds& seeds);

 private:
  using Moves = AlignedVector<std::int32_t>;
  bool plant(std::span<const std::uint16_t> seeds, bool truth);
  void add_truth(std::span<const std::int32_t> y);
  void add_prediction(std::span<const std::int32_t> y);
  double payoff(std::size_t row, std::size_t column) const;
  bool known(const Moves& moves, std::span<const std::int32_t> y) const;
  void rebuild(std::size_t room);
  void mix(const Moves& moves, std::span<const double> weight, std::span<double> out) const;
  void save_seeds(BirkhoffSeeds& seeds) const;

  BirkhoffReferee own_;
  BirkhoffReferee* referee_ = nullptr;
  GrowingGame game_;
  std::size_t size_ = 0;
  double range_ = 1;
  Moves truths_, predictions_, move_;
  AlignedVector<double> gain_;  // <C, P> of every truth
  AlignedVector<double> payoffs_, truth_weight_, prediction_weight_, p_, q_, best_p_, best_q_;
  std::vector<std::uint8_t> seen_;
};

}  // namespace m4n::detail

// From the scores of an example to its permutation:
//
//   argmax      the best permutation of the scores; for scores of items, sorted: the largest to position 0
//   adversary   of M4N, usual for position costs that are not symmetric: the best permutation of the min player's Q
//   expected    usual for CRF: the least expected cost, min over y of <y, A P>, under the marginals P
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "losses/position_losses.h"
#include "m4n/options.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/gibbs.h"

namespace m4n::detail {

// Whether decoding by the largest score is usual: costs that are the same in both directions, or of rank one.
bool decodes_by_scores(const PositionLoss& loss);

// Scratch of one thread.
class PermutationDecoder {
 public:
  // `losses` and what `parts` looks at must outlive the decoder.
  PermutationDecoder(Decoder decoder, const PositionLosses& losses, const PermutationParts& parts)
      : decoder_(decoder), losses_(&losses), parts_(parts) {}
  // v: the scores of all parts; writes the position of every item.
  void decode(std::span<const double> v, std::span<std::int32_t> position);

 private:
  void sort(std::span<const double> v, std::span<std::int32_t> position);

  Decoder decoder_;
  const PositionLosses* losses_;
  PermutationParts parts_;
  Assignment assignment_;
  BirkhoffGame game_;
  PermutationGibbs gibbs_;
  AlignedVector<double> cells_, marginals_;
  std::vector<std::int32_t> order_;
};

}  // namespace m4n::detail

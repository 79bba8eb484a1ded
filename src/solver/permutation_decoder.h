// From the scores of an example to its permutation:
//
//   M4N, M3N, QS   the best permutation of the scores; for scores of items, sorted: the largest to position 0
//   M4N            for position costs that are not symmetric: the best permutation of the adversary Q
//   CRF            least expected cost, min over y of <y, A P>, under the marginals P
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "m4n/options.h"
#include "oracle/birkhoff_game.h"
#include "solver/position_losses.h"
#include "space/permutation_gibbs.h"

namespace m4n {

// Scratch of one thread.
class PermutationDecoder {
 public:
  // `losses` and what `parts` looks at must outlive the decoder.
  PermutationDecoder(SurrogateKind surrogate, const PositionLosses& losses, const PermutationParts& parts)
      : surrogate_(surrogate), losses_(&losses), parts_(parts) {}
  // v: the scores of all parts; writes the position of every item.
  void decode(std::span<const double> v, std::span<std::int32_t> position);

 private:
  void sort(std::span<const double> v, std::span<std::int32_t> position);

  SurrogateKind surrogate_;
  const PositionLosses* losses_;
  PermutationParts parts_;
  Assignment assignment_;
  BirkhoffGame game_;
  PermutationGibbs gibbs_;
  AlignedVector<double> cells_, marginals_;
  std::vector<std::int32_t> order_;
};

}  // namespace m4n

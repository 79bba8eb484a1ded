// Permutations: the order of items (rankings), and which points of two sets belong together (matchings).
#pragma once
#include "losses/position_loss.h"
#include "structures/row_part.h"
#include "structures/structure.h"

namespace m4n::detail {

struct PermutationPart : RowPart {
  std::size_t points = 0;  // of matchings: the most a side had in training
};

// Scores of a row: one per item where the loss is of rank one, else one per cell (item, position).
inline std::size_t ranking_outputs(const PositionLossChoice& loss, std::size_t items) {
  return loss.scores_items() ? items : items * items;
}

}  // namespace m4n::detail

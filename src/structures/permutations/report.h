// What reports show of rankings and matchings.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "losses/position_loss.h"
#include "structures/structure.h"

namespace m4n::detail {

// The positions as kinds of answers; none where an item's share of the loss can be negative (losses of rank one).
AnswerKinds position_kinds(const PositionLossChoice& choice, std::size_t items);
void visit_positions(const PositionLossChoice& choice, const Examples& examples,
                     std::span<const std::int32_t> predicted, const AnswerVisitor& visit);

// The ranking that would have cost the least for all examples: an assignment of items to positions.
std::vector<std::int32_t> best_ranking(const PositionLossChoice& choice, std::size_t items, const Examples& examples);

// "b, a, c": the items from the first position on.
std::string ranking_text(const std::vector<std::string>& items, std::span<const std::int32_t> positions);
// "3-5, 5-3": the pairs that the other one has not.
std::string matching_text(std::span<const std::int32_t> partners, std::span<const std::int32_t> other);

// True positions against predicted ones; accuracy by the number of points.
std::vector<Exhibit> ranking_exhibits(const Judged& judged);
std::vector<Exhibit> matching_exhibits(const Judged& judged);

}  // namespace m4n::detail

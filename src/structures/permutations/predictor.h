// Scores of many examples to their permutations, in parallel: what rankings and matchings are predicted by.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "losses/position_loss_choice.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "structures/permutations/decoder.h"

namespace m4n::detail {

class PermutationPredictor {
 public:
  // `items`: how many every ranking has; 0: matchings, of any sizes.
  PermutationPredictor(PositionLossChoice loss, std::size_t items, Decoder decoder);

  // Scores as the model's weights give them, n x parts of rankings. The position of every item, from 0.
  std::vector<std::int32_t> rankings(std::span<const double> scores, const Context& context) const;
  // One score a pair; `pairs` says which belong together, M x M of them an example.
  std::vector<std::int32_t> matchings(std::span<const double> scores, const Groups& pairs,
                                      const Context& context) const;
  // Of a CRF: the probability of every cell, M x M an example.
  std::vector<double> ranking_marginals(std::span<const double> scores, const Context& context) const;
  std::vector<double> matching_marginals(std::span<const double> scores, const Groups& pairs,
                                         const Context& context) const;

 private:
  std::vector<std::int32_t> decode(std::span<const double> scores, const Groups& parts, const Groups& items,
                                   const Context& context) const;
  std::vector<double> marginals(std::span<const double> scores, const Groups& parts, const Groups& items,
                                const Context& context) const;
  Groups ranking_parts_of(std::span<const double> scores) const;
  PositionLosses losses_for(const Groups& items) const;

  PositionLossChoice loss_;
  std::size_t items_;
  Decoder decoder_;
};

// The number of points a side of every matching, as runs; throws Error where the pairs of one are no square of a whole
// number.
Groups points_of(const Groups& pairs);

// Mean over examples of the loss of permutations, weighted unless `weight` is empty.
double mean_position_loss(const PositionLossChoice& loss, const Groups& items, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted, std::span<const double> weight);

}  // namespace m4n::detail

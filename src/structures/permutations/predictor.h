// From the scores of an example to its permutation:
//
//   argmax      the best permutation of the scores; for scores of items, sorted: the largest to position 0
//   adversary   of M4N, usual for position costs that are not symmetric: the best permutation of the min player's Q
//   expected    usual for CRF: the least expected cost, min over y of <y, A P>, under the marginals P
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "losses/position_loss.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
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

// Scores of many examples to their permutations, in parallel: what rankings and matchings are predicted by.

class PermutationPredictor {
 public:
  // `items`: how many every ranking has; 0: matchings, of any sizes.
  PermutationPredictor(PositionLossChoice loss, std::size_t items, Decoder decoder);

  // Scores as the model's weights give them, n x parts of rankings. The position of every item, from 0.
  std::vector<std::int32_t> rankings(std::span<const double> scores, const Context& context) const;
  // One score per pair; `pairs` says which belong together, M x M of them per example.
  std::vector<std::int32_t> matchings(std::span<const double> scores, const Groups& pairs,
                                      const Context& context) const;
  // Of a CRF: the probability of every cell, M x M per example.
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

// The number of points per side of every matching, as runs; throws Error where the pairs of one are no square of a
// whole number.
Groups points_of(const Groups& pairs);

// Mean over examples of the loss of permutations, weighted unless `weight` is empty.
double mean_position_loss(const PositionLossChoice& loss, const Groups& items, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted, std::span<const double> weight);

}  // namespace m4n::detail

// A position loss as users name it, before or after the number of items is known:
//
//     hamming, footrule, spearman (squared), precision@K, dcg     by name, for any number of items
//     weighted                                                    one weight an item: Hamming with weights
//     matrix                                                      cost[true position][predicted position]
//
// The gain of dcg is M - 1 - j at position j, its discount 1 / log2(2 + j).
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "losses/position_losses.h"

namespace m4n::detail {

// Items of a ranking: scores and costs grow with their square.
inline constexpr std::size_t largest_ranking = 1000;

class PositionLossChoice {
 public:
  // `spec`: a name, or a CSV file with one row of weights or M rows of costs, perhaps below a row with the names of the
  // items. `items`: their names; none where their number varies (matching).
  static PositionLossChoice parse(const std::string& spec, const std::vector<std::string>& items);
  // Weights (M numbers) or costs (M x M).
  static PositionLossChoice from_values(const std::vector<double>& values, std::size_t items,
                                        const std::string& origin);
  // What a model remembers: its loss by name, and the numbers of those that have any. Throws Error where they do not
  // belong together.
  static PositionLossChoice remembered(const std::string& name, const std::vector<double>& values, std::size_t items);

  const std::string& name() const { return name_; }
  const std::vector<double>& values() const { return values_; }
  PositionLoss make(std::size_t items) const;
  // One score an item says all there is to say, as the loss is of rank one; otherwise one a cell (item, position).
  bool scores_items() const { return scores_items(name_); }
  static bool scores_items(const std::string& name);

 private:
  std::string name_;
  std::vector<double> values_;
};

}  // namespace m4n::detail

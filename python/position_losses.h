// The loss of permutations as Python names it.
#pragma once
#include <string>
#include <vector>

#include "losses/position_loss.h"

namespace m4n::python {

// `values`: none for a cost that has a name, M weights of items, or M x M costs of positions.
inline detail::PositionLoss position_loss(const std::string& name, const std::vector<double>& values,
                                          std::size_t size) {
  const detail::PositionLossChoice choice = values.empty()
                                                ? detail::PositionLossChoice::remembered(name, {}, size)
                                                : detail::PositionLossChoice::from_values(values, size, "cost");
  return choice.make(size);
}

}  // namespace m4n::python

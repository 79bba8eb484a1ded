// The junction trees and cost matrices of a set of graphs (shapes.h).
#include "structures/graphs/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/message.h"

namespace m4n::detail {

GraphShapes::GraphShapes(const Groups& nodes, const GraphStructure& structure, std::size_t labels, std::size_t costs,
                         double memory_limit)
    : cache_(memory_limit) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < nodes.count(); ++i) {
    const std::size_t count = nodes.end(i) - nodes.begin(i);
    const auto first = structure.edge.begin() + static_cast<std::ptrdiff_t>(structure.edges.begin(i)),
               last = structure.edge.begin() + static_cast<std::ptrdiff_t>(structure.edges.end(i));
    try {
      tree_.push_back(&cache_.find(
          FactorGraph(std::vector<std::uint32_t>(count, static_cast<std::uint32_t>(labels)), {first, last})));
    } catch (const Error& e) {
      throw Error(say("example {}: {}", i + 1, e.what()));
    }
    most = std::max(most, count);
  }
  cost_.assign(most, 0);
  if (costs > 1) std::iota(cost_.begin(), cost_.end(), 0U);
}

}  // namespace m4n::detail

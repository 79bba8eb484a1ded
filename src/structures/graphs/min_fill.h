// The order in which the nodes of a graph are eliminated. Eliminating a node joins all of its neighbours to each other
// and takes it away; the neighbours it had then are its separator. The largest separator is the treewidth of the order.
//
// Min-fill: next is always the node whose elimination adds the fewest edges; of several the one whose table (its labels
// times those of its neighbours) is smallest; of several the one with the smallest number. A tree is eliminated from
// its leaves and gets the treewidth 1, a chain from its first node to its last. The counts of added edges are kept up
// to date, so that an elimination costs O(w^2 d) for a separator of w nodes with up to d neighbours. The search ends
// early where a table would have more than 2^40 entries: no machine will work with such an order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/graphs/factor_graph.h"

namespace m4n::detail {

struct Elimination {
  std::vector<std::uint32_t> order;                   // nodes
  std::vector<std::uint32_t> place;                   // of every node in the order
  std::vector<std::vector<std::uint32_t>> separator;  // of order[i], by place
  std::size_t treewidth = 0;
  bool complete = true;  // false: it ended early, and `order` and `separator` stop at the table that is too large
};

Elimination min_fill(const FactorGraph& graph);

}  // namespace m4n::detail

// The junction trees of the examples, one for every shape that occurs, and the cost matrix of every node.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "structures/graphs/factor_graph.h"
#include "structures/graphs/junction_tree.h"
#include "structures/graphs/oracles.h"

namespace m4n::detail {

class GraphShapes {
 public:
  // All nodes have the same number of labels, of `costs` matrices there is one, or one for every node of an example.
  // Throws Error for an example whose edges are no graph, or one of too large a treewidth, naming it.
  GraphShapes(const Groups& nodes, const GraphStructure& structure, std::size_t labels, std::size_t costs,
              double memory_limit = JunctionTree::default_limit);

  std::size_t shapes() const { return cache_.size(); }
  const JunctionTree& tree(std::size_t i) const { return *tree_[i]; }
  // The number of the cost matrix of every node.
  std::span<const std::uint32_t> cost(std::size_t i) const { return std::span(cost_).first(tree_[i]->graph().nodes()); }
  // The scores that the buffer holds.
  template <class Scorer, class Buffer>
  GraphGameScores view(std::size_t i, const Scorer& scorer, const Buffer& buffer) const {
    return {{tree_[i], {buffer.rows.data(), scorer.nodes(i), scorer.labels()}, buffer.pairwise}, cost(i)};
  }

 private:
  JunctionTreeCache cache_;
  std::vector<const JunctionTree*> tree_;
  std::vector<std::uint32_t> cost_;
};

}  // namespace m4n::detail

// The shape of an output that is a graph: nodes, each with its own number of labels, and edges between pairs of them.
// Shapes have no scores; what is worked out once per shape (structures/graphs/junction_tree.h) is found again by hash
// and equality.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail {

class FactorGraph {
 public:
  static constexpr std::uint32_t fewest_labels = 2, most_labels = 65535;

  // `labels` has one count per node. Throws Error on no nodes, a count out of range, and on an edge that names an
  // unknown node, joins a node with itself, or joins two nodes that are joined already (in either direction).
  FactorGraph(std::vector<std::uint32_t> labels, std::vector<GraphEdge> edges);

  std::size_t nodes() const { return labels_.size(); }
  std::uint32_t labels(std::size_t node) const { return labels_[node]; }
  std::span<const std::uint32_t> labels() const { return labels_; }
  std::uint32_t widest() const { return widest_; }  // the largest number of labels
  std::span<const GraphEdge> edges() const { return edges_; }

  // Equal: the same nodes and the same edges in the same order and direction.
  bool operator==(const FactorGraph& other) const {
    return hash_ == other.hash_ && labels_ == other.labels_ && edges_ == other.edges_;
  }
  std::size_t hash() const { return hash_; }

 private:
  std::vector<std::uint32_t> labels_;
  std::vector<GraphEdge> edges_;
  std::uint32_t widest_ = 0;
  std::size_t hash_ = 0;
};

struct FactorGraphHash {
  std::size_t operator()(const FactorGraph& graph) const { return graph.hash(); }
};

// Graphs whose edges are the same in every example.

// The same edges in all of n examples, each with a type of its own: the dependencies of a multi-label problem.
GraphStructure shared_edges(const std::vector<GraphEdge>& edges, std::size_t n);

}  // namespace m4n::detail

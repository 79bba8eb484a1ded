// Graphs whose edges are the same in every example.
#pragma once
#include <cstddef>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail {

// The same edges in all of n examples, each with a type of its own: the dependencies of a multi-label problem.
GraphStructure shared_edges(const std::vector<GraphEdge>& edges, std::size_t n);

}  // namespace m4n::detail

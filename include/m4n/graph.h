// What joins labels that depend on each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "m4n/dataset.h"

namespace m4n {

// What joins the labels of examples that are graphs. Node m of an example is the m-th of its labels (Dataset::labels);
// its features are row m of the example's rows, or, where an example has fewer rows than nodes, consecutive nodes share
// a row: with one row an example and M labels that is a multi-label problem with dependencies.
struct GraphStructure {
  Groups edges;                                 // which edges belong to which example
  std::vector<GraphEdge> edge;                  // the ends count from 0 in every example
  DenseMatrix edge_features;                    // a row an edge; no columns: edges have none
  std::vector<std::string> edge_feature_names;  // empty: the file names none

  // Weights are tied over all nodes, and over all edges, of the same type.
  std::vector<std::uint32_t> node_type;                       // of every row of features; empty: all of one type
  std::vector<std::uint32_t> edge_type;                       // empty: all of one type
  std::vector<std::string> node_type_names, edge_type_names;  // empty: one type without a name

  std::size_t node_types() const { return node_type_names.empty() ? 1 : node_type_names.size(); }
  std::size_t edge_types() const { return edge_type_names.empty() ? 1 : edge_type_names.size(); }
  std::size_t type_of_row(std::size_t row) const { return node_type.empty() ? 0 : node_type[row]; }
  std::size_t type_of_edge(std::size_t e) const { return edge_type.empty() ? 0 : edge_type[e]; }
};

}  // namespace m4n

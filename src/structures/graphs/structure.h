// Graphs: a label for every node.
#pragma once
#include "structures/graphs/predictor.h"
#include "structures/row_part.h"
#include "structures/structure.h"

namespace m4n::detail {

// About the surrogate qs.
inline constexpr const char* edges_change_nothing =
    "regresses every label on its own, so that edges between them would change nothing";

struct GraphPart : RowPart {
  // By edge type the tables of the edge's features, then the constant one: k x k each, row the label of the edge's
  // first node.
  std::vector<double> edge_weights;
  std::vector<std::string> node_types, edge_types, edge_feature_names;  // empty: one type, features without names
  std::size_t edge_features = 0;

  std::size_t edge_type_count() const { return std::max<std::size_t>(edge_types.size(), 1); }
  std::size_t node_type_count() const { return std::max<std::size_t>(node_types.size(), 1); }
};

}  // namespace m4n::detail

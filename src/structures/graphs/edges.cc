#include "structures/graphs/edges.h"

#include <fmt/format.h>

namespace m4n::detail {

GraphStructure shared_edges(const std::vector<GraphEdge>& edges, std::size_t n) {
  GraphStructure out;
  out.edges = Groups(n, edges.size());
  out.edge.reserve(n * edges.size());
  out.edge_type.reserve(n * edges.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      out.edge.push_back(edges[e]);
      out.edge_type.push_back(e);
    }
  for (const GraphEdge& e : edges) out.edge_type_names.push_back(fmt::format("{}-{}", e.u + 1, e.v + 1));
  return out;
}

}  // namespace m4n::detail

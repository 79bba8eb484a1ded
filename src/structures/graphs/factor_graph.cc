// Checks, hash and equality of the shapes of graphs (factor_graph.h).
#include "structures/graphs/factor_graph.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "core/message.h"

namespace m4n::detail {

namespace {

// Both ends in ascending order, and where the edge stands in the list.
struct Pair {
  std::uint32_t low, high;
  std::size_t at;
};

void check_edges(std::size_t nodes, std::span<const GraphEdge> edges) {
  std::vector<Pair> pairs;
  pairs.reserve(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [u, v] = edges[e];
    for (const std::uint32_t end : {u, v})
      if (end >= nodes)
        throw Error(say("edge {} ({}-{}) names node {}, but the graph has {}, numbered from 0 to {}", e, u, v, end,
                        counted(nodes, "node"), nodes - 1));
    if (u == v) throw Error(say("edge {} joins node {} with itself; => remove this self loop", e, u));
    pairs.push_back({std::min(u, v), std::max(u, v), e});
  }
  const auto key = [](const Pair& p) { return std::pair(p.low, p.high); };
  std::sort(pairs.begin(), pairs.end(),
            [&](const Pair& a, const Pair& b) { return key(a) != key(b) ? key(a) < key(b) : a.at < b.at; });
  const auto twice =
      std::adjacent_find(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) { return key(a) == key(b); });
  if (twice != pairs.end())
    throw Error(say("edges {} and {} both join the nodes {} and {}; => keep one of them", twice->at,
                    std::next(twice)->at, twice->low, twice->high));
}

std::size_t mix(std::size_t hash, std::size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace

FactorGraph::FactorGraph(std::vector<std::uint32_t> labels, std::vector<GraphEdge> edges)
    : labels_(std::move(labels)), edges_(std::move(edges)) {
  if (labels_.empty()) throw Error("a graph needs at least one node; this one has none");
  for (std::size_t m = 0; m < labels_.size(); ++m)
    if (labels_[m] < fewest_labels || labels_[m] > most_labels)
      throw Error(
          say("node {} has {}; expected {} to {}", m, counted(labels_[m], "label"), fewest_labels, most_labels));
  check_edges(labels_.size(), edges_);
  widest_ = *std::max_element(labels_.begin(), labels_.end());
  hash_ = mix(labels_.size(), edges_.size());
  for (const std::uint32_t count : labels_) hash_ = mix(hash_, count);
  for (const GraphEdge& edge : edges_) hash_ = mix(mix(hash_, edge.u), edge.v);
}

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

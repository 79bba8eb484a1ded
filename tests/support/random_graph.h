// Graphs for the tests: random shapes of many kinds with few labellings, random scores in many styles, and all
// labellings by counting.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "structures/graphs/junction_tree.h"
#include "support/random_chain.h"

namespace m4n::detail::test {

enum class ShapeKind { single, tree, chain, cycle, grid, k_tree, partial_k_tree, forest, no_edges, complete };
inline constexpr ShapeKind shape_kinds[] = {
    ShapeKind::single, ShapeKind::tree,   ShapeKind::chain,          ShapeKind::cycle,    ShapeKind::grid,
    ShapeKind::k_tree, ShapeKind::forest, ShapeKind::partial_k_tree, ShapeKind::no_edges, ShapeKind::complete};

// Edges over the nodes 0 .. nodes-1 of the kind; for grids, `nodes` is rounded to rows of three.
inline std::vector<GraphEdge> random_edges(ShapeKind kind, std::uint32_t nodes, std::mt19937_64& random) {
  std::vector<GraphEdge> edges;
  const auto join = [&](std::uint32_t a, std::uint32_t b) { edges.push_back({a, b}); };
  switch (kind) {
    case ShapeKind::single:
    case ShapeKind::no_edges:
      break;
    case ShapeKind::tree:
    case ShapeKind::forest:
      for (std::uint32_t m = 1; m < nodes; ++m)
        if (kind == ShapeKind::tree || random() % 3 != 0) join(static_cast<std::uint32_t>(random() % m), m);
      break;
    case ShapeKind::chain:
    case ShapeKind::cycle:
      for (std::uint32_t m = 1; m < nodes; ++m) join(m - 1, m);
      if (kind == ShapeKind::cycle && nodes > 2) join(nodes - 1, 0);
      break;
    case ShapeKind::grid:
      for (std::uint32_t m = 0; m < nodes; ++m) {
        if (m % 3 != 0) join(m - 1, m);
        if (m >= 3) join(m - 3, m);
      }
      break;
    case ShapeKind::k_tree:
    case ShapeKind::partial_k_tree: {
      const std::uint32_t k = 2 + static_cast<std::uint32_t>(random() % 2);
      std::vector<std::vector<std::uint32_t>> cliques{{}};
      for (std::uint32_t m = 0; m < nodes; ++m) {
        std::vector<std::uint32_t> clique = cliques[random() % cliques.size()];
        if (clique.size() > k) clique.erase(clique.begin() + static_cast<std::ptrdiff_t>(random() % clique.size()));
        for (const std::uint32_t other : clique)
          if (kind == ShapeKind::k_tree || random() % 4 != 0) join(other, m);
        clique.push_back(m);
        if (m < k) cliques.clear();
        cliques.push_back(clique);
      }
      break;
    }
    case ShapeKind::complete:
      for (std::uint32_t m = 1; m < nodes; ++m)
        for (std::uint32_t other = 0; other < m; ++other) join(other, m);
      break;
  }
  // Any numbering, order and direction.
  std::vector<std::uint32_t> name(nodes);
  std::iota(name.begin(), name.end(), 0U);
  if (kind != ShapeKind::chain) {
    std::shuffle(name.begin(), name.end(), random);
    std::shuffle(edges.begin(), edges.end(), random);
    for (GraphEdge& edge : edges) {
      edge = {name[edge.u], name[edge.v]};
      if (random() % 2 == 0) std::swap(edge.u, edge.v);
    }
  }
  return edges;
}

// At most 3^8 labellings.
inline FactorGraph random_shape(ShapeKind kind, std::mt19937_64& random, std::uint32_t most_labels = 5) {
  const auto nodes = static_cast<std::uint32_t>(kind == ShapeKind::single ? 1 : 2 + random() % 9);
  std::vector<std::uint32_t> labels(nodes, 2);
  double room = 6561 / std::pow(2.0, nodes);
  const bool equal = random() % 3 == 0;
  for (std::uint32_t& count : labels) {
    if (equal && &count != labels.data()) count = 1;
    const double widest = std::min<double>(most_labels, 2 * room);
    if (!equal && widest >= 2)
      count = 2 + static_cast<std::uint32_t>(random() % (static_cast<std::uint64_t>(widest) - 1));
    room *= 2.0 / count;
  }
  if (equal) {
    std::uint32_t count = 2 + static_cast<std::uint32_t>(random() % (most_labels - 1));
    while (count > 2 && std::pow(count, nodes) > 6561) --count;
    labels.assign(nodes, count);
  }
  return {labels, random_edges(kind, nodes, random)};
}

// A graph that owns its scores. The padding of all rows is filled with numbers that must not matter.
class Graph {
 public:
  Graph(FactorGraph shape, double scale, ScoreStyle style, std::mt19937_64& random,
        double limit = JunctionTree::default_limit)
      : tree_(std::move(shape), limit) {
    std::normal_distribution<double> normal;
    const auto draw = [&](double factor) {
      const double x = normal(random);
      if (style == ScoreStyle::zero) return 0.0;
      if (style == ScoreStyle::constant) return scale;
      return scale * factor * (style == ScoreStyle::integer ? std::round(x) : x);
    };
    const FactorGraph& graph = tree_.graph();
    fill(
        unary_.shape(graph.nodes(), graph.widest()), [&] { return draw(1); }, 77 * scale);
    tables_.resize(graph.edges().size());
    for (std::size_t e = 0; e < tables_.size(); ++e) {
      const auto [u, v] = graph.edges()[e];
      fill(
          tables_[e].shape(graph.labels(u), graph.labels(v)),
          [&] { return draw(style == ScoreStyle::no_transitions ? 0 : 1); }, -55 * scale);
      views_.push_back(std::as_const(tables_[e]).view());
    }
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const JunctionTree& tree() const { return tree_; }
  const FactorGraph& shape() const { return tree_.graph(); }
  GraphScores scores() const { return {&tree_, unary_.view(), views_}; }
  PaddedRows<double> unary() { return unary_.view(); }
  PaddedRows<double> table(std::size_t e) { return tables_[e].view(); }

  // The definition of the score, in long double.
  long double score(const std::vector<std::int32_t>& y) const {
    long double sum = 0;
    for (std::size_t m = 0; m < y.size(); ++m) sum += unary_.view()(m, static_cast<std::size_t>(y[m]));
    for (std::size_t e = 0; e < tables_.size(); ++e) {
      const auto [u, v] = shape().edges()[e];
      sum += tables_[e].view()(static_cast<std::size_t>(y[u]), static_cast<std::size_t>(y[v]));
    }
    return sum;
  }
  // The largest absolute score: the unit of rounding.
  double magnitude() const {
    double largest = 0;
    const auto look = [&](PaddedRows<const double> rows) {
      for (std::size_t r = 0; r < rows.rows(); ++r)
        for (std::size_t c = 0; c < rows.columns(); ++c) largest = std::max(largest, std::abs(rows(r, c)));
    };
    look(unary_.view());
    for (const auto& table : tables_) look(table.view());
    return largest;
  }

  // body(y) for all labellings; the node eliminated last turns slowest, so that of equal labellings the one that the
  // decoder prefers comes first.
  template <class Body>
  void for_labellings(Body&& body) const {
    std::vector<std::int32_t> y(shape().nodes(), 0);
    const std::vector<JunctionBucket>& buckets = tree_.plan().buckets;
    for (;;) {
      body(std::as_const(y));
      std::size_t i = 0;
      for (; i < buckets.size(); ++i) {
        std::int32_t& label = y[buckets[i].node];
        if (++label < static_cast<std::int32_t>(buckets[i].labels)) break;
        label = 0;
      }
      if (i == buckets.size()) return;
    }
  }

 private:
  template <class Draw>
  static void fill(PaddedRows<double> rows, Draw&& draw, double padding) {
    for (std::size_t r = 0; r < rows.rows(); ++r)
      for (std::size_t c = 0; c < rows.stride(); ++c) rows.row(r)[c] = c < rows.columns() ? draw() : padding;
  }
  JunctionTree tree_;
  PaddedMatrix<double> unary_;
  std::vector<PaddedMatrix<double>> tables_;
  std::vector<PaddedRows<const double>> views_;
};

}  // namespace m4n::detail::test

// Graphs as the atoms solver of labellings sees them (solvers/labelling_ascent.h). Unary parts are those of nodes and
// of the tables of edges with features; the tables of edges without features are tail parts (structures/graphs/scorer.h
// numbers them).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "solvers/labelling_ascent.h"
#include "structures/graphs/oracles.h"
#include "structures/graphs/scorer.h"
#include "structures/graphs/shapes.h"

namespace m4n::detail {

template <class OwnScorer>
class GraphParts {
 public:
  using Scorer = OwnScorer;
  using Scores = GraphGameScores;
  struct Buffer : GraphBuffer {
    std::vector<std::uint8_t> scored;  // rows of features and edges, zero between uses
  };
  static constexpr bool mean_whatever_it_costs = true;
  static constexpr double steps_of_weights = 40;

  GraphParts(const Scorer& scorer, const GraphShapes& shapes)
      : shapes_(&shapes),
        rows_(scorer, [&](std::size_t i) { return scorer.feature_rows(i); }),
        edges_(scorer, [&](std::size_t i) { return scorer.edge_features() ? scorer.edges(i) : 0; }) {}

  Buffer buffer(const Scorer& scorer) const {
    return {scorer.buffer(), std::vector<std::uint8_t>(scorer.most_rows(), 0)};
  }
  std::size_t unary_size(const Scorer& scorer) const { return scorer.largest_padded_parts(); }
  void prepare(const Scorer&) const {}

  void score(const Scorer& scorer, std::size_t i, Buffer& buffer) const { scorer.score(i, buffer); }
  double score_contested(const Scorer& scorer, std::size_t i, std::span<const std::uint32_t> rows,
                         Buffer& buffer) const {
    const std::size_t nodes = scorer.nodes(i), slots = scorer.slots(), labels = scorer.labels();
    const auto place = [&](std::uint32_t row) {
      return row < nodes ? row / slots : scorer.feature_rows(i) + (row - nodes) / labels;
    };
    std::size_t count = 0;
    for (const std::uint32_t row : rows) {
      const std::size_t at = place(row);
      if (buffer.scored[at]++ > 0) continue;
      row < nodes ? scorer.score_row(i, at, buffer) : scorer.score_edge(i, (row - nodes) / labels, buffer);
      ++count;
    }
    for (const std::uint32_t row : rows) buffer.scored[place(row)] = 0;
    const std::size_t all = scorer.feature_rows(i) + (scorer.edge_features() ? scorer.edges(i) : 0);
    return static_cast<double>(count) / static_cast<double>(all);
  }
  const double* unary(const Buffer& buffer) const { return buffer.rows.data(); }
  GraphGameScores view(const Scorer& scorer, std::size_t i, const Buffer& buffer) const {
    return shapes_->view(i, scorer, buffer);
  }
  double oracle_work(const Scorer& scorer, std::size_t i, const GraphGameScores& v) const {
    return 2 * v.tree->table_entries() + 2 * scalar_work * static_cast<double>(scorer.nodes(i) * scorer.stride());
  }

  std::uint64_t checksum(const Scorer& scorer, std::size_t i) const {
    std::uint64_t out = crc64(bytes_of(scorer.edges_of(i)));
    for (std::size_t e = 0; e < scorer.edges_of(i).size(); ++e) {
      const std::size_t table = scorer.edge_part(i, e, 0, 0);
      out = crc64(bytes_of(std::span(&table, 1)), out);
    }
    return out;
  }
  std::size_t rows(const Scorer& scorer, std::size_t i) const { return scorer.unary_rows(i); }
  // Labels of a node meet those of another in the same slot, a row of an edge's table meets the same row of another.
  double gram(const Scorer& scorer, std::size_t i, std::size_t a, std::size_t b) const {
    const std::size_t nodes = scorer.nodes(i), slots = scorer.slots(), labels = scorer.labels();
    if ((a < nodes) != (b < nodes)) return 0;
    if (a < nodes) return a % slots == b % slots ? rows_(i, a / slots, b / slots) : 0;
    a -= nodes;
    b -= nodes;
    return a % labels == b % labels ? edges_(i, a / labels, b / labels) : 0;
  }
  void difference_from_truth(const Scorer& scorer, std::size_t i, const LabellingAnswer& answer, LabelView truth,
                             AtomScratch& scratch) const {
    const std::size_t stride = scorer.stride(), nodes = truth.size();
    const std::span<const GraphEdge> edges = scorer.edges_of(i);
    const auto add_edge = [&](std::size_t e, std::size_t u, std::size_t v, double amount) {
      const std::size_t part = scorer.edge_part(i, e, u, v);
      if (scorer.edge_features()) {
        add_part(scratch.unary, scratch.touched_unary, part, amount);
      } else {
        add_part(scratch.tail, scratch.touched_tail, part, amount);
      }
    };
    const auto add_labelling = [&](const std::int32_t* y, double amount) {
      const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
      for (std::size_t m = 0; m < nodes; ++m)
        add_part(scratch.unary, scratch.touched_unary, m * stride + at(m), amount);
      for (std::size_t e = 0; e < edges.size(); ++e) add_edge(e, at(edges[e].u), at(edges[e].v), amount);
    };
    add_labelling(truth.data(), -1);
    for (std::size_t j = 0; j < answer.weight.size(); ++j)
      add_labelling(answer.labelling.data() + j * nodes, answer.weight[j]);
    for (const TreeMass& part : answer.mass) {
      const TreeNode& node = answer.nodes[part.node];
      add_part(scratch.unary, scratch.touched_unary, node.position * stride + part.label, part.mass);
      if (node.parent == kernels::TreeBlock::none) continue;
      if (edges[node.edge].u == node.position) {
        add_edge(node.edge, part.label, part.above, part.mass);
      } else {
        add_edge(node.edge, part.above, part.label, part.mass);
      }
    }
    collect_parts(scratch);
  }
  void add(Scorer& scorer, std::size_t i, const double* step, double scale, Buffer& buffer) const {
    scorer.update_unary(i, step, scale, buffer.wide);
  }

 private:
  const GraphShapes* shapes_;
  KeptGram<Scorer, &Scorer::row_gram> rows_;
  KeptGram<Scorer, &Scorer::edge_gram> edges_;
};

}  // namespace m4n::detail

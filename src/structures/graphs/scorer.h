// Linear scores of graphs, all weights regularised alike and in one vector:
//
//   node blocks   one per node type: (features + bias) rows of `slots` x k, for the nodes that share a row of features
//   edge blocks   one per edge type: (edge features + 1) tables of k rows, one per label of the first node of the edge
//
// Node m of example i is slot m % slots of row m / slots (slots = 1: a graph whose nodes have features of their own;
// slots = M: M labels of one row). Scores are rows of k numbers, padded: those of the nodes, then k for every edge. The
// unary parts of an atom are numbered likewise; where edges have no features, their tables are shared as they are, and
// an atom has tail parts instead, the places of the edge blocks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/feature_rows.h"
#include "core/kernels.h"
#include "core/views.h"
#include "m4n/dataset.h"
#include "structures/graphs/factor_graph.h"

namespace m4n::detail {

// The scores of one graph, and scratch of the thread that asks for them.
struct GraphBuffer {
  AlignedVector<double> rows, wide;
  std::vector<PaddedRows<const double>> pairwise;
};

class GraphScorer {
 public:
  // `rows` and `nodes` say which rows of x and which nodes belong to which example.
  GraphScorer(const FeatureRows& x, const Groups& rows, const Groups& nodes, const GraphStructure& structure,
              std::size_t labels, bool bias)
      : x_(x),
        rows_(&rows),
        nodes_(&nodes),
        structure_(&structure),
        labels_(labels),
        stride_(row_stride<double>(labels)),
        slots_((nodes.end(0) - nodes.begin(0)) / (rows.end(0) - rows.begin(0))),
        wide_(row_stride<double>(slots_ * labels)),
        bias_(bias) {
    node_block_ = (x.cols() + (bias ? 1 : 0)) * wide_;
    table_ = labels * stride_;
    edge_block_ = (structure.edge_features.cols + 1) * table_;
    edge_begin_ = structure.node_types() * node_block_;
    w_.assign(edge_begin_ + structure.edge_types() * edge_block_, 0.0);
    for (std::size_t i = 0; i < examples(); ++i) most_rows_ = std::max(most_rows_, this->nodes(i) + edges(i) * labels);
    own_ = buffer();
  }

  std::size_t examples() const { return nodes_->count(); }
  std::size_t labels() const { return labels_; }
  std::size_t stride() const { return stride_; }
  std::size_t slots() const { return slots_; }
  std::size_t nodes(std::size_t i) const { return nodes_->end(i) - nodes_->begin(i); }
  std::size_t edges(std::size_t i) const { return structure_->edges.end(i) - structure_->edges.begin(i); }
  std::size_t feature_rows(std::size_t i) const { return rows_->end(i) - rows_->begin(i); }
  std::size_t most_rows() const { return most_rows_; }
  bool edge_features() const { return structure_->edge_features.cols > 0; }
  std::span<const GraphEdge> edges_of(std::size_t i) const {
    return std::span(structure_->edge).subspan(structure_->edges.begin(i), edges(i));
  }

  // Rows of unary parts: nodes, and tables of edges with features.
  std::size_t unary_rows(std::size_t i) const { return nodes(i) + (edge_features() ? edges(i) * labels_ : 0); }
  // The part of edge e with these labels: unary with edge features, tail without.
  std::size_t edge_part(std::size_t i, std::size_t e, std::size_t u, std::size_t v) const {
    if (edge_features()) return (nodes(i) + e * labels_ + u) * stride_ + v;
    return structure_->type_of_edge(structure_->edges.begin(i) + e) * edge_block_ + u * stride_ + v;
  }
  std::span<const double> tail() const { return std::span(w_).subspan(edge_begin_); }
  void update_tail(std::size_t part, double amount) { w_[edge_begin_ + part] += amount; }

  GraphBuffer buffer() const {
    return {AlignedVector<double>(most_rows_ * stride_, 0.0), AlignedVector<double>(wide_, 0.0), {}};
  }
  // The scores of the nodes of one row of features.
  void score_row(std::size_t i, std::size_t r, GraphBuffer& buffer) const {
    double* out = buffer.rows.data() + r * slots_ * stride_;
    const std::span<double> wide = slots_ == 1 ? std::span(out, wide_) : std::span(buffer.wide);
    const std::size_t row = rows_->begin(i) + r;
    const double* w = w_.data() + structure_->type_of_row(row) * node_block_;
    const double* bias = bias_ ? w + x_.cols() * wide_ : nullptr;
    x_.scores(row, w, bias, wide);
    for (std::size_t s = 0; slots_ > 1 && s < slots_; ++s)
      std::copy_n(wide.data() + s * labels_, labels_, out + s * stride_);
  }
  // The table of an edge with features.
  void score_edge(std::size_t i, std::size_t e, GraphBuffer& buffer) const {
    const std::size_t edge = structure_->edges.begin(i) + e;
    const double* w = w_.data() + edge_begin_ + structure_->type_of_edge(edge) * edge_block_;
    kernels::dense_scores(structure_->edge_features.view().row(edge), w, w + (edge_block_ - table_),
                          std::span(buffer.rows).subspan((nodes(i) + e * labels_) * stride_, table_));
  }
  // All scores; the tables of edges without features stay where they are and are only pointed to.
  void score(std::size_t i, GraphBuffer& buffer) const {
    for (std::size_t r = 0; r < feature_rows(i); ++r) score_row(i, r, buffer);
    buffer.pairwise.resize(edges(i));
    for (std::size_t e = 0; e < edges(i); ++e) {
      if (edge_features()) {
        score_edge(i, e, buffer);
        buffer.pairwise[e] = {buffer.rows.data() + (nodes(i) + e * labels_) * stride_, labels_, labels_};
      } else {
        buffer.pairwise[e] = {tail().data() + edge_part(i, e, 0, 0), labels_, labels_};
      }
    }
  }

  // w += scale Psi_i delta for the unary parts, unary_rows(i) padded rows.
  void update_unary(std::size_t i, const double* delta, double scale, AlignedVector<double>& wide) {
    for (std::size_t r = 0; r < feature_rows(i); ++r) {
      const double* own = delta + r * slots_ * stride_;
      if (std::all_of(own, own + slots_ * stride_, [](double a) { return a == 0; })) continue;
      for (std::size_t s = 0; slots_ > 1 && s < slots_; ++s)
        std::copy_n(own + s * stride_, labels_, wide.data() + s * labels_);
      const std::span<const double> step = slots_ == 1 ? std::span(own, wide_) : std::span<const double>(wide);
      const std::size_t row = rows_->begin(i) + r;
      double* w = w_.data() + structure_->type_of_row(row) * node_block_;
      double* bias = bias_ ? w + x_.cols() * wide_ : nullptr;
      x_.update(row, step, scale, w, bias);
    }
    for (std::size_t e = 0; edge_features() && e < edges(i); ++e)
      update_edge(i, e, {delta + (nodes(i) + e * labels_) * stride_, table_}, scale);
  }

  // Inner products of the features of two rows, or two edges, of an example; 0 for different types.
  double row_gram(std::size_t i, std::size_t r, std::size_t other) const {
    const std::size_t a = rows_->begin(i) + r, b = rows_->begin(i) + other;
    if (structure_->type_of_row(a) != structure_->type_of_row(b)) return 0;
    return (bias_ ? 1 : 0) + x_.inner(a, b);
  }
  double edge_gram(std::size_t i, std::size_t e, std::size_t other) const {
    const std::size_t a = structure_->edges.begin(i) + e, b = structure_->edges.begin(i) + other;
    if (structure_->type_of_edge(a) != structure_->type_of_edge(b)) return 0;
    const DenseView f = structure_->edge_features.view();
    return 1 + kernels::dot(f.row(a), f.row(b));
  }

  // Multiply-adds of all scores of an example.
  std::size_t work(std::size_t i) const {
    const std::size_t entries = feature_rows(i) + x_.entries(rows_->begin(i), rows_->end(i));
    return entries * wide_ + edges(i) * structure_->edge_features.cols * table_;
  }

  double norm_squared() const { return kernels::dot(w_, w_); }
  void reset() { std::fill(w_.begin(), w_.end(), 0.0); }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(w_);
  }
  AlignedVector<double>& raw() { return w_; }
  const AlignedVector<double>& raw() const { return w_; }

  // Without padding: (features + bias) x (slots k) per node type; (edge features + 1) x k x k per edge type.
  std::vector<double> node_weights() const { return unpadded(0, edge_begin_, wide_, slots_ * labels_); }
  std::vector<double> edge_weights() const { return unpadded(edge_begin_, w_.size(), stride_, labels_); }

  // For solvers that know nothing of graphs: nodes, then the tables of all edges, padded rows.
  std::size_t largest_padded_parts() const { return most_rows_ * stride_; }
  void scores(std::size_t i, std::span<double> v) const { scores(i, v, own_); }
  // The same with the memory of another scorer: one for each thread.
  void scores(std::size_t i, std::span<double> v, const GraphScorer& other) const { scores(i, v, other.own_); }
  void update(std::size_t i, std::span<const double> delta, double scale) {
    update_unary(i, delta.data(), scale, own_.wide);
    for (std::size_t e = 0; !edge_features() && e < edges(i); ++e)
      update_edge(i, e, delta.subspan((nodes(i) + e * labels_) * stride_, table_), scale);
  }

 private:
  void scores(std::size_t i, std::span<double> v, GraphBuffer& buffer) const {
    score(i, buffer);
    std::copy_n(buffer.rows.begin(), nodes(i) * stride_, v.begin());
    for (std::size_t e = 0; e < edges(i); ++e)
      std::copy_n(buffer.pairwise[e].data(), table_, v.data() + (nodes(i) + e * labels_) * stride_);
  }

  void update_edge(std::size_t i, std::size_t e, std::span<const double> delta, double scale) {
    const std::size_t edge = structure_->edges.begin(i) + e;
    double* w = w_.data() + edge_begin_ + structure_->type_of_edge(edge) * edge_block_;
    kernels::dense_update(structure_->edge_features.view().row(edge), delta, scale, w, w + (edge_block_ - table_));
  }
  std::vector<double> unpadded(std::size_t begin, std::size_t end, std::size_t stride, std::size_t columns) const {
    std::vector<double> out;
    for (std::size_t at = begin; at < end; at += stride)
      out.insert(out.end(), w_.begin() + static_cast<std::ptrdiff_t>(at),
                 w_.begin() + static_cast<std::ptrdiff_t>(at + columns));
    return out;
  }

  FeatureRows x_;
  const Groups *rows_, *nodes_;
  const GraphStructure* structure_;
  std::size_t labels_, stride_, slots_, wide_;
  bool bias_;
  std::size_t node_block_ = 0, table_ = 0, edge_block_ = 0, edge_begin_ = 0, most_rows_ = 0;
  AlignedVector<double> w_;
  mutable GraphBuffer own_;  // of scores() and update(), which one thread calls
};

}  // namespace m4n::detail

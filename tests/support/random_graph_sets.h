// Small sets of graphs for tests, and the objective of their training by its definition: all labellings listed.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "games/matrix_game.h"
#include "structures/graphs/training.h"
#include "support/random_graph.h"

namespace m4n::detail::test {

struct GraphSet {
  DenseMatrix x;
  Groups rows, nodes;
  GraphStructure structure;
  std::size_t labels = 0;
  std::vector<std::int32_t> label;
  std::vector<double> share;  // p_i
  bool bias = true;
  std::size_t examples() const { return nodes.count(); }
  std::size_t slots() const { return nodes.end(0) / rows.end(0); }
  LabelView y(std::size_t i) const { return std::span(label).subspan(nodes.begin(i), nodes.end(i) - nodes.begin(i)); }
};

struct GraphSetShape {
  std::size_t examples = 6, features = 2, edge_features = 0, labels = 3;
  std::uint32_t most_nodes = 4;
  std::size_t types = 1;  // of nodes and of edges
};

inline void finish(Rng& rng, GraphSet& set) {
  double total = 0;
  for (std::size_t i = 0; i < set.examples(); ++i) total += set.share.emplace_back(1 + rng.uniform());
  for (double& p : set.share) p /= total;
  for (std::size_t e = 0; e < set.nodes.end(set.examples() - 1); ++e)
    set.label.push_back(static_cast<std::int32_t>(rng.below(set.labels)));
}

// Graphs of many shapes and sizes, each node with features of its own.
inline GraphSet random_graph_set(Rng& rng, const GraphSetShape& shape) {
  GraphSet set;
  set.labels = shape.labels;
  std::mt19937_64 random(rng.bits());
  std::vector<std::size_t> nodes{0}, edges{0};
  for (std::size_t i = 0; i < shape.examples; ++i) {
    const auto kind = shape_kinds[rng.below(std::size(shape_kinds))];
    const auto count = kind == ShapeKind::single ? 1U : 1 + static_cast<std::uint32_t>(rng.below(shape.most_nodes));
    for (const GraphEdge& e : random_edges(kind, count, random)) set.structure.edge.push_back(e);
    nodes.push_back(nodes.back() + count);
    edges.push_back(set.structure.edge.size());
  }
  set.x = {nodes.back(), shape.features, {}};
  for (std::size_t e = 0; e < nodes.back() * shape.features; ++e) set.x.values.push_back(rng.normal());
  DenseMatrix& f = set.structure.edge_features;
  f = {edges.back(), shape.edge_features, {}};
  for (std::size_t e = 0; e < edges.back() * shape.edge_features; ++e) f.values.push_back(rng.normal());
  for (std::size_t t = 0; shape.types > 1 && t < shape.types; ++t) {
    set.structure.node_type_names.push_back(std::to_string(t));
    set.structure.edge_type_names.push_back(std::to_string(t));
  }
  for (std::size_t e = 0; shape.types > 1 && e < nodes.back(); ++e)
    set.structure.node_type.push_back(static_cast<std::uint32_t>(rng.below(shape.types)));
  for (std::size_t e = 0; shape.types > 1 && e < edges.back(); ++e)
    set.structure.edge_type.push_back(static_cast<std::uint32_t>(rng.below(shape.types)));
  set.rows = set.nodes = Groups(nodes);
  set.structure.edges = Groups(edges);
  finish(rng, set);
  return set;
}

// M nodes of one row of features, with the same edges everywhere.
inline GraphSet random_dependent_labels(Rng& rng, std::size_t n, std::size_t d, std::uint32_t m, std::size_t labels,
                                        const std::vector<GraphEdge>& edges) {
  GraphSet set;
  set.labels = labels;
  set.x = {n, d, {}};
  for (std::size_t e = 0; e < n * d; ++e) set.x.values.push_back(rng.normal());
  set.rows = Groups(n);
  set.nodes = Groups(n, m);
  set.structure = shared_edges(edges, n);
  finish(rng, set);
  return set;
}

inline std::vector<GraphSolution> solve_path(const GraphSet& set, std::span<const CostMatrix> costs,
                                             const std::vector<double>& lambdas, const TrainOptions& o,
                                             const Context& context = {1, {}, {}}) {
  std::vector<GraphSolution> out;
  solve_graphs({.x = set.x.view(),
                .rows = &set.rows,
                .nodes = &set.nodes,
                .structure = &set.structure,
                .bias = set.bias,
                .label = set.label,
                .weight = set.share,
                .costs = costs,
                .lambdas = lambdas,
                .options = &o,
                .context = &context},
               [&](std::unique_ptr<GraphSolution> s) { out.push_back(std::move(*s)); });
  return out;
}

// P(w) and a subgradient, for weights laid out as node weights, then edge weights.
class ListedGraphs {
 public:
  ListedGraphs(const GraphSet& set, std::span<const CostMatrix> costs, SurrogateKind surrogate, double lambda)
      : set_(set), costs_(costs), surrogate_(surrogate), lambda_(lambda) {}

  double operator()(const std::vector<double>& w, std::vector<double>* gradient = nullptr) const {
    double value = 0;
    if (gradient != nullptr) gradient->assign(w.size(), 0.0);
    for (std::size_t e = 0; e < w.size(); ++e) {
      value += 0.5 * lambda_ * w[e] * w[e];
      if (gradient != nullptr) (*gradient)[e] = lambda_ * w[e];
    }
    for (std::size_t i = 0; i < set_.examples(); ++i) value += set_.share[i] * loss(i, w, gradient);
    return value;
  }

 private:
  // Calls visit(place in w, factor) for every weight that the labelling's score is made of.
  template <class Visit>
  void features(std::size_t i, LabelView y, Visit&& visit) const {
    const std::size_t k = set_.labels, slots = set_.slots(), width = slots * k;
    const std::size_t d = set_.x.cols, block = (d + (set_.bias ? 1 : 0)) * width;
    const GraphStructure& s = set_.structure;
    for (std::size_t m = 0; m < y.size(); ++m) {
      const std::size_t row = set_.rows.begin(i) + m / slots;
      const std::size_t column = s.type_of_row(row) * block + m % slots * k + static_cast<std::size_t>(y[m]);
      for (std::size_t j = 0; j < d; ++j) visit(column + j * width, set_.x.values[row * d + j]);
      if (set_.bias) visit(column + d * width, 1.0);
    }
    const std::size_t de = s.edge_features.cols, begin = s.node_types() * block;
    for (std::size_t e = s.edges.begin(i); e < s.edges.end(i); ++e) {
      const auto a = static_cast<std::size_t>(y[s.edge[e].u]), b = static_cast<std::size_t>(y[s.edge[e].v]);
      const std::size_t place = begin + s.type_of_edge(e) * (de + 1) * k * k + a * k + b;
      for (std::size_t j = 0; j < de; ++j) visit(place + j * k * k, s.edge_features.values[e * de + j]);
      visit(place + de * k * k, 1.0);
    }
  }
  double cost(LabelView truth, LabelView predicted) const {
    double sum = 0;
    for (std::size_t m = 0; m < truth.size(); ++m)
      sum += costs_[costs_.size() == 1 ? 0 : m](static_cast<std::size_t>(truth[m]),
                                                static_cast<std::size_t>(predicted[m]));
    return sum / static_cast<double>(truth.size());
  }
  double loss(std::size_t i, const std::vector<double>& w, std::vector<double>* gradient) const {
    const LabelView y = set_.y(i);
    std::vector<std::vector<std::int32_t>> all(1, std::vector<std::int32_t>(y.size(), 0));
    for (;;) {
      std::vector<std::int32_t> next = all.back();
      std::size_t m = 0;
      while (m < next.size() && next[m] + 1 == static_cast<std::int32_t>(set_.labels)) next[m++] = 0;
      if (m == next.size()) break;
      ++next[m];
      all.push_back(next);
    }
    std::vector<double> score(all.size(), 0.0), mu(all.size(), 0.0);
    for (std::size_t o = 0; o < all.size(); ++o)
      features(i, all[o], [&](std::size_t e, double f) { score[o] += f * w[e]; });
    double own = 0, value = 0;
    features(i, y, [&](std::size_t e, double f) { own += f * w[e]; });
    if (surrogate_ == SurrogateKind::m4n) {
      std::vector<double> matrix(all.size() * all.size()), nu(all.size());
      for (std::size_t t = 0; t < all.size(); ++t)
        for (std::size_t p = 0; p < all.size(); ++p) matrix[t * all.size() + p] = cost(all[t], all[p]);
      const CostMatrix costs = CostMatrix::from_values(matrix, all.size(), "matrix", {}, "test");
      const MatrixGame game(costs);
      MatrixGame::Workspace ws(all.size());
      std::vector<std::uint8_t> state(all.size());
      value = game.solve(score, mu, nu, state, ws).upper;
    } else {
      double top = -1e300, total = 0;
      if (surrogate_ == SurrogateKind::m3n)
        for (std::size_t o = 0; o < all.size(); ++o) score[o] += cost(y, all[o]);
      const auto best = std::max_element(score.begin(), score.end());
      top = *best;
      for (const double v : score) total += std::exp(v - top);
      value = surrogate_ == SurrogateKind::m3n ? top : top + std::log(total);
      for (std::size_t o = 0; o < all.size(); ++o)
        mu[o] = surrogate_ == SurrogateKind::m3n ? (score.begin() + static_cast<std::ptrdiff_t>(o) == best ? 1 : 0)
                                                 : std::exp(score[o] - value);
    }
    if (gradient != nullptr) {
      for (std::size_t o = 0; o < all.size(); ++o)
        if (mu[o] != 0)
          features(i, all[o], [&](std::size_t e, double f) { (*gradient)[e] += set_.share[i] * mu[o] * f; });
      features(i, y, [&](std::size_t e, double f) { (*gradient)[e] -= set_.share[i] * f; });
    }
    return value - own;
  }

  const GraphSet& set_;
  std::span<const CostMatrix> costs_;
  SurrogateKind surrogate_;
  double lambda_;
};

inline std::vector<double> joined(const GraphWeights& w) {
  std::vector<double> out = w.node;
  out.insert(out.end(), w.edge.begin(), w.edge.end());
  return out;
}

}  // namespace m4n::detail::test

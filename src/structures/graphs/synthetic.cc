// The tables of the Markov network, and graphs drawn from it (synthetic.h).
#include "structures/graphs/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "structures/generated.h"
#include "structures/graphs/text.h"

namespace m4n::detail {
namespace {

constexpr std::size_t label_count = 3, sign_count = 6;
constexpr std::array<const char*, label_count> label_names{"A", "B", "C"};
constexpr std::array<std::array<int, label_count>, label_count> table{{{6, 2, 1}, {2, 5, 2}, {1, 2, 7}}};
constexpr std::array<std::array<int, sign_count>, label_count> emission{{
    {40, 25, 15, 10, 5, 5},   // A
    {10, 15, 30, 30, 10, 5},  // B
    {5, 5, 10, 15, 25, 40},   // C
}};
constexpr std::uint32_t fewest = 4, most = 16;
constexpr std::uint64_t stream = 2200;  // of random numbers; solvers use others
constexpr double impossible = -1e3;     // the score of a label that a node does not have

}  // namespace

SyntheticGraphs::SyntheticGraphs(std::uint64_t seed) : rng_(seed, stream) {
  const PaddedRows<double> scores = table_.shape(label_count, label_count);
  for (std::size_t a = 0; a < label_count; ++a)
    for (std::size_t b = 0; b < label_count; ++b) scores(a, b) = std::log(table[a][b]);
}

std::vector<GraphEdge> SyntheticGraphs::draw_edges(Shape shape, std::uint32_t& nodes) {
  std::vector<GraphEdge> edges;
  if (shape == Shape::grid) {
    const std::uint32_t columns = 2 + static_cast<std::uint32_t>(rng_.below(3)), rows = nodes / columns;
    nodes = rows * columns;
    for (std::uint32_t m = 0; m < nodes; ++m) {
      if (m % columns > 0) edges.push_back({m - 1, m});
      if (m >= columns) edges.push_back({m - columns, m});
    }
    return edges;
  }
  // A node joins an earlier one, and in 2-trees also one that this one was joined to; one in four of those is left out.
  std::vector<std::uint32_t> partner(nodes, 0);
  for (std::uint32_t m = 1; m < nodes; ++m) {
    const auto first = static_cast<std::uint32_t>(rng_.below(m));
    edges.push_back({first, m});
    partner[m] = first;
    if (shape == Shape::tree || first == 0) continue;
    if (rng_.below(4) > 0) edges.push_back({partner[first], m});
    if (rng_.below(2) == 0) partner[m] = partner[first];
  }
  return edges;
}

PaddedRows<const double> SyntheticGraphs::marginals(const JunctionTree& tree, const std::vector<std::int32_t>& fixed,
                                                    const std::vector<std::int32_t>& sign) {
  const std::size_t nodes = tree.graph().nodes();
  const PaddedRows<double> unary = unary_.shape(nodes, label_count);
  std::fill_n(unary.data(), nodes * unary.stride(), 0.0);
  for (std::size_t m = 0; m < nodes; ++m)
    for (std::size_t k = 0; k < label_count; ++k) {
      if (m < sign.size()) unary(m, k) += std::log(emission[k][static_cast<std::size_t>(sign[m])]);
      if (m < fixed.size() && k != static_cast<std::size_t>(fixed[m])) unary(m, k) += impossible;
    }
  const std::vector<PaddedRows<const double>> pairwise(tree.graph().edges().size(), table_.view());
  sums_.solve({&tree, unary, pairwise});
  return sums_.nodes();
}

SyntheticGraphs::Graph SyntheticGraphs::next() {
  Graph out{static_cast<Shape>(rng_.below(3)), {}, {}, {}, 0};
  std::uint32_t nodes = fewest + static_cast<std::uint32_t>(rng_.below(most - fewest + 1));
  out.edge = draw_edges(out.shape, nodes);
  const JunctionTree tree(FactorGraph(std::vector<std::uint32_t>(nodes, label_count), out.edge));
  // One node after the other, given those before.
  for (std::size_t m = 0; m < nodes; ++m) {
    const PaddedRows<const double> p = marginals(tree, out.label, {});
    double left = rng_.uniform();
    std::int32_t label = 0;
    while (label + 1 < static_cast<std::int32_t>(label_count) && left >= p(m, static_cast<std::size_t>(label)))
      left -= p(m, static_cast<std::size_t>(label++));
    out.label.push_back(label);
  }
  for (const std::int32_t label : out.label) {
    const auto& percents = emission[static_cast<std::size_t>(label)];
    auto left = static_cast<int>(rng_.below(100));
    std::size_t sign = 0;
    while (left >= percents[sign]) left -= percents[sign++];
    out.sign.push_back(static_cast<std::int32_t>(sign));
  }
  const PaddedRows<const double> p = marginals(tree, {}, out.sign);
  for (std::size_t m = 0; m < nodes; ++m)
    out.best_loss += (1 - *std::max_element(p.row(m), p.row(m) + label_count)) / static_cast<double>(nodes);
  return out;
}

std::size_t SyntheticGraphs::labels() { return label_count; }
std::size_t SyntheticGraphs::signs() { return sign_count; }
const char* SyntheticGraphs::label_name(std::int32_t label) { return label_names[static_cast<std::size_t>(label)]; }
int SyntheticGraphs::agreement(std::size_t a, std::size_t b) { return table[a][b]; }
int SyntheticGraphs::percent(std::size_t label, std::size_t sign) { return emission[label][sign]; }

DenseMatrix SyntheticGraphs::features(const std::vector<std::int32_t>& sign) {
  DenseMatrix x{sign.size(), sign_count, std::vector<double>(sign.size() * sign_count, 0.0)};
  for (std::size_t m = 0; m < sign.size(); ++m) x.values[m * sign_count + static_cast<std::size_t>(sign[m])] = 1;
  return x;
}

std::string SyntheticGraphs::text(const Graph& graph) {
  std::vector<std::string> labels;
  for (const std::int32_t label : graph.label) labels.emplace_back(label_name(label));
  return graph_to_text(labels, features(graph.sign), graph.edge, {graph.edge.size(), 0, {}});
}

Generated write_synthetic_graphs(std::size_t n, std::uint64_t seed, TextSink& sink) {
  SyntheticGraphs graphs(seed);
  double best_loss = 0;
  std::size_t nodes = 0;
  PiecewiseText out(sink, 1000);
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticGraphs::Graph graph = graphs.next();
    out.text += SyntheticGraphs::text(graph);
    best_loss += graph.best_loss / static_cast<double>(n);
    nodes += graph.label.size();
    out.end_example();
  }
  out.flush();
  return generated(
      "graph", n, seed, SyntheticGraphs::signs(), SyntheticGraphs::labels(), best_loss,
      fmt::format("{} nodes: trees, grids and graphs of treewidth 2; the risk is that given these signs", nodes));
}

}  // namespace m4n::detail

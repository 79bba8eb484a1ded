// Graphs: decoding and sum-product on junction trees beside what the additions and maxima of the tables take at the
// peak of the machine, and chains through the junction tree beside the chain's own recursions.
#include <fmt/format.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "add_max_peak.h"
#include "core/rng.h"
#include "structures/chains/space.h"
#include "structures/graphs/space.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

// A graph with normal scores.
struct RandomGraph {
  RandomGraph(FactorGraph shape, Rng& rng) : tree(std::move(shape)) {
    const auto fill = [&](PaddedRows<double> rows) {
      for (std::size_t r = 0; r < rows.rows(); ++r)
        for (std::size_t c = 0; c < rows.columns(); ++c) rows(r, c) = rng.normal();
    };
    const FactorGraph& graph = tree.graph();
    fill(unary.shape(graph.nodes(), graph.widest()));
    tables.resize(graph.edges().size());
    for (std::size_t e = 0; e < tables.size(); ++e) {
      fill(tables[e].shape(graph.labels(graph.edges()[e].u), graph.labels(graph.edges()[e].v)));
      pairwise.push_back(std::as_const(tables[e]).view());
    }
  }
  GraphScores scores() const { return {&tree, unary.view(), pairwise}; }
  JunctionTree tree;
  PaddedMatrix<double> unary;
  std::vector<PaddedMatrix<double>> tables;
  std::vector<PaddedRows<const double>> pairwise;
};

// A random k-tree: every node is joined to k nodes before it that are joined to each other.
FactorGraph k_tree(std::uint32_t k, std::uint32_t nodes, std::uint32_t labels, Rng& rng) {
  std::vector<GraphEdge> edges;
  std::vector<std::vector<std::uint32_t>> cliques;
  std::vector<std::uint32_t> first;
  for (std::uint32_t m = 0; m < k; ++m) {
    for (const std::uint32_t other : first) edges.push_back({other, m});
    first.push_back(m);
  }
  cliques.push_back(first);
  for (std::uint32_t m = k; m < nodes; ++m) {
    const std::vector<std::uint32_t> base = cliques[rng.below(cliques.size())];
    for (const std::uint32_t other : base) edges.push_back({other, m});
    for (std::uint32_t without = 0; without < k; ++without) {
      cliques.push_back(base);
      cliques.back()[without] = m;
    }
  }
  return {std::vector<std::uint32_t>(nodes, labels), edges};
}

// Additions and maxima of a decoding.
double operations(const JunctionPlan& plan) {
  double sum = 0;
  for (const kernels::GraphStep& step : plan.steps) {
    const double rows = static_cast<double>(step.labels) * step.rows, entries = rows * step.run;
    if (step.kind == kernels::GraphStepKind::add) sum += entries * (step.terms - 1);
    if (step.kind == kernels::GraphStepKind::finish) sum += rows * (step.scalars - 1) + entries * (step.terms + 1);
  }
  return sum;
}

Json tree_rows(double budget) {
  Json rows = Json::array();
  const double peak = add_max_peak_double();
  Rng rng(1);
  struct Shape {
    std::uint32_t k, labels;
  };
  for (const auto& [k, labels] : {Shape{1, 2}, Shape{1, 4}, Shape{1, 26}, Shape{2, 4}, Shape{3, 2}, Shape{3, 3},
                                  Shape{3, 4}, Shape{3, 8}, Shape{5, 4}}) {
    constexpr std::uint32_t nodes = 50;
    const FactorGraph shape = k_tree(k, nodes, labels, rng);
    const RandomGraph graph(shape, rng);
    GraphDecoder decoder;
    GraphSumProduct sum_product;
    std::vector<std::int32_t> y(nodes);
    const GraphScores v = graph.scores();
    const double bound = 1e-3 * graph.tree.table_entries() / peak,
                 arithmetic = 0.5e-3 * operations(graph.tree.plan()) / peak;
    const double decode = microseconds_each(16, budget, [&](std::size_t) { decoder.solve(v, y); }),
                 marginals = microseconds_each(4, budget, [&](std::size_t) { sum_product.solve(v); }),
                 planning = microseconds_each(1, budget, [&](std::size_t) { const JunctionTree tree(shape); });
    rows.push_back({{"treewidth", k},
                    {"labels", labels},
                    {"nodes", nodes},
                    {"table_entries", graph.tree.table_entries()},
                    {"bound_us", bound},
                    {"arithmetic_us", arithmetic},
                    {"decode_us", decode},
                    {"marginals_us", marginals},
                    {"plan_us", planning},
                    {"memory_bytes", graph.tree.bytes()}});
    fmt::print(stderr,
               "  treewidth {}, {} labels: decode {:.2f} us ({:.1f} times the entries, {:.1f} times the arithmetic), "
               "marginals {:.1f} us, plan {:.0f} us\n",
               k, labels, decode, decode / bound, decode / arithmetic, marginals, planning);
  }
  return rows;
}

Json chain_rows(double budget) {
  Json rows = Json::array();
  Rng rng(2);
  for (const std::uint32_t labels : {2, 4, 8, 26, 50}) {
    for (const std::uint32_t length : {8, 100}) {
      std::vector<GraphEdge> edges;
      for (std::uint32_t m = 1; m < length; ++m) edges.push_back({m - 1, m});
      RandomGraph graph(FactorGraph(std::vector<std::uint32_t>(length, labels), edges), rng);
      for (PaddedRows<const double>& table : graph.pairwise) table = graph.pairwise[0];
      Transitions transitions;
      transitions.prepare(graph.pairwise[0], {}, {});
      ExpTransitions exp;
      exp.prepare(transitions);
      const ChainScores chain{std::as_const(graph.unary).view(), &transitions};
      const GraphScores v = graph.scores();
      Viterbi viterbi;
      SumProduct of_chain;
      GraphDecoder decoder;
      GraphSumProduct of_graph;
      PaddedMatrix<double> count;
      count.shape(labels, labels);
      std::vector<std::int32_t> y(length);
      const auto time = [&](auto&& body) { return microseconds_each(16, budget, body); };
      const double own = time([&](std::size_t) { viterbi.solve(chain, y); }),
                   general = time([&](std::size_t) { decoder.solve(v, y); }),
                   own_marginals = time([&](std::size_t) {
                     of_chain.solve(chain, exp);
                     of_chain.transition_counts(chain, exp, count.view());
                   }),
                   general_marginals = time([&](std::size_t) { of_graph.solve(v); });
      rows.push_back({{"labels", labels},
                      {"length", length},
                      {"viterbi_us", own},
                      {"junction_decode_us", general},
                      {"chain_marginals_us", own_marginals},
                      {"junction_marginals_us", general_marginals}});
      fmt::print(stderr,
                 "  chain, R {} M {}: viterbi {:.2f} us, junction tree {:.2f} ({:.1f} times); marginals {:.2f}, {:.2f} "
                 "({:.1f})\n",
                 labels, length, own, general, general / own, own_marginals, general_marginals,
                 general_marginals / own_marginals);
    }
  }
  return rows;
}

Json graphs(const Settings& settings) {
  const double budget = settings.quick ? 0.001 : 0.1;
  Json trees = tree_rows(budget), chains = chain_rows(budget);
  return {{"junction_trees", trees}, {"junction_chains", chains}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::graphs); }

// Independent references for the tests, solved by Clp: the max-min game of a graph as a linear program over all of its
// labellings,
//     max  sum_j score_j alpha_j + (1/M) sum_m t_m    s.t.   t_m <= sum_l A_m[y][l] mu_m(l),   sum alpha = 1,
// and over the local polytope, which on forests is the marginal polytope: there the variables are the marginals of
// nodes and edges, and those of an edge sum up to those of its ends.
#pragma once
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "losses/cost_matrix.h"
#include "structures/graphs/oracles.h"
#include "support/random_graph.h"

namespace m4n::detail::test {

// A linear program put together entry by entry.
class GraphProgram {
 public:
  int variable(double objective, double bound) {
    gain_.push_back(objective);
    lower_.push_back(bound);
    return static_cast<int>(gain_.size()) - 1;
  }
  int constraint(double low, double high) {
    row_lower_.push_back(low);
    row_upper_.push_back(high);
    return static_cast<int>(row_lower_.size()) - 1;
  }
  void put(int row, int column, double value) {
    row_.push_back(row);
    column_.push_back(column);
    element_.push_back(value);
  }
  // The rows t_m <= sum of what is put into them, for every node and prediction.
  void levels(const GraphGameScores& v) {
    for (std::size_t m = 0; m < v.length(); ++m) {
      const int level = variable(1 / static_cast<double>(v.length()), -COIN_DBL_MAX);
      risk_.emplace_back();
      for (std::size_t y = 0; y < v.graph().labels(m); ++y) {
        risk_.back().push_back(constraint(0, COIN_DBL_MAX));
        put(risk_.back().back(), level, -1);
      }
    }
  }
  // A variable with mass 1 at a label of a node.
  void mass(std::size_t m, std::size_t label, const CostMatrix& cost, int variable) {
    for (std::size_t y = 0; y < risk_[m].size(); ++y) put(risk_[m][y], variable, cost(label, y));
  }
  double solve() {
    CoinPackedMatrix matrix(true, row_.data(), column_.data(), element_.data(), static_cast<int>(element_.size()));
    matrix.setDimensions(static_cast<int>(row_lower_.size()), static_cast<int>(gain_.size()));
    const std::vector<double> upper(gain_.size(), COIN_DBL_MAX);
    ClpSimplex solver;
    solver.setLogLevel(0);
    solver.loadProblem(matrix, lower_.data(), upper.data(), gain_.data(), row_lower_.data(), row_upper_.data());
    solver.setOptimizationDirection(-1);
    solver.setPrimalTolerance(1e-10);
    solver.setDualTolerance(1e-10);
    solver.primal();
    return solver.objectiveValue();
  }

 private:
  std::vector<int> row_, column_;
  std::vector<double> element_, gain_, lower_, row_lower_, row_upper_;
  std::vector<std::vector<int>> risk_;
};

inline double clp_labellings_value(const Graph& graph, const GraphGameScores& v, const std::vector<CostMatrix>& costs) {
  GraphProgram program;
  program.levels(v);
  const int total = program.constraint(1, 1);
  graph.for_labellings([&](const std::vector<std::int32_t>& y) {
    const int alpha = program.variable(static_cast<double>(graph.score(y)), 0);
    program.put(total, alpha, 1);
    for (std::size_t m = 0; m < y.size(); ++m) program.mass(m, static_cast<std::size_t>(y[m]), costs[v.cost[m]], alpha);
  });
  return program.solve();
}

inline double clp_local_value(const GraphGameScores& v, const std::vector<CostMatrix>& costs) {
  GraphProgram program;
  program.levels(v);
  const FactorGraph& graph = v.graph();
  std::vector<std::vector<int>> node(graph.nodes());
  for (std::size_t m = 0; m < graph.nodes(); ++m) {
    const int total = program.constraint(1, 1);
    for (std::size_t k = 0; k < graph.labels(m); ++k) {
      node[m].push_back(program.variable(v.unary(m, k), 0));
      program.put(total, node[m][k], 1);
      program.mass(m, k, costs[v.cost[m]], node[m][k]);
    }
  }
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const auto [a, b] = graph.edges()[e];
    std::vector<int> of_a, of_b;
    for (const int variable : node[a]) program.put(of_a.emplace_back(program.constraint(0, 0)), variable, -1);
    for (const int variable : node[b]) program.put(of_b.emplace_back(program.constraint(0, 0)), variable, -1);
    for (std::size_t j = 0; j < of_a.size(); ++j) {
      for (std::size_t k = 0; k < of_b.size(); ++k) {
        const int pair = program.variable(v.pairwise[e](j, k), 0);
        program.put(of_a[j], pair, 1);
        program.put(of_b[k], pair, 1);
      }
    }
  }
  return program.solve();
}

}  // namespace m4n::detail::test

// The solver of graphs: certificates and optima against objectives that list every labelling and a subgradient method
// on them, against the solvers of chains and of labels without edges, and what must not change the result.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "m4n/error.h"
#include "structures/chains/training.h"
#include "structures/label_sets/training.h"
#include "support/random_costs.h"
#include "support/random_dataset.h"
#include "support/random_graph_sets.h"

namespace m4n::detail::test {
namespace {

constexpr SurrogateKind surrogates[] = {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf};

TrainOptions options_for(SurrogateKind surrogate, double tol) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.tol = tol;
  o.epochs = 20000;
  return o;
}

std::vector<CostMatrix> hamming(std::size_t labels) { return {CostMatrix::named("hamming", labels)}; }

CostMatrix asymmetric(Rng& rng, std::size_t labels) {
  std::vector<double> cost(labels * labels, 0.0);
  for (std::size_t e = 0; e < cost.size(); ++e)
    if (e / labels != e % labels) cost[e] = rng.uniform(0.3, 2);
  return CostMatrix::from_values(cost, labels, "matrix", {}, "test");
}

// P is what its definition says, nothing is below D, and a subgradient method from zero comes down to it.
void expect_optimum(const GraphSet& set, std::span<const CostMatrix> costs, SurrogateKind surrogate, double lambda,
                    Rng& rng, const std::string& where) {
  const GraphSolution found = solve_path(set, costs, {lambda}, options_for(surrogate, 1e-6)).front();
  const Certificate& c = found.result.certificate;
  ASSERT_TRUE(c.converged) << where << " gap " << c.relative_gap();
  const ListedGraphs objective(set, costs, surrogate, lambda);
  const std::vector<double> w = joined(found.weights);
  double squares = 0;
  for (const double e : w) squares += e * e;
  EXPECT_NEAR(found.norm_squared, squares, 1e-10 * (1 + squares)) << where;
  EXPECT_NEAR(objective(w), c.primal, 1e-7 * c.primal) << where;
  EXPECT_LE(c.dual, c.primal * (1 + 1e-12)) << where;
  std::vector<double> other = w;
  for (const double step : {1.0, 0.1, 1e-2, 1e-3}) {
    for (std::size_t j = 0; j < other.size(); ++j) other[j] = w[j] + step * rng.normal();
    EXPECT_GE(objective(other), c.dual - 1e-9 * c.primal) << where;
  }
  std::vector<double> at(w.size(), 0.0), mean = at, gradient;
  constexpr int steps = 400;
  for (int t = 0; t < steps; ++t) {
    objective(at, &gradient);
    const double rate = 1 / (lambda * (t + 30.0)), weight = 3.0 / (t + 3);
    for (std::size_t j = 0; j < at.size(); ++j) {
      at[j] -= rate * gradient[j];
      mean[j] += weight * (at[j] - mean[j]);
    }
  }
  const double reached = objective(mean);
  EXPECT_GE(reached, c.dual - 1e-9 * c.primal) << where;
  EXPECT_LE(reached, c.primal * 1.03 + 1e-3) << where;
}

TEST(GraphSolver, ReachesTheOptimumOverAllLabellings) {
  Rng rng(1);
  for (const SurrogateKind surrogate : surrogates)
    for (int trial = 0; trial < 6; ++trial) {
      const bool ternary = trial % 2 == 1;
      const GraphSetShape shape{.examples = 5,
                                .edge_features = trial < 3 ? 0U : 2U,
                                .labels = ternary ? 3U : 2U,
                                .most_nodes = ternary ? 3U : 4U,
                                .types = trial % 3 == 2 ? 2U : 1U};
      GraphSet set = random_graph_set(rng, shape);
      set.bias = trial != 4;
      const std::vector<CostMatrix> costs =
          trial < 2 ? hamming(shape.labels) : std::vector<CostMatrix>{asymmetric(rng, shape.labels)};
      expect_optimum(set, costs, surrogate, 0.3, rng, fmt::format("{} {}", to_string(surrogate), trial));
    }
}

TEST(GraphSolver, LabelsOfOneRowReachTheOptimum) {
  Rng rng(2);
  const std::vector<GraphEdge> cycle{{0, 1}, {2, 1}, {0, 2}, {2, 3}};
  for (const SurrogateKind surrogate : surrogates) {
    const GraphSet set = random_dependent_labels(rng, 6, 2, 4, 2, cycle);
    std::vector<CostMatrix> costs;
    for (int m = 0; m < 4; ++m) costs.push_back(asymmetric(rng, 2));
    expect_optimum(set, costs, surrogate, 0.2, rng, to_string(surrogate));
    expect_optimum(random_dependent_labels(rng, 5, 2, 2, 3, {{1, 0}}), hamming(3), surrogate, 0.2, rng, "ternary");
  }
}

// Games on long trees are solved without the simplex method, and Gram matrices of long outputs come from features: the
// optimum of a long path lies between the bounds of both surrogates, and the dual comes near to it.
TEST(GraphSolver, LongPathsAndStarsConverge) {
  Rng rng(12);
  constexpr std::uint32_t nodes = 300;
  for (const bool star : {false, true})
    for (const std::size_t edge_features : {0, 2})
      for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n}) {
        GraphSet set = random_graph_set(rng, {.examples = 1, .edge_features = edge_features, .labels = 3});
        set.nodes = set.rows = Groups(1, nodes);
        set.x.rows = nodes;
        set.x.values.clear();
        set.label.clear();
        set.structure.edge.clear();
        set.structure.edge_features.values.clear();
        for (std::uint32_t m = 0; m < nodes; ++m) {
          set.label.push_back(static_cast<std::int32_t>(rng.below(3)));
          for (std::size_t j = 0; j < set.x.cols; ++j) set.x.values.push_back(set.label.back() + rng.normal());
          if (m > 0) set.structure.edge.push_back({star ? 0 : m - 1, m});
          for (std::size_t j = 0; m > 0 && j < edge_features; ++j)
            set.structure.edge_features.values.push_back(rng.normal());
        }
        set.structure.edges = Groups(1, nodes - 1);
        set.structure.edge_features.rows = nodes - 1;
        TrainOptions options = options_for(surrogate, 1e-2);
        options.epochs = 200;
        const GraphSolution found = solve_path(set, hamming(3), {nodes}, options).front();
        EXPECT_TRUE(found.result.certificate.converged)
            << to_string(surrogate) << " star " << star << " gap " << found.result.certificate.relative_gap();
      }
}

// Start and end of a sentence become two more features of its nodes.
TEST(GraphSolver, ChainsAreChains) {
  Rng rng(3);
  const std::size_t labels = 4, n = 15, d = 3;
  std::vector<std::size_t> tokens{0}, edges{0};
  GraphSet set;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t length = 1 + static_cast<std::uint32_t>(rng.below(6));
    for (std::uint32_t m = 1; m < length; ++m) set.structure.edge.push_back({m - 1, m});
    tokens.push_back(tokens.back() + length);
    edges.push_back(set.structure.edge.size());
  }
  set.labels = labels;
  set.rows = set.nodes = Groups(tokens);
  set.structure.edges = Groups(edges);
  set.x = {tokens.back(), d + 2, {}};
  DenseMatrix plain{tokens.back(), d, {}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = tokens[i]; t < tokens[i + 1]; ++t) {
      for (std::size_t j = 0; j < d; ++j) set.x.values.push_back(plain.values.emplace_back(rng.normal()));
      set.x.values.push_back(t == tokens[i] ? 1 : 0);
      set.x.values.push_back(t + 1 == tokens[i + 1] ? 1 : 0);
    }
  finish(rng, set);
  const CostMatrix cost = asymmetric(rng, labels);
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-5);
    const double lambda = 0.1;
    const Context context{1, {}, {}};
    SolveResult chain;
    solve_chains({.x = plain.view(),
                  .tokens = &set.nodes,
                  .bias = true,
                  .label = set.label,
                  .weight = set.share,
                  .cost = &cost,
                  .constraints = nullptr,
                  .lambdas = {&lambda, 1},
                  .options = &o,
                  .context = &context},
                 [&](std::unique_ptr<ChainSolution> s) { chain = s->result; });
    const SolveResult graph = solve_path(set, std::span(&cost, 1), {lambda}, o).front().result;
    ASSERT_TRUE(chain.certificate.converged && graph.certificate.converged) << to_string(surrogate);
    EXPECT_NEAR(graph.certificate.primal, chain.certificate.primal, 2e-5 * chain.certificate.primal)
        << to_string(surrogate);
  }
}

TEST(GraphSolver, WithoutEdgesLabelsAreIndependent) {
  Rng rng(4);
  const std::size_t m = 5;
  const GraphSet set = random_dependent_labels(rng, 40, 3, m, 2, {});
  std::vector<double> miss, alarm;
  std::vector<CostMatrix> costs;
  for (std::size_t j = 0; j < m; ++j) {
    miss.push_back(rng.uniform(0.5, 2));
    alarm.push_back(rng.uniform(0.5, 2));
  }
  const LabelCosts labels(miss, alarm, "test");
  for (std::size_t j = 0; j < m; ++j) costs.push_back(labels.matrix(j));
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-7);
    const double lambda = 0.05;
    const Context context{1, {}, {}};
    SolveResult apart;
    solve_multilabel(
        {set.x.view(), nullptr, true, set.label, set.share, &labels, {&lambda, 1}, Decoder::automatic, &o, &context},
        [&](std::unique_ptr<MultilabelSolution> s) { apart = s->result; });
    const SolveResult joint = solve_path(set, costs, {lambda}, o).front().result;
    ASSERT_TRUE(apart.certificate.converged && joint.certificate.converged) << to_string(surrogate);
    EXPECT_NEAR(joint.certificate.primal, apart.certificate.primal, 2e-7 * apart.certificate.primal)
        << to_string(surrogate);
  }
}

// Solves that end after one pass, two, three, ... are the beginnings of the same solve, each with one certificate.
TEST(GraphSolver, TheDualNeverFalls) {
  Rng rng(5);
  const GraphSet set = random_graph_set(rng, {.examples = 20, .labels = 3, .most_nodes = 8}),
                 featured = random_graph_set(rng, {.examples = 20, .edge_features = 2, .labels = 4, .most_nodes = 6});
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n})
    for (const GraphSet* data : {&set, &featured}) {
      double last = 0;
      for (int passes = 1; passes < 10; ++passes) {
        TrainOptions o = options_for(surrogate, 1e-12);
        o.epochs = passes;
        const Certificate c = solve_path(*data, hamming(data->labels), {1e-3}, o).front().result.certificate;
        EXPECT_LE(c.dual, c.primal * (1 + 1e-12)) << to_string(surrogate) << passes;
        EXPECT_GE(c.dual, last * (1 - 1e-12)) << to_string(surrogate) << passes;
        last = c.dual;
      }
      EXPECT_GT(last, 0);
    }
}

TEST(GraphSolver, OneOptimumOnEveryWay) {
  Rng rng(6);
  const GraphSet set =
      random_graph_set(rng, {.examples = 80, .edge_features = 1, .labels = 3, .most_nodes = 6, .types = 2});
  const SparseMatrix sparse = to_sparse(set.x);
  for (const SurrogateKind surrogate : surrogates) {
    const TrainOptions o = options_for(surrogate, 1e-4);
    const std::vector<CostMatrix> costs = hamming(3);
    const std::vector<GraphSolution> path = solve_path(set, costs, {1, 0.1, 0.02}, o),
                                     threads = solve_path(set, costs, {1, 0.1, 0.02}, o, {3, {}, {}});
    ASSERT_EQ(path.size(), 3U);
    for (std::size_t s = 0; s < 3; ++s) {
      EXPECT_EQ(path[s].weights.node, threads[s].weights.node) << to_string(surrogate);
      EXPECT_EQ(path[s].result.certificate.dual, threads[s].result.certificate.dual) << to_string(surrogate);
    }
    const Certificate cold = solve_path(set, costs, {0.02}, o).front().result.certificate;
    EXPECT_TRUE(path[2].result.certificate.converged);
    EXPECT_NEAR(path[2].result.certificate.primal, cold.primal, 2e-4 * cold.primal) << to_string(surrogate);
    const Context context{1, {}, {}};
    const double lambda = 0.02;
    solve_graphs({.x = sparse.view(),
                  .rows = &set.rows,
                  .nodes = &set.nodes,
                  .structure = &set.structure,
                  .bias = true,
                  .label = set.label,
                  .weight = set.share,
                  .costs = costs,
                  .lambdas = {&lambda, 1},
                  .options = &o,
                  .context = &context},
                 [&](std::unique_ptr<GraphSolution> s) {
                   EXPECT_NEAR(s->result.certificate.primal, cold.primal, 2e-4 * cold.primal) << to_string(surrogate);
                 });
  }
}

// Features of zeros, equal graphs with different labels, one example, one node, huge and tiny lambdas.
TEST(GraphSolver, DegenerateSets) {
  Rng rng(7);
  GraphSet set = random_graph_set(rng, {.examples = 6, .labels = 2, .most_nodes = 5});
  std::fill(set.x.values.begin(), set.x.values.end(), 0.0);
  const GraphSet one = random_graph_set(rng, {.examples = 1, .edge_features = 1, .labels = 3, .most_nodes = 6}),
                 single = random_graph_set(rng, {.examples = 4, .labels = 2, .most_nodes = 1});
  for (const SurrogateKind surrogate : surrogates)
    for (const GraphSet* data : {const_cast<const GraphSet*>(&set), &one, &single})
      for (const double lambda : {1e-3, 1e4}) {
        const TrainOptions o = options_for(surrogate, 1e-3);
        const Certificate c = solve_path(*data, hamming(data->labels), {lambda}, o).front().result.certificate;
        EXPECT_TRUE(c.converged) << to_string(surrogate) << lambda << " gap " << c.relative_gap();
      }
}

std::string refusal(const GraphSet& set, const TrainOptions& o, double limit = JunctionTree::default_limit) {
  const std::vector<CostMatrix> costs = hamming(set.labels);
  const double lambda = 0.1;
  const Context context{1, {}, {}};
  try {
    solve_graphs({set.x.view(),
                  &set.rows,
                  &set.nodes,
                  &set.structure,
                  true,
                  set.label,
                  set.share,
                  costs,
                  {&lambda, 1},
                  &o,
                  &context,
                  limit},
                 [](std::unique_ptr<GraphSolution>) {});
  } catch (const std::exception& e) {
    return e.what();
  }
  return "accepted";
}

TEST(GraphSolver, RefusesWhatItCannotDo) {
  Rng rng(8);
  std::mt19937_64 random(1);
  const std::vector<GraphEdge> complete = random_edges(ShapeKind::complete, 9, random);
  const GraphSet set = random_dependent_labels(rng, 3, 2, 9, 2, complete);
  TrainOptions o = options_for(SurrogateKind::m4n, 1e-3);
  EXPECT_THAT(refusal(set, o, 1e4),
              testing::MatchesRegex("example 1: treewidth 8 would need .* kB; the limit is 10.0 kB: .*"));
  GraphSet bad = set;
  bad.label[10] = 2;
  EXPECT_EQ(refusal(bad, o), "the label of node 11 (counted over all examples) is 2; expected 0 to 1");
  bad = set;
  bad.structure.edge[1] = {3, 3};
  EXPECT_THAT(refusal(bad, o), testing::HasSubstr("example 1: edge 1 joins node 3 with itself"));
  bad = set;
  bad.rows = Groups(std::vector<std::size_t>{0, 1, 1, 3});
  EXPECT_THAT(refusal(bad, o), testing::StartsWith("example 2 has 9 nodes and 0 rows of features"));
  o.surrogate = SurrogateKind::qs;
  EXPECT_THAT(refusal(set, o), testing::StartsWith("--surrogate qs regresses every part"));
  o.surrogate = SurrogateKind::m4n;
  o.oracle = OracleKind::spmp;
  EXPECT_THAT(refusal(set, o), testing::StartsWith("--oracle spmp is not for graphs"));
}

}  // namespace
}  // namespace m4n::detail::test

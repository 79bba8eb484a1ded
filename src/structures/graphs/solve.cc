#include "structures/graphs/solve.h"

#include <fmt/format.h>

#include "core/message.h"
#include "core/wording.h"
#include "solvers/lbfgs.h"
#include "structures/classes/solve.h"
#include "structures/graphs/ascent.h"
#include "structures/graphs/marginals.h"
#include "structures/graphs/scorer.h"
#include "structures/graphs/shapes.h"

namespace m4n::detail {
namespace {

void check(const GraphRequest& request) {
  const Groups &rows = *request.rows, &nodes = *request.nodes;
  const GraphStructure& structure = *request.structure;
  const std::size_t n = nodes.count(), labels = request.costs[0].k();
  if (n == 0) throw Error("no example to learn graphs from");
  if (rows.count() != n || structure.edges.count() != n || request.weight.size() != n)
    throw Error(say("{} with nodes, {} with features, {} with edges and {}: all must be as many", counted(n, "example"),
                    rows.count(), structure.edges.count(), counted(request.weight.size(), "weight")));
  const std::size_t slots = rows.end(0) == rows.begin(0) ? 0 : nodes.end(0) / rows.end(0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t own = rows.end(i) - rows.begin(i), count = nodes.end(i) - nodes.begin(i);
    if (count == 0) throw Error(say("example {} has no nodes", i + 1));
    if (own * slots != count)
      throw Error(say("example {} has {} and {} of features; expected {} a row as in the first", i + 1,
                      counted(count, "node"), counted(own, "row"), slots));
  }
  if (request.costs.size() != 1 && (request.costs.size() != slots || rows.end(0) != 1))
    throw Error(say("{} for {}; expected one, or one a node",
                    counted(request.costs.size(), "cost matrix", "cost matrices"), counted(slots, "node")));
  for (const CostMatrix& cost : request.costs)
    if (cost.k() != labels) throw Error(say("cost matrices of {} and {} labels", labels, cost.k()));
  for (std::size_t e = 0; e < request.label.size(); ++e)
    if (request.label[e] < 0 || static_cast<std::size_t>(request.label[e]) >= labels)
      throw Error(say("the label of node {} (counted over all examples) is {}; expected 0 to {}", e + 1,
                      request.label[e], labels - 1));
}

template <class Oracle, class Scorer>
void by_atoms(Problem<Scorer> problem, const GraphShapes& shapes, const GraphRequest& request, const EmitResult& emit) {
  const Oracle oracle(request.costs);
  const GraphGram<Scorer> gram(*problem.scorer);
  GraphDual<Oracle> dual(problem, shapes, request.costs);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolverOptions options = solver_options(*request.options);
    emit(GraphAscent(problem, oracle, shapes, gram, dual, options, *request.context).run());
  }
}

template <class Scorer>
void crf(Problem<Scorer> problem, const GraphShapes& shapes, const GraphRequest& request, const EmitResult& emit) {
  const Scorer& scorer = *problem.scorer;
  const std::size_t labels = scorer.labels(), stride = scorer.stride();
  GraphSumProduct gibbs;
  std::vector<PaddedRows<const double>> pairwise;
  const auto slope = [&](std::size_t i, std::span<const double> v, LabelView y, std::span<double> out) {
    const std::size_t nodes = y.size();
    const std::span<const GraphEdge> edges = scorer.edges_of(i);
    pairwise.clear();
    for (std::size_t e = 0; e < edges.size(); ++e)
      pairwise.push_back({v.data() + (nodes + e * labels) * stride, labels, labels});
    const GraphScores scores{&shapes.tree(i), {v.data(), nodes, labels}, pairwise};
    const double value = gibbs.solve(scores) - score(scores, y);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t m = 0; m < nodes; ++m) {
      std::copy_n(gibbs.nodes().row(m), labels, out.data() + m * stride);
      out[m * stride + static_cast<std::size_t>(y[m])] -= 1;
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      double* table = out.data() + (nodes + e * labels) * stride;
      for (std::size_t a = 0; a < labels; ++a) std::copy_n(gibbs.edge(e).row(a), labels, table + a * stride);
      table[static_cast<std::size_t>(y[edges[e].u]) * stride + static_cast<std::size_t>(y[edges[e].v])] -= 1;
    }
    return value;
  };
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss loss(problem, slope);
    emit(lbfgs(problem, loss, solver_options(*request.options), *request.context));
  }
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const GraphShapes& shapes, const GraphRequest& request,
           const EmitResult& emit) {
  const TrainOptions& o = *request.options;
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      if (o.oracle == OracleKind::spmp)
        throw UsageError(
            say("--oracle spmp is not for graphs: the max-min oracle is solved exactly there; leave it out"));
      return by_atoms<GraphMaxMin>(problem, shapes, request, emit);
    case SurrogateKind::m3n:
      return by_atoms<GraphRival>(problem, shapes, request, emit);
    case SurrogateKind::crf:
      return crf(problem, shapes, request, emit);
    case SurrogateKind::qs:
      break;
  }
  throw UsageError(
      say("--surrogate qs regresses every part of the output on its own, so that the edges of a graph would change "
          "nothing; "
          "use m4n, m3n or crf"));
}

}  // namespace

void solve_graphs(const GraphRequest& request, const std::function<void(std::unique_ptr<GraphSolution>)>& emit) {
  check(request);
  const std::size_t labels = request.costs[0].k();
  const GraphShapes shapes(*request.nodes, *request.structure, labels, request.costs.size(), request.memory_limit);
  std::visit(
      [&](const auto& x) {
        using Scorer = GraphScorer<std::remove_cvref_t<decltype(x)>>;
        Scorer scorer(x, *request.rows, *request.nodes, *request.structure, labels, request.bias);
        const Problem<Scorer> problem{&scorer, request.label, *request.nodes, request.weight, 0};
        solve(problem, shapes, request, [&](const SolveResult& result) {
          auto out = std::make_unique<GraphSolution>();
          out->result = result;
          out->weights = {scorer.node_weights(), scorer.edge_weights()};
          out->norm_squared = scorer.norm_squared();
          emit(std::move(out));
        });
      },
      request.x);
}

}  // namespace m4n::detail

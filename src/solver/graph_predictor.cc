#include "solver/graph_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "m4n/error.h"
#include "oracle/graph_game.h"
#include "scorer/graph.h"
#include "solver/graph_shapes.h"
#include "space/graph_decode.h"
#include "space/graph_marginals.h"

namespace m4n {
namespace {

constexpr std::size_t chunk = 32;  // examples a thread takes at a time
constexpr double game_gap = 1e-6;  // of the largest difference of costs

// The memory of one thread.
struct Labeller {
  GraphBuffer buffer;
  GraphDecoder decoder;
  GraphSumProduct sums;
  GraphGame::Workspace game;
  GameSeeds seeds;
};

std::int32_t least_expected(const CostMatrix& cost, const double* mu) {
  std::size_t best = 0;
  double least = 0;
  for (std::size_t p = 0; p < cost.k(); ++p) {
    double expected = 0;
    for (std::size_t t = 0; t < cost.k(); ++t) expected += cost(t, p) * mu[t];
    if (p == 0 || expected < least) {
      least = expected;
      best = p;
    }
  }
  return static_cast<std::int32_t>(best);
}

void decode(const GraphGameScores& v, const GraphPredictionRequest& request, const GraphGame& game, Labeller& own,
            std::span<std::int32_t> y) {
  const std::size_t labels = request.costs[0].k();
  switch (request.decode) {
    case Decoder::expected:
      own.sums.solve(v);
      for (std::size_t m = 0; m < y.size(); ++m)
        y[m] = least_expected(request.costs[v.cost[m]], own.sums.nodes().row(m));
      return;
    case Decoder::adversary: {
      own.seeds.clear();
      double range = 0;
      for (const CostMatrix& cost : request.costs) range = std::max(range, cost.range());
      const GameAnswer answer = game.solve(v, {.gap = game_gap * range}, own.seeds, own.game);
      for (std::size_t m = 0; m < y.size(); ++m) {
        const double* nu = answer.nu.row(m);
        y[m] = static_cast<std::int32_t>(std::max_element(nu, nu + labels) - nu);
      }
      return;
    }
    default:
      own.decoder.solve(v, y);
  }
}

bool finite(const GraphGameScores& v) {
  const auto all = [](const PaddedRows<const double>& rows) {
    for (std::size_t r = 0; r < rows.rows(); ++r)
      if (!std::all_of(rows.row(r), rows.row(r) + rows.columns(), [](double s) { return std::isfinite(s); }))
        return false;
    return true;
  };
  return all(v.unary) && std::all_of(v.pairwise.begin(), v.pairwise.end(), all);
}

template <class Scorer>
void predict(const Scorer& scorer, const GraphPredictionRequest& request, GraphPrediction& out) {
  const Groups& nodes = *request.nodes;
  const std::size_t labels = request.costs[0].k();
  const GraphShapes shapes(nodes, *request.structure, labels, request.costs.size(), request.memory_limit);
  const GraphGame game(request.costs);
  std::vector<std::unique_ptr<Labeller>> labellers(thread_count(request.context->threads));
  const auto one = [&](std::size_t i, Labeller& own) {
    scorer.score(i, own.buffer);
    const GraphGameScores v = shapes.view(i, scorer, own.buffer);
    if (!finite(v))
      throw Error(
          fmt::format("the scores of example {} (counted from 1) are not finite numbers: one of its values is too "
                      "large for the model; correct it, or leave the example out",
                      i + 1));
    const std::span<std::int32_t> y = std::span(out.label).subspan(nodes.begin(i), nodes.end(i) - nodes.begin(i));
    decode(v, request, game, own, y);
    out.score[i] = score(v, y);
    if (!request.marginals) return;
    out.log_partition[i] = own.sums.solve(v);
    for (std::size_t m = 0; m < y.size(); ++m)
      std::copy_n(own.sums.nodes().row(m), labels, out.marginals.data() + (nodes.begin(i) + m) * labels);
  };
  parallel_chunks(nodes.count(), chunk, request.context->threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned worker) {
                    if (!labellers[worker])
                      labellers[worker] = std::make_unique<Labeller>(Labeller{scorer.buffer(), {}, {}, {}, {}});
                    for (std::size_t i = first; i < last; ++i) one(i, *labellers[worker]);
                  });
}

}  // namespace

Decoder graph_decoder(Decoder asked, SurrogateKind surrogate, std::span<const CostMatrix> costs) {
  if (asked != Decoder::automatic) return asked == Decoder::viterbi ? Decoder::argmax : asked;
  if (surrogate == SurrogateKind::crf) return Decoder::expected;
  const bool symmetric = std::all_of(costs.begin(), costs.end(), [](const CostMatrix& c) { return c.symmetric(); });
  return surrogate == SurrogateKind::m4n && !symmetric ? Decoder::adversary : Decoder::argmax;
}

GraphPrediction predict_graphs(const GraphPredictionRequest& request) {
  const Groups& nodes = *request.nodes;
  const std::size_t labels = request.costs[0].k(), n = nodes.count();
  GraphPrediction out;
  if (n == 0) return out;
  out.label.resize(nodes.end(n - 1));
  out.score.resize(n);
  if (request.marginals) {
    out.marginals.resize(out.label.size() * labels);
    out.log_partition.resize(n);
  }
  std::visit(
      [&](const auto& x) {
        using Scorer = GraphScorer<std::remove_cvref_t<decltype(x)>>;
        Scorer scorer(x, *request.rows, nodes, *request.structure, labels, request.bias);
        if (!scorer.set_weights(request.weights->node, request.weights->edge))
          throw Error(fmt::format("{} weights of nodes and {} of edges do not go with {} and {} features of these data",
                                  request.weights->node.size(), request.weights->edge.size(), x.cols,
                                  request.structure->edge_features.cols));
        predict(scorer, request, out);
      },
      request.x);
  return out;
}

}  // namespace m4n

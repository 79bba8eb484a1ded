// Decoding and marginals of graphs, in parallel (predictor.h).
#include "structures/graphs/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/message.h"
#include "core/parallel.h"
#include "structures/graphs/shapes.h"
#include "structures/graphs/space.h"

namespace m4n::detail {
namespace {

constexpr std::size_t graphs_at_once = 16;  // graphs a thread takes at a time
constexpr double game_gap = 1e-6;           // of the largest difference of costs
constexpr double largest_score = 1e290;     // sums over all parts of a graph are still finite

void require_finite(double score, std::size_t example, const char* what, std::size_t part) {
  if (std::abs(score) <= largest_score) return;
  throw Error(
      say("example {} (counted from 1), {} {}: a score is {}, beyond what can be computed with: one of its values is "
          "too large for the model; => correct it, or leave the example out",
          example + 1, what, part + 1, score));
}

std::int32_t largest(const double* first, std::size_t count) {
  return static_cast<std::int32_t>(std::max_element(first, first + count) - first);
}

}  // namespace

GraphPredictor::GraphPredictor(std::vector<CostMatrix> costs, Decoder decode, std::vector<double> edge_weights,
                               std::size_t edge_features)
    : costs_(std::move(costs)),
      decode_(decode),
      edge_weights_(std::move(edge_weights)),
      edge_features_(edge_features),
      game_(costs_) {}

// The scores of one graph in the layout of the inference, and scratch of one thread.
class GraphPredictor::Worker {
 public:
  Worker(const GraphPredictor& shared, const GraphExamples& examples, const GraphShapes& shapes,
         std::span<const double> scores)
      : shared_(shared), examples_(examples), shapes_(shapes), scores_(scores) {}

  void decode(std::size_t i, std::span<std::int32_t> y) {
    load(i);
    if (shared_.decode_ == Decoder::argmax) {
      decoder_.solve(view(i), y);
    } else if (shared_.decode_ == Decoder::adversary) {
      seeds_.clear();
      double range = 0;
      for (const CostMatrix& cost : shared_.costs_) range = std::max(range, cost.range());
      const GameAnswer answer = shared_.game_.solve(view(i), GameLimits{.gap = game_gap * range}, seeds_, game_);
      for (std::size_t m = 0; m < y.size(); ++m) y[m] = largest(answer.nu.row(m), cost_of(i, m).predictions());
    } else {
      gibbs_.solve(view(i));
      for (std::size_t m = 0; m < y.size(); ++m) y[m] = cheapest(gibbs_.nodes().row(m), cost_of(i, m));
    }
  }

  void marginals(std::size_t i, std::span<double> out) {
    load(i);
    const std::size_t k = shared_.costs_[0].k();
    gibbs_.solve(view(i));
    for (std::size_t m = 0; m * k < out.size(); ++m)
      std::copy_n(gibbs_.nodes().row(m), k, out.begin() + static_cast<std::ptrdiff_t>(m * k));
  }

 private:
  const CostMatrix& cost_of(std::size_t i, std::size_t m) const { return shared_.costs_[shapes_.cost(i)[m]]; }

  static std::int32_t cheapest(const double* p, const CostMatrix& cost) {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t y = 0; y < cost.predictions(); ++y) {
      double expected = 0;
      for (std::size_t t = 0; t < cost.k(); ++t) expected += p[t] * cost(t, y);
      if (y == 0 || expected < least) {
        least = expected;
        best = y;
      }
    }
    return static_cast<std::int32_t>(best);
  }

  GraphGameScores view(std::size_t i) const { return {{&shapes_.tree(i), nodes_.view(), tables_}, shapes_.cost(i)}; }

  void load(std::size_t i) {
    const GraphStructure& structure = *examples_.structure;
    const std::size_t k = shared_.costs_[0].k();
    const std::size_t first = examples_.rows->begin(i), rows = examples_.rows->end(i) - first;
    const std::size_t nodes = examples_.nodes->end(i) - examples_.nodes->begin(i), slots = nodes / rows;
    const std::size_t width = structure.node_types() * slots * k;
    const PaddedRows<double> unary = nodes_.shape(nodes, k);
    for (std::size_t m = 0; m < nodes; ++m) {
      const std::size_t row = first + m / slots;
      const double* own = scores_.data() + row * width + (structure.type_of_row(row) * slots + m % slots) * k;
      for (std::size_t a = 0; a < k; ++a) require_finite(own[a], i, "node", m);
      std::copy_n(own, k, unary.row(m));
    }
    load_edges(i);
  }

  void load_edges(std::size_t i) {
    const GraphStructure& structure = *examples_.structure;
    const std::size_t k = shared_.costs_[0].k(), block = (shared_.edge_features_ + 1) * k * k;
    const std::size_t first = structure.edges.begin(i), count = structure.edges.end(i) - first;
    const PaddedRows<double> rows = edges_.shape(std::max<std::size_t>(count * k, 1), k);
    tables_.clear();
    for (std::size_t e = 0; e < count; ++e) {
      const double* w = shared_.edge_weights_.data() + structure.type_of_edge(first + e) * block;
      for (std::size_t a = 0; a < k; ++a)
        for (std::size_t b = 0; b < k; ++b) {
          double value = w[shared_.edge_features_ * k * k + a * k + b];
          for (std::size_t f = 0; f < shared_.edge_features_; ++f)
            value += structure.edge_features.view().row(first + e)[f] * w[f * k * k + a * k + b];
          require_finite(value, i, "edge", e);
          rows.row(e * k + a)[b] = value;
        }
      tables_.emplace_back(rows.row(e * k), k, k);
    }
  }

  const GraphPredictor& shared_;
  const GraphExamples& examples_;
  const GraphShapes& shapes_;
  std::span<const double> scores_;
  PaddedMatrix<double> nodes_, edges_;
  std::vector<PaddedRows<const double>> tables_;
  GraphDecoder decoder_;
  GraphSumProduct gibbs_;
  GraphGame::Workspace game_;
  GameSeeds seeds_;
};

std::vector<std::int32_t> GraphPredictor::labellings(std::span<const double> scores, const GraphExamples& examples,
                                                     const Context& context) const {
  const Groups& nodes = *examples.nodes;
  std::vector<std::int32_t> out(nodes.count() == 0 ? 0 : nodes.end(nodes.count() - 1));
  const GraphShapes shapes(nodes, *examples.structure, costs_[0].k(), costs_.size());
  parallel_chunks(nodes.count(), graphs_at_once, context.threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    Worker worker(*this, examples, shapes, scores);
                    for (std::size_t i = first; i < last; ++i)
                      worker.decode(i, std::span(out).subspan(nodes.begin(i), nodes.end(i) - nodes.begin(i)));
                  });
  return out;
}

std::vector<double> GraphPredictor::marginals(std::span<const double> scores, const GraphExamples& examples,
                                              const Context& context) const {
  const Groups& nodes = *examples.nodes;
  const std::size_t k = costs_[0].k();
  std::vector<double> out(nodes.count() == 0 ? 0 : nodes.end(nodes.count() - 1) * k);
  const GraphShapes shapes(nodes, *examples.structure, k, costs_.size());
  parallel_chunks(
      nodes.count(), graphs_at_once, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
        Worker worker(*this, examples, shapes, scores);
        for (std::size_t i = first; i < last; ++i)
          worker.marginals(i, std::span(out).subspan(nodes.begin(i) * k, (nodes.end(i) - nodes.begin(i)) * k));
      });
  return out;
}

}  // namespace m4n::detail

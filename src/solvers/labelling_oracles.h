// The oracles of outputs with a label at every position, whatever joins the labels, as the atoms solver sees them. For
// the scores v and the truth y of one example, an answer is a point mu of the marginal polytope, as a convex
// combination of labellings, with its risk -Omega_y(mu), and an upper bound of  Omega_y*(v) = max over mu of  v.mu -
// Omega_y(mu):
//
//   LabellingMaxMin      M4N   risk h(mu), by the exact game (games/labelling_game.h)    a few calls of the decoder
//   LabellingMaxMargin   M3N   risk: the loss of one labelling                           one call of the decoder
//
// A Problem (ChainProblem, GraphProblem) says what is decoded, as for the game, and cost_of(v, m): which cost matrix a
// position has.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/labelling_game.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

struct LabellingAnswer {
  double upper = 0, lower = 0;              // bounds of Omega_y*(v); lower = risk + v.mu
  double risk = 0;                          // -Omega_y(mu)
  int paths = 0;                            // labellings asked of the decoder
  std::span<const double> weight;           // of every labelling
  std::span<const std::int32_t> labelling;  // M labels each
  // Of long outputs on a tree, instead of labellings (games/tree_game.h).
  std::span<const TreeNode> nodes;
  std::span<const TreeMass> mass;
};

// How well an answer has to be known: upper - lower <= max(gap, relative (upper - current)), unless `stop` says before
// that it will do as it is.
struct LabellingAccuracy {
  double gap = 0, relative = 0, current = -std::numeric_limits<double>::infinity();
  const std::function<bool()>* stop = nullptr;
};

// Omega_y*(v) from above without decoding: of the scores, and of the losses of labellings.
template <class Problem>
class LabellingOracle {
 public:
  explicit LabellingOracle(std::span<const CostMatrix> costs) {
    for (const CostMatrix& cost : costs)
      for (std::size_t truth = 0; truth < cost.k(); ++truth)
        largest_cost_ = std::max(largest_cost_, *std::ranges::max_element(cost.of_truth(truth)));
  }
  double upper_at_once(const typename Problem::Scores& v) const { return Problem::most(v) + largest_cost_; }

 private:
  double largest_cost_ = -std::numeric_limits<double>::infinity();
};

template <class Problem>
class LabellingMaxMin : public LabellingOracle<Problem> {
 public:
  using Scores = typename Problem::Scores;
  using Seeds = GameSeeds;
  using Workspace = typename LabellingGame<Problem>::Workspace;
  explicit LabellingMaxMin(std::span<const CostMatrix> costs) : LabellingOracle<Problem>(costs), game_(costs) {}

  LabellingAnswer answer(const Scores& v, LabelView, const LabellingAccuracy& accuracy, Seeds& seeds,
                         Workspace& ws) const {
    const GameLimits limits{
        .gap = accuracy.gap, .relative = accuracy.relative, .current = accuracy.current, .stop = accuracy.stop};
    const GameAnswer found = game_.solve(v, limits, seeds, ws);
    return {found.bounds.upper, found.bounds.lower, found.risk,  found.rounds,
            found.weight,       found.sequence,     found.nodes, found.mass};
  }

 private:
  LabellingGame<Problem> game_;
};

// Loss-augmented decoding:  argmax_y  score(y) + (1/M) sum_m cost_m[truth_m][y_m].  One object for a thread; nothing is
// allocated once an output as long was seen.
template <class Problem>
class LossAugmentedDecoder {
 public:
  struct Answer {
    double value;  // score and loss
    double loss;   // (1/M) sum_m cost_m[truth_m][y_m]
  };
  // Writes the maximiser into y; ties as in the decoder.
  Answer solve(const typename Problem::Scores& v, std::span<const CostMatrix> costs, LabelView truth,
               std::span<std::int32_t> y) {
    const PaddedRows<double> augmented = augmented_.shape(v.length(), v.unary.columns());
    const double share = 1 / static_cast<double>(v.length());
    for (std::size_t m = 0; m < v.length(); ++m) {
      double* const row = augmented.row(m);
      std::copy_n(v.unary.row(m), augmented.stride(), row);
      const std::span<const double> cost = costs[Problem::cost_of(v, m)].of_truth(static_cast<std::size_t>(truth[m]));
      for (std::size_t k = 0; k < cost.size(); ++k) row[k] += share * cost[k];
    }
    const double value = Problem::decode(decoder_, v, augmented, y);
    double total = 0;
    for (std::size_t m = 0; m < v.length(); ++m)
      total += costs[Problem::cost_of(v, m)](static_cast<std::size_t>(truth[m]), static_cast<std::size_t>(y[m]));
    return {value, share * total};
  }

 private:
  PaddedMatrix<double> augmented_;
  typename Problem::Decoder decoder_;
};

template <class Problem>
class LabellingMaxMargin : public LabellingOracle<Problem> {
 public:
  using Scores = typename Problem::Scores;
  struct Seeds {};
  struct Workspace {
    LossAugmentedDecoder<Problem> decoder;
    std::vector<std::int32_t> labelling;
    double weight = 1;
  };
  explicit LabellingMaxMargin(std::span<const CostMatrix> costs) : LabellingOracle<Problem>(costs), costs_(costs) {}

  LabellingAnswer answer(const Scores& v, LabelView y, const LabellingAccuracy&, Seeds&, Workspace& ws) const {
    ws.labelling.resize(v.length());
    const auto found = ws.decoder.solve(v, costs_, y, ws.labelling);
    return {found.value, found.value, found.loss, 1, {&ws.weight, 1}, ws.labelling, {}, {}};
  }

 private:
  std::span<const CostMatrix> costs_;
};

}  // namespace m4n::detail

// The oracles of chains as the atoms solver sees them (structures/chains/ascent.h). For the scores v and the truth y of
// one example, an answer is a point mu of the marginal polytope, as a convex combination of labellings, with its risk
// -Omega_y(mu), and an upper bound of  Omega_y*(v) = max over mu of  v.mu - Omega_y(mu):
//
//   ChainMaxMin   M4N   risk h(mu), by the exact game              2 to 3 Viterbi paths a call while training
//   ChainRival    M3N   risk: the loss of one labelling            1 Viterbi path
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solvers/labelling_answer.h"
#include "structures/chains/game.h"
#include "structures/chains/margin.h"

namespace m4n::detail {

class ChainMaxMin {
 public:
  using Seeds = ChainSeeds;
  using Workspace = ChainGame::Workspace;
  explicit ChainMaxMin(const CostMatrix& cost) : game_(cost) {}

  LabellingAnswer answer(const ChainScores& v, LabelView, const LabellingAccuracy& accuracy, Seeds& seeds,
                         Workspace& ws) const {
    const ChainGameLimits limits{accuracy.gap, accuracy.relative, accuracy.current, most_paths, accuracy.stop};
    const ChainGameAnswer found = game_.solve(v, limits, seeds, ws);
    return {found.bounds.upper, found.bounds.lower, found.risk, found.rounds, found.weight, found.sequence};
  }

 private:
  static constexpr int most_paths = 1000;
  ChainGame game_;
};

class ChainRival {
 public:
  struct Seeds {};
  struct Workspace {
    ChainMargin margin;
    std::vector<std::int32_t> labelling;
    double weight = 1;
  };
  explicit ChainRival(const CostMatrix& cost) : loss_(cost) {}

  LabellingAnswer answer(const ChainScores& v, LabelView y, const LabellingAccuracy&, Seeds&, Workspace& ws) const {
    ws.labelling.resize(v.length());
    const ChainMargin::Answer found = ws.margin.solve(v, loss_, y, ws.labelling);
    return {found.value, found.value, found.loss, 1, {&ws.weight, 1}, ws.labelling};
  }

 private:
  SimplexLoss loss_;
};

}  // namespace m4n::detail

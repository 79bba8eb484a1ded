// The oracles of graphs as the atoms solver sees them (structures/graphs/ascent.h):
//
//   GraphMaxMin   M4N   risk h(mu), by the exact game           a few max-products a call
//   GraphRival    M3N   risk: the loss of one labelling         one max-product
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solvers/labelling_answer.h"
#include "structures/graphs/game.h"
#include "structures/graphs/margin.h"

namespace m4n::detail {

class GraphMaxMin {
 public:
  using Seeds = GameSeeds;
  using Workspace = GraphGame::Workspace;
  explicit GraphMaxMin(std::span<const CostMatrix> costs) : game_(costs) {}

  LabellingAnswer answer(const GraphGameScores& v, LabelView, const LabellingAccuracy& accuracy, Seeds& seeds,
                         Workspace& ws) const {
    const GameLimits limits{
        .gap = accuracy.gap, .relative = accuracy.relative, .current = accuracy.current, .stop = accuracy.stop};
    const GameAnswer found = game_.solve(v, limits, seeds, ws);
    return {found.bounds.upper, found.bounds.lower, found.risk, found.rounds, found.weight, found.sequence};
  }

 private:
  GraphGame game_;
};

class GraphRival {
 public:
  struct Seeds {};
  struct Workspace {
    GraphMargin margin;
    std::vector<std::int32_t> labelling;
    double weight = 1;
  };
  explicit GraphRival(std::span<const CostMatrix> costs) : costs_(costs) {}

  LabellingAnswer answer(const GraphGameScores& v, LabelView y, const LabellingAccuracy&, Seeds&, Workspace& ws) const {
    ws.labelling.resize(v.length());
    const GraphMargin::Answer found = ws.margin.solve(v, costs_, y, ws.labelling);
    return {found.value, found.value, found.loss, 1, {&ws.weight, 1}, ws.labelling};
  }

 private:
  std::span<const CostMatrix> costs_;
};

}  // namespace m4n::detail

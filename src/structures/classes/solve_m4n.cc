#include "solvers/block_dual.h"
#include "structures/classes/solve.h"
#include "structures/classes/maxmin_paper.h"
#include "structures/classes/smoothed.h"

namespace m4n {
namespace {

// A smoothed surrogate needs the inner problem solved to the end: its maximiser is what is decoded.
constexpr int all_solves = 10'000;

template <class MaxMin>
std::vector<Solution> solve(const SolveRequest& request, const MaxMin& maxmin, const MaxMin& thorough) {
  const TrainOptions& o = *request.options;
  return with_problem(request, [&](const auto& problem, const auto&, const Emit& emit) {
    if (o.oracle == OracleKind::spmp) {
      const SimplexLoss loss(*request.cost);
      const PaperMaxMin<MaxMin> paper(maxmin, loss, o.oracle_iterations, o.warm_start);
      block_dual(problem, paper, request, emit);
    } else if (o.smoothing > 0) {
      block_dual(problem, Smoothed(thorough, o.smoothing * request.cost->mean_off_diagonal()), request, emit);
    } else {
      block_dual(problem, maxmin, request, emit);
    }
  });
}

}  // namespace

std::vector<Solution> solve_m4n(const SolveRequest& request) {
  const CostMatrix& cost = *request.cost;
  switch (cost.kind()) {
    case LossKind::zero_one:
      return solve(request, ZeroOneMaxMin(cost), ZeroOneMaxMin(cost));
    case LossKind::absolute:
      return solve(request, AbsoluteMaxMin(cost), AbsoluteMaxMin(cost));
    default:
      return solve(request, MatrixMaxMin(cost), MatrixMaxMin(cost, all_solves));
  }
}

}  // namespace m4n

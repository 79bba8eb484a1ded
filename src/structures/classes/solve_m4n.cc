#include "solvers/block_dual.h"
#include "structures/classes/maxmin_paper.h"
#include "structures/classes/smoothed.h"
#include "structures/classes/solve.h"

namespace m4n::detail {
namespace {

// A smoothed surrogate needs the inner problem solved to the end: its maximiser is what is decoded.
constexpr int all_solves = 10'000;

template <class MaxMin>
void solve(const ClassRequest& request, const EmitClasses& emit_solution, const MaxMin& maxmin,
           const MaxMin& thorough) {
  const TrainOptions& o = *request.options;
  with_problem(request, emit_solution, [&](const auto& problem, const auto&, const EmitResult& emit) {
    if (o.oracle == OracleKind::spmp) {
      const SimplexLoss loss(*request.cost);
      const PaperMaxMin<MaxMin> paper(maxmin, loss, o.oracle_iterations, o.warm_start);
      block_dual(problem, paper, request.path(), emit);
    } else if (o.smoothing > 0) {
      block_dual(problem, Smoothed(thorough, o.smoothing * request.cost->mean_off_diagonal()), request.path(), emit);
    } else {
      block_dual(problem, maxmin, request.path(), emit);
    }
  });
}

}  // namespace

void solve_m4n(const ClassRequest& request, const EmitClasses& emit_solution) {
  const CostMatrix& cost = *request.cost;
  switch (cost.kind()) {
    case LossKind::zero_one:
      return solve(request, emit_solution, ZeroOneMaxMin(cost), ZeroOneMaxMin(cost));
    case LossKind::absolute:
      return solve(request, emit_solution, AbsoluteMaxMin(cost), AbsoluteMaxMin(cost));
    default:
      return solve(request, emit_solution, MatrixMaxMin(cost), MatrixMaxMin(cost, all_solves));
  }
}

}  // namespace m4n::detail

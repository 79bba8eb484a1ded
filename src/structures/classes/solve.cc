// Solvers of classes and grades for each surrogate along a path of lambdas (solve.h).
#include "structures/classes/solve.h"

#include "solvers/block_dual.h"
#include "solvers/quadratic.h"
#include "structures/classes/surrogates.h"

namespace m4n::detail {

void solve_m4n(const ClassRequest& request, const EmitClasses& emit_solution) {
  const TrainOptions& o = *request.options;
  const CostMatrix& cost = *request.cost;
  // A smoothed surrogate needs the inner problem solved to the end: its maximiser is what is decoded.
  const int solves = o.smoothing > 0 ? MatrixMaxMin::all_solves : MatrixMaxMin::few_solves;
  with_maxmin(cost, request.examples, solves, [&]<class MaxMin>(const MaxMin& maxmin) {
    with_problem(request, emit_solution, [&](const auto& problem, const EmitResult& emit) {
      if constexpr (!std::is_same_v<MaxMin, ExampleMaxMin>)
        if (o.oracle == OracleKind::spmp) {
          const SimplexLoss loss(cost);
          const PaperMaxMin<MaxMin> paper(maxmin, loss, o.oracle_iterations, o.warm_start);
          block_dual(problem, paper, request.path(), emit);
          return;
        }
      if (o.smoothing > 0) {
        block_dual(problem, Smoothed(maxmin, smoothing_in_costs(o.smoothing, cost)), request.path(), emit);
      } else {
        block_dual(problem, maxmin, request.path(), emit);
      }
    });
  });
}

void solve_m3n(const ClassRequest& request, const EmitClasses& emit_solution) {
  with_problem(request, emit_solution, [&](const auto& problem, const EmitResult& emit) {
    block_dual(problem, Margin(*request.cost, request.examples), request.path(), emit);
  });
}

void solve_crf(const ClassRequest& request, const EmitClasses& emit_solution) {
  const Crf crf(request.cost->k());
  with_problem(request, emit_solution,
               [&](const auto& problem, const EmitResult& emit) { block_dual(problem, crf, request.path(), emit); });
}

namespace {

// A row of targets per class, or per example where costs differ; of a label the last number says which.
AlignedVector<double> targets_of(const ClassRequest& request) {
  if (request.examples == nullptr) return regression_targets(*request.cost);
  const std::size_t k = request.cost->predictions(), stride = kernels::padded(k);
  AlignedVector<double> out(request.label.size() * stride, 0.0);
  for (std::size_t i = 0; i < request.label.size(); ++i) {
    const std::span<double> row = std::span(out).subspan(i * stride, k);
    request.examples->scaled_of_truth(i, static_cast<std::size_t>(request.label[i]), row);
    for (double& target : row) target = -target;
  }
  return out;
}

// S(v, y) = |v - target_y|^2 and its slope.
struct SquaredError {
  const AlignedVector<double>* targets;
  std::size_t k, stride;
  double operator()(std::span<const double> v, LabelView y, std::span<double> slope) const {
    const double* target = targets->data() + static_cast<std::size_t>(y.back()) * stride;
    double value = 0;
    for (std::size_t j = 0; j < stride; ++j) {
      const double residual = j < k ? v[j] - target[j] : 0.0;
      value += residual * residual;
      slope[j] = 2 * residual;
    }
    return value;
  }
};

// Its curvature: the slope of |v|^2.
struct Curvature {
  std::size_t k, stride;
  double operator()(std::span<const double> v, LabelView /*y*/, std::span<double> slope) const {
    for (std::size_t j = 0; j < stride; ++j) slope[j] = j < k ? 2 * v[j] : 0.0;
    return 0;
  }
};

}  // namespace

void solve_qs(const ClassRequest& request, const EmitClasses& emit_solution) {
  const AlignedVector<double> targets = targets_of(request);
  const std::size_t k = request.cost->predictions(), stride = kernels::padded(k);
  with_problem(request, emit_solution, [&]<class Scorer>(const Problem<Scorer>& problem, const EmitResult& emit) {
    if constexpr (std::is_same_v<Scorer, KernelScorer>) {
      const auto target = [&](std::size_t i) {
        return targets.data() + static_cast<std::size_t>(problem.y(i).back()) * stride;
      };
      quadratic_kernel_path(problem, *request.gram, k, target, request.path(), emit);
    } else {
      quadratic_path(problem, request.x, request.bias, SquaredError{&targets, k, stride}, Curvature{k, stride},
                     request.path(), emit);
    }
  });
}

}  // namespace m4n::detail

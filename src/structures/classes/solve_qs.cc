#include "solvers/quadratic.h"
#include "solvers/quadratic_kernel.h"
#include "structures/classes/solve.h"

namespace m4n::detail {

namespace {

// S(v, y) = |v - target_y|^2 and its slope.
struct SquaredError {
  const AlignedVector<double>* targets;
  std::size_t k, stride;
  double operator()(std::span<const double> v, LabelView y, std::span<double> slope) const {
    const double* target = targets->data() + static_cast<std::size_t>(y[0]) * stride;
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
  const AlignedVector<double> targets = regression_targets(*request.cost);
  const std::size_t k = request.cost->k(), stride = kernels::padded(k);
  with_problem(request, emit_solution,
               [&]<class Scorer>(const Problem<Scorer>& problem, const auto& x, const EmitResult& emit) {
                 if constexpr (std::is_same_v<Scorer, KernelScorer>) {
                   const auto target = [&](std::size_t i) {
                     return targets.data() + static_cast<std::size_t>(problem.y(i)[0]) * stride;
                   };
                   quadratic_kernel_path(problem, *request.gram, k, target, request.path(), emit);
                 } else {
                   quadratic_path(problem, x, request.bias, SquaredError{&targets, k, stride}, Curvature{k, stride},
                                  request.path(), emit);
                 }
               });
}

}  // namespace m4n::detail

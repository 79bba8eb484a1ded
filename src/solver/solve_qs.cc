#include "solver/quadratic.h"
#include "solver/solve.h"

namespace m4n {

Solution solve_qs(const SolveRequest& request) {
  const std::size_t k = request.cost->k();
  const AlignedVector<double> targets = regression_targets(*request.cost);
  return with_problem(request, [&](const auto& problem, const auto& x) {
    const std::size_t stride = kernels::padded(k);
    PrimalLoss loss(problem, [&](std::span<const double> v, LabelView y, std::span<double> slope) {
      const double* target = targets.data() + static_cast<std::size_t>(y[0]) * stride;
      double value = 0;
      for (std::size_t j = 0; j < stride; ++j) {
        const double residual = j < k ? v[j] - target[j] : 0.0;
        value += residual * residual;
        slope[j] = 2 * residual;
      }
      return value;
    });
    const SolverOptions options = solver_options(*request.options);
    if (x.cols + (request.bias ? 1 : 0) <= largest_factorised)
      return quadratic_direct(problem, loss, x, request.bias, options, *request.context);
    PrimalLoss curvature(problem, [&](std::span<const double> v, LabelView, std::span<double> slope) {
      for (std::size_t j = 0; j < stride; ++j) slope[j] = j < k ? 2 * v[j] : 0.0;
      return 0.0;
    });
    return quadratic_cg(problem, loss, curvature, options, *request.context);
  });
}

}  // namespace m4n

#include "solvers/quadratic.h"
#include "solvers/quadratic_kernel.h"
#include "structures/classes/solve.h"

namespace m4n {

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

template <class Scorer, class View>
void linear_path(Problem<Scorer> problem, const View& x, const AlignedVector<double>& targets,
                 const SolveRequest& request, const Emit& emit) {
  const std::size_t k = request.cost->k(), stride = kernels::padded(k);
  const SolverOptions options = solver_options(*request.options);
  const bool direct = x.cols + (request.bias ? 1 : 0) <= largest_factorised;
  const Eigen::MatrixXd moments = direct ? second_moments(x, request.bias, request.weight) : Eigen::MatrixXd();
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss loss(problem, SquaredError{&targets, k, stride});
    PrimalLoss curvature(problem, Curvature{k, stride});
    std::optional<SolveResult> result;
    if (direct) result = quadratic_direct(problem, loss, moments, options, *request.context);
    emit(result ? *result : quadratic_cg(problem, loss, curvature, options, *request.context));
  }
}

void kernel_path(Problem<KernelScorer> problem, const AlignedVector<double>& targets, const SolveRequest& request,
                 const Emit& emit) {
  const std::size_t k = request.cost->k(), stride = kernels::padded(k);
  AlignedVector<double> a(request.gram->n() * stride, 0.0);
  const auto target = [&](std::size_t i) {
    return targets.data() + static_cast<std::size_t>(problem.y(i)[0]) * stride;
  };
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolveResult result =
        quadratic_kernel(problem, *request.gram, k, target, a, solver_options(*request.options), *request.context);
    problem.scorer->set_coefficients(a, request.context->threads);
    emit(result);
  }
}

}  // namespace

std::vector<Solution> solve_qs(const SolveRequest& request) {
  const AlignedVector<double> targets = regression_targets(*request.cost);
  return with_problem(request, [&]<class Scorer>(const Problem<Scorer>& problem, const auto& x, const Emit& emit) {
    if constexpr (std::is_same_v<Scorer, KernelScorer>) {
      kernel_path(problem, targets, request, emit);
    } else {
      linear_path(problem, x, targets, request, emit);
    }
  });
}

}  // namespace m4n

// The quadratic surrogate with an exact kernel: kernel ridge regression. With w = sum_i Phi_i a_i^T and targets t_i =
// -A phi(y_i)
//
//   (K + diag(lambda / (2 p_i))) a = t,
//
// by conjugate gradients on all classes at once, O(n^2 k) an iteration. With g_i = 2 p_i (v_i - t_i) + lambda a_i the
// gradient of P is sum_i Phi_i g_i^T, so the certificate of primal_loss.h reads D = P - g.(K g) / (2 lambda).
#pragma once
#include "solvers/certificate.h"
#include "solvers/kernel_scorer.h"
#include "solvers/problem.h"

namespace m4n::detail {

// target(i): the padded row of targets of example i. Starts from the coefficients `a` and leaves the solution there.
template <class Target>
SolveResult quadratic_kernel(const Problem<KernelScorer>& problem, const GramMatrix& gram, std::size_t k,
                             const Target& target, AlignedVector<double>& a, const SolverOptions& options,
                             const Context& context) {
  Watch watch(context, options);
  SolveResult result;
  result.solver = "cg";
  const std::size_t n = gram.n(), stride = kernels::padded(k);
  const auto ridge = [&](std::size_t i) { return problem.lambda / (2 * problem.weight[i]); };
  const auto image_of = [&](const AlignedVector<double>& x) { return times(gram, x, stride, context.threads); };
  const auto by_class = [&](const AlignedVector<double>& x, const AlignedVector<double>& y) {
    std::vector<double> out(stride, 0.0);
    for (std::size_t j = 0; j < x.size(); ++j) out[j % stride] += x[j] * y[j];
    return out;
  };

  AlignedVector<double> v = image_of(a), residual(a.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < stride; ++c)
      residual[i * stride + c] = target(i)[c] - v[i * stride + c] - ridge(i) * a[i * stride + c];
  AlignedVector<double> direction = residual;
  std::vector<double> squared = by_class(residual, residual);
  const auto look = [&] {
    AlignedVector<double> g(a.size());
    double value = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < stride; ++c) {
        const double error = v[i * stride + c] - target(i)[c];
        value += problem.weight[i] * error * error;
        g[i * stride + c] = 2 * problem.weight[i] * error + problem.lambda * a[i * stride + c];
      }
    result.certificate.primal = value + 0.5 * problem.lambda * kernels::dot(a, v);
    result.certificate.dual = result.certificate.primal - kernels::dot(g, image_of(g)) / (2 * problem.lambda);
    result.certificate = judged(result.certificate, options.tol);
    watch.report(result.epochs, result.certificate);
  };
  look();
  bool stopped = false;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    const AlignedVector<double> image = image_of(direction);
    std::vector<double> bend = by_class(direction, image), step(stride, 0.0);
    for (std::size_t j = 0; j < direction.size(); ++j)
      bend[j % stride] += ridge(j / stride) * direction[j] * direction[j];
    for (std::size_t c = 0; c < stride; ++c) step[c] = bend[c] > 0 ? squared[c] / bend[c] : 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double t = step[j % stride];
      a[j] += t * direction[j];
      v[j] += t * image[j];
      residual[j] -= t * (image[j] + ridge(j / stride) * direction[j]);
    }
    const std::vector<double> now = by_class(residual, residual);
    for (std::size_t j = 0; j < direction.size(); ++j) {
      const std::size_t c = j % stride;
      direction[j] = residual[j] + (squared[c] > 0 ? now[c] / squared[c] : 0.0) * direction[j];
    }
    squared = now;
    ++result.epochs;
    stopped = watch.stopped(n * problem.scorer->work(0));
    if (stopped || result.epochs % 5 == 0 || result.epochs == options.epochs) look();
  }
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return result;
}

// The path of a quadratic surrogate with an exact kernel; target(i) are the `outputs` numbers that example i regresses
// onto, padded.
template <class Target>
void quadratic_kernel_path(Problem<KernelScorer> problem, const GramMatrix& gram, std::size_t outputs, Target&& target,
                           const PathRequest& request, const EmitResult& emit) {
  AlignedVector<double> a(gram.n() * kernels::padded(outputs), 0.0);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolveResult result =
        quadratic_kernel(problem, gram, outputs, target, a, solver_options(*request.options), *request.context);
    problem.scorer->set_coefficients(a, request.context->threads);
    emit(result);
  }
}

}  // namespace m4n::detail

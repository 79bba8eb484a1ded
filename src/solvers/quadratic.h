// The quadratic surrogate (QS): S(v, y) = |v + A phi(y)|^2, ridge regression of the scores onto -A phi(y). Its
// minimiser solves H w = b with
//
//   H = 2 sum_i p_i Phi_i Phi_i^T + lambda I,     b = -2 sum_i p_i Phi_i (A phi(y_i))^T,
//
// by a Cholesky factorisation while H is small enough to hold (O(n d^2 + d^3)), by conjugate gradients on all classes
// at once beyond that (O(non-zeros x k) per iteration). The certificate is that of primal_loss.h.
//
// 0-1 is written with A = -I (the paper's choice, a = 1), so that v regresses onto phi(y) itself.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "core/feature_rows.h"
#include "core/views.h"
#include "losses/cost_matrix.h"
#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/kernel_scorer.h"
#include "solvers/primal_loss.h"
#include "solvers/problem.h"

namespace m4n::detail {

inline constexpr std::size_t largest_factorised = 1024;  // features, bias included

// -A phi(y) for every y, padded rows.
inline AlignedVector<double> regression_targets(const CostMatrix& cost) {
  const std::size_t stride = kernels::padded(cost.predictions());
  AlignedVector<double> target(cost.k() * stride, 0.0);
  for (std::size_t t = 0; t < cost.k(); ++t)
    for (std::size_t p = 0; p < cost.predictions(); ++p)
      target[t * stride + p] = cost.kind() == LossKind::zero_one ? (t == p ? cost.scale() : 0.0) : -cost(t, p);
  return target;
}

// H in memory. All of Eigen that this needs is compiled in quadratic.cc, once.
class SecondMoments {
 public:
  // 2 sum_i p_i Phi_i Phi_i^T, accumulated in blocks of rows.
  SecondMoments(const FeatureRows& x, bool bias, std::span<const double> weight);
  ~SecondMoments();
  // Of this and lambda I; false where it is not positive definite in doubles.
  bool factorise(double lambda);
  // w -= H^-1 gradient, both with `stride` numbers per feature.
  void newton_step(std::span<const double> gradient, std::size_t stride, std::span<double> w) const;

 private:
  struct Matrices;
  std::unique_ptr<Matrices> matrices_;
};

// Newton's step, which is exact for a quadratic; a second one removes the rounding of the first. Nothing is returned
// where H is too ill-conditioned for that (the steps do not lower P): conjugate gradients go on from the start then.
template <class Scorer, class Loss>
std::optional<SolveResult> quadratic_direct(const Problem<Scorer>& problem, Loss& loss, SecondMoments& moments,
                                            const SolverOptions& options, const Context& context) {
  SolverStage stage(context);
  const auto taken = [](const SolveResult& found) { return found.given_up ? std::nullopt : std::optional(found); };
  if (const SolveResult* over = stage.over()) return taken(*over);
  Watch watch(context, options);
  SolveResult result;
  result.solver = "cholesky";
  AlignedVector<double>& w = problem.scorer->raw();
  const auto state = [&](auto& a) { a(*problem.scorer); };
  stage.begin(state);
  stage.pause(state);
  stage.pause_at_end(state);  // it is short: whoever goes on begins it again
  if (!moments.factorise(problem.lambda)) {
    result.given_up = true;
    return taken(stage.finish(result));
  }
  AlignedVector<double> gradient, last = w;
  BestPoint<Scorer> best;
  for (int step = 0; step <= 2; ++step) {
    best.offer(loss.certificate(*loss.evaluate(gradient, nullptr), gradient), *problem.scorer);
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
    if (step == 2 || watch.expired() || result.epochs == options.epochs) break;
    ++result.epochs;
    moments.newton_step(gradient, problem.scorer->largest_padded_parts(), w);
  }
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  result.given_up = !result.certificate.converged && !watch.expired();
  if (result.given_up) w = last;
  return taken(stage.finish(result));
}

// One conjugate-gradient iteration for every class, each with its own step lengths.
template <class Scorer, class Loss, class Curvature>
SolveResult quadratic_cg(const Problem<Scorer>& problem, Loss& loss, Curvature& curvature, const SolverOptions& options,
                         const Context& context) {
  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  SolveResult result;
  result.solver = "cg";
  AlignedVector<double>& w = problem.scorer->raw();
  const std::size_t stride = problem.scorer->largest_padded_parts();
  std::size_t pass_work = 0;
  for (std::size_t i = 0; i < problem.examples(); ++i) pass_work += 2 * problem.scorer->work(i);
  const auto by_class = [&](const AlignedVector<double>& a, const AlignedVector<double>& b) {
    std::vector<double> out(stride, 0.0);
    for (std::size_t j = 0; j < a.size(); ++j) out[j % stride] += a[j] * b[j];
    return out;
  };

  AlignedVector<double> gradient, direction, image;
  bool stopped = false;
  BestPoint<Scorer> best;
  const auto look = [&] {
    best.offer(loss.certificate(*loss.evaluate(gradient, nullptr), gradient), *problem.scorer);
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
  };
  look();
  direction = gradient;
  std::vector<double> squared = by_class(gradient, gradient);
  const auto state = [&](auto& a) {
    a(watch, result, *problem.scorer);
    a.fixed(gradient, direction, squared);
    best.archive(a, *problem.scorer);
  };
  stage.begin(state);
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    stage.pause(state);
    w.swap(direction);
    curvature.evaluate(image, nullptr);  // H direction
    w.swap(direction);
    const std::vector<double> bend = by_class(direction, image);
    for (std::size_t j = 0; j < w.size(); ++j) {
      const std::size_t c = j % stride;
      if (bend[c] > 0) w[j] -= squared[c] / bend[c] * direction[j];
    }
    ++result.epochs;
    stopped = watch.stopped(2 * pass_work);
    look();
    const std::vector<double> now = by_class(gradient, gradient);
    for (std::size_t j = 0; j < w.size(); ++j) {
      const std::size_t c = j % stride;
      direction[j] = gradient[j] + (squared[c] > 0 ? now[c] / squared[c] : 0.0) * direction[j];
    }
    squared = now;
  }
  stage.pause_at_end(state);
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return stage.finish(result);
}

// The path of a quadratic surrogate with linear features: `loss` is S(v, y) with its slope, `curvature` the same
// without its targets (both as PrimalLoss wants them).
template <class Scorer, class Loss, class Curvature>
void quadratic_path(Problem<Scorer> problem, const FeatureRows& x, bool bias, const Loss& loss,
                    const Curvature& curvature, const PathRequest& request, const EmitResult& emit) {
  const SolverOptions options = solver_options(*request.options);
  std::optional<SecondMoments> moments;
  if (x.cols() + (bias ? 1 : 0) <= largest_factorised) moments.emplace(x, bias, problem.weight);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss own(problem, loss, request.context->threads);
    PrimalLoss second(problem, curvature, request.context->threads);
    std::optional<SolveResult> result;
    if (moments) result = quadratic_direct(problem, own, *moments, options, *request.context);
    emit(result ? *result : quadratic_cg(problem, own, second, options, *request.context));
  }
}

// The quadratic surrogate with an exact kernel: kernel ridge regression. With w = sum_i Phi_i a_i^T and targets t_i =
// -A phi(y_i)
//
//   (K + diag(lambda / (2 p_i))) a = t,
//
// by conjugate gradients on all classes at once, O(n^2 k) per iteration. With g_i = 2 p_i (v_i - t_i) + lambda a_i the
// gradient of P is sum_i Phi_i g_i^T, so the certificate of primal_loss.h reads D = P - g.(K g) / (2 lambda).

// target(i): the padded row of targets of example i. Starts from the coefficients `a` and leaves the solution there.
template <class Target>
SolveResult quadratic_kernel(const Problem<KernelScorer>& problem, const GramMatrix& gram, std::size_t k,
                             const Target& target, AlignedVector<double>& a, const SolverOptions& options,
                             const Context& context) {
  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  SolveResult result;
  result.solver = "cg";
  const std::size_t n = gram.n(), stride = std::max<std::size_t>(kernels::padded(k), 1);
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
    result.certificate = with_verdict(result.certificate, options.tol);
    watch.report(result.epochs, result.certificate);
  };
  look();
  const auto state = [&](auto& archive) {
    archive(watch, result);
    archive.fixed(a, v, residual, direction, squared);
  };
  stage.begin(state);
  bool stopped = false;
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    stage.pause(state);
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
    if (result.epochs % 5 == 0) look();
  }
  stage.pause_at_end(state);
  if (result.epochs % 5 != 0) look();  // no part of the state: a run that is not stopped does not look here
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return stage.finish(result);
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

// The smooth solver (smooth.h) for surrogates that fall apart into one-dimensional ones, a score each: labels that are
// on or off without edges. Each output j is then a problem of its own in d weights,
//
//   P_j(w) = sum_i p_i S_ij(x_i.w) + lambda/2 |w|^2,
//
// whose smoothed function is quadratic piece by piece, so that Newton's method with an exact line search replaces
// L-BFGS: with J the examples that stand on a slope of it, not at a kink,
//
//   Hessian = lambda I + sum over i in J of (p_i/g) x_i x_i^T.
//
// A few steps end at a minimum, then the centres move. Only examples that enter or leave J change the Hessian. A step
// costs three passes over one output's examples, d^2 for every such example, and d^3/6. Outputs are solved one by one,
// each to the relative gap that is asked of all, each by one thread: the digits do not depend on their number.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/free_moments.h"
#include "solvers/linear_scorer.h"

namespace m4n::detail {

// Output j of an example with the labels y, as a function of one score s and one mean m:
//   conjugate(s) = max over m of s m - Omega(m);  neg_omega(m);  prox(s, c, m), the new m;
//   free(m): whether a prox that ended at m would end elsewhere for a slightly different s.
template <class S>
concept SurrogateOfOutputs = ProxSurrogate<S> && requires(const S s, LabelView y, double x) {
  { s.output(0, y).conjugate(x) } -> std::convertible_to<double>;
  { s.output(0, y).neg_omega(x) } -> std::convertible_to<double>;
  { s.output(0, y).prox(x, x, x) } -> std::convertible_to<double>;
  { s.output(0, y).free(x) } -> std::convertible_to<bool>;
};

// One output at a time; all its memory is made at once.
template <SurrogateOfOutputs S>
class OutputNewton {
 public:
  OutputNewton(const Problem<LinearScorer>& problem, const S& surrogate, DualPoint<S>& dual)
      : problem_(&problem),
        surrogate_(&surrogate),
        dual_(&dual),
        moments_(problem.scorer->features(), problem.scorer->has_bias(), problem.weight),
        free_(problem.examples()),
        s_(problem.examples()),
        slope_(problem.examples()),
        mean_(problem.examples()),
        w_(moments_.size()),
        best_w_(w_),
        gradient_(w_),
        direction_(w_) {}

  struct Outcome {
    Certificate certificate;
    int passes = 0;  // evaluations of value and gradient
  };
  // From the weights that the scorer holds and the centres in the dual point; leaves the best weights, and the dual
  // point of the last ones.
  Outcome solve(std::size_t j, const SolverOptions& options, const Watch& watch) {
    j_ = j;
    g_ = first_smoothing * surrogate_->scale();
    take_weights();
    moments_.clear();
    Outcome out;
    double primal = std::numeric_limits<double>::infinity(), dual = -primal;
    while (true) {
      ++out.passes;
      evaluate();
      if (primal_ < primal) std::copy(w_.begin(), w_.end(), best_w_.begin());
      primal = std::min(primal, primal_);
      dual = std::max(dual, dual_value_);
      out.certificate = with_verdict({primal, dual, false}, options.tol);
      if (out.certificate.converged || out.passes >= options.epochs || watch.expired()) break;
      if (far_ <= std::max(primal_ - smoothed_, 1e-14 * std::abs(smoothed_))) {
        for (std::size_t i = 0; i < mean_.size(); ++i) centre(i) = mean_[i];
        if (g_ < 1e-12 * surrogate_->scale()) break;  // the limit of double precision
        g_ /= fade;
      } else if (!step()) {
        break;
      }
    }
    for (std::size_t i = 0; i < mean_.size(); ++i) centre(i) = mean_[i];
    leave_weights();
    return out;
  }

 private:
  static constexpr double first_smoothing = 0.5;  // in units of the costs
  static constexpr double fade = 2;               // when the centres move

  double& centre(std::size_t i) { return dual_->mu[i * surrogate_->space().parts() + j_]; }
  double truth(std::size_t i) const { return surrogate_->space().sign(problem_->y(i)[j_]); }

  // w and the scores s = X w.
  void take_weights() {
    const LinearScorer& scorer = *problem_->scorer;
    for (std::size_t f = 0; f < w_.size(); ++f) w_[f] = scorer.raw()[f * scorer.largest_padded_parts() + j_];
    multiply(w_, s_);
  }
  void leave_weights() {
    LinearScorer& scorer = *problem_->scorer;
    for (std::size_t f = 0; f < w_.size(); ++f) scorer.raw()[f * scorer.largest_padded_parts() + j_] = best_w_[f];
  }
  void multiply(std::span<const double> w, std::span<double> out) const {
    const LinearScorer& scorer = *problem_->scorer;
    const double bias = scorer.has_bias() ? w.back() : 0;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bias + scorer.features().product(i, w);
  }

  // Everything at w: value and gradient of the smoothed function, P and D.
  void evaluate() {
    const LinearScorer& scorer = *problem_->scorer;
    const double lambda = problem_->lambda;
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    double smoothed = 0, exact = 0, risk = 0, bias = 0;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      const auto output = surrogate_->output(j_, problem_->y(i));
      const double s = s_[i], c = centre(i), m = output.prox(s, g_, c), own = output.neg_omega(m), y = truth(i),
                   p = problem_->weight[i];
      mean_[i] = m;
      free_[i] = output.free(m) ? 1 : 0;
      smoothed += p * (s * (m - y) + own - 0.5 * g_ * (m - c) * (m - c));
      exact += p * (output.conjugate(s) - s * y);
      risk += p * own;
      const double slope = p * (m - y);
      scorer.features().add(i, slope, gradient_);
      bias += slope;
    }
    if (scorer.has_bias()) gradient_.back() += bias;
    const double norm = 0.5 * lambda * kernels::dot(w_, w_);
    smoothed_ = smoothed + norm;
    primal_ = exact + norm;
    dual_value_ = risk - 0.5 / lambda * kernels::dot(gradient_, gradient_);
    for (std::size_t f = 0; f < w_.size(); ++f) gradient_[f] += lambda * w_[f];
    far_ = kernels::dot(gradient_, gradient_) / (2 * lambda);
  }

  // Newton's step, as far along as the function falls. False where rounding leaves no way down.
  bool step() {
    moments_.follow(free_);
    std::copy(gradient_.begin(), gradient_.end(), direction_.begin());
    if (!moments_.solve(problem_->lambda, g_, direction_)) return false;
    for (double& x : direction_) x = -x;
    multiply(direction_, slope_);
    const double first = kernels::dot(direction_, gradient_);
    if (!(first < 0)) return false;
    const double t = length_of_step(first);
    for (std::size_t f = 0; f < w_.size(); ++f) w_[f] += t * direction_[f];
    for (std::size_t i = 0; i < s_.size(); ++i) s_[i] += t * slope_[i];
    return true;
  }
  // Where the derivative along the direction, negative at first, has nearly vanished. It never falls: bisection.
  double length_of_step(double first) {
    constexpr double enough = 0.1;
    const double along = kernels::dot(w_, direction_), squared = kernels::dot(direction_, direction_);
    const auto derivative = [&](double t) {
      double sum = problem_->lambda * (along + t * squared);
      for (std::size_t i = 0; i < s_.size(); ++i) {
        const auto output = surrogate_->output(j_, problem_->y(i));
        sum += problem_->weight[i] * (output.prox(s_[i] + t * slope_[i], g_, centre(i)) - truth(i)) * slope_[i];
      }
      return sum;
    };
    if (derivative(1) <= 0.5 * -first) return 1;
    double low = 0, high = 1;
    for (int trial = 0; trial < 40; ++trial) {
      const double t = 0.5 * (low + high), now = derivative(t);
      if (now > enough * -first) {
        high = t;
      } else if (now < (1 - enough) * first) {
        low = t;
      } else {
        return t;
      }
    }
    return low;
  }

  const Problem<LinearScorer>* problem_;
  const S* surrogate_;
  DualPoint<S>* dual_;
  FreeMoments moments_;
  std::vector<std::uint8_t> free_;
  std::vector<double> s_, slope_, mean_;
  std::vector<double> w_, best_w_, gradient_, direction_;
  std::size_t j_ = 0;
  double g_ = 0;
  double smoothed_ = 0, primal_ = 0, dual_value_ = 0, far_ = 0;
};

// What Newton's method costs a path's next lambda. It is for problems whose matrices of d^2 take no more memory than
// L-BFGS and the dual point would; there are few features then, and d^2 is little beside n d.
struct NewtonCost {
  bool fits = false;
  double work = 0;  // multiply-adds
};
inline NewtonCost newton_cost(const LinearScorer& scorer) {
  constexpr double steps = 6, free_share = 0.12;  // measured on emotions and yeast
  const auto stride = static_cast<double>(scorer.largest_padded_parts()), n = static_cast<double>(scorer.examples());
  const double d = static_cast<double>(scorer.raw().size()) / stride;
  const auto pass = static_cast<double>(scorer.features().entries(0, scorer.examples()));
  return {2 * d <= 16 * stride + n * stride / d,
          static_cast<double>(scorer.parts(0)) * steps * (6 * pass + free_share * n * d * d + d * d * d / 2)};
}

// All outputs, each to the relative gap asked for. Progress is told after every round of as many outputs as there are
// threads.
template <SurrogateOfOutputs S>
SolveResult newton(const Problem<LinearScorer>& problem, const S& surrogate, DualPoint<S>& dual,
                   const SolverOptions& options, const Context& context) {
  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  const std::size_t outputs = problem.scorer->parts(0);
  const unsigned workers = static_cast<unsigned>(std::min<std::size_t>(thread_count(context.threads), outputs));
  std::vector<OutputNewton<S>> own;
  for (unsigned w = 0; w < workers; ++w) own.emplace_back(problem, surrogate, dual);
  // The certificates of the outputs: at first those of no weights at all.
  std::vector<Certificate> parts(outputs);
  for (std::size_t j = 0; j < outputs; ++j)
    for (std::size_t i = 0; i < problem.examples(); ++i)
      parts[j].primal += problem.weight[i] * surrogate.output(j, problem.y(i)).conjugate(0);
  SolveResult result;
  result.solver = "smooth";
  std::size_t done = 0;  // outputs
  const auto state = [&](auto& a) {
    a(watch, result, *problem.scorer, done);
    a.fixed(parts);
    a.expect(done <= outputs);
  };
  stage.begin(state);
  // Weights and dual point of outputs first to first + count - 1, exchanged with what they were before.
  std::vector<double> before;
  const auto exchange = [&](std::size_t first, std::size_t count) {
    std::size_t next = 0;
    const auto columns = [&](std::span<double> rows, std::size_t stride) {
      before.resize(std::max(before.size(), next + rows.size() / stride * count));
      for (std::size_t r = 0; r < rows.size(); r += stride)
        for (std::size_t c = 0; c < count; ++c) std::swap(rows[r + first + c], before[next++]);
    };
    columns(problem.scorer->raw(), problem.scorer->largest_padded_parts());
    columns(dual.mu, outputs);
  };
  bool stopped = false;  // or out of passes: a run that is resumed begins with the outputs that were being solved
  while (done < outputs) {
    if (!stopped) stage.pause(state);
    const std::size_t first = done;
    const std::size_t count = std::min<std::size_t>(workers, outputs - first);
    if (stage.saves_at_end() && !stopped) {
      exchange(first, count);
      const std::vector<double> kept = before;
      exchange(first, count);
      before = kept;
    }
    std::vector<typename OutputNewton<S>::Outcome> found(count);
    parallel_chunks(count, 1, workers, [&](std::size_t c, std::size_t, std::size_t, unsigned worker) {
      found[c] = own[worker].solve(first + c, options, watch);
    });
    // What outputs that ran out of passes reached is no part of the state: a run that is resumed with more goes on
    // anew.
    const bool out_of_passes = std::any_of(found.begin(), found.end(), [&](const auto& one) {
      return !one.certificate.converged && one.passes >= options.epochs;
    });
    if (!stopped && (watch.expired() || out_of_passes)) {
      stopped = true;
      if (stage.saves_at_end()) {
        exchange(first, count);
        stage.pause_at_end(state);
        exchange(first, count);
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      parts[first + c] = found[c].certificate;
      result.epochs = std::max(result.epochs, found[c].passes);
      result.oracle_calls += static_cast<std::uint64_t>(found[c].passes) * problem.examples() / outputs;
    }
    Certificate sum;
    for (const Certificate& part : parts) {
      sum.primal += part.primal;
      sum.dual += part.dual;
    }
    result.certificate = with_verdict(sum, options.tol);
    watch.report(result.epochs, result.certificate);
    done += count;
  }
  if (!stopped) stage.pause_at_end(state);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return stage.finish(result);
}

}  // namespace m4n::detail

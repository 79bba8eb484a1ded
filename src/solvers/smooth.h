// The smooth solver: L-BFGS on a smoothed surrogate. With a centre c_i for every example
//
//   S_g(v, y) = max over mu of  v.mu - Omega_y(mu) - (g/2)|mu - c_i|^2   - v.phi(y),       gradient  mu_g(v) - phi(y).
//
// mu_g is feasible and the gradient's data part is -lambda w(mu_g), so D(mu_g) comes with every evaluation and bounds
// the optimum from below. P(w) takes the exact value of the game at the same scores. When the gradient is small beside
// what the smoothing costs (|grad P_g|^2 / (2 lambda) bounds how far P_g is from its minimum), the centres move to mu_g
// and g becomes smaller. That is the proximal point method on the dual: it converges for any g, so that g need not be
// tiny and L-BFGS never meets a kink.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "solvers/gradient_pass.h"
#include "solvers/lbfgs.h"
#include "solvers/primal_loss.h"

namespace m4n::detail {

// Of the smoothing to begin with, in units of the costs.
inline constexpr double first_smoothing = 0.25;

// A surrogate that is smooth itself.
template <class S>
concept IsSmooth = requires(const S s, std::span<const double> v, LabelView y, std::span<double> gradient) {
  s.slope(v, y, gradient);
};

// Of every example the smoothed loss, the exact one and -Omega(mu), times their weights.
using SmoothSums = std::array<double, 3>;

// One pass over examples in memory, whose centres are in `dual`. Problem, surrogate and dual point must outlive it.
template <class Scorer, ProxSurrogate S>
class SmoothPass : public GradientPass<Scorer> {
 public:
  SmoothPass(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, unsigned threads)
      : GradientPass<Scorer>(problem, threads), problem_(&problem), surrogate_(&surrogate), dual_(&dual) {
    for (unsigned w = 0; w < this->workers(); ++w)
      own_.push_back({surrogate.workspace(), AlignedVector<double>(problem.scorer->largest_padded_parts())});
  }

  // The sums at the point, and the data part of the gradient. `moving`: the centres move first, to the maximisers at
  // the point by that smoothing. Returns false where the watch says stop.
  bool sum(const Watch* watch, std::optional<double> moving, double smoothing, SmoothSums& sums,
           AlignedVector<double>& gradient) {
    return this->run(watch, sums, gradient,
                     [&](unsigned worker, std::size_t i, std::span<const double> v, std::span<double> mu,
                         SmoothSums& sum) { visit(own_[worker], i, v, moving, smoothing, mu, sum); });
  }
  void remember() { before_ = *dual_; }
  void take_back() { *dual_ = before_; }

 private:
  struct Worker {
    typename S::Workspace workspace;
    AlignedVector<double> centre;
  };

  void visit(Worker& own, std::size_t i, std::span<const double> v, std::optional<double> moving, double smoothing,
             std::span<double> mu, SmoothSums& sum) {
    auto& [workspace, centre] = own;
    const LabelView y = problem_->y(i);
    const double p = problem_->weight[i];
    const std::size_t parts = surrogate_->space().parts();
    if constexpr (IsSmooth<S>) {
      const double value = surrogate_->slope(v, y, mu);
      double along = 0;
      for (std::size_t j = 0; j < parts; ++j) along += v[j] * mu[j];
      sum[0] += p * value;
      sum[1] += p * value;
      sum[2] += p * (value - along);  // Omega*(v) - v.mu
    } else {
      const auto state = dual_->state_of(i);
      dual_->load(i, centre);
      if (moving) {
        surrogate_->prox(v, *moving, y, centre, state, workspace);
        dual_->store(i, centre);
      }
      std::copy(centre.begin(), centre.end(), mu.begin());
      surrogate_->prox(v, smoothing, y, mu, state, workspace);
      const double risk = surrogate_->neg_omega(mu, y, workspace);
      double score = 0, distance = 0;
      for (std::size_t j = 0; j < parts; ++j) {
        score += v[j] * mu[j];
        distance += (mu[j] - centre[j]) * (mu[j] - centre[j]);
      }
      const double truth = surrogate_->space().score(v, y);
      sum[0] += p * (score + risk - 0.5 * smoothing * distance - truth);
      sum[1] += p * (surrogate_->conjugate(v, y, state, workspace) - truth);
      sum[2] += p * risk;
      surrogate_->space().embed(y, centre);
      kernels::difference(mu, centre, mu);
    }
  }

  const Problem<Scorer>* problem_;
  const S* surrogate_;
  DualPoint<S>* dual_;
  DualPoint<S> before_;
  std::vector<Worker> own_;
};

// The smoothed objective and its certificate, whoever takes the passes: examples in memory (SmoothPass) or others who
// have them (solvers/rounds.h). A smoothing of 0: the surrogate is smooth itself.
template <class Pass>
class SmoothLoss {
 public:
  SmoothLoss(Pass& pass, double lambda, double smoothing) : pass_(&pass), lambda_(lambda), smoothing_(smoothing) {}

  double smoothing() const { return smoothing_; }
  AlignedVector<double>& point() { return pass_->point(); }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    return pass_->inner(a, b);
  }
  void settle() { pass_->settle(); }

  std::optional<double> evaluate(AlignedVector<double>& gradient, const Watch* watch) {
    SmoothSums sums{};
    std::optional<double> moving;
    if (move_) {
      moving = smoothing_;
      smoothing_ /= fade;
    }
    if (!pass_->sum(watch, moving, smoothing_, sums, gradient)) return std::nullopt;
    move_ = false;
    const double norm = 0.5 * lambda_ * inner(point(), point());
    certificate_.primal = sums[1] + norm;
    certificate_.dual = sums[2] - inner(gradient, gradient) / (2 * lambda_);
    pass_->add_point(lambda_, gradient);
    return sums[0] + norm;
  }
  Certificate certificate(double /*value*/, const AlignedVector<double>& /*gradient*/) const { return certificate_; }

  // The dual point is kept by who owns it; evaluating changes it all the same.
  template <class Archive>
  void archive(Archive& a) {
    a(smoothing_, certificate_, move_);
  }
  void remember() {
    pass_->remember();
    before_ = {smoothing_, certificate_, move_};
  }
  void take_back() {
    pass_->take_back();
    smoothing_ = before_.smoothing;
    certificate_ = before_.certificate;
    move_ = before_.move;
  }
  // The centres become the dual point of the present weights.
  void move_centres() {
    AlignedVector<double> gradient;
    move_ = true;
    evaluate(gradient, nullptr);
  }

  bool sharpen(double value, const AlignedVector<double>& gradient) {
    const double far = inner(gradient, gradient) / (2 * lambda_), smoothed = certificate_.primal - value;
    return move_ = smoothing_ > 0 && far <= std::max(smoothed, 1e-14 * std::abs(value));
  }

 private:
  static constexpr double fade = 2;  // of the smoothing, when the centres move

  Pass* pass_;
  double lambda_, smoothing_;
  Certificate certificate_;
  bool move_ = false;  // the centres, at the next evaluation
  struct Before {
    double smoothing = 0;
    Certificate certificate;
    bool move = false;
  };
  Before before_;
};

// The surrogate must take its proximal steps to the end: values and gradients belong together.
template <class Scorer, ProxSurrogate S>
SolveResult smooth_by(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, double& smoothing,
                      const SolverOptions& options, const Context& context, const GiveUp& give_up) {
  SmoothPass pass(problem, surrogate, dual, context.threads);
  SmoothLoss loss(pass, problem.lambda, smoothing);
  SolveResult result = lbfgs(problem.examples(), loss, options, context, give_up);
  smoothing = loss.smoothing();
  const bool told_to_stop =
      result.interrupted || result.given_up || (options.time_limit > 0 && result.seconds >= options.time_limit);
  // The next solver, or the next fit, starts from there.
  if (!told_to_stop && (context.start || !result.certificate.converged)) loss.move_centres();
  result.solver = "smooth";
  return result;
}

// From the weights that the scorer holds and the centres in `dual`; leaves the best weights, and in `dual` the last
// centres, or the dual point of these weights where another solver or fit goes on. `smoothing` is where to begin, and
// then where it ended. CRF needs none.
template <class Scorer, ProxSurrogate S>
SolveResult smooth(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, double& smoothing,
                   const SolverOptions& options, const Context& context, const GiveUp& give_up = {}) {
  if constexpr (IsSmooth<S>) {
    const auto slope_of = [&](std::span<const double> v, LabelView y, std::span<double> slope) {
      return surrogate.slope(v, y, slope);
    };
    PrimalLoss loss(problem, slope_of, context.threads);
    SolveResult result = lbfgs(problem.examples(), loss, options, context, give_up);
    AlignedVector<double> v(problem.scorer->largest_padded_parts()), mu(v.size());
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      problem.scorer->scores(i, v);
      surrogate.space().marginals(v, mu);
      dual.store(i, mu);
    }
    return result;
  } else if constexpr (requires { surrogate.thorough(); }) {
    return smooth_by(problem, surrogate.thorough(), dual, smoothing, options, context, give_up);
  } else {
    return smooth_by(problem, surrogate, dual, smoothing, options, context, give_up);
  }
}

}  // namespace m4n::detail

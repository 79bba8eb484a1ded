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

// A surrogate that is smooth itself.
template <class S>
concept IsSmooth = requires(const S s, std::span<const double> v, LabelView y, std::span<double> gradient) {
  s.slope(v, y, gradient);
};

template <class Scorer, ProxSurrogate S>
class SmoothLoss {
 public:
  SmoothLoss(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, double smoothing, unsigned threads)
      : problem_(problem), surrogate_(&surrogate), dual_(&dual), smoothing_(smoothing), pass_(problem_, threads) {
    for (unsigned w = 0; w < pass_.workers(); ++w)
      own_.push_back({surrogate.workspace(), AlignedVector<double>(problem.scorer->largest_padded_parts())});
  }
  SmoothLoss(const SmoothLoss&) = delete;  // the pass points to the problem
  SmoothLoss& operator=(const SmoothLoss&) = delete;
  ~SmoothLoss() = default;

  double smoothing() const { return smoothing_; }
  AlignedVector<double>& point() { return pass_.point(); }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    return pass_.inner(a, b);
  }
  void settle() { pass_.settle(); }

  std::optional<double> evaluate(AlignedVector<double>& gradient, const Watch* watch) {
    std::array<double, 3> sums{};  // smoothed, exact, -Omega
    const double last = smoothing_;
    if (move_) smoothing_ /= fade;
    const auto visit = [&](unsigned worker, std::size_t i, std::span<const double> v, std::span<double> mu,
                           std::array<double, 3>& sum) {
      auto& [workspace, centre] = own_[worker];
      const LabelView y = problem_.y(i);
      const auto state = dual_->state_of(i);
      const std::size_t parts = surrogate_->space().parts();
      dual_->load(i, centre);
      if (move_) {
        surrogate_->prox(v, last, y, centre, state, workspace);
        dual_->store(i, centre);
      }
      std::copy(centre.begin(), centre.end(), mu.begin());
      surrogate_->prox(v, smoothing_, y, mu, state, workspace);
      const double risk = surrogate_->neg_omega(mu, y, workspace);
      double score = 0, distance = 0;
      for (std::size_t j = 0; j < parts; ++j) {
        score += v[j] * mu[j];
        distance += (mu[j] - centre[j]) * (mu[j] - centre[j]);
      }
      const double truth = surrogate_->space().score(v, y), p = problem_.weight[i];
      sum[0] += p * (score + risk - 0.5 * smoothing_ * distance - truth);
      sum[1] += p * (surrogate_->conjugate(v, y, state, workspace) - truth);
      sum[2] += p * risk;
      surrogate_->space().embed(y, centre);
      kernels::difference(mu, centre, mu);
    };
    if (!pass_.run(watch, sums, gradient, visit)) return std::nullopt;
    move_ = false;
    const double lambda = problem_.lambda;
    const double norm = 0.5 * lambda * inner(point(), point());
    certificate_.primal = sums[1] + norm;
    certificate_.dual = sums[2] - inner(gradient, gradient) / (2 * lambda);
    pass_.add_point(lambda, gradient);
    return sums[0] + norm;
  }
  Certificate certificate(double /*value*/, const AlignedVector<double>& /*gradient*/) const { return certificate_; }

  // The dual point is kept by who owns it; evaluating changes it all the same.
  template <class Archive>
  void archive(Archive& a) {
    a(smoothing_, certificate_, move_);
  }
  void remember() { before_ = {*dual_, smoothing_, certificate_, move_}; }
  void take_back() {
    *dual_ = before_.dual;
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
    const double far = inner(gradient, gradient) / (2 * problem_.lambda), smoothed = certificate_.primal - value;
    return move_ = far <= std::max(smoothed, 1e-14 * std::abs(value));
  }

 private:
  static constexpr double fade = 2;  // of the smoothing, when the centres move

  Problem<Scorer> problem_;
  const S* surrogate_;
  DualPoint<S>* dual_;
  double smoothing_;
  GradientPass<Scorer> pass_;
  struct Worker {
    typename S::Workspace workspace;
    AlignedVector<double> centre;
  };
  std::vector<Worker> own_;
  Certificate certificate_;
  bool move_ = false;  // the centres, at the next evaluation
  struct Before {
    DualPoint<S> dual;
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
  SmoothLoss loss(problem, surrogate, dual, smoothing, context.threads);
  SolveResult result = lbfgs(problem, loss, options, context, give_up);
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
    SolveResult result = lbfgs(problem, loss, options, context, give_up);
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

// The paper's approximate max-min oracle: saddle-point mirror prox (its Algorithm 2) on
//
//   max over mu, min over nu in M of  nu^T A mu + v.mu
//
// with the entropy of the space as mirror map, so that a projection is a call of space.marginals. In natural
// parameters a step is theta += eta * gradient. eta = 1 / (2 (max A - min A)). K iterations, 4 projections each; the
// answer is the average of the iterates, within O(1/K) of a saddle point.
#pragma once
#include <cmath>
#include <span>

#include "core/views.h"

namespace m4n::detail {

template <class Space, class PartLoss>
class MirrorProx {
 public:
  struct Workspace {
    AlignedVector<double> theta_mu, theta_nu, mu, nu, mu_half, nu_half, gradient_mu, gradient_nu, trial;
  };
  MirrorProx(const Space& space, const PartLoss& loss, double range, int iterations)
      : space_(&space), loss_(&loss), eta_(1 / (2 * range)), iterations_(iterations) {}
  Workspace workspace() const {
    const AlignedVector<double> zero(space_->padded_parts());
    return {zero, zero, zero, zero, zero, zero, zero, zero, zero};
  }

  // Arithmetic of one call, in multiply-adds: two products with A and four softmaxes per iteration.
  std::size_t work() const {
    const std::size_t parts = space_->padded_parts();
    return static_cast<std::size_t>(iterations_) * parts * (4 * parts + 64);
  }

  // mu, nu: the starting point (in the interior of M) on entry, the averaged iterates on return.
  void solve(ScoreView v, std::span<double> mu, std::span<double> nu, Workspace& ws) const {
    const std::size_t parts = space_->parts();
    for (std::size_t j = 0; j < mu.size(); ++j) {
      ws.theta_mu[j] = j < parts ? std::log(std::max(mu[j], 1e-300)) : kernels::padding_score;
      ws.theta_nu[j] = j < parts ? std::log(std::max(nu[j], 1e-300)) : kernels::padding_score;
      ws.mu[j] = mu[j];
      ws.nu[j] = nu[j];
      mu[j] = nu[j] = 0;
    }
    const double share = 1.0 / iterations_;
    for (int iteration = 0; iteration < iterations_; ++iteration) {
      gradients(v, ws.mu, ws.nu, ws);
      step(ws.theta_mu, ws.gradient_mu, eta_, ws.trial, ws.mu_half);
      step(ws.theta_nu, ws.gradient_nu, -eta_, ws.trial, ws.nu_half);
      gradients(v, ws.mu_half, ws.nu_half, ws);
      step(ws.theta_mu, ws.gradient_mu, eta_, ws.theta_mu, ws.mu);
      step(ws.theta_nu, ws.gradient_nu, -eta_, ws.theta_nu, ws.nu);
      for (std::size_t j = 0; j < mu.size(); ++j) {
        mu[j] += share * ws.mu[j];
        nu[j] += share * ws.nu[j];
      }
    }
  }

 private:
  void gradients(ScoreView v, std::span<const double> mu, std::span<const double> nu, Workspace& ws) const {
    loss_->apply_transposed(nu, ws.gradient_mu);
    loss_->apply(mu, ws.gradient_nu);
    for (std::size_t j = 0; j < space_->parts(); ++j) ws.gradient_mu[j] += v[j];
  }
  // out = marginals(theta + eta * gradient), moved = the new parameters (may be theta itself).
  void step(std::span<const double> theta, std::span<const double> gradient, double eta, std::span<double> moved,
            std::span<double> out) const {
    for (std::size_t j = 0; j < theta.size(); ++j) moved[j] = theta[j] + eta * gradient[j];
    space_->marginals(moved, out);
  }

  const Space* space_;
  const PartLoss* loss_;
  double eta_;
  int iterations_;
};

}  // namespace m4n::detail

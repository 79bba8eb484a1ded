#include "oracle/birkhoff_interior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "space/sinkhorn.h"

namespace m4n {
namespace {

// The largest step in (0, 1] that keeps x + step dx >= 0, a share of it.
double step_to_boundary(std::span<const double> x, std::span<const double> dx, std::span<const double> y,
                        std::span<const double> dy, double share) {
  double steepest = 0;
  for (std::size_t e = 0; e < x.size(); ++e) steepest = std::max(steepest, std::max(-dx[e] / x[e], -dy[e] / y[e]));
  return steepest * 1 <= share ? 1 : share / steepest;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) sum += a[e] * b[e];
  return sum;
}

}  // namespace

BirkhoffAnswer BirkhoffInterior::solve(std::span<const double> scores, const PositionLoss& loss,
                                       const BirkhoffLimits& limits) {
  referee_.start(scores, loss);
  return solve(referee_, limits);
}

BirkhoffAnswer BirkhoffInterior::solve(BirkhoffReferee& referee, const BirkhoffLimits& limits) {
  start(referee, 0, {});
  const int rounds = iterate(limits.gap * referee.loss().range() / unit_, limits.rounds);
  round_to_birkhoff(p_, size_, rows_, columns_);
  round_to_birkhoff(q_, size_, rows_, columns_);
  BirkhoffAnswer answer = referee.judge(p_, q_);
  answer.rounds = rounds;
  return answer;
}

// A cell below -2 M (largest w + kappa) loses more than the loss and the proximal term could give back along any cycle
// through it: its P is 0, and the cut changes nothing.
BirkhoffAnswer BirkhoffInterior::prox(std::span<const double> scores, const PositionLoss& loss, double kappa,
                                      std::span<const double> centre, const BirkhoffLimits& limits) {
  double farthest = 1;
  for (const double x : centre) farthest = std::max(farthest, std::abs(x) + 1);
  const double largest = *std::max_element(loss.weights().begin(), loss.weights().end());
  referee_.start(scores, loss, 4 * static_cast<double>(loss.size()) * (largest + kappa * farthest));
  start(referee_, kappa, centre);
  const int rounds = iterate(limits.gap * std::max(loss.range(), kappa) / unit_, limits.rounds);
  round_to_birkhoff(p_, size_, rows_, columns_);
  round_to_birkhoff(q_, size_, rows_, columns_);
  double distance = 0;
  for (std::size_t e = 0; e < p_.size(); ++e) distance += (p_[e] - centre[e]) * (p_[e] - centre[e]);
  const double risk = referee_.risk(p_), lower = referee_.linear(p_) + risk - kappa / 2 * distance;
  const double upper = std::max(upper_bound(referee_, kappa, centre), lower);
  return {{referee_.top() + lower, referee_.top() + upper}, loss.constant() + risk, p_, q_, rounds};
}

// For any Q and any u, v:  sum u + sum v + max over P >= 0 of <C + A^T Q - u (+) v, P> - (kappa/2) |P - P0|^2,  which
// is attained entry by entry at P = (P0 + g / kappa)_+. Without the constant of the loss.
double BirkhoffInterior::upper_bound(const BirkhoffReferee& referee, double kappa,
                                     std::span<const double> centre) const {
  const auto scores = referee.scores();
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const double w = unit_ * weight_[i];
    sum += w + unit_ * (u_[i] + v_[i]);
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t e = i * size_ + j;
      const double gain = scores[e] - w * q_[e] - unit_ * (u_[i] + v_[j]);
      const double best = std::max(centre[e] + gain / kappa, 0.0), moved = best - centre[e];
      sum += gain * best - kappa / 2 * moved * moved;
    }
  }
  return sum;
}

void BirkhoffInterior::start(const BirkhoffReferee& referee, double kappa, std::span<const double> centre) {
  const PositionLoss& loss = referee.loss();
  const std::size_t m = size_ = loss.size();
  const double share = 1 / static_cast<double>(m);
  weight_.assign(loss.weights().begin(), loss.weights().end());
  unit_ = *std::max_element(weight_.begin(), weight_.end());
  if (!(unit_ > 0)) unit_ = 1;
  for (double& w : weight_) w /= unit_;
  kappa_ = kappa / unit_;
  newton_.shape(m);
  for (auto* matrix : {&r_, &t_, &dp_, &dq_, &dr_, &dt_, &side_p_, &side_q_, &inverse_}) matrix->resize(m * m);
  for (auto* vector : {&u_, &v_, &rows_, &columns_}) vector->resize(m);
  p_.assign(m * m, share);
  q_.assign(m * m, share);
  // R = G + u (+) v with G = w Q - C + kappa (P - P0): u and v take away the means of its rows and columns, and then
  // raise all of it above 0.
  const auto scores = referee.scores();
  std::fill(v_.begin(), v_.end(), 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < m; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      r_[e] = weight_[i] * share - scores[e] / unit_ + (kappa > 0 ? kappa_ * (share - centre[e]) : 0);
      sum += r_[e];
      v_[j] -= r_[e] * share;
    }
    u_[i] = -sum * share;
    mean += sum * share * share;
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < m * m; ++e) {
    r_[e] += u_[e / m] + v_[e % m] + mean;
    least = std::min(least, r_[e]);
  }
  const double lift = share - 1.1 * least;
  for (double& x : r_) x += lift;
  for (double& x : u_) x += mean + lift;
  // a_i = w_i / M + lift, b = 0.
  std::fill(t_.begin(), t_.end(), lift);
}

double BirkhoffInterior::products() const { return dot(p_, r_) + dot(q_, t_); }

int BirkhoffInterior::iterate(double gap, int most) {
  if (size_ == 1) {  // there is one P and one Q, and R may be 0
    u_[0] -= r_[0];
    return 0;
  }
  const double cells = 2 * static_cast<double>(size_ * size_);
  double last = products();
  int rounds = 0;
  for (; rounds < most && last > gap; ++rounds) {
    weigh();
    for (std::size_t e = 0; e < p_.size(); ++e) {
      side_p_[e] = -p_[e] * r_[e];
      side_q_[e] = -q_[e] * t_[e];
    }
    direct();
    const auto lengths = [&](double share) {
      const double primal = step_to_boundary(p_, dp_, t_, dt_, share), dual = step_to_boundary(q_, dq_, r_, dr_, share);
      // With a proximal term R moves with P, and one length must do for both.
      return kappa_ > 0 ? std::pair(std::min(primal, dual), std::min(primal, dual)) : std::pair(primal, dual);
    };
    const auto [primal_try, dual_try] = lengths(1);
    double reached = 0;
    for (std::size_t e = 0; e < p_.size(); ++e)
      reached += (p_[e] + primal_try * dp_[e]) * (r_[e] + dual_try * dr_[e]) +
                 (q_[e] + dual_try * dq_[e]) * (t_[e] + primal_try * dt_[e]);
    const double ratio = std::max(reached, 0.0) / last, target = ratio * ratio * ratio * last / cells;
    for (std::size_t e = 0; e < p_.size(); ++e) {
      side_p_[e] = target - p_[e] * r_[e] - dp_[e] * dr_[e];
      side_q_[e] = target - q_[e] * t_[e] - dq_[e] * dt_[e];
    }
    direct();
    const auto [primal, dual] = lengths(std::max(0.9, 1 - last / static_cast<double>(size_)));
    if (!(std::isfinite(primal) && std::isfinite(dual))) break;  // the system has lost its precision
    step(primal, dual);
    const double now = products();
    if (!(now < last)) {  // rounding: what there was before is better
      step(-primal, -dual);
      break;
    }
    last = now;
  }
  return rounds;
}

// The weights of the Newton system at this point, and its factors.
void BirkhoffInterior::weigh() {
  for (std::size_t i = 0; i < size_; ++i) {
    const double w = weight_[i];
    for (std::size_t e = i * size_; e < (i + 1) * size_; ++e) {
      const double rk = r_[e] + kappa_ * p_[e];
      inverse_[e] = 1 / (rk * t_[e] + w * w * p_[e] * q_[e]);
      newton_.alpha[e] = t_[e] * p_[e] * inverse_[e];
      newton_.beta[e] = w * p_[e] * q_[e] * inverse_[e];
      newton_.gamma[e] = rk * q_[e] * inverse_[e];
    }
  }
  factor(newton_);
}

// The step for the right-hand sides side_p, side_q; it also takes back what the sums of P and Q are off by.
void BirkhoffInterior::direct() {
  const std::size_t m = size_;
  auto &rs = newton_.row_s, &rt = newton_.row_t, &cs = newton_.column_s, &ct = newton_.column_t;
  std::fill(cs.begin(), cs.end(), -1.0);
  std::fill(ct.begin(), ct.end(), -1.0);
  for (std::size_t i = 0; i < m; ++i) {
    const double w = weight_[i];
    double sum_p = -1, sum_q = -1;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      const double rk = r_[e] + kappa_ * p_[e];
      dp_[e] = (t_[e] * side_p_[e] - w * p_[e] * side_q_[e]) * inverse_[e];
      dq_[e] = (rk * side_q_[e] + w * q_[e] * side_p_[e]) * inverse_[e];
      const double p = p_[e] + dp_[e], q = q_[e] + dq_[e];
      sum_p += p;
      sum_q += q;
      cs[j] += p;
      ct[j] += q;
    }
    rs[i] = sum_p;
    rt[i] = sum_q;
  }
  m4n::solve(newton_);
  for (std::size_t i = 0; i < m; ++i) {
    const double w = weight_[i];
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      const double uv = rs[i] + cs[j], ab = rt[i] + ct[j];
      dp_[e] += newton_.beta[e] * ab - newton_.alpha[e] * uv;
      dq_[e] -= newton_.gamma[e] * ab + newton_.beta[e] * uv;
      dr_[e] = w * dq_[e] + uv + kappa_ * dp_[e];
      dt_[e] = ab - w * dp_[e];
    }
  }
}

void BirkhoffInterior::step(double primal, double dual) {
  for (std::size_t e = 0; e < p_.size(); ++e) {
    p_[e] += primal * dp_[e];
    t_[e] += primal * dt_[e];
    q_[e] += dual * dq_[e];
    r_[e] += dual * dr_[e];
  }
  for (std::size_t i = 0; i < size_; ++i) {
    u_[i] += dual * newton_.row_s[i];
    v_[i] += dual * newton_.column_s[i];
  }
}

}  // namespace m4n

#include "oracle/birkhoff_interior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "space/sinkhorn.h"

namespace m4n {
namespace {

constexpr double sum_error = 1e-11, bad_sums = 1e-6;  // that a direction may leave in the sums of P and Q
constexpr int most_passes = 5;

// The largest step in (0, 1] that keeps x + step dx >= 0, a share of it.
double step_to_boundary(std::span<const double> x, std::span<const double> dx, std::span<const double> y,
                        std::span<const double> dy, double share) {
  double steepest = 0;
  for (std::size_t e = 0; e < x.size(); ++e) steepest = std::max(steepest, std::max(-dx[e] / x[e], -dy[e] / y[e]));
  return steepest <= share ? 1 : share / steepest;
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
  read_loss(referee.loss());
  start(referee, 0, {});
  const int rounds = iterate(limits.gap * referee.loss().range() / unit_, limits.rounds);
  round_to_birkhoff(p_, size_, rows_, columns_);
  round_to_birkhoff(q_, size_, rows_, columns_);
  BirkhoffAnswer answer = referee.judge(p_, q_);
  answer.rounds = rounds;
  return answer;
}

// A cell below -2 M (largest cost of an item + kappa) loses more than the loss and the proximal term could give back
// along any cycle through it: its P is 0, and the cut changes nothing.
BirkhoffAnswer BirkhoffInterior::prox(std::span<const double> scores, const PositionLoss& loss, double kappa,
                                      std::span<const double> centre, const BirkhoffLimits& limits) {
  double farthest = 1;
  for (const double x : centre) farthest = std::max(farthest, std::abs(x) + 1);
  read_loss(loss);
  referee_.start(scores, loss, 4 * static_cast<double>(loss.size()) * (unit_ + kappa * farthest));
  start(referee_, kappa, centre);
  const int rounds = iterate(limits.gap * std::max(loss.range(), kappa) / unit_, limits.rounds);
  round_to_birkhoff(p_, size_, rows_, columns_);
  round_to_birkhoff(q_, size_, rows_, columns_);
  double distance = 0;
  for (std::size_t e = 0; e < p_.size(); ++e) distance += (p_[e] - centre[e]) * (p_[e] - centre[e]);
  const double risk = referee_.risk(p_), lower = referee_.linear(p_) + risk - kappa / 2 * distance;
  const double upper = std::max(upper_bound(kappa, centre), lower);
  return {{referee_.top() + lower, referee_.top() + upper}, loss.constant() + risk, p_, q_, rounds};
}

// For any Q and any u, v:  sum u + sum v + max over P >= 0 of <C + A^T Q - u (+) v, P> - (kappa/2) |P - P0|^2,  which
// is attained entry by entry at P = (P0 + g / kappa)_+. Without the constant of the loss.
double BirkhoffInterior::upper_bound(double kappa, std::span<const double> centre) {
  const auto scores = referee_.scores();
  referee_.loss().apply_transposed(q_, x_);
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const double u = unit_ * u_[i] + referee_.loss().weights()[i] * least_;
    sum += u + unit_ * v_[i];
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t e = i * size_ + j;
      const double gain = scores[e] + x_[e] - u - unit_ * v_[j];
      const double best = std::max(centre[e] + gain / kappa, 0.0), moved = best - centre[e];
      sum += gain * best - kappa / 2 * moved * moved;
    }
  }
  return sum;
}

// Units, and the costs of an item of weight 1: those of Hamming losses are 1 less the identity.
void BirkhoffInterior::read_loss(const PositionLoss& loss) {
  const std::size_t m = size_ = loss.size();
  weight_.assign(loss.weights().begin(), loss.weights().end());
  double largest = *std::max_element(weight_.begin(), weight_.end()), range = 1;
  if (!(largest > 0)) largest = 1;
  for (double& w : weight_) w /= largest;
  diagonal_ = loss.form() == PositionLoss::Form::hamming;
  least_ = 1;
  if (!diagonal_) {
    least_ = loss.cost(0, 0);
    double most = least_;
    for (std::size_t k = 0; k < m; ++k) {
      for (std::size_t j = 0; j < m; ++j) {
        least_ = std::min(least_, loss.cost(k, j));
        most = std::max(most, loss.cost(k, j));
      }
    }
    if (most > least_) range = most - least_;
    blocks_.shape(m);
    for (std::size_t e = 0; e < m * m; ++e) blocks_.costs[e] = (loss.cost(e / m, e % m) - least_) / range;
  }
  unit_ = largest * range;
}

void BirkhoffInterior::start(const BirkhoffReferee& referee, double kappa, std::span<const double> centre) {
  const std::size_t m = size_;
  const double share = 1 / static_cast<double>(m);
  kappa_ = kappa / unit_;
  newton_.shape(m);
  newton_.diagonal = diagonal_;
  for (auto* matrix : {&r_, &t_, &dp_, &dq_, &dr_, &dt_, &side_p_, &side_q_, &x_, &y_}) matrix->resize(m * m);
  for (auto* vector : {&u_, &v_, &du_, &dv_, &rows_, &columns_}) vector->resize(m);
  p_.assign(m * m, share);
  q_.assign(m * m, share);
  // R = G + u (+) v with G = kappa (P - P0) - C - A^T Q: u and v take away the means of its rows and columns, and then
  // raise all of it above 0.
  dp_ = p_;
  dq_ = q_;
  std::fill(dr_.begin(), dr_.end(), 0.0);
  std::fill(dt_.begin(), dt_.end(), 0.0);
  add_costs();
  const auto scores = referee.scores();
  std::fill(v_.begin(), v_.end(), 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < m; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      r_[e] = dr_[e] - scores[e] / unit_ + (kappa > 0 ? kappa_ * (share - centre[e]) : 0);
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
  // A P is a sum a (+) b too: all weights are equal, or all costs of a row are.
  std::fill(t_.begin(), t_.end(), lift);
}

// <P, R> + <Q, T> after a step of these lengths.
double BirkhoffInterior::gap_after(double primal, double dual) const {
  double sum = 0;
  for (std::size_t e = 0; e < p_.size(); ++e)
    sum += (p_[e] + primal * dp_[e]) * (r_[e] + dual * dr_[e]) + (q_[e] + dual * dq_[e]) * (t_[e] + primal * dt_[e]);
  return sum;
}

int BirkhoffInterior::iterate(double gap, int most) {
  if (size_ == 1) {  // there is one P and one Q, and R may be 0
    u_[0] -= r_[0];
    return 0;
  }
  const double cells = 2 * static_cast<double>(size_ * size_);
  double last = dot(p_, r_) + dot(q_, t_);
  int rounds = 0;
  for (; rounds < most && last > gap; ++rounds) {
    weigh();
    for (std::size_t e = 0; e < p_.size(); ++e) {
      side_p_[e] = -p_[e] * r_[e];
      side_q_[e] = -q_[e] * t_[e];
    }
    if (!direct()) break;
    const auto lengths = [&](double share) {
      const double primal = step_to_boundary(p_, dp_, t_, dt_, share), dual = step_to_boundary(q_, dq_, r_, dr_, share);
      // With a proximal term R moves with P, and one length must do for both.
      return kappa_ > 0 ? std::pair(std::min(primal, dual), std::min(primal, dual)) : std::pair(primal, dual);
    };
    const auto [primal_try, dual_try] = lengths(1);
    const double ratio = std::max(gap_after(primal_try, dual_try), 0.0) / last,
                 target = ratio * ratio * ratio * last / cells;
    for (std::size_t e = 0; e < p_.size(); ++e) {
      side_p_[e] = target - p_[e] * r_[e] - dp_[e] * dr_[e];
      side_q_[e] = target - q_[e] * t_[e] - dq_[e] * dt_[e];
    }
    if (!direct()) break;
    const auto [primal, dual] = lengths(std::max(0.9, 1 - last / static_cast<double>(size_)));
    const double now = gap_after(primal, dual);
    if (!(now < last)) break;
    step(primal, dual);
    last = now;
  }
  return rounds;
}

// The matrices of all rows at this point, and the factors of the Newton system.
void BirkhoffInterior::weigh() {
  if (!diagonal_) {
    for (std::size_t e = 0; e < p_.size(); ++e) {
      x_[e] = p_[e] / (r_[e] + kappa_ * p_[e]);
      y_[e] = q_[e] / t_[e];
    }
    compute_blocks(blocks_, x_, y_, weight_, newton_);
  }
  for (std::size_t i = 0; diagonal_ && i < size_; ++i) {
    const double w = weight_[i];
    for (std::size_t e = i * size_; e < (i + 1) * size_; ++e) {
      const double rk = r_[e] + kappa_ * p_[e], inverse = 1 / (rk * t_[e] + w * w * p_[e] * q_[e]);
      newton_.alpha[e] = t_[e] * p_[e] * inverse;
      newton_.beta[e] = w * p_[e] * q_[e] * inverse;
      newton_.gamma[e] = rk * q_[e] * inverse;
    }
  }
  factor(newton_);
}

// dP and dQ from x and y.
void BirkhoffInterior::multiply() {
  if (!diagonal_) return apply_blocks(blocks_, x_, y_, dp_, dq_);
  for (std::size_t e = 0; e < p_.size(); ++e) {
    dp_[e] = newton_.alpha[e] * x_[e] - newton_.beta[e] * y_[e];
    dq_[e] = newton_.beta[e] * x_[e] + newton_.gamma[e] * y_[e];
  }
}

// dT += A dP,  dR -= A^T dQ.
void BirkhoffInterior::add_costs() {
  const std::size_t m = size_;
  for (std::size_t i = 0; i < m; ++i) {
    const double w = weight_[i];
    const double *dp = dp_.data() + i * m, *dq = dq_.data() + i * m;
    double *dr = dr_.data() + i * m, *dt = dt_.data() + i * m;
    for (std::size_t k = 0; k < m; ++k) {
      if (diagonal_) {
        dr[k] += w * dq[k];
        dt[k] -= w * dp[k];
        continue;
      }
      const double* costs = blocks_.costs.data() + k * m;
      double sum = 0;
      for (std::size_t j = 0; j < m; ++j) {
        dt[j] += w * dp[k] * costs[j];
        sum += costs[j] * dq[j];
      }
      dr[k] -= w * sum;
    }
  }
}

// dP and dQ from x and y, and then du (+) dv and da (+) db that bring the sums of P + dP and Q + dQ to 1: they are
// taken from x and y and added to dR and dT. Returns by how much the sums were off; nothing is done if by less than
// sum_error.
double BirkhoffInterior::balance() {
  const std::size_t m = size_;
  multiply();
  auto &rs = newton_.row_s, &rt = newton_.row_t, &cs = newton_.column_s, &ct = newton_.column_t;
  std::fill(cs.begin(), cs.end(), -1.0);
  std::fill(ct.begin(), ct.end(), -1.0);
  for (std::size_t i = 0; i < m; ++i) {
    double sum_p = -1, sum_q = -1;
    for (std::size_t j = 0; j < m; ++j) {
      const double p = p_[i * m + j] + dp_[i * m + j], q = q_[i * m + j] + dq_[i * m + j];
      sum_p += p;
      sum_q += q;
      cs[j] += p;
      ct[j] += q;
    }
    rs[i] = sum_p;
    rt[i] = sum_q;
  }
  double worst = 0;
  for (const auto* sums : {&rs, &rt, &cs, &ct})
    for (const double x : *sums) worst = std::max(worst, std::abs(x));
  if (worst <= sum_error) return worst;
  m4n::solve(newton_);
  for (std::size_t i = 0; i < m; ++i) {
    du_[i] += rs[i];
    dv_[i] += cs[i];
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      const double uv = rs[i] + cs[j], ab = rt[i] + ct[j];
      x_[e] -= uv;
      y_[e] -= ab;
      dr_[e] += uv;
      dt_[e] += ab;
    }
  }
  return worst;
}

// The step for the right-hand sides side_p, side_q; it also takes back what the sums of P and Q are off by.
// False if it does not: the system has lost its precision.
bool BirkhoffInterior::direct() {
  for (std::size_t e = 0; e < p_.size(); ++e) {
    x_[e] = side_p_[e] / p_[e];
    y_[e] = side_q_[e] / q_[e];
  }
  for (auto* sums : {&dr_, &dt_, &du_, &dv_}) std::fill(sums->begin(), sums->end(), 0.0);
  // Where a loss is degenerate the system is nearly singular: further passes take back the errors of the first.
  double off = 1;
  for (int pass = 0; pass < most_passes && off > sum_error; ++pass) off = balance();
  add_costs();
  for (std::size_t e = 0; e < p_.size(); ++e) dr_[e] += kappa_ * dp_[e];
  return off <= bad_sums;
}

void BirkhoffInterior::step(double primal, double dual) {
  for (std::size_t e = 0; e < p_.size(); ++e) {
    p_[e] += primal * dp_[e];
    t_[e] += primal * dt_[e];
    q_[e] += dual * dq_[e];
    r_[e] += dual * dr_[e];
  }
  for (std::size_t i = 0; i < size_; ++i) {
    u_[i] += dual * du_[i];
    v_[i] += dual * dv_[i];
  }
}

}  // namespace m4n

// The interior-point iterations (birkhoff_interior.h).
#include "structures/permutations/birkhoff_interior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "structures/permutations/sinkhorn.h"

namespace m4n::detail {
namespace {

constexpr double sum_error = 1e-11, bad_sums = 1e-6;  // that a direction may leave in the sums of P and Q
constexpr int most_passes = 5;
constexpr double least_share = 0.97;  // of the way to the boundary

}  // namespace

BirkhoffAnswer BirkhoffInterior::solve(std::span<const double> scores, const PositionLoss& loss,
                                       const BirkhoffLimits& limits) {
  referee_.start(scores, loss);
  return solve(referee_, limits);
}

BirkhoffAnswer BirkhoffInterior::solve(BirkhoffReferee& referee, const BirkhoffLimits& limits) {
  read_loss(referee.loss());
  start(referee, 0, {});
  const int rounds = iterate(limits.gap * referee.loss().range() / unit_, limits);
  round_to_birkhoff(cells_.p, size_, rows_, columns_);
  round_to_birkhoff(cells_.q, size_, rows_, columns_);
  BirkhoffAnswer answer = referee.judge(cells_.p, cells_.q);
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
  const int rounds = iterate(limits.gap * std::max(loss.range(), kappa) / unit_, limits);
  round_to_birkhoff(cells_.p, size_, rows_, columns_);
  round_to_birkhoff(cells_.q, size_, rows_, columns_);
  double distance = 0;
  for (std::size_t e = 0; e < cells_.p.size(); ++e) distance += (cells_.p[e] - centre[e]) * (cells_.p[e] - centre[e]);
  const double risk = referee_.risk(cells_.p), lower = referee_.linear(cells_.p) + risk - kappa / 2 * distance;
  const double upper = std::max(upper_bound(kappa, centre), lower);
  return {{referee_.top() + lower, referee_.top() + upper}, loss.constant() + risk, cells_.p, cells_.q, rounds};
}

// For any Q and any u, v:  sum u + sum v + max over P >= 0 of <C + A^T Q - u (+) v, P> - (kappa/2) |P - P0|^2,  which
// is attained entry by entry at P = (P0 + g / kappa)_+. Without the constant of the loss.
double BirkhoffInterior::upper_bound(double kappa, std::span<const double> centre) {
  const auto scores = referee_.scores();
  referee_.loss().apply_transposed(cells_.q, cells_.x);
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const double u = unit_ * u_[i] + referee_.loss().weights()[i] * least_;
    sum += u + unit_ * v_[i];
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t e = i * size_ + j;
      const double gain = scores[e] + cells_.x[e] - u - unit_ * v_[j];
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
  cells_.shape(m);
  cells_.kappa = kappa / unit_;
  newton_.shape(m);
  newton_.diagonal = diagonal_;
  for (auto* vector : {&u_, &v_, &du_, &dv_, &rows_, &columns_}) vector->resize(m);
  for (std::size_t e = 0; e < m * m; ++e) {
    cells_.weight[e] = weight_[e / m];
    cells_.p[e] = cells_.q[e] = cells_.dp[e] = cells_.dq[e] = share;
    cells_.dr[e] = cells_.dt[e] = 0;
  }
  // R = G + u (+) v with G = kappa (P - P0) - C - A^T Q: u and v take away the means of its rows and columns, and then
  // raise all of it above 0.
  add_costs();
  const auto scores = referee.scores();
  std::fill(v_.begin(), v_.end(), 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < m; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t e = i * m + j;
      cells_.r[e] = cells_.dr[e] - scores[e] / unit_ + (kappa > 0 ? cells_.kappa * (share - centre[e]) : 0);
      sum += cells_.r[e];
      v_[j] -= cells_.r[e] * share;
    }
    u_[i] = -sum * share;
    mean += sum * share * share;
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < m * m; ++e) {
    cells_.r[e] += u_[e / m] + v_[e % m] + mean;
    least = std::min(least, cells_.r[e]);
  }
  const double lift = share - 1.3 * least;
  for (double& x : cells_.r) x += lift;
  for (double& x : u_) x += mean + lift;
  // T is constant: A P is a sum a (+) b too, for all weights are equal, or all costs of a row are.
  std::fill(cells_.t.begin(), cells_.t.end(), share);
}

int BirkhoffInterior::iterate(double gap, const BirkhoffLimits& limits) {
  if (size_ == 1) {  // there is one P and one Q, and R may be 0
    u_[0] -= cells_.r[0];
    return 0;
  }
  const double count = 2 * static_cast<double>(size_ * size_);
  const auto lengths = [&](double share) {
    const double primal = primal_length(cells_, share), dual = dual_length(cells_, share);
    // With a proximal term R moves with P, and one length must do for both.
    return cells_.kappa > 0 ? std::pair(std::min(primal, dual), std::min(primal, dual)) : std::pair(primal, dual);
  };
  double last = gap_after(cells_, 0, 0);
  int rounds = 0;
  for (; rounds < limits.rounds && last > gap; ++rounds) {
    if (limits.stopped() || !factorise(limits)) break;
    aim(cells_, 0, false);
    if (!direct()) break;
    const auto [primal_try, dual_try] = lengths(1);
    const double ratio = std::max(gap_after(cells_, primal_try, dual_try), 0.0) / last;
    aim(cells_, ratio * ratio * ratio * last / count, true);
    if (!direct()) break;
    const auto [primal, dual] = lengths(std::max(least_share, 1 - last / static_cast<double>(size_)));
    const double now = gap_after(cells_, primal, dual);
    if (!(now < last)) break;
    step(cells_, primal, dual);
    for (std::size_t i = 0; i < size_; ++i) {
      u_[i] += dual * du_[i];
      v_[i] += dual * dv_[i];
    }
    last = now;
  }
  return rounds;
}

// The matrices of all rows at this point, and the factors of the Newton system. False if it was told to stop before.
bool BirkhoffInterior::factorise(const BirkhoffLimits& limits) {
  if (diagonal_) {
    weigh(cells_, newton_);
  } else {
    for (std::size_t e = 0; e < cells_.p.size(); ++e) {
      cells_.x[e] = cells_.p[e] / (cells_.r[e] + cells_.kappa * cells_.p[e]);
      cells_.y[e] = cells_.q[e] / cells_.t[e];
    }
    newton_.clear();
    for (std::size_t i = 0; i < size_; ++i) {
      if (limits.stopped()) return false;
      add_block(blocks_, i, cells_.x, cells_.y, weight_[i], newton_);
    }
  }
  factor(newton_);
  return true;
}

// dT += A dP,  dR -= A^T dQ.
void BirkhoffInterior::add_costs() {
  const std::size_t m = size_;
  for (std::size_t i = 0; i < m; ++i) {
    const double w = weight_[i];
    const double *dp = cells_.dp.data() + i * m, *dq = cells_.dq.data() + i * m;
    double *dr = cells_.dr.data() + i * m, *dt = cells_.dt.data() + i * m;
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
  if (diagonal_)
    multiply(newton_, cells_);
  else
    apply_blocks(blocks_, cells_.x, cells_.y, cells_.dp, cells_.dq);
  const double worst = sum_errors(cells_, newton_);
  if (worst <= sum_error) return worst;
  detail::solve(newton_);
  move_sums(newton_, cells_);
  for (std::size_t i = 0; i < size_; ++i) {
    du_[i] += newton_.row_s[i];
    dv_[i] += newton_.column_s[i];
  }
  return worst;
}

// The step for the right-hand sides in x and y; it also takes back what the sums of P and Q are off by. False if it
// does not: the system has lost its precision.
bool BirkhoffInterior::direct() {
  for (auto* sums : {&cells_.dr, &cells_.dt, &du_, &dv_}) std::fill(sums->begin(), sums->end(), 0.0);
  // Where a loss is degenerate the system is nearly singular: further passes take back the errors of the first.
  double off = 1;
  for (int pass = 0; pass < most_passes && off > sum_error; ++pass) off = balance();
  add_costs();
  if (cells_.kappa > 0)
    for (std::size_t e = 0; e < cells_.dr.size(); ++e) cells_.dr[e] += cells_.kappa * cells_.dp[e];
  return off <= bad_sums;
}

}  // namespace m4n::detail

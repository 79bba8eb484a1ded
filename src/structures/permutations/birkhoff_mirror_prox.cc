// The paper's mirror prox for permutations (birkhoff_mirror_prox.h).
#include "structures/permutations/birkhoff_mirror_prox.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "structures/permutations/sinkhorn.h"

namespace m4n::detail {
namespace {

constexpr double least_entry = 1e-200;  // what is below it, no step brings back
constexpr int rounds_between_looks = 32;
// A projection ends when no row was further off than this; mostly after one sweep.
constexpr double sweep_error = 1e-3;
constexpr int most_sweeps = 100;

}  // namespace

void BirkhoffMirrorProx::shape(std::size_t size) {
  size_ = size;
  for (auto* matrix : {&p_, &q_, &ahead_p_, &ahead_q_, &sum_p_, &sum_q_, &mean_p_, &mean_q_, &gradient_q_})
    matrix->resize(size * size);
  gradient_.resize(kernels::padded(size * size));
  for (auto* vector : {&scratch_, &rows_}) vector->resize(size);
}

BirkhoffAnswer BirkhoffMirrorProx::solve(std::span<const double> scores, const PositionLoss& loss,
                                         const BirkhoffLimits& limits) {
  own_.start(scores, loss);
  shape(loss.size());
  std::fill(p_.begin(), p_.end(), 1 / static_cast<double>(size_));
  q_ = p_;
  return run(own_, limits);
}

BirkhoffAnswer BirkhoffMirrorProx::solve(std::span<const double> scores, const PositionLoss& loss,
                                         const BirkhoffLimits& limits, std::span<const double> p,
                                         std::span<const double> q) {
  own_.start(scores, loss);
  return solve(own_, limits, p, q);
}

BirkhoffAnswer BirkhoffMirrorProx::solve(BirkhoffReferee& referee, const BirkhoffLimits& limits,
                                         std::span<const double> p, std::span<const double> q) {
  shape(referee.size());
  // A little of the uniform matrix: an entry at zero would stay there.
  const double uniform = 1 / static_cast<double>(size_);
  for (std::size_t e = 0; e < p_.size(); ++e) {
    p_[e] = std::max(p[e], 0.0) + 1e-3 * uniform;
    q_[e] = std::max(q[e], 0.0) + 1e-3 * uniform;
  }
  sinkhorn_sweep(p_, size_, scratch_);
  sinkhorn_sweep(q_, size_, scratch_);
  return run(referee, limits);
}

// to = scaled(from . exp(eta gradient)). Numbers per row and per column added to the gradient make no difference to
// what is scaled; without the means of rows and columns the sweeps have little left to do.
void BirkhoffMirrorProx::step(std::span<const double> from, double eta, std::span<double> to) {
  const std::size_t cells = from.size();
  const double sign = eta > 0 ? 1 : -1;
  std::fill(rows_.begin(), rows_.end(), 0.0);
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  const double share = 1 / static_cast<double>(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t j = 0; j < size_; ++j) {
      rows_[i] += gradient_[i * size_ + j] * share;
      scratch_[j] += gradient_[i * size_ + j] * share;
    }
  }
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < size_; ++j) gradient_[i * size_ + j] -= rows_[i] + scratch_[j];
  double most = sign * gradient_[0];
  for (std::size_t e = 1; e < cells; ++e) most = std::max(most, sign * gradient_[e]);
  for (std::size_t e = 0; e < cells; ++e) gradient_[e] = most - sign * gradient_[e];
  std::fill(gradient_.begin() + static_cast<std::ptrdiff_t>(cells), gradient_.end(), 0.0);
  kernels::decay(gradient_, std::abs(eta));
  for (std::size_t e = 0; e < cells; ++e) to[e] = std::max(from[e] * gradient_[e], least_entry);
  for (int sweep = 0; sweep < most_sweeps && sinkhorn_sweep(to, size_, scratch_) > sweep_error; ++sweep) {
  }
}

BirkhoffAnswer BirkhoffMirrorProx::judge(BirkhoffReferee& referee, std::span<double> p, std::span<double> q) {
  round_to_birkhoff(p, size_, rows_, scratch_);
  round_to_birkhoff(q, size_, rows_, scratch_);
  return referee.judge(p, q);
}

BirkhoffAnswer BirkhoffMirrorProx::run(BirkhoffReferee& referee, const BirkhoffLimits& limits) {
  const PositionLoss& loss = referee.loss();
  const std::size_t cells = size_ * size_;
  double lowest = loss.cost(0, 0), highest = lowest;
  for (std::size_t k = 0; k < size_; ++k) {
    for (std::size_t j = 0; j < size_; ++j) {
      lowest = std::min(lowest, loss.cost(k, j));
      highest = std::max(highest, loss.cost(k, j));
    }
  }
  const double unit = *std::max_element(loss.weights().begin(), loss.weights().end()) * (highest - lowest);
  const double eta = unit > 0 ? 1 / unit : 1;
  std::fill(sum_p_.begin(), sum_p_.end(), 0.0);
  std::fill(sum_q_.begin(), sum_q_.end(), 0.0);
  const std::span<double> gradient = std::span(gradient_).first(cells);
  // Both gradients at (p, q), then both steps from the point kept.
  const auto advance = [&](std::span<const double> p, std::span<const double> q, std::span<double> to_p,
                           std::span<double> to_q) {
    loss.apply(p, gradient_q_);
    loss.apply_transposed(q, gradient);
    for (std::size_t e = 0; e < cells; ++e) gradient[e] += referee.scores()[e];
    step(p_, eta, to_p);
    std::copy(gradient_q_.begin(), gradient_q_.end(), gradient.begin());
    step(q_, -eta, to_q);
  };
  for (int round = 1;; ++round) {
    advance(p_, q_, ahead_p_, ahead_q_);
    advance(ahead_p_, ahead_q_, p_, q_);
    for (std::size_t e = 0; e < cells; ++e) {
      sum_p_[e] += ahead_p_[e];
      sum_q_[e] += ahead_q_[e];
    }
    const bool last = round >= limits.rounds;
    if (!last && round % rounds_between_looks != 0) continue;
    for (std::size_t e = 0; e < cells; ++e) {
      mean_p_[e] = sum_p_[e] / round;
      mean_q_[e] = sum_q_[e] / round;
    }
    BirkhoffAnswer answer = judge(referee, mean_p_, mean_q_);
    // The points themselves are often better than their mean.
    const BirkhoffAnswer point = judge(referee, ahead_p_, ahead_q_);
    take_better(point, answer);
    answer.rounds = round;
    if (last || answer.bounds.upper - answer.bounds.lower <= limits.gap * loss.range()) return answer;
  }
}

}  // namespace m4n::detail

// Reduced scores, and the bounds at a pair of points (birkhoff_referee.h).
#include "structures/permutations/birkhoff_referee.h"

#include <algorithm>
#include <cmath>

namespace m4n::detail {

void BirkhoffReferee::start(std::span<const double> scores, const PositionLoss& loss, double cut) {
  loss_ = &loss;
  const std::size_t m = size();
  scorer_.solve(scores, m);
  const auto u = scorer_.row_duals(), w = scorer_.column_duals();
  best_.assign(scorer_.position().begin(), scorer_.position().end());
  reduced_.resize(m * m);
  work_.resize(m * m);
  top_ = loss.constant();
  for (std::size_t i = 0; i < m; ++i) {
    top_ += u[i] + w[i];
    for (std::size_t j = 0; j < m; ++j) reduced_[i * m + j] = std::clamp((scores[i * m + j] - u[i]) - w[j], -cut, 0.0);
  }
  // Searches start from the same prices whatever was solved before: answers do not depend on history.
  prediction_dual_.assign(m, 0.0);
  truth_dual_.assign(m, 0.0);
}

double BirkhoffReferee::risk(std::span<const double> p) {
  loss_->apply(p, work_);
  for (double& x : work_) x = -x;
  prediction_.solve(work_, size(), prediction_dual_);
  std::copy_n(prediction_.column_duals().begin(), size(), prediction_dual_.begin());
  return -prediction_.bound();
}

double BirkhoffReferee::linear(std::span<const double> p) const {
  double sum = 0;
  for (std::size_t e = 0; e < reduced_.size(); ++e) sum += reduced_[e] * p[e];
  return sum;
}

double BirkhoffReferee::upper(std::span<const double> q) {
  loss_->apply_transposed(q, work_);
  for (std::size_t e = 0; e < work_.size(); ++e) work_[e] += reduced_[e];
  truth_.solve(work_, size(), truth_dual_);
  std::copy_n(truth_.column_duals().begin(), size(), truth_dual_.begin());
  return truth_.bound();
}

BirkhoffAnswer BirkhoffReferee::judge(std::span<const double> p, std::span<const double> q) {
  const double least = risk(p), below = linear(p) + least, above = std::max(upper(q), below);
  return {{top_ + below, top_ + above}, loss_->constant() + least, p, q, 0};
}

void take_better(const BirkhoffAnswer& other, BirkhoffAnswer& best) {
  if (other.bounds.lower > best.bounds.lower) {
    best.bounds.lower = other.bounds.lower;
    best.risk = other.risk;
    best.p = other.p;
  }
  if (other.bounds.upper < best.bounds.upper) {
    best.bounds.upper = other.bounds.upper;
    best.q = other.q;
  }
  best.bounds.upper = std::max(best.bounds.upper, best.bounds.lower);
  best.rounds += other.rounds;
}

}  // namespace m4n::detail

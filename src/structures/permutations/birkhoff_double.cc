// The double oracle (birkhoff_double.h).
#include "structures/permutations/birkhoff_double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace m4n::detail {

BirkhoffAnswer BirkhoffDouble::solve(std::span<const double> scores, const PositionLoss& loss,
                                     const BirkhoffLimits& limits, std::size_t room, BirkhoffSeeds& seeds) {
  own_.start(scores, loss);
  return solve(own_, limits, room, seeds);
}

BirkhoffAnswer BirkhoffDouble::solve(BirkhoffReferee& referee, const BirkhoffLimits& limits, std::size_t room,
                                     BirkhoffSeeds& seeds) {
  referee_ = &referee;
  const PositionLoss& loss = referee.loss();
  const std::size_t m = size_ = loss.size();
  range_ = loss.range() > 0 ? loss.range() : 1;
  truths_.clear();
  predictions_.clear();
  gain_.clear();
  for (auto* matrix : {&p_, &q_, &best_p_, &best_q_}) matrix->resize(m * m);
  for (auto* weights : {&payoffs_, &truth_weight_, &prediction_weight_}) weights->resize(room + 1);
  move_.resize(m);
  game_.clear(room);
  const bool warm = plant(seeds.prediction, false) && plant(seeds.truth, true);
  if (!warm) {
    truths_.clear();
    predictions_.clear();
    gain_.clear();
    game_.clear(room);
    add_prediction(referee.best());
  }
  if (gain_.empty()) add_truth(referee.best());

  const double enough = limits.gap * loss.range();
  double lower = -std::numeric_limits<double>::infinity(), upper = -lower, risk = 0;
  int rounds = 0;
  bool fresh = true;  // the dictionary of the game was computed anew
  for (;;) {
    ++rounds;
    const bool sound = game_.solve();
    if (!sound && std::isfinite(upper)) break;
    game_.column_weights(truth_weight_);
    game_.row_weights(prediction_weight_);
    mix(truths_, truth_weight_, p_);
    mix(predictions_, prediction_weight_, q_);
    const double now_risk = referee.risk(p_), now_lower = referee.linear(p_) + now_risk, now_upper = referee.upper(q_);
    if (now_lower > lower || rounds == 1) {
      lower = now_lower;
      risk = now_risk;
      std::swap(p_, best_p_);
    }
    if (now_upper < upper || rounds == 1) {
      upper = now_upper;
      std::swap(q_, best_q_);
    }
    if (upper - lower <= enough || rounds >= limits.rounds || !sound || limits.stopped()) break;
    if (game_.columns() == room || game_.rows() == room) break;
    const bool new_truth = !known(truths_, referee.truth()),
               new_prediction = !known(predictions_, referee.prediction());
    if (!new_truth && !new_prediction) {  // nobody gains, yet there is a gap: rounding has spoilt the dictionary
      if (fresh) break;
      rebuild(room);
      fresh = true;
      continue;
    }
    fresh = false;
    // The constraint first: its dual steps want an optimal objective, which a new variable would spoil.
    if (new_truth) {
      add_truth(referee.truth());
      if (!game_.solve()) break;
    }
    if (new_prediction) add_prediction(referee.prediction());
  }
  save_seeds(seeds);
  upper = std::max(upper, lower);
  return {{referee.top() + lower, referee.top() + upper}, loss.constant() + risk, best_p_, best_q_, rounds};
}

// Seeds become moves; false if they are no permutations of so many items, or too many.
bool BirkhoffDouble::plant(std::span<const std::uint16_t> seeds, bool truth) {
  if (seeds.empty() || seeds.size() % size_ != 0 || seeds.size() / size_ >= game_.room()) return false;
  for (std::size_t first = 0; first < seeds.size(); first += size_) {
    seen_.assign(size_, 0);
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t j = seeds[first + i];
      if (j >= size_ || seen_[j]++ > 0) return false;
      move_[i] = static_cast<std::int32_t>(j);
    }
    if (truth)
      add_truth(move_);
    else
      add_prediction(move_);
  }
  return true;
}

bool BirkhoffDouble::known(const Moves& moves, std::span<const std::int32_t> y) const {
  for (std::size_t first = 0; first < moves.size(); first += size_)
    if (std::equal(y.begin(), y.end(), moves.begin() + static_cast<std::ptrdiff_t>(first))) return true;
  return false;
}

// The game with the same moves from the start.
void BirkhoffDouble::rebuild(std::size_t room) {
  const std::size_t rows = game_.rows(), columns = game_.columns();
  game_.clear(room);
  for (std::size_t r = 0; r < rows; ++r) game_.add_row({});
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) payoffs_[r] = payoff(r, c);
    game_.add_column(payoffs_);
  }
}

// Truths that score so little that they are dominated are left out: their payoffs need not be positive.
void BirkhoffDouble::add_truth(std::span<const std::int32_t> y) {
  double gain = 0;
  for (std::size_t i = 0; i < size_; ++i) gain += referee_->scores()[i * size_ + static_cast<std::size_t>(y[i])];
  if (gain < -1.5 * range_) return;
  truths_.insert(truths_.end(), y.begin(), y.end());
  gain_.push_back(gain);
  const std::size_t c = gain_.size() - 1;
  for (std::size_t r = 0; r < game_.rows(); ++r) payoffs_[r] = payoff(r, c);
  game_.add_column(payoffs_);
  truth_weight_[c] = 0;
}

void BirkhoffDouble::add_prediction(std::span<const std::int32_t> y) {
  predictions_.insert(predictions_.end(), y.begin(), y.end());
  const std::size_t r = game_.rows();
  for (std::size_t c = 0; c < game_.columns(); ++c) payoffs_[c] = payoff(r, c);
  game_.add_row(payoffs_);
  prediction_weight_[r] = 0;
}

// In units of the range of the loss, and between 1.5 and 4.
double BirkhoffDouble::payoff(std::size_t row, std::size_t column) const {
  const PositionLoss& loss = referee_->loss();
  const double cost = loss({truths_.data() + column * size_, size_}, {predictions_.data() + row * size_, size_});
  return 3 + (gain_[column] + (cost - loss.minimum())) / range_;
}

void BirkhoffDouble::mix(const Moves& moves, std::span<const double> weight, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t count = moves.size() / size_;
  for (std::size_t k = 0; k < count; ++k) {
    if (weight[k] == 0) continue;
    const std::int32_t* y = moves.data() + k * size_;
    for (std::size_t i = 0; i < size_; ++i) out[i * size_ + static_cast<std::size_t>(y[i])] += weight[k];
  }
}

void BirkhoffDouble::save_seeds(BirkhoffSeeds& seeds) const {
  seeds.clear();
  const auto take = [&](const Moves& moves, std::span<const double> weight, std::vector<std::uint16_t>& out) {
    for (std::size_t k = 0; k < std::min(moves.size() / size_, weight.size()); ++k)
      if (weight[k] > 0)
        for (std::size_t i = 0; i < size_; ++i) out.push_back(static_cast<std::uint16_t>(moves[k * size_ + i]));
  };
  take(truths_, truth_weight_, seeds.truth);
  take(predictions_, prediction_weight_, seeds.prediction);
}

}  // namespace m4n::detail

// One loss for permutations of every size that occurs, and the parts in which its solvers think.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "losses/position_loss.h"

namespace m4n::detail {

class PositionLosses {
 public:
  // A loss for a number of items.
  using Make = std::function<PositionLoss(std::size_t)>;

  explicit PositionLosses(Make make) : make_(std::move(make)) {}
  void prepare(std::size_t size) {
    if (!losses_.contains(size)) losses_.emplace(size, make_(size));
  }
  // Of a size that was prepared. May be asked from several threads.
  const PositionLoss& of(std::size_t size) const { return losses_.at(size); }

 private:
  Make make_;
  std::map<std::size_t, PositionLoss> losses_;
};

// The cells of a permutation's matrix, M x M by rows; or, where parts are items, what a position gains.
class PermutationParts {
 public:
  // Null: cells.
  explicit PermutationParts(const PositionLoss* rank_one = nullptr) : rank_one_(rank_one) {}
  bool items() const { return rank_one_ != nullptr; }
  std::size_t count(std::size_t size) const { return items() ? size : size * size; }

  // mu = phi(y); what lies beyond its parts is set to zero.
  void embed(std::span<const std::int32_t> y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto j = static_cast<std::size_t>(y[i]);
      if (items()) {
        mu[i] = rank_one_->gains()[j];
      } else {
        mu[i * y.size() + j] = 1;
      }
    }
  }
  // v . phi(y)
  double score(std::span<const double> v, std::span<const std::int32_t> y) const {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto j = static_cast<std::size_t>(y[i]);
      sum += items() ? v[i] * rank_one_->gains()[j] : v[i * y.size() + j];
    }
    return sum;
  }
  // The score of every cell.
  void cells(std::span<const double> v, std::size_t size, std::span<double> out) const {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        out[i * size + j] = items() ? v[i] * rank_one_->gains()[j] : v[i * size + j];
  }
  // From the mean p of cells to that of parts.
  void gather(std::span<const double> p, std::size_t size, std::span<double> mu) const {
    if (!items()) {
      std::copy_n(p.begin(), size * size, mu.begin());
      return;
    }
    for (std::size_t i = 0; i < size; ++i) {
      mu[i] = 0;
      for (std::size_t j = 0; j < size; ++j) mu[i] += p[i * size + j] * rank_one_->gains()[j];
    }
  }

 private:
  const PositionLoss* rank_one_;
};

// Rankings with a loss of rank one need one score an item; everything else a score a cell. `loss` must outlive it.
inline PermutationParts ranking_parts(const PositionLoss& loss, bool ranking) {
  return PermutationParts(ranking && loss.form() == PositionLoss::Form::rank_one ? &loss : nullptr);
}

}  // namespace m4n::detail

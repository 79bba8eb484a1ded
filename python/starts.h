// What the oracles of m4n.torch keep of examples between visits, by the number of the example: the basis of its last
// game. It saves time and never changes a value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "games/labelling_game.h"
#include "structures/permutations/birkhoff_double.h"

namespace m4n::python {

class Starts {
 public:
  using MatrixBasis = std::vector<std::uint8_t>;  // of a matrix game; empty: none yet

  // Before a batch of these examples (none: nothing is kept). One batch at a time: keep the lock until it is done. An
  // example that occurs twice in the batch is kept at its first place and starts cold at the others.
  template <class Seeds>
  std::unique_lock<std::mutex> open(std::span<const std::int64_t> index) {
    std::unique_lock lock(mutex_);
    ++batch_;
    auto& kept = seeds<Seeds>();
    const std::int64_t largest = index.empty() ? -1 : *std::max_element(index.begin(), index.end());
    const auto needed = static_cast<std::size_t>(largest + 1);
    if (kept.size() < needed) kept.resize(needed);
    if (batch_of_.size() < needed) batch_of_.resize(needed, 0);
    keeps_.assign(index.size(), 0);
    for (std::size_t i = 0; i < index.size(); ++i) {
      std::uint64_t& seen = batch_of_[static_cast<std::size_t>(index[i])];
      keeps_[i] = seen != batch_;
      seen = batch_;
    }
    index_ = index;
    return lock;
  }
  // Those of the i-th example of the batch, or `cold`.
  template <class Seeds>
  Seeds& of(std::size_t i, Seeds& cold) {
    return index_.empty() || !keeps_[i] ? cold : seeds<Seeds>()[static_cast<std::size_t>(index_[i])];
  }

 private:
  template <class Seeds>
  std::vector<Seeds>& seeds() {
    if constexpr (std::is_same_v<Seeds, MatrixBasis>) {
      return matrix_;
    } else if constexpr (std::is_same_v<Seeds, detail::GameSeeds>) {
      return labelling_;
    } else {
      return birkhoff_;
    }
  }
  std::mutex mutex_;
  std::uint64_t batch_ = 0;
  std::vector<std::uint64_t> batch_of_;  // by example
  std::vector<std::uint8_t> keeps_;      // by place in the batch
  std::span<const std::int64_t> index_;
  std::vector<MatrixBasis> matrix_;
  std::vector<detail::GameSeeds> labelling_;
  std::vector<detail::BirkhoffSeeds> birkhoff_;
};

}  // namespace m4n::python

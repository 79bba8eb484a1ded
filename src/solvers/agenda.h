// Which blocks a solver visits in which of the coming sweeps: a linked list a sweep, so that a sweep costs what it
// visits and not n.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace m4n::detail {

class Agenda {
 public:
  static constexpr std::size_t longest_rest = 64;

  // All blocks are due in the first sweep.
  explicit Agenda(std::size_t blocks) : next_(blocks), first_(longest_rest + 1, none) {
    for (std::size_t i = blocks; i-- > 0;) add(i, 0);
  }
  // Block i is left out of the next `rest` <= longest_rest sweeps, and visited in the one after.
  void add(std::size_t i, std::size_t rest) {
    std::uint32_t& first = first_[(next_sweep_ + rest) % first_.size()];
    next_[i] = first;
    first = static_cast<std::uint32_t>(i);
  }
  // Begins the next sweep: the blocks that are due in it, in any order.
  void begin_sweep(std::vector<std::uint32_t>& due) {
    due.clear();
    std::uint32_t& first = first_[next_sweep_++ % first_.size()];
    for (std::uint32_t i = first; i != none; i = next_[i]) due.push_back(i);
    first = none;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> next_, first_;
  std::size_t next_sweep_ = 0;
};

}  // namespace m4n::detail

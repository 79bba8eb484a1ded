// What the generators of all structures share: text in pieces, and what is said about it.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "structures/structure.h"

namespace m4n::detail {

// Handed over every so many examples, so that standard output needs no memory for all of it.
class PiecewiseText {
 public:
  PiecewiseText(TextSink& sink, std::size_t examples_at_a_time) : sink_(sink), at_a_time_(examples_at_a_time) {}
  std::string text;
  void end_example() {
    if (++count_ % at_a_time_ == 0) flush();
  }
  void flush() {
    sink_.write(text);
    text.clear();
  }

 private:
  TextSink& sink_;
  std::size_t at_a_time_, count_ = 0;
};

// "0,0,1,0,0,0,0,0," for every region: all of a line but what is behind the features.
inline std::vector<std::string> indicator_lines(std::size_t regions) {
  std::vector<std::string> lines(regions);
  for (std::size_t r = 0; r < regions; ++r)
    for (std::size_t j = 0; j < regions; ++j) lines[r] += j == r ? "1," : "0,";
  return lines;
}

// With the best Hamming loss.
inline Generated generated(const char* task, std::size_t n, std::uint64_t seed, std::size_t d, std::size_t k,
                           double best_loss, const std::string& what) {
  return {d,
          k,
          best_loss,
          {},
          {fmt::format("{}: {} examples (seed {}), {}", task, n, seed, what),
           fmt::format("Bayes risk (hamming loss) {:.6g}: no rule has a lower expected loss", best_loss)}};
}

}  // namespace m4n::detail

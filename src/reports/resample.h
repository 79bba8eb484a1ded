// Intervals of ratios of sums over examples, by the bootstrap, in time that does not grow with their number.
//
// Up to 4096 examples are drawn one by one, each with its weight, as Bootstrap (m4n/evaluate.h) does. More are first
// dealt into 4096 groups at random, and groups are drawn: the sums of a group are those of its examples, which are
// independent, so the spread of the sums over resamples is the same, to a relative error of about 1 in 64 of its size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/interval.h"

namespace m4n::detail {

class Resample {
 public:
  // `weight`: of the examples, or empty. Column 0 is the sum of the weights; there are `columns` more.
  Resample(std::size_t examples, std::span<const double> weight, std::size_t columns, std::uint64_t seed);

  // Adds the example's value, times its weight, to column 1, 2, ..
  void add(std::size_t example, std::size_t column, double value) {
    sums_[group(example) * width_ + column] += value * (weight_.empty() ? 1 : weight_[example]);
  }
  double total(std::size_t column) const;
  double ratio(std::size_t over, std::size_t under) const;
  // Of column `first` over column `second`, for all pairs on the same resamples; no_interval of a single example.
  std::vector<Interval> intervals(std::span<const std::pair<std::size_t, std::size_t>> ratios) const;

 private:
  static constexpr std::size_t most_groups = 4096, replicates = 1000;
  std::size_t group(std::size_t example) const;

  std::size_t groups_, width_;
  bool dealt_;
  std::uint64_t seed_;
  std::span<const double> weight_;
  std::vector<double> sums_;
};

}  // namespace m4n::detail

// Percentiles of values on resamples (interval.h).
#include "core/interval.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace m4n::detail {
namespace {

// v_(h) at h = u (N - 1), between its neighbours where h is not whole. `values` are sorted.
double quantile(std::span<const double> values, double u) {
  const double position = u * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

}  // namespace

Interval interval_of(std::span<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / count;
  for (const double v : values) squares += (v - mean) * (v - mean);
  constexpr double tail = (1 - Bootstrap::confidence) / 2;
  // Of equal values the mean differs from each by rounding; their spread is nothing all the same.
  const bool one_value = values.front() == values.back();
  return {quantile(values, tail), quantile(values, 1 - tail), one_value ? 0 : std::sqrt(squares / (count - 1))};
}

}  // namespace m4n::detail

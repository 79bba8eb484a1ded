// The interval that most values on resamples lie in.
#pragma once
#include <limits>
#include <span>

#include "m4n/evaluate.h"

namespace m4n::detail {

// Between the percentiles 2.5 and 97.5 (Bootstrap::confidence), with the standard deviation. Of at least two values,
// which are sorted.
Interval interval_of(std::span<double> values);
// Of resamples of a single example, which are all the same; and why.
inline constexpr const char* one_example_has_no_interval = "one example does not say how far others may lie from it";
inline constexpr Interval no_interval{std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN()};

}  // namespace m4n::detail

// The interval that most values on resamples lie in.
#pragma once
#include <span>

#include "m4n/evaluate.h"

namespace m4n::detail {

// Between the percentiles 2.5 and 97.5 (Bootstrap::confidence), with the standard deviation. Of at least two values,
// which are sorted.
Interval interval_of(std::span<double> values);

}  // namespace m4n::detail

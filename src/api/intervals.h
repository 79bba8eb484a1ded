// From the values v_1..v_N of a loss or a metric on N resamples, in increasing order v_(0)..v_(N-1), to
//   low = q(0.025), high = q(0.975), q(u) = v_(h) interpolated linearly at h = u (N - 1),
//   se  = sqrt(sum_r (v_r - mean v)^2 / (N - 1)).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "m4n/evaluate.h"

namespace m4n {

// `value` holds a row of `replicates` values for the loss, then one for each metric; they are sorted here. Of `metrics`
// only the names count.
Bootstrap intervals_of(const std::vector<std::pair<std::string, double>>& metrics, std::span<double> value,
                       std::uint64_t replicates, std::uint64_t seed);

}  // namespace m4n

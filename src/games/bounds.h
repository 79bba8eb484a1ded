// What an oracle promises: the max-min value lies between the two numbers, both evaluated at feasible points.
#pragma once

namespace m4n::detail {

struct Bounds {
  double lower = 0, upper = 0;  // lower <= max-min value <= upper
};

}  // namespace m4n::detail

// The most that a max-plus recursion could do on this machine.
#pragma once

namespace m4n::detail::bench {

// 10^9 pairs of an addition and a maximum a second, in registers, with the widest vectors; the best of several runs.
double add_max_peak_float();
double add_max_peak_double();

}  // namespace m4n::detail::bench

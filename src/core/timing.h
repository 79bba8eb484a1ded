// Times that mean something on a busy machine: CPU time of the calling thread (the wall clock would measure the
// neighbours too), and the least of several repeats (what disturbs a measurement only ever adds to it).
#pragma once
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>

namespace m4n::detail {

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU seconds of body(), the least of `repeats`.
template <class Body>
double fastest(int repeats, Body&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repeats; ++r) {
    const double start = cpu_seconds();
    body();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

// Microseconds of body(i), the mean over i = 0..count-1 in the fastest of as many sweeps as fit into `budget` seconds
// (at least three).
template <class Body>
double microseconds_each(std::size_t count, double budget, Body&& body) {
  const auto sweep = [&] {
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
  const double start = cpu_seconds();
  double best = fastest(3, sweep);
  while (cpu_seconds() - start < budget) best = std::min(best, fastest(1, sweep));
  return 1e6 * best / static_cast<double>(count);
}

}  // namespace m4n::detail

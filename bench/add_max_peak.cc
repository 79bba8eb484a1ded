// Independent chains of acc = max(acc, acc + step), as many as hide the latency, without a load or a store.
#include "add_max_peak.h"

#include "core/timing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "add_max_peak.cc"
// foreach_target must come before highway.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::bench::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

// Pairs in the run; `sink` keeps the result alive.
template <class Real>
HWY_INLINE std::size_t spin(std::size_t repeats, Real* sink) {
  constexpr hn::ScalableTag<Real> d;
  constexpr std::size_t chains = 12;
  hn::Vec<decltype(d)> acc[chains];
  for (std::size_t c = 0; c < chains; ++c) acc[c] = hn::Set(d, sink[0] + static_cast<Real>(c));
  const auto step = hn::Set(d, sink[1]);
  for (std::size_t r = 0; r < repeats; ++r)
    for (auto& a : acc) a = hn::Max(a, hn::Add(a, step));
  auto sum = acc[0];
  for (std::size_t c = 1; c < chains; ++c) sum = hn::Add(sum, acc[c]);
  sink[0] = hn::GetLane(hn::SumOfLanes(d, sum));
  return repeats * chains * hn::Lanes(d);
}

std::size_t SpinFloat(std::size_t repeats, float* sink) { return spin(repeats, sink); }
std::size_t SpinDouble(std::size_t repeats, double* sink) { return spin(repeats, sink); }

}  // namespace m4n::detail::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::bench {
namespace {

constexpr std::size_t repeats = 1'000'000;

}  // namespace

M4N_KERNEL(SpinFloat);
M4N_KERNEL(SpinDouble);

double add_max_peak_float() {
  float sink[2] = {0, 1e-3F};
  std::size_t pairs = 0;
  const double seconds = fastest(20, [&] { pairs = M4N_DISPATCH(SpinFloat)(repeats, sink); });
  return 1e-9 * static_cast<double>(pairs) / seconds;
}
double add_max_peak_double() {
  double sink[2] = {0, 1e-3};
  std::size_t pairs = 0;
  const double seconds = fastest(20, [&] { pairs = M4N_DISPATCH(SpinDouble)(repeats, sink); });
  return 1e-9 * static_cast<double>(pairs) / seconds;
}

}  // namespace m4n::detail::bench
#endif

// What happens on the simplex: thresholds, projections, softmax, entropy (kernels.h), compiled once for every vector
// width.
#include "core/kernels.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/simplex_kernels.cc"
// foreach_target must come before highway.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::kernels::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, lane_block>;
constexpr D d{};
constexpr std::size_t lanes = hn::MaxLanes(d);
using V = hn::Vec<D>;

HWY_INLINE double largest(std::span<const double> u) {
  V top = hn::Load(d, u.data());
  for (std::size_t a = lanes; a < u.size(); a += lanes) top = hn::Max(top, hn::Load(d, u.data() + a));
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

// Sum and number of the entries of u - shift above t.
struct Above {
  double sum, count;
};
HWY_INLINE Above above(std::span<const double> u, double shift, double t) {
  const V sv = hn::Set(d, shift), tv = hn::Set(d, t);
  V sum = hn::Zero(d), count = hn::Zero(d);
  for (std::size_t a = 0; a < u.size(); a += lanes) {
    const V x = hn::Sub(hn::Load(d, u.data() + a), sv);
    const auto in = hn::Gt(x, tv);
    sum = hn::Add(sum, hn::IfThenElseZero(in, x));
    count = hn::Add(count, hn::IfThenElseZero(in, hn::Set(d, 1.0)));
  }
  return {hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::SumOfLanes(d, count))};
}

// Michelot's iteration: t rises from max u - mass to tau, each time the mean of what still stands above it. Sums are
// of u - max u, so that huge scores lose nothing.
double Threshold(std::span<const double> u, double mass) {
  const double top = largest(u);
  double t = -mass, last_count = 1e300;
  for (;;) {
    const auto [sum, count] = above(u, top, t);
    // Exactly, t only rises; rounding must not make it swing.
    if (count >= last_count || count == 0) return top + t;
    last_count = count;
    t = (sum - mass) / count;
  }
}

// mu = (u - tau)_+, scaled to sum to 1.
HWY_INLINE void cut_at(double threshold, std::span<const double> u, std::span<double> mu) {
  const V tau = hn::Set(d, threshold);
  V sum = hn::Zero(d);
  for (std::size_t a = 0; a < u.size(); a += lanes) {
    const V part = hn::Max(hn::Sub(hn::Load(d, u.data() + a), tau), hn::Zero(d));
    sum = hn::Add(sum, part);
    hn::Store(part, d, mu.data() + a);
  }
  // The threshold carries the rounding of u, which may be large; the simplex wants sum mu = 1 to the last digit. Where
  // rounding has swallowed all of it, only the largest entry can matter.
  const double total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (!(total > 0)) {
    std::fill(mu.begin(), mu.end(), 0.0);
    mu[static_cast<std::size_t>(std::max_element(u.begin(), u.end()) - u.begin())] = 1;
    return;
  }
  const V scale = hn::Set(d, 1 / total);
  for (std::size_t a = 0; a < u.size(); a += lanes)
    hn::Store(hn::Mul(hn::Load(d, mu.data() + a), scale), d, mu.data() + a);
}

void ProjectSimplex(std::span<const double> u, std::span<double> mu) { cut_at(Threshold(u, 1), u, mu); }

// The threshold is sought from a guess, that of the old support: (sum of u over any set of entries - 1) / (their
// number) is never above tau, so after the first round t only rises, and where the support stays one round will do.
// Every round leaves mu = (u - guess - t)_+, whose sum tells whether t is right. Entries are taken relative to the
// guess, so that huge scores lose nothing.
void ProxLinear(std::span<const double> v, std::span<const double> cost, double step, std::span<double> mu,
                std::span<double> u) {
  constexpr double rounding = 1e-14;
  const V scale = hn::Set(d, step);
  V sum = hn::Zero(d);  // of u over the support of mu
  std::size_t support = 0;
  for (std::size_t a = 0; a < v.size(); a += lanes) {
    const V slope = hn::Add(hn::Load(d, v.data() + a), hn::Load(d, cost.data() + a));
    const V old = hn::Load(d, mu.data() + a);
    const V moved = hn::MulAdd(slope, scale, old);
    const auto in = hn::Gt(old, hn::Zero(d));
    sum = hn::Add(sum, hn::IfThenElseZero(in, moved));
    support += hn::CountTrue(d, in);
    hn::Store(moved, d, u.data() + a);
  }
  const double guess = (hn::GetLane(hn::SumOfLanes(d, sum)) - 1) / static_cast<double>(support);
  const V origin = hn::Set(d, guess);
  double t = 0, total = 0;
  std::size_t last_count = 0;
  for (int round = 0;; ++round) {
    const V tv = hn::Set(d, t);
    V parts = hn::Zero(d);
    std::size_t count = 0;
    for (std::size_t a = 0; a < u.size(); a += lanes) {
      const V x = hn::Sub(hn::Sub(hn::Load(d, u.data() + a), origin), tv);
      count += hn::CountTrue(d, hn::Gt(x, hn::Zero(d)));
      const V part = hn::Max(x, hn::Zero(d));
      parts = hn::Add(parts, part);
      hn::Store(part, d, mu.data() + a);
    }
    total = hn::GetLane(hn::SumOfLanes(d, parts));
    if (count == 0) return ProjectSimplex(u, mu);  // a guess above all entries
    if (std::abs(total - 1) <= rounding || count == last_count || (round > 1 && count > last_count)) break;
    last_count = count;
    t += (total - 1) / static_cast<double>(count);
  }
  const V share = hn::Set(d, 1 / total);
  for (std::size_t a = 0; a < u.size(); a += lanes)
    hn::Store(hn::Mul(hn::Load(d, mu.data() + a), share), d, mu.data() + a);
}

void ProxMax(std::span<double> u, double c, std::span<double> mu) {
  const V cap = hn::Set(d, Threshold(u, 1 / c));
  for (std::size_t a = 0; a < u.size(); a += lanes) hn::Store(hn::Min(hn::Load(d, u.data() + a), cap), d, u.data() + a);
  ProjectSimplex(u, mu);
}

double Softmax(std::span<const double> v, std::span<double> mu) {
  const double top = largest(v);
  const V shift = hn::Set(d, top), floor = hn::Set(d, -745.0);
  V sum = hn::Zero(d);
  for (std::size_t a = 0; a < v.size(); a += lanes) {
    const V x = hn::Sub(hn::Load(d, v.data() + a), shift);
    const V e = hn::IfThenElseZero(hn::Gt(x, floor), hn::Exp(d, hn::Max(x, floor)));
    sum = hn::Add(sum, e);
    hn::Store(e, d, mu.data() + a);
  }
  const double total = hn::GetLane(hn::SumOfLanes(d, sum));
  const V scale = hn::Set(d, 1 / total);
  for (std::size_t a = 0; a < v.size(); a += lanes)
    hn::Store(hn::Mul(hn::Load(d, mu.data() + a), scale), d, mu.data() + a);
  return top + std::log(total);
}

// log that treats 0 as the smallest normal number: callers multiply it by 0.
HWY_INLINE V safe_log(V x) { return hn::Log(d, hn::Max(x, hn::Set(d, 2.3e-308))); }

double Entropy(std::span<const double> mu) {
  V sum = hn::Zero(d);
  for (std::size_t a = 0; a < mu.size(); a += lanes) {
    const V m = hn::Load(d, mu.data() + a);
    sum = hn::NegMulAdd(m, safe_log(m), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

Slope EntropySlope(std::span<const double> mu, std::span<const double> delta, double t) {
  const V step = hn::Set(d, t), tiny = hn::Set(d, 2.3e-308);
  V first = hn::Zero(d), second = hn::Zero(d);
  for (std::size_t a = 0; a < mu.size(); a += lanes) {
    const V dl = hn::Load(d, delta.data() + a);
    const V m = hn::Max(hn::MulAdd(step, dl, hn::Load(d, mu.data() + a)), tiny);
    first = hn::NegMulAdd(dl, hn::Log(d, m), first);
    second = hn::Sub(second, hn::Div(hn::Mul(dl, dl), m));
  }
  return {hn::GetLane(hn::SumOfLanes(d, first)), hn::GetLane(hn::SumOfLanes(d, second))};
}

double Difference(std::span<const double> now, std::span<const double> old, std::span<double> step) {
  V top = hn::Zero(d);
  for (std::size_t a = 0; a < now.size(); a += lanes) {
    const V diff = hn::Sub(hn::Load(d, now.data() + a), hn::Load(d, old.data() + a));
    top = hn::Max(top, hn::Abs(diff));
    hn::Store(diff, d, step.data() + a);
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(Threshold);
M4N_KERNEL(ProjectSimplex);
M4N_KERNEL(ProxLinear);
M4N_KERNEL(ProxMax);
M4N_KERNEL(Softmax);
M4N_KERNEL(Entropy);
M4N_KERNEL(EntropySlope);
M4N_KERNEL(Difference);

double threshold(std::span<const double> u, double mass) { return M4N_DISPATCH(Threshold)(u, mass); }
void project_simplex(std::span<const double> u, std::span<double> mu) { M4N_DISPATCH(ProjectSimplex)(u, mu); }
void prox_linear(std::span<const double> v, std::span<const double> cost, double step, std::span<double> mu,
                 std::span<double> u) {
  M4N_DISPATCH(ProxLinear)(v, cost, step, mu, u);
}
void prox_max(std::span<double> u, double c, std::span<double> mu) { M4N_DISPATCH(ProxMax)(u, c, mu); }
double softmax(std::span<const double> v, std::span<double> mu) { return M4N_DISPATCH(Softmax)(v, mu); }
double entropy(std::span<const double> mu) { return M4N_DISPATCH(Entropy)(mu); }
Slope entropy_slope(std::span<const double> mu, std::span<const double> delta, double t) {
  return M4N_DISPATCH(EntropySlope)(mu, delta, t);
}
double difference(std::span<const double> now, std::span<const double> old, std::span<double> step) {
  return M4N_DISPATCH(Difference)(now, old, step);
}

}  // namespace m4n::detail::kernels
#endif

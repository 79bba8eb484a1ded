// The loops of kernels.h, compiled once for every vector width.
#include "structures/label_sets/kernels.h"

#include <algorithm>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/label_sets/kernels.cc"
// foreach_target must come before highway.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
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

// Calls body(offset, mask of the lanes that count) for every vector of the padded length.
template <class Body>
HWY_INLINE void for_vectors(std::size_t padded_length, std::size_t count, Body&& body) {
  for (std::size_t a = 0; a < padded_length; a += lanes)
    body(a, hn::FirstN(d, count > a ? std::min(lanes, count - a) : 0));
}

// exp(-2 |s|), never a denormal.
HWY_INLINE V decayed(V magnitude) {
  return hn::Exp(d, hn::Max(hn::Mul(hn::Set(d, -2.0), magnitude), hn::Set(d, -700.0)));
}
// tanh of a magnitude, from e = exp(-2 |s|).
HWY_INLINE V tanh_of(V e) { return hn::Div(hn::Sub(hn::Set(d, 1.0), e), hn::Add(hn::Set(d, 1.0), e)); }

double LogSum(std::span<const double> s, std::size_t count, std::span<double> m) {
  V sum = hn::Zero(d);
  for_vectors(s.size(), count, [&](std::size_t a, auto in) HWY_ATTR {
    const V own = hn::IfThenElseZero(in, hn::Load(d, s.data() + a)), size = hn::Abs(own), e = decayed(size);
    sum = hn::Add(sum, hn::IfThenElseZero(in, hn::Add(size, hn::Log1p(d, e))));
    if (!m.empty()) hn::Store(hn::CopySign(tanh_of(e), own), d, m.data() + a);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

double OnOffEntropy(std::span<const double> m, std::size_t count) {
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), tiny = hn::Set(d, 2.3e-308);
  V sum = hn::Zero(d);
  for_vectors(m.size(), count, [&](std::size_t a, auto in) HWY_ATTR {
    const V own = hn::Load(d, m.data() + a);
    const V on = hn::Mul(half, hn::Add(one, own)), off = hn::Mul(half, hn::Sub(one, own));
    const V part = hn::MulAdd(on, hn::Log(d, hn::Max(on, tiny)), hn::Mul(off, hn::Log(d, hn::Max(off, tiny))));
    sum = hn::Sub(sum, hn::IfThenElseZero(in, part));
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// With r = |s + c m| >= 0 the root t of g(t) = t + c tanh(t) - r lies between max(r - c, r/(1 + c)) and r, and g is
// concave there: Newton from the left stays on the left. It ends when |g| is small beside 1 + r: the error of tanh(t),
// which is the answer, is at most |g| / c. A small step alone would not do, for where c is large g is steep.
void OnOffEntropyProx(std::span<const double> s, double c, std::size_t count, std::span<double> m) {
  constexpr int most_steps = 40;
  const V one = hn::Set(d, 1.0), curvature = hn::Set(d, c), shrink = hn::Set(d, 1 / (1 + c));
  for_vectors(s.size(), count, [&](std::size_t a, auto in) HWY_ATTR {
    const V target =
        hn::IfThenElseZero(in, hn::MulAdd(curvature, hn::Load(d, m.data() + a), hn::Load(d, s.data() + a)));
    const V r = hn::Abs(target), enough = hn::Mul(hn::Set(d, 1e-14), hn::Add(one, r));
    V t = hn::Max(hn::Sub(r, curvature), hn::Mul(r, shrink)), tanh = tanh_of(decayed(t));
    for (int step = 0; step < most_steps; ++step) {
      const V slope = hn::MulAdd(curvature, hn::NegMulAdd(tanh, tanh, one), one);
      const V change = hn::Div(hn::Sub(hn::NegMulAdd(curvature, tanh, r), t), slope);
      t = hn::Max(hn::Add(t, change), hn::Zero(d));
      tanh = tanh_of(decayed(t));
      if (hn::AllTrue(d, hn::Le(hn::Abs(hn::Mul(change, slope)), enough))) break;
    }
    hn::Store(hn::IfThenElseZero(in, hn::CopySign(tanh, target)), d, m.data() + a);
  });
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(LogSum);
M4N_KERNEL(OnOffEntropy);
M4N_KERNEL(OnOffEntropyProx);

double on_off_log_sum(std::span<const double> s, std::size_t count) { return M4N_DISPATCH(LogSum)(s, count, {}); }
double on_off_log_sum(std::span<const double> s, std::size_t count, std::span<double> m) {
  return M4N_DISPATCH(LogSum)(s, count, m);
}
double on_off_entropy(std::span<const double> m, std::size_t count) { return M4N_DISPATCH(OnOffEntropy)(m, count); }
void on_off_entropy_prox(std::span<const double> s, double c, std::size_t count, std::span<double> m) {
  M4N_DISPATCH(OnOffEntropyProx)(s, c, count, m);
}

}  // namespace m4n::detail::kernels
#endif

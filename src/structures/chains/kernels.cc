// The recursions of kernels.h, compiled once for every vector width. Maxima and sums of max-plus have the same bits
// whatever the width.
#include "structures/chains/kernels.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/chains/kernels.cc"
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

template <class Real>
using Tag = hn::CappedTag<Real, row_block<Real>>;
template <class Real>
using Vector = hn::Vec<Tag<Real>>;

// Unary scores from column `at` on, which are kept in double, in the precision of the recursion. Rows of doubles may be
// shorter than rows of floats; what is missing are padding lanes.
HWY_INLINE Vector<double> load_scores(Tag<double> d, std::span<const double> row, std::size_t at) {
  return hn::Load(d, row.data() + at);
}
HWY_INLINE Vector<float> load_scores(Tag<float> d, std::span<const double> row, std::size_t at) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, at < row.size() ? static_cast<float>(row[at]) : 0.0F);
#else
  const hn::Half<decltype(d)> half;
  const hn::Rebind<double, decltype(half)> wide;
  const std::size_t n = hn::Lanes(half);
  const auto part = [&](std::size_t from) HWY_ATTR {
    return from < row.size() ? hn::DemoteTo(half, hn::Load(wide, row.data() + from)) : hn::Zero(half);
  };
  return hn::Combine(d, part(at + n), part(at));
#endif
}

template <std::size_t N>
using Number = std::integral_constant<std::size_t, N>;

// Calls body(first, blocks) for columns [first, first + blocks * row_block): four blocks at a time, then two, then one.
// Few columns leave few independent chains of operations; bodies answer by splitting the sum over j.
template <class Real, class Body>
HWY_INLINE void for_columns(std::size_t stride, Body&& body) {
  constexpr std::size_t block = row_block<Real>;
  for (std::size_t first = 0; first < stride;) {
    const std::size_t left = (stride - first) / block;
    if (left >= 4) {
      body(first, Number<4>(), Number<1>());
      first += 4 * block;
    } else if (left >= 2) {
      body(first, Number<2>(), Number<2>());
      first += 2 * block;
    } else {
      body(first, Number<1>(), Number<4>());
      first += block;
    }
  }
}

// acc[c][a] = max over the j with j mod Chains = c of  from[j] + T[j][first + a * lanes ..], j < labels.
template <std::size_t Blocks, std::size_t Chains, class Real>
HWY_INLINE void max_plus_columns(const Real* from, PaddedRows<const Real> t, std::size_t first,
                                 std::span<const double> unary, Real* HWY_RESTRICT out) {
  constexpr Tag<Real> d;
  constexpr std::size_t lanes = hn::MaxLanes(d), vectors = Blocks * row_block<Real> / lanes;
  Vector<Real> acc[Chains][vectors];
  const std::size_t labels = t.rows(), stride = t.stride();
  const Real* row = t.data() + first;
  for (std::size_t c = 0; c < Chains; ++c) {
    const std::size_t j = c < labels ? c : 0;
    const auto base = hn::Set(d, from[j]);
    for (std::size_t a = 0; a < vectors; ++a) acc[c][a] = hn::Add(base, hn::Load(d, row + j * stride + a * lanes));
  }
  const auto step = [&](std::size_t j, std::size_t c) HWY_ATTR {
    const auto base = hn::Set(d, from[j]);
    for (std::size_t a = 0; a < vectors; ++a)
      acc[c][a] = hn::Max(acc[c][a], hn::Add(base, hn::Load(d, row + j * stride + a * lanes)));
  };
  std::size_t j = Chains;
  for (; j + Chains <= labels; j += Chains)
    for (std::size_t c = 0; c < Chains; ++c) step(j + c, c);
  for (; j < labels; ++j) step(j, 0);
  for (std::size_t a = 0; a < vectors; ++a) {
    auto best = acc[0][a];
    for (std::size_t c = 1; c < Chains; ++c) best = hn::Max(best, acc[c][a]);
    hn::Store(hn::Add(best, load_scores(d, unary, first + a * lanes)), d, out + first + a * lanes);
  }
}

template <class Real>
HWY_INLINE void max_plus_chain(PaddedRows<const double> unary, const TransitionRows<Real>& transitions,
                               PaddedRows<Real> forward) {
  constexpr Tag<Real> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  for (std::size_t a = 0; a < forward.stride(); a += lanes)
    hn::Store(hn::Add(load_scores(d, unary.padded_row(0), a), hn::Load(d, transitions.start + a)), d,
              forward.row(0) + a);
  for (std::size_t m = 1; m < forward.rows(); ++m) {
    for_columns<Real>(forward.stride(), [&](std::size_t first, auto blocks, auto chains) HWY_ATTR {
      max_plus_columns<decltype(blocks)::value, decltype(chains)::value>(forward.row(m - 1), transitions.from_to, first,
                                                                         unary.padded_row(m), forward.row(m));
    });
  }
}

// The first index at which a + b is largest.
template <class Real>
HWY_INLINE std::size_t first_largest_sum(const Real* a, const Real* b, std::size_t stride) {
  constexpr Tag<Real> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  auto top = hn::Add(hn::Load(d, a), hn::Load(d, b));
  for (std::size_t i = lanes; i < stride; i += lanes)
    top = hn::Max(top, hn::Add(hn::Load(d, a + i), hn::Load(d, b + i)));
  const auto largest = hn::MaxOfLanes(d, top);
  for (std::size_t i = 0; i < stride; i += lanes) {
    const auto at = hn::FindFirstTrue(d, hn::Eq(largest, hn::Add(hn::Load(d, a + i), hn::Load(d, b + i))));
    if (at >= 0) return i + static_cast<std::size_t>(at);
  }
  return 0;  // only if a score is not a number
}

template <class Real>
HWY_INLINE void backtrack_chain(PaddedRows<const Real> forward, const TransitionRows<Real>& transitions,
                                std::span<std::int32_t> y) {
  const Real* outgoing = transitions.end;
  for (std::size_t m = forward.rows(); m-- > 0;) {
    const std::size_t label = first_largest_sum(forward.row(m), outgoing, forward.stride());
    y[m] = static_cast<std::int32_t>(label);
    outgoing = transitions.to_from.row(label);
  }
}

void MaxPlusDouble(PaddedRows<const double> unary, const TransitionRows<double>& transitions,
                   PaddedRows<double> forward) {
  max_plus_chain(unary, transitions, forward);
}
void MaxPlusFloat(PaddedRows<const double> unary, const TransitionRows<float>& transitions, PaddedRows<float> forward) {
  max_plus_chain(unary, transitions, forward);
}
void BacktrackDouble(PaddedRows<const double> forward, const TransitionRows<double>& transitions,
                     std::span<std::int32_t> y) {
  backtrack_chain(forward, transitions, y);
}
void BacktrackFloat(PaddedRows<const float> forward, const TransitionRows<float>& transitions,
                    std::span<std::int32_t> y) {
  backtrack_chain(forward, transitions, y);
}

constexpr Tag<double> dd{};
constexpr std::size_t double_lanes = hn::MaxLanes(dd);

// Which lanes of the vector at column `at` are columns and not padding.
HWY_INLINE auto real_lanes(std::size_t at, std::size_t columns) {
  return hn::Lt(hn::Iota(dd, static_cast<double>(at)), hn::Set(dd, static_cast<double>(columns)));
}

Extent RowExtent(std::span<const double> in, std::size_t columns) {
  auto low = hn::Set(dd, in[0]), high = low;
  for (std::size_t a = 0; a < in.size(); a += double_lanes) {
    const auto x = hn::Load(dd, in.data() + a);
    const auto real = real_lanes(a, columns);
    low = hn::IfThenElse(real, hn::Min(low, x), low);
    high = hn::IfThenElse(real, hn::Max(high, x), high);
  }
  return {hn::GetLane(hn::MinOfLanes(dd, low)), hn::GetLane(hn::MaxOfLanes(dd, high))};
}

void ExpRow(std::span<const double> in, std::size_t columns, double shift, std::span<double> out) {
  const auto floor = hn::Set(dd, -708.0), down = hn::Set(dd, shift);
  for (std::size_t a = 0; a < out.size(); a += double_lanes) {
    const auto x = hn::Sub(hn::Load(dd, in.data() + a), down);
    const auto keep = hn::And(real_lanes(a, columns), hn::Gt(x, floor));
    hn::Store(hn::IfThenElseZero(keep, hn::Exp(dd, hn::IfThenElseZero(keep, x))), dd, out.data() + a);
  }
}

void LogSumExp(const double* from, PaddedRows<const double> t, std::span<double> out) {
  const auto floor = hn::Set(dd, -708.0);
  for (std::size_t a = 0; a < out.size(); a += double_lanes) {
    const double* column = t.data() + a;
    auto top = hn::Add(hn::Set(dd, from[0]), hn::Load(dd, column));
    for (std::size_t j = 1; j < t.rows(); ++j)
      top = hn::Max(top, hn::Add(hn::Set(dd, from[j]), hn::Load(dd, column + j * t.stride())));
    auto sum = hn::Zero(dd);
    for (std::size_t j = 0; j < t.rows(); ++j) {
      const auto x = hn::Sub(hn::Add(hn::Set(dd, from[j]), hn::Load(dd, column + j * t.stride())), top);
      sum = hn::Add(sum, hn::IfThenElseZero(hn::Gt(x, floor), hn::Exp(dd, hn::Max(x, floor))));
    }
    hn::Store(hn::Add(top, hn::Log(dd, sum)), dd, out.data() + a);
  }
}

// out = sum_j x[j] rows[j] on the columns from `first`.
template <std::size_t Blocks, std::size_t Chains>
HWY_INLINE void combine_rows(const double* x, std::size_t x_stride, const double* rows, std::size_t count,
                             std::size_t stride, std::size_t first,
                             Vector<double> (&sum)[Blocks * row_block<double> / double_lanes]) {
  constexpr std::size_t vectors = Blocks * row_block<double> / double_lanes;
  Vector<double> acc[Chains][vectors];
  for (auto& chain : acc)
    for (auto& a : chain) a = hn::Zero(dd);
  const auto step = [&](std::size_t j, std::size_t c) HWY_ATTR {
    const auto scale = hn::Set(dd, x[j * x_stride]);
    for (std::size_t a = 0; a < vectors; ++a)
      acc[c][a] = hn::MulAdd(scale, hn::Load(dd, rows + j * stride + first + a * double_lanes), acc[c][a]);
  };
  std::size_t j = 0;
  for (; j + Chains <= count; j += Chains)
    for (std::size_t c = 0; c < Chains; ++c) step(j + c, c);
  for (; j < count; ++j) step(j, 0);
  for (std::size_t a = 0; a < vectors; ++a) {
    sum[a] = acc[0][a];
    for (std::size_t c = 1; c < Chains; ++c) sum[a] = hn::Add(sum[a], acc[c][a]);
  }
}

// out[k] = factor[k] sum_j x[j * x_stride] rows[j][k] for all columns; returns the sum of out.
HWY_INLINE double combine(const double* x, std::size_t x_stride, PaddedRows<const double> rows, const double* factor,
                          double* out) {
  auto total = hn::Zero(dd);
  for_columns<double>(rows.stride(), [&](std::size_t first, auto blocks, auto chains) HWY_ATTR {
    constexpr std::size_t vectors = decltype(blocks)::value * row_block<double> / double_lanes;
    Vector<double> sum[vectors];
    combine_rows<decltype(blocks)::value, decltype(chains)::value>(x, x_stride, rows.data(), rows.rows(), rows.stride(),
                                                                   first, sum);
    for (std::size_t a = 0; a < vectors; ++a) {
      const std::size_t at = first + a * double_lanes;
      const auto value = hn::Mul(sum[a], hn::Load(dd, factor + at));
      total = hn::Add(total, value);
      hn::Store(value, dd, out + at);
    }
  });
  return hn::GetLane(hn::SumOfLanes(dd, total));
}

HWY_INLINE void scale_row(double* row, std::size_t stride, double factor) {
  const auto scale = hn::Set(dd, factor);
  for (std::size_t a = 0; a < stride; a += double_lanes) hn::Store(hn::Mul(hn::Load(dd, row + a), scale), dd, row + a);
}

void SumProductForward(PaddedRows<const double> p, PaddedRows<const double> e, PaddedRows<double> alpha,
                       std::span<double> c) {
  auto total = hn::Zero(dd);
  for (std::size_t a = 0; a < alpha.stride(); a += double_lanes) {
    const auto value = hn::Load(dd, p.row(0) + a);
    total = hn::Add(total, value);
    hn::Store(value, dd, alpha.row(0) + a);
  }
  c[0] = hn::GetLane(hn::SumOfLanes(dd, total));
  scale_row(alpha.row(0), alpha.stride(), 1 / c[0]);
  for (std::size_t m = 1; m < alpha.rows(); ++m) {
    c[m] = combine(alpha.row(m - 1), 1, e, p.row(m), alpha.row(m));
    scale_row(alpha.row(m), alpha.stride(), 1 / c[m]);
  }
}

void SumProductBackward(PaddedRows<const double> p, PaddedRows<const double> e_to_from, PaddedRows<const double> alpha,
                        std::span<const double> c, PaddedRows<double> q, PaddedRows<double> marginal) {
  const std::size_t stride = alpha.stride(), last = alpha.rows() - 1;
  for (std::size_t a = 0; a < stride; a += double_lanes)
    hn::Store(hn::Load(dd, alpha.row(last) + a), dd, marginal.row(last) + a);
  for (std::size_t m = last; m > 0; --m) {
    // q[m] = p[m] beta[m] / c_m; beta[m] was left in q[m] (in the last row it is 1).
    const auto scale = hn::Set(dd, 1 / c[m]);
    for (std::size_t a = 0; a < stride; a += double_lanes) {
      const auto x = hn::Mul(hn::Load(dd, p.row(m) + a), scale);
      hn::Store(m == last ? x : hn::Mul(x, hn::Load(dd, q.row(m) + a)), dd, q.row(m) + a);
    }
    for_columns<double>(stride, [&](std::size_t first, auto blocks, auto chains) HWY_ATTR {
      constexpr std::size_t vectors = decltype(blocks)::value * row_block<double> / double_lanes;
      Vector<double> beta[vectors];
      combine_rows<decltype(blocks)::value, decltype(chains)::value>(q.row(m), 1, e_to_from.data(), e_to_from.rows(),
                                                                     stride, first, beta);
      for (std::size_t a = 0; a < vectors; ++a) {
        const std::size_t at = first + a * double_lanes;
        hn::Store(beta[a], dd, q.row(m - 1) + at);
        hn::Store(hn::Mul(beta[a], hn::Load(dd, alpha.row(m - 1) + at)), dd, marginal.row(m - 1) + at);
      }
    });
  }
}

void TransitionCounts(PaddedRows<const double> alpha, PaddedRows<const double> q, PaddedRows<const double> e,
                      PaddedRows<double> count) {
  const std::size_t edges = alpha.rows() - 1;
  const PaddedRows<const double> arrivals(q.data() + q.stride(), edges, q.columns());
  for (std::size_t j = 0; j < e.rows(); ++j)
    combine(alpha.data() + j, alpha.stride(), arrivals, e.row(j), count.row(j));
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(MaxPlusDouble);
M4N_KERNEL(MaxPlusFloat);
M4N_KERNEL(BacktrackDouble);
M4N_KERNEL(BacktrackFloat);
M4N_KERNEL(RowExtent);
M4N_KERNEL(ExpRow);
M4N_KERNEL(SumProductForward);
M4N_KERNEL(SumProductBackward);
M4N_KERNEL(TransitionCounts);
M4N_KERNEL(LogSumExp);

void max_plus(PaddedRows<const double> unary, const TransitionRows<double>& transitions, PaddedRows<double> forward) {
  M4N_DISPATCH(MaxPlusDouble)(unary, transitions, forward);
}
void max_plus(PaddedRows<const double> unary, const TransitionRows<float>& transitions, PaddedRows<float> forward) {
  M4N_DISPATCH(MaxPlusFloat)(unary, transitions, forward);
}
void backtrack(PaddedRows<const double> forward, const TransitionRows<double>& transitions, std::span<std::int32_t> y) {
  M4N_DISPATCH(BacktrackDouble)(forward, transitions, y);
}
void backtrack(PaddedRows<const float> forward, const TransitionRows<float>& transitions, std::span<std::int32_t> y) {
  M4N_DISPATCH(BacktrackFloat)(forward, transitions, y);
}
Extent row_extent(std::span<const double> in, std::size_t columns) { return M4N_DISPATCH(RowExtent)(in, columns); }
void exp_row(std::span<const double> in, std::size_t columns, double shift, std::span<double> out) {
  M4N_DISPATCH(ExpRow)(in, columns, shift, out);
}
void sum_product_forward(PaddedRows<const double> p, PaddedRows<const double> e, PaddedRows<double> alpha,
                         std::span<double> c) {
  M4N_DISPATCH(SumProductForward)(p, e, alpha, c);
}
void sum_product_backward(PaddedRows<const double> p, PaddedRows<const double> e_to_from,
                          PaddedRows<const double> alpha, std::span<const double> c, PaddedRows<double> q,
                          PaddedRows<double> marginal) {
  M4N_DISPATCH(SumProductBackward)(p, e_to_from, alpha, c, q, marginal);
}
void transition_counts(PaddedRows<const double> alpha, PaddedRows<const double> q, PaddedRows<const double> e,
                       PaddedRows<double> count) {
  M4N_DISPATCH(TransitionCounts)(alpha, q, e, count);
}

void log_sum_exp(const double* from, PaddedRows<const double> t, std::span<double> out) {
  M4N_DISPATCH(LogSumExp)(from, t, out);
}

}  // namespace m4n::detail::kernels
#endif

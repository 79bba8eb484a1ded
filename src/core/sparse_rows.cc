// The loops of sparse_rows.h, compiled once for every vector width.
#include "core/sparse_rows.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/sparse_rows.cc"
// foreach_target must come before highway.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/cache_control.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::kernels::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, lane_block>;
constexpr D d{};
constexpr std::size_t lanes = hn::MaxLanes(d);
using V = hn::Vec<D>;
constexpr hn::Rebind<float, D> narrow{};

HWY_INLINE V load(const double* p) { return hn::Load(d, p); }
HWY_INLINE V load(const float* p) { return hn::PromoteTo(d, hn::Load(narrow, p)); }
HWY_INLINE void store(V x, double* p) { hn::Store(x, d, p); }
HWY_INLINE void store(V x, float* p) { hn::Store(hn::DemoteTo(narrow, x), narrow, p); }

// Bytes of weights that stay in the cache without being asked for.
constexpr std::size_t near = std::size_t{1} << 19;

template <class Real>
HWY_INLINE void ask_for(const SparseView& x, std::size_t row, const Real* w, std::size_t stride) {
  constexpr std::size_t line = 64 / sizeof(Real);
  for (std::size_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    const Real* place = w + std::size_t{x.column[e]} * stride;
    for (std::size_t a = 0; a < stride; a += line) hwy::Prefetch(place + a);
    hwy::Prefetch(place + stride - 1);
  }
}

template <std::size_t Blocks, class Real>
HWY_INLINE void sum_columns(const SparseView& x, std::size_t row, const Real* HWY_RESTRICT w, std::size_t stride,
                            const double* bias, double* out) {
  constexpr std::size_t vectors = Blocks * lane_block / lanes;
  V acc[vectors];
  for (std::size_t a = 0; a < vectors; ++a) acc[a] = bias != nullptr ? hn::Load(d, bias + a * lanes) : hn::Zero(d);
  const std::size_t last = x.row_start[row + 1];
  if (x.value.empty()) {
    for (std::size_t e = x.row_start[row]; e < last; ++e) {
      const Real* place = w + std::size_t{x.column[e]} * stride;
      for (std::size_t a = 0; a < vectors; ++a) acc[a] = hn::Add(acc[a], load(place + a * lanes));
    }
  } else {
    for (std::size_t e = x.row_start[row]; e < last; ++e) {
      const Real* place = w + std::size_t{x.column[e]} * stride;
      const V value = hn::Set(d, x.value[e]);
      for (std::size_t a = 0; a < vectors; ++a) acc[a] = hn::MulAdd(value, load(place + a * lanes), acc[a]);
    }
  }
  for (std::size_t a = 0; a < vectors; ++a) hn::Store(acc[a], d, out + a * lanes);
}

template <class Real>
HWY_INLINE void scores_of_rows(const SparseView& x, std::size_t first, const Real* w, const double* bias,
                               PaddedRows<double> out) {
  const std::size_t stride = out.stride();
  const bool far = x.cols * stride * sizeof(Real) > near;
  if (far) ask_for(x, first, w, stride);
  for (std::size_t r = 0; r < out.rows(); ++r) {
    if (far && r + 1 < out.rows()) ask_for(x, first + r + 1, w, stride);
    for (std::size_t at = 0; at < stride;) {
      const std::size_t left = (stride - at) / lane_block;
      const double* b = bias != nullptr ? bias + at : nullptr;
      double* to = out.row(r) + at;
      if (left >= 4) {
        sum_columns<4>(x, first + r, w + at, stride, b, to);
        at += 4 * lane_block;
      } else if (left == 3) {
        sum_columns<3>(x, first + r, w + at, stride, b, to);
        at += 3 * lane_block;
      } else {
        sum_columns<1>(x, first + r, w + at, stride, b, to);
        at += lane_block;
      }
    }
  }
}

template <class Real>
HWY_INLINE void update_rows(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale,
                            Real* w) {
  const std::size_t stride = delta.stride();
  for (std::size_t r = 0; r < delta.rows(); ++r) {
    const std::size_t begin = x.row_start[first + r], end = x.row_start[first + r + 1];
    for (std::size_t a = 0; a < stride; a += lanes) {
      const V step = hn::Mul(hn::Set(d, scale), hn::Load(d, delta.row(r) + a));
      if (hn::AllTrue(d, hn::Eq(step, hn::Zero(d)))) continue;
      for (std::size_t e = begin; e < end; ++e) {
        Real* place = w + std::size_t{x.column[e]} * stride + a;
        const V value = hn::Set(d, x.value.empty() ? 1.0 : x.value[e]);
        store(hn::MulAdd(value, step, load(place)), place);
      }
    }
  }
}

void RowsScoresDouble(const SparseView& x, std::size_t first, const double* w, const double* bias,
                      PaddedRows<double> out) {
  scores_of_rows(x, first, w, bias, out);
}
void RowsScoresFloat(const SparseView& x, std::size_t first, const float* w, const double* bias,
                     PaddedRows<double> out) {
  scores_of_rows(x, first, w, bias, out);
}
void RowsUpdateDouble(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, double* w) {
  update_rows(x, first, delta, scale, w);
}
void RowsUpdateFloat(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, float* w) {
  update_rows(x, first, delta, scale, w);
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(RowsScoresDouble);
M4N_KERNEL(RowsScoresFloat);
M4N_KERNEL(RowsUpdateDouble);
M4N_KERNEL(RowsUpdateFloat);

void rows_scores(const SparseView& x, std::size_t first, const double* w, const double* bias, PaddedRows<double> out) {
  M4N_DISPATCH(RowsScoresDouble)(x, first, w, bias, out);
}
void rows_scores(const SparseView& x, std::size_t first, const float* w, const double* bias, PaddedRows<double> out) {
  M4N_DISPATCH(RowsScoresFloat)(x, first, w, bias, out);
}
void rows_update(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, double* w) {
  M4N_DISPATCH(RowsUpdateDouble)(x, first, delta, scale, w);
}
void rows_update(const SparseView& x, std::size_t first, PaddedRows<const double> delta, double scale, float* w) {
  M4N_DISPATCH(RowsUpdateFloat)(x, first, delta, scale, w);
}

double rows_dot(const SparseView& x, std::size_t a, std::size_t b) {
  std::size_t e = x.row_start[a], f = x.row_start[b];
  const std::size_t e_end = x.row_start[a + 1], f_end = x.row_start[b + 1];
  const auto value = [&](std::size_t at) { return x.value.empty() ? 1.0 : x.value[at]; };
  double sum = 0;
  while (e < e_end && f < f_end) {
    if (x.column[e] == x.column[f]) sum += value(e) * value(f);
    const bool step_e = x.column[e] <= x.column[f], step_f = x.column[f] <= x.column[e];
    e += step_e ? 1 : 0;
    f += step_f ? 1 : 0;
  }
  return sum;
}

}  // namespace m4n::detail::kernels
#endif

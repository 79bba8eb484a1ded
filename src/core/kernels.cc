// Scores and updates of kernels.h, compiled once for every vector width.
#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels.cc"
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

// acc[0..Blocks*lane_block/lanes) += x * row: the inner step of every score.
template <std::size_t Vectors>
HWY_INLINE void accumulate(const double x, const double* HWY_RESTRICT row, V (&acc)[Vectors]) {
  const V xv = hn::Set(d, x);
  for (std::size_t a = 0; a < Vectors; ++a) acc[a] = hn::MulAdd(xv, hn::Load(d, row + a * lanes), acc[a]);
}

// Scores of `Blocks` lane blocks. Few columns leave few independent sums, so consecutive features go to `Chains`
// separate accumulators to hide the latency of the multiply-add.
template <std::size_t Blocks, std::size_t Chains>
HWY_INLINE void dense_columns(std::span<const double> x, const double* HWY_RESTRICT w, std::size_t kp,
                              const double* bias, double* v) {
  constexpr std::size_t vectors = Blocks * lane_block / lanes;
  V acc[Chains][vectors];
  for (std::size_t c = 0; c < Chains; ++c)
    for (std::size_t a = 0; a < vectors; ++a)
      acc[c][a] = c == 0 && bias != nullptr ? hn::Load(d, bias + a * lanes) : hn::Zero(d);
  std::size_t j = 0;
  for (; j + Chains <= x.size(); j += Chains)
    for (std::size_t c = 0; c < Chains; ++c) accumulate(x[j + c], w + (j + c) * kp, acc[c]);
  for (; j < x.size(); ++j) accumulate(x[j], w + j * kp, acc[0]);
  for (std::size_t a = 0; a < vectors; ++a) {
    V sum = acc[0][a];
    for (std::size_t c = 1; c < Chains; ++c) sum = hn::Add(sum, acc[c][a]);
    hn::Store(sum, d, v + a * lanes);
  }
}

void DenseScores(std::span<const double> x, const double* w, const double* bias, std::span<double> v) {
  const std::size_t kp = v.size();
  for (std::size_t first = 0; first < kp;) {
    const std::size_t left = (kp - first) / lane_block;
    const double* b = bias != nullptr ? bias + first : nullptr;
    if (left >= 4) {
      dense_columns<4, 1>(x, w + first, kp, b, v.data() + first);
      first += 4 * lane_block;
    } else if (left >= 2) {
      dense_columns<2, 2>(x, w + first, kp, b, v.data() + first);
      first += 2 * lane_block;
    } else {
      dense_columns<1, 4>(x, w + first, kp, b, v.data() + first);
      first += lane_block;
    }
  }
}

// `Rows` rows at a time share every load of a row of w.
template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void dense_tile(const double* HWY_RESTRICT x, std::size_t x_stride, std::size_t count,
                           const double* HWY_RESTRICT w, std::size_t kp, const double* bias, double* v) {
  V acc[Rows][Vectors];
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t a = 0; a < Vectors; ++a) acc[r][a] = bias != nullptr ? hn::Load(d, bias + a * lanes) : hn::Zero(d);
  for (std::size_t j = 0; j < count; ++j) {
    if (j % lane_block == 0)  // rows that come next: too short a run each for the processor to guess
      for (std::size_t r = 0; r < Rows; ++r) hwy::Prefetch(x + (r + Rows) * x_stride + j);
    V row[Vectors];
    for (std::size_t a = 0; a < Vectors; ++a) row[a] = hn::Load(d, w + j * kp + a * lanes);
    for (std::size_t r = 0; r < Rows; ++r) {
      const V xv = hn::Set(d, x[r * x_stride + j]);
      for (std::size_t a = 0; a < Vectors; ++a) acc[r][a] = hn::MulAdd(xv, row[a], acc[r][a]);
    }
  }
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t a = 0; a < Vectors; ++a) hn::Store(acc[r][a], d, v + r * kp + a * lanes);
}

constexpr std::size_t tile_vectors = 2;

void DenseScoresOfRows(const double* x, std::size_t x_stride, std::size_t count, std::size_t rows, const double* w,
                       const double* bias, std::size_t kp, double* v) {
  constexpr std::size_t tile = 4;
  std::size_t r = 0;
  for (; r + tile <= rows; r += tile)
    for (std::size_t c = 0; c < kp;) {
      const double* b = bias != nullptr ? bias + c : nullptr;
      if (c + tile_vectors * lanes <= kp) {
        dense_tile<tile, tile_vectors>(x + r * x_stride, x_stride, count, w + c, kp, b, v + r * kp + c);
        c += tile_vectors * lanes;
      } else {
        dense_tile<tile, 1>(x + r * x_stride, x_stride, count, w + c, kp, b, v + r * kp + c);
        c += lanes;
      }
    }
  for (; r < rows; ++r) DenseScores({x + r * x_stride, count}, w, bias, {v + r * kp, kp});
}

template <std::size_t Rows>
HWY_INLINE void update_tile(const double* HWY_RESTRICT x, std::size_t x_stride, std::size_t count,
                            const double* HWY_RESTRICT step, std::size_t kp, double* HWY_RESTRICT w, double* bias) {
  for (std::size_t c = 0; c < kp; c += lanes) {
    V own[Rows];
    V sum = hn::Zero(d);
    for (std::size_t r = 0; r < Rows; ++r) {
      own[r] = hn::Load(d, step + r * kp + c);
      sum = hn::Add(sum, own[r]);
    }
    if (bias != nullptr) hn::Store(hn::Add(hn::Load(d, bias + c), sum), d, bias + c);
    double* place = w + c;
    for (std::size_t j = 0; j < count; ++j, place += kp) {
      V even = hn::Load(d, place), odd = hn::Zero(d);
      for (std::size_t r = 0; r + 1 < Rows; r += 2) {
        even = hn::MulAdd(hn::Set(d, x[r * x_stride + j]), own[r], even);
        odd = hn::MulAdd(hn::Set(d, x[(r + 1) * x_stride + j]), own[r + 1], odd);
      }
      if constexpr (Rows % 2 == 1) even = hn::MulAdd(hn::Set(d, x[(Rows - 1) * x_stride + j]), own[Rows - 1], even);
      hn::Store(hn::Add(even, odd), d, place);
    }
  }
}

void DenseUpdateOfRows(const double* x, std::size_t x_stride, std::size_t count, std::size_t rows, const double* step,
                       std::size_t kp, double* w, double* bias) {
  constexpr std::size_t tile = 8;
  std::size_t r = 0;
  for (; r + tile <= rows; r += tile) update_tile<tile>(x + r * x_stride, x_stride, count, step + r * kp, kp, w, bias);
  for (; r < rows; ++r) update_tile<1>(x + r * x_stride, x_stride, count, step + r * kp, kp, w, bias);
}

template <std::size_t Blocks>
HWY_INLINE void sparse_columns(std::span<const std::uint32_t> column, std::span<const double> value,
                               const double* HWY_RESTRICT w, std::size_t kp, const double* bias, double* v) {
  constexpr std::size_t vectors = Blocks * lane_block / lanes;
  V acc[vectors];
  for (std::size_t a = 0; a < vectors; ++a) acc[a] = bias != nullptr ? hn::Load(d, bias + a * lanes) : hn::Zero(d);
  for (std::size_t e = 0; e < column.size(); ++e) accumulate(value[e], w + std::size_t{column[e]} * kp, acc);
  for (std::size_t a = 0; a < vectors; ++a) hn::Store(acc[a], d, v + a * lanes);
}

void SparseScores(std::span<const std::uint32_t> column, std::span<const double> value, const double* w,
                  const double* bias, std::span<double> v) {
  const std::size_t kp = v.size();
  // Rows lie far apart in memory: ask for all of them before the first is needed.
  for (const std::uint32_t j : column)
    for (std::size_t a = 0; a < kp; a += lane_block) hwy::Prefetch(w + std::size_t{j} * kp + a);
  for (std::size_t first = 0; first < kp;) {
    const std::size_t left = (kp - first) / lane_block;
    const double* b = bias != nullptr ? bias + first : nullptr;
    if (left >= 4) {
      sparse_columns<4>(column, value, w + first, kp, b, v.data() + first);
      first += 4 * lane_block;
    } else {
      sparse_columns<1>(column, value, w + first, kp, b, v.data() + first);
      first += lane_block;
    }
  }
}

// Steps change few classes: vectors of `delta` without one are left out, the others stay in a register while they are
// added to all rows.
void DenseUpdate(std::span<const double> x, std::span<const double> delta, double scale, double* w, double* bias) {
  const std::size_t kp = delta.size();
  for (std::size_t a = 0; a < kp; a += lanes) {
    const V step = hn::Mul(hn::Set(d, scale), hn::Load(d, delta.data() + a));
    if (hn::AllTrue(d, hn::Eq(step, hn::Zero(d)))) continue;
    double* place = w + a;
    for (std::size_t j = 0; j < x.size(); ++j, place += kp)
      hn::Store(hn::MulAdd(hn::Set(d, x[j]), step, hn::Load(d, place)), d, place);
    if (bias != nullptr) hn::Store(hn::Add(step, hn::Load(d, bias + a)), d, bias + a);
  }
}

void SparseUpdate(std::span<const std::uint32_t> column, std::span<const double> value, std::span<const double> delta,
                  double scale, double* w, double* bias) {
  const std::size_t kp = delta.size();
  for (std::size_t a = 0; a < kp; a += lanes) {
    const V step = hn::Mul(hn::Set(d, scale), hn::Load(d, delta.data() + a));
    if (hn::AllTrue(d, hn::Eq(step, hn::Zero(d)))) continue;
    for (std::size_t e = 0; e < column.size(); ++e) {
      double* place = w + std::size_t{column[e]} * kp + a;
      hn::Store(hn::MulAdd(hn::Set(d, value[e]), step, hn::Load(d, place)), d, place);
    }
    if (bias != nullptr) hn::Store(hn::Add(step, hn::Load(d, bias + a)), d, bias + a);
  }
}

double Dot(std::span<const double> a, std::span<const double> b) {
  V sum = hn::Zero(d);
  std::size_t j = 0;
  for (; j + lanes <= a.size(); j += lanes)
    sum = hn::MulAdd(hn::LoadU(d, a.data() + j), hn::LoadU(d, b.data() + j), sum);
  double out = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; j < a.size(); ++j) out += a[j] * b[j];
  return out;
}

double MixedDot(std::span<const float> a, std::span<const double> b) {
  const hn::Rebind<float, D> half;
  V sum = hn::Zero(d);
  std::size_t j = 0;
  for (; j + lanes <= a.size(); j += lanes)
    sum = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(half, a.data() + j)), hn::LoadU(d, b.data() + j), sum);
  double out = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; j < a.size(); ++j) out += static_cast<double>(a[j]) * b[j];
  return out;
}

void ShiftTowards(std::span<const double> v, double step, std::span<const double> mu, std::span<double> u) {
  const V scale = hn::Set(d, step);
  for (std::size_t a = 0; a < v.size(); a += lanes)
    hn::Store(hn::MulAdd(hn::Load(d, v.data() + a), scale, hn::Load(d, mu.data() + a)), d, u.data() + a);
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(DenseScores);
M4N_KERNEL(SparseScores);
M4N_KERNEL(DenseUpdate);
M4N_KERNEL(DenseScoresOfRows);
M4N_KERNEL(DenseUpdateOfRows);
M4N_KERNEL(SparseUpdate);
M4N_KERNEL(Dot);
M4N_KERNEL(MixedDot);
M4N_KERNEL(ShiftTowards);

void dense_scores(std::span<const double> x, const double* w, const double* bias, std::span<double> v) {
  M4N_DISPATCH(DenseScores)(x, w, bias, v);
}
void dense_scores(const double* x, std::size_t x_stride, std::size_t d, std::size_t rows, const double* w,
                  const double* bias, std::size_t kp, double* v) {
  M4N_DISPATCH(DenseScoresOfRows)(x, x_stride, d, rows, w, bias, kp, v);
}
void dense_update(const double* x, std::size_t x_stride, std::size_t d, std::size_t rows, const double* step,
                  std::size_t kp, double* w, double* bias) {
  M4N_DISPATCH(DenseUpdateOfRows)(x, x_stride, d, rows, step, kp, w, bias);
}
void sparse_scores(std::span<const std::uint32_t> column, std::span<const double> value, const double* w,
                   const double* bias, std::span<double> v) {
  M4N_DISPATCH(SparseScores)(column, value, w, bias, v);
}
void dense_update(std::span<const double> x, std::span<const double> delta, double scale, double* w, double* bias) {
  M4N_DISPATCH(DenseUpdate)(x, delta, scale, w, bias);
}
void sparse_update(std::span<const std::uint32_t> column, std::span<const double> value, std::span<const double> delta,
                   double scale, double* w, double* bias) {
  M4N_DISPATCH(SparseUpdate)(column, value, delta, scale, w, bias);
}
double dot(std::span<const double> a, std::span<const double> b) { return M4N_DISPATCH(Dot)(a, b); }
double dot(std::span<const float> a, std::span<const double> b) { return M4N_DISPATCH(MixedDot)(a, b); }
void shift_towards(std::span<const double> v, double step, std::span<const double> mu, std::span<double> u) {
  M4N_DISPATCH(ShiftTowards)(v, step, mu, u);
}
void prefetch(std::span<const double> values) {
  for (std::size_t j = 0; j < values.size(); j += lane_block) hwy::Prefetch(values.data() + j);
}

}  // namespace m4n::detail::kernels
#endif

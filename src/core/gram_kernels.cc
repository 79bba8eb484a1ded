// What exact kernels need of kernels.h: distances, similarities and products with K, compiled once for every vector
// width.
#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/gram_kernels.cc"
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

void L1Distances(std::span<const double> x, const double* w, std::span<double> v) {
  const std::size_t kp = v.size();
  for (std::size_t first = 0; first < kp; first += lane_block) {
    constexpr std::size_t vectors = lane_block / lanes;
    V acc[vectors];
    for (V& a : acc) a = hn::Zero(d);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const V xv = hn::Set(d, x[j]);
      for (std::size_t a = 0; a < vectors; ++a)
        acc[a] = hn::Add(acc[a], hn::Abs(hn::Sub(xv, hn::Load(d, w + j * kp + first + a * lanes))));
    }
    for (std::size_t a = 0; a < vectors; ++a) hn::Store(acc[a], d, v.data() + first + a * lanes);
  }
}

void Decay(std::span<double> v, double rate) {
  const V scale = hn::Set(d, -rate), floor = hn::Set(d, -708.0);
  for (std::size_t a = 0; a < v.size(); a += lanes) {
    const V x = hn::Mul(scale, hn::Max(hn::Load(d, v.data() + a), hn::Zero(d)));
    hn::Store(hn::IfThenElseZero(hn::Gt(x, floor), hn::Exp(d, hn::Max(x, floor))), d, v.data() + a);
  }
}

void DecayToFloat(std::span<const double> v, double rate, float shift, float* out) {
  const hn::Rebind<float, D> half;
  const V scale = hn::Set(d, -rate);
  const auto added = hn::Set(half, shift), floor = hn::Set(half, -87.0F);
  for (std::size_t a = 0; a < v.size(); a += lanes) {
    const V x = hn::Max(hn::Mul(scale, hn::Max(hn::Load(d, v.data() + a), hn::Zero(d))), hn::Set(d, -1e30));
    const auto y = hn::DemoteTo(half, x);
    const auto near = hn::IfThenElseZero(hn::Gt(y, floor), hn::Exp(half, hn::Max(y, floor)));
    hn::StoreU(hn::Add(near, added), half, out + a);
  }
}

void SquaredDistances(double own, const double* norm, std::span<double> v) {
  const V mine = hn::Set(d, own), minus_two = hn::Set(d, -2.0);
  for (std::size_t a = 0; a < v.size(); a += lanes) {
    const V sum = hn::Add(mine, hn::Load(d, norm + a));
    hn::Store(hn::MulAdd(minus_two, hn::Load(d, v.data() + a), sum), d, v.data() + a);
  }
}

void ToDouble(const float* x, std::span<double> out) {
  const hn::Rebind<float, D> half;
  for (std::size_t a = 0; a < out.size(); a += lanes)
    hn::Store(hn::PromoteTo(d, hn::Load(half, x + a)), d, out.data() + a);
}

// Eight vectors of `out` stay in registers while their rows are added: one load per multiply-add.
template <class T>
HWY_INLINE void add_rows(std::span<const std::size_t> begin, const ScaledRow<T>* entries, const T* rows,
                         std::size_t stride, T* out) {
  using Tag = hn::ScalableTag<T>;
  constexpr Tag tag{};
  constexpr std::size_t vectors = 8, step = hn::MaxLanes(tag), width = std::min(vectors * step, row_tile<T>);
  static_assert(row_tile<T> % width == 0);
  for (std::size_t c = 0; c + 1 < begin.size(); ++c) {
    if (begin[c] == begin[c + 1]) continue;
    for (std::size_t first = 0; first < row_tile<T>; first += width) {
      T* place = out + c * row_tile<T> + first;
      hn::Vec<Tag> acc[width / step];
      for (std::size_t a = 0; a < width / step; ++a) acc[a] = hn::Load(tag, place + a * step);
      for (std::size_t e = begin[c]; e < begin[c + 1]; ++e) {
        const T* row = rows + entries[e].row * stride + first;
        const auto scale = hn::Set(tag, entries[e].scale);
        for (std::size_t a = 0; a < width / step; ++a)
          acc[a] = hn::MulAdd(scale, hn::Load(tag, row + a * step), acc[a]);
      }
      for (std::size_t a = 0; a < width / step; ++a) hn::Store(acc[a], tag, place + a * step);
    }
  }
}

void AddRowsFloat(std::span<const std::size_t> begin, const ScaledRow<float>* entries, const float* rows,
                  std::size_t stride, float* out) {
  add_rows(begin, entries, rows, stride, out);
}
void AddRowsDouble(std::span<const std::size_t> begin, const ScaledRow<double>* entries, const double* rows,
                   std::size_t stride, double* out) {
  add_rows(begin, entries, rows, stride, out);
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(L1Distances);
M4N_KERNEL(Decay);
M4N_KERNEL(DecayToFloat);
M4N_KERNEL(SquaredDistances);
M4N_KERNEL(ToDouble);
M4N_KERNEL(AddRowsFloat);
M4N_KERNEL(AddRowsDouble);

void l1_distances(std::span<const double> x, const double* w, std::span<double> v) {
  M4N_DISPATCH(L1Distances)(x, w, v);
}
void decay(std::span<double> v, double rate) { M4N_DISPATCH(Decay)(v, rate); }
void decay(std::span<const double> v, double rate, float shift, float* out) {
  M4N_DISPATCH(DecayToFloat)(v, rate, shift, out);
}
void squared_distances(double own, const double* norm, std::span<double> v) {
  M4N_DISPATCH(SquaredDistances)(own, norm, v);
}
void to_double(const float* x, std::span<double> out) { M4N_DISPATCH(ToDouble)(x, out); }
void add_scaled_rows(std::span<const std::size_t> begin, const ScaledRow<float>* entries, const float* rows,
                     std::size_t stride, float* out) {
  M4N_DISPATCH(AddRowsFloat)(begin, entries, rows, stride, out);
}
void add_scaled_rows(std::span<const std::size_t> begin, const ScaledRow<double>* entries, const double* rows,
                     std::size_t stride, double* out) {
  M4N_DISPATCH(AddRowsDouble)(begin, entries, rows, stride, out);
}

}  // namespace m4n::detail::kernels
#endif

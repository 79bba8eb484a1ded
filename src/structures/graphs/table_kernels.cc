// The tables of a junction tree as distributions (kernels.h), compiled once for every vector width.
#include <algorithm>

#include "structures/graphs/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/graphs/table_kernels.cc"
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

using Wide = hn::CappedTag<double, graph_slack>;
constexpr Wide dw{};
constexpr std::size_t wide_lanes = hn::MaxLanes(dw);

void GraphNormaliseLogs(double* table, std::size_t labels, std::size_t size, double* out) {
  const std::size_t x_stride = padded(size);
  const auto floor = hn::Set(dw, -708.0);
  for (std::size_t i = 0; i < x_stride; i += wide_lanes) {
    double* column = table + i;
    auto top = hn::LoadU(dw, column);
    for (std::size_t x = 1; x < labels; ++x) top = hn::Max(top, hn::LoadU(dw, column + x * x_stride));
    auto total = hn::Zero(dw);
    for (std::size_t x = 0; x < labels; ++x) {
      const auto exponent = hn::Sub(hn::LoadU(dw, column + x * x_stride), top);
      const auto mass = hn::IfThenElseZero(hn::Gt(exponent, floor), hn::Exp(dw, hn::Max(exponent, floor)));
      hn::StoreU(mass, dw, column + x * x_stride);
      total = hn::Add(total, mass);
    }
    const auto share = hn::Div(hn::Set(dw, 1.0), total);
    for (std::size_t x = 0; x < labels; ++x)
      hn::StoreU(hn::Mul(hn::LoadU(dw, column + x * x_stride), share), dw, column + x * x_stride);
    hn::StoreU(hn::Add(top, hn::Log(dw, total)), dw, out + i);
  }
}

// Which lanes of the vector from `at` on are below `size`.
HWY_INLINE auto real_lanes(std::size_t at, std::size_t size) {
  return hn::Lt(hn::Iota(dw, static_cast<double>(at)), hn::Set(dw, static_cast<double>(size)));
}

Extent GraphSumOut(const double* table, std::size_t labels, std::size_t size, double* out) {
  const std::size_t x_stride = padded(size);
  auto low = hn::Set(dw, 1e308), high = hn::Zero(dw);
  for (std::size_t i = 0; i < x_stride; i += wide_lanes) {
    const double* column = table + i;
    auto total = hn::LoadU(dw, column);
    for (std::size_t x = 1; x < labels; ++x) total = hn::Add(total, hn::LoadU(dw, column + x * x_stride));
    const auto real = real_lanes(i, size);
    low = hn::IfThenElse(real, hn::Min(low, total), low);
    high = hn::IfThenElse(real, hn::Max(high, total), high);
    hn::StoreU(total, dw, out + i);
  }
  const Extent extent{hn::GetLane(hn::MinOfLanes(dw, low)), hn::GetLane(hn::MaxOfLanes(dw, high))};
  const auto scale = hn::Set(dw, 1 / extent.most);
  for (std::size_t i = 0; i < x_stride; i += wide_lanes)
    hn::StoreU(hn::Mul(hn::LoadU(dw, out + i), scale), dw, out + i);
  return extent;
}

double GraphExp(PaddedRows<const double> in, PaddedRows<double> out) {
  auto top = hn::Set(dw, in(0, 0));
  for (std::size_t j = 0; j < in.rows(); ++j)
    for (std::size_t i = 0; i < in.stride(); i += wide_lanes)
      top = hn::IfThenElse(real_lanes(i, in.columns()), hn::Max(top, hn::LoadU(dw, in.row(j) + i)), top);
  const auto most = hn::MaxOfLanes(dw, top), floor = hn::Set(dw, -708.0);
  for (std::size_t j = 0; j < in.rows(); ++j) {
    for (std::size_t i = 0; i < in.stride(); i += wide_lanes) {
      const auto x = hn::Sub(hn::LoadU(dw, in.row(j) + i), most);
      const auto keep = hn::And(real_lanes(i, in.columns()), hn::Gt(x, floor));
      hn::StoreU(hn::IfThenElseZero(keep, hn::Exp(dw, hn::IfThenElseZero(keep, x))), dw, out.row(j) + i);
    }
  }
  return hn::GetLane(most);
}

// The sum of `size` entries, taken by eight interleaved sums whatever the width.
HWY_INLINE double sum_of(const double* from, std::size_t size) {
  constexpr std::size_t vectors = graph_slack / wide_lanes;
  hn::Vec<Wide> acc[vectors];
  for (auto& a : acc) a = hn::Zero(dw);
  std::size_t i = 0;
  for (; i + graph_slack <= size; i += graph_slack)
    for (std::size_t a = 0; a < vectors; ++a) acc[a] = hn::Add(acc[a], hn::LoadU(dw, from + i + a * wide_lanes));
  alignas(64) double part[graph_slack];
  for (std::size_t a = 0; a < vectors; ++a) hn::Store(acc[a], dw, part + a * wide_lanes);
  double sum = 0;
  for (const double x : part) sum += x;
  for (; i < size; ++i) sum += from[i];
  return sum;
}

void GraphWeigh(double* table, const double* weight, std::size_t labels, std::size_t size, double* own) {
  const std::size_t x_stride = padded(size);
  for (std::size_t x = 0; x < labels; ++x, table += x_stride) {
    for (std::size_t i = 0; i < x_stride; i += wide_lanes)
      hn::StoreU(hn::Mul(hn::LoadU(dw, table + i), hn::LoadU(dw, weight + i)), dw, table + i);
    own[x] = sum_of(table, size);
  }
}

void GraphProject(const double* table, std::size_t labels, std::size_t rows, std::size_t run,
                  const std::uint32_t* offset, double* to, std::size_t to_stride) {
  const std::size_t x_stride = padded(rows * run);
  for (std::size_t x = 0; x < labels; ++x) {
    for (std::size_t row = 0; row < rows; ++row) {
      const double* from = table + x * x_stride + row * run;
      double* out = to + x * to_stride + offset[row];
      std::size_t c = 0;
      for (; c + wide_lanes <= run; c += wide_lanes)
        hn::StoreU(hn::Add(hn::LoadU(dw, out + c), hn::LoadU(dw, from + c)), dw, out + c);
      for (; c < run; ++c) out[c] += from[c];
    }
  }
}

void GraphRowSums(const double* table, std::size_t labels, std::size_t rows, std::size_t run, double* to) {
  const std::size_t x_stride = padded(rows * run);
  for (std::size_t x = 0; x < labels; ++x)
    for (std::size_t row = 0; row < rows; ++row) to[x * rows + row] = sum_of(table + x * x_stride + row * run, run);
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(GraphNormaliseLogs);
M4N_KERNEL(GraphSumOut);
M4N_KERNEL(GraphExp);
M4N_KERNEL(GraphWeigh);
M4N_KERNEL(GraphProject);
M4N_KERNEL(GraphRowSums);

void graph_normalise_logs(double* table, std::size_t labels, std::size_t size, double* out) {
  M4N_DISPATCH(GraphNormaliseLogs)(table, labels, size, out);
}
Extent graph_sum_out(const double* table, std::size_t labels, std::size_t size, double* out) {
  return M4N_DISPATCH(GraphSumOut)(table, labels, size, out);
}
double graph_exp(PaddedRows<const double> in, PaddedRows<double> out) { return M4N_DISPATCH(GraphExp)(in, out); }
void graph_weigh(double* table, const double* weight, std::size_t labels, std::size_t size, double* own) {
  M4N_DISPATCH(GraphWeigh)(table, weight, labels, size, own);
}
void graph_project(const double* table, std::size_t labels, std::size_t rows, std::size_t run,
                   const std::uint32_t* offset, double* to, std::size_t to_stride) {
  M4N_DISPATCH(GraphProject)(table, labels, rows, run, offset, to, to_stride);
}
void graph_row_sums(const double* table, std::size_t labels, std::size_t rows, std::size_t run, double* to) {
  M4N_DISPATCH(GraphRowSums)(table, labels, rows, run, to);
}

}  // namespace m4n::detail::kernels
#endif

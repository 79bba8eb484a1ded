// The steps of graph_kernels.h, compiled once for every vector width. Every entry of a table has the same bits whatever
// the width.
#include "core/graph_kernels.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/graph_kernels.cc"
// Accumulators are kept in arrays of vectors, which targets of unknown width do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_RVV)
// foreach_target must come before highway.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::kernels::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::CappedTag<double, graph_slack>;
using Narrow = hn::CappedTag<double, 4>;

template <std::size_t N>
using Number = std::integral_constant<std::size_t, N>;

// A term of a step as an address.
struct Reader {
  const double* base;
  const std::uint32_t* offset;
  std::size_t x_stride;
};
HWY_INLINE Reader reader(const GraphTerm& term, const GraphMemory& memory) {
  return {term.outside ? memory.outside[term.at] : memory.arena + term.at, memory.index + term.offsets, term.x_stride};
}

// All terms of a step. Scalars come first; there is room for one term more than there are, for none is an empty array.
template <std::size_t Scalars, std::size_t Terms>
struct Readers {
  Reader scalar[Scalars], term[Terms + 1];
  HWY_INLINE Readers(const GraphStep& step, const GraphMemory& memory) {
    for (std::size_t k = 0; k < Scalars; ++k) scalar[k] = reader(step.scalar[k], memory);
    for (std::size_t k = 0; k < Terms; ++k) term[k] = reader(step.term[k], memory);
  }
  HWY_INLINE void next_label() {
    for (auto& r : scalar) r.base += r.x_stride;
    for (std::size_t k = 0; k < Terms; ++k) term[k].base += term[k].x_stride;
  }
};

// Sums of `Vectors` vectors of one row, for the labels of x one after the other: each(x, vector, sum). The number of
// labels may be a constant, so that the loop over them is unrolled. Scalars are added up for a vector of labels at
// once, but not for a single label, which may be any: a vector from there on might leave the table.
template <class D, std::size_t Vectors, std::size_t Scalars, std::size_t Terms, class Labels, class Each>
HWY_INLINE void for_sums(const Readers<Scalars, Terms>& from, Labels labels, std::size_t row, std::size_t column,
                         Each&& each) {
  constexpr D d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  constexpr std::size_t at_once = std::is_same_v<Labels, Number<1>> ? 1 : lanes;
  const double* p[Scalars];
  const double* q[Terms + 1];
  for (std::size_t k = 0; k < Scalars; ++k) p[k] = from.scalar[k].base + from.scalar[k].offset[row];
  for (std::size_t k = 0; k < Terms; ++k) q[k] = from.term[k].base + from.term[k].offset[row] + column;
  for (std::size_t first = 0; first < labels; first += at_once) {
    alignas(64) double scalar[lanes];
    if constexpr (at_once == 1) {
      scalar[0] = *p[0];
      for (std::size_t k = 1; k < Scalars; ++k) scalar[0] += *p[k];
    } else {
      auto sum = hn::LoadU(d, p[0] + first);
      for (std::size_t k = 1; k < Scalars; ++k) sum = hn::Add(sum, hn::LoadU(d, p[k] + first));
      hn::Store(sum, d, scalar);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(at_once, labels - first); ++i) {
      const auto base = hn::Set(d, scalar[i]);
      for (std::size_t a = 0; a < Vectors; ++a) {
        auto sum = base;
        for (std::size_t k = 0; k < Terms; ++k) sum = hn::Add(sum, hn::LoadU(d, q[k] + a * lanes));
        each(first + i, a, sum);
      }
      for (std::size_t k = 0; k < Terms; ++k) q[k] += from.term[k].x_stride;
    }
  }
}

// body(row, column, number of vectors) over all of a step: rows in order, four vectors at a time, then two, then one.
template <class D, class Body>
HWY_INLINE void for_blocks(std::size_t rows, std::size_t run, Body&& body) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if (run <= lanes) {
    for (std::size_t row = 0; row < rows; ++row) body(row, 0, Number<1>());
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < run;) {
      const std::size_t left = (run - column + lanes - 1) / lanes;
      if (left >= 4) {
        body(row, column, Number<4>());
        column += 4 * lanes;
      } else if (left >= 2) {
        body(row, column, Number<2>());
        column += 2 * lanes;
      } else {
        body(row, column, Number<1>());
        column += lanes;
      }
    }
  }
}

template <class D, class Labels, std::size_t Scalars, std::size_t Terms>
HWY_INLINE void max_of_sums(const GraphStep& step, Labels labels, const Readers<Scalars, Terms>& from, double* to) {
  constexpr D d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const std::size_t run = step.run;
  for_blocks<D>(step.rows, run, [&](std::size_t row, std::size_t column, auto vectors) HWY_ATTR {
    constexpr std::size_t count = decltype(vectors)::value;
    hn::Vec<D> best[count];
    for (auto& b : best) b = hn::Set(d, -1e308);
    for_sums<D, count>(from, labels, row, column,
                       [&](std::size_t, std::size_t a, auto sum) HWY_ATTR { best[a] = hn::Max(best[a], sum); });
    for (std::size_t a = 0; a < count; ++a) hn::StoreU(best[a], d, to + row * run + column + a * lanes);
  });
}

// to[row][c] = max_x sum[x][row][c].
template <class D, std::size_t Scalars, std::size_t Terms>
void MaxOfSums(const GraphStep& step, const GraphMemory& memory, double* to, std::size_t) {
  const Readers<Scalars, Terms> from(step, memory);
  if (std::is_same_v<D, Narrow> && step.labels == 4) {
    max_of_sums<D>(step, Number<4>(), from, to);
  } else if (std::is_same_v<D, Narrow> && step.labels == 2) {
    max_of_sums<D>(step, Number<2>(), from, to);
  } else {
    max_of_sums<D>(step, std::size_t{step.labels}, from, to);
  }
}

template <class D, class Labels, std::size_t Scalars, std::size_t Terms>
HWY_INLINE void store_sums(const GraphStep& step, Labels labels, const Readers<Scalars, Terms>& from, double* to,
                           std::size_t x_stride) {
  constexpr D d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const std::size_t run = step.run;
  for_blocks<D>(step.rows, run, [&](std::size_t row, std::size_t column, auto vectors) HWY_ATTR {
    double* out = to + row * run + column;
    for_sums<D, decltype(vectors)::value>(from, labels, row, column,
                                          [&](std::size_t x, std::size_t a, auto sum)
                                              HWY_ATTR { hn::StoreU(sum, d, out + x * x_stride + a * lanes); });
  });
}

// to[x * x_stride + row run + c] = sum[x][row][c].
template <class D, std::size_t Scalars, std::size_t Terms>
void Sums(const GraphStep& step, const GraphMemory& memory, double* to, std::size_t x_stride) {
  Readers<Scalars, Terms> from(step, memory);
  if (step.run % hn::MaxLanes(D()) == 0) return store_sums<D>(step, std::size_t{step.labels}, from, to, x_stride);
  // Where rows are not whole vectors, labels are outermost: what a row writes beyond its end is written again.
  for (std::size_t x = 0; x < step.labels; ++x) {
    store_sums<D>(step, Number<1>(), from, to, x_stride);
    to += x_stride;
    from.next_label();
  }
}

void gather(const GraphStep& step, const GraphMemory& memory) {
  const Reader from = reader(step.term[0], memory);
  double* HWY_RESTRICT to = memory.arena + step.to;
  const std::size_t size = static_cast<std::size_t>(step.labels) * step.rows * step.run;
  for (std::size_t i = 0; i < size; ++i) to[i] = from.base[from.offset[i]];
}

// Blocks of four by four; what lies outside the table is written into the padding of the rows, or read again.
void transpose(const GraphStep& step, const GraphMemory& memory) {
  const Reader from = reader(step.term[0], memory);
  double* HWY_RESTRICT to = memory.arena + step.to;
  const std::size_t rows = step.rows, columns = step.run, stride = transposed_stride(rows);
#if HWY_MAX_BYTES >= 32
  constexpr Narrow d;
  for (std::size_t r = 0; r < rows; r += 4) {
    const double* row[4];
    for (std::size_t i = 0; i < 4; ++i) row[i] = from.base + std::min(r + i, rows - 1) * from.x_stride;
    for (std::size_t c = 0; c < columns; c += 4) {
      const auto r0 = hn::LoadU(d, row[0] + c), r1 = hn::LoadU(d, row[1] + c), r2 = hn::LoadU(d, row[2] + c),
                 r3 = hn::LoadU(d, row[3] + c);
      const auto even01 = hn::InterleaveLower(d, r0, r1), odd01 = hn::InterleaveUpper(d, r0, r1),
                 even23 = hn::InterleaveLower(d, r2, r3), odd23 = hn::InterleaveUpper(d, r2, r3);
      double* out = to + c * stride + r;
      hn::StoreU(hn::ConcatLowerLower(d, even23, even01), d, out);
      if (c + 1 < columns) hn::StoreU(hn::ConcatLowerLower(d, odd23, odd01), d, out + stride);
      if (c + 2 < columns) hn::StoreU(hn::ConcatUpperUpper(d, even23, even01), d, out + 2 * stride);
      if (c + 3 < columns) hn::StoreU(hn::ConcatUpperUpper(d, odd23, odd01), d, out + 3 * stride);
    }
  }
#else
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) to[c * stride + r] = from.base[r * from.x_stride + c];
#endif
}

// The versions of a step: by the vectors that suit the run, by the number of scalars and of terms.
using StepFunction = void (*)(const GraphStep&, const GraphMemory&, double* to, std::size_t x_stride);
struct Versions {
  StepFunction function[2][most_scalars][most_terms + 1];
  HWY_INLINE StepFunction operator()(const GraphStep& step) const {
    return function[step.run <= 4 ? 0 : 1][step.scalars - 1][step.terms];
  }
};
static_assert(most_scalars == 4 && most_terms == 3);
#define M4N_TERMS(Function, D, scalars) \
  { Function<D, scalars, 0>, Function<D, scalars, 1>, Function<D, scalars, 2>, Function<D, scalars, 3> }
#define M4N_SCALARS(Function, D) \
  { M4N_TERMS(Function, D, 1), M4N_TERMS(Function, D, 2), M4N_TERMS(Function, D, 3), M4N_TERMS(Function, D, 4) }
constexpr Versions max_versions{{M4N_SCALARS(MaxOfSums, Narrow), M4N_SCALARS(MaxOfSums, Wide)}};
constexpr Versions sum_versions{{M4N_SCALARS(Sums, Narrow), M4N_SCALARS(Sums, Wide)}};
#undef M4N_SCALARS
#undef M4N_TERMS

// Turns the sums of a finished step into distributions of x, and leaves their logarithmic normalisers in `to`.
HWY_INLINE void normalise(const GraphStep& step, std::size_t x_stride, double* table, double* to) {
  constexpr Wide d;
  const auto floor = hn::Set(d, -708.0);
  for (std::size_t i = 0; i < x_stride; i += hn::MaxLanes(d)) {
    double* column = table + i;
    auto top = hn::LoadU(d, column);
    for (std::size_t x = 1; x < step.labels; ++x) top = hn::Max(top, hn::LoadU(d, column + x * x_stride));
    auto total = hn::Zero(d);
    for (std::size_t x = 0; x < step.labels; ++x) {
      const auto exponent = hn::Sub(hn::LoadU(d, column + x * x_stride), top);
      const auto mass = hn::IfThenElseZero(hn::Gt(exponent, floor), hn::Exp(d, hn::Max(exponent, floor)));
      hn::StoreU(mass, d, column + x * x_stride);
      total = hn::Add(total, mass);
    }
    const auto share = hn::Div(hn::Set(d, 1.0), total);
    for (std::size_t x = 0; x < step.labels; ++x)
      hn::StoreU(hn::Mul(hn::LoadU(d, column + x * x_stride), share), d, column + x * x_stride);
    hn::StoreU(hn::Add(top, hn::Log(d, total)), d, to + i);
  }
}

template <class Finish>
HWY_INLINE void run_steps(std::span<const GraphStep> steps, const GraphMemory& memory, Finish&& finish) {
  for (const GraphStep& step : steps) {
    switch (step.kind) {
      case GraphStepKind::gather:
        gather(step, memory);
        break;
      case GraphStepKind::transpose:
        transpose(step, memory);
        break;
      case GraphStepKind::add:
        sum_versions(step)(step, memory, memory.arena + step.to, static_cast<std::size_t>(step.rows) * step.run);
        break;
      case GraphStepKind::finish:
        finish(step);
        break;
    }
  }
}

void GraphMaxPlus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  run_steps(steps, memory,
            [&](const GraphStep& step) HWY_ATTR { max_versions(step)(step, memory, memory.arena + step.to, 0); });
}

void GraphLogSum(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  run_steps(steps, memory, [&](const GraphStep& step) HWY_ATTR {
    const std::size_t x_stride = padded(static_cast<std::size_t>(step.rows) * step.run);
    sum_versions(step)(step, memory, tables + step.table, x_stride);
    normalise(step, x_stride, tables + step.table, memory.arena + step.to);
  });
}

constexpr Wide dw{};
constexpr std::size_t wide_lanes = hn::MaxLanes(dw);

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

}  // namespace m4n::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::kernels {

HWY_EXPORT(GraphMaxPlus);
HWY_EXPORT(GraphLogSum);
HWY_EXPORT(GraphWeigh);
HWY_EXPORT(GraphProject);
HWY_EXPORT(GraphRowSums);

void graph_max_plus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  HWY_DYNAMIC_DISPATCH(GraphMaxPlus)(steps, memory);
}
void graph_log_sum(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  HWY_DYNAMIC_DISPATCH(GraphLogSum)(steps, memory, tables);
}
void graph_weigh(double* table, const double* weight, std::size_t labels, std::size_t size, double* own) {
  HWY_DYNAMIC_DISPATCH(GraphWeigh)(table, weight, labels, size, own);
}
void graph_project(const double* table, std::size_t labels, std::size_t rows, std::size_t run,
                   const std::uint32_t* offset, double* to, std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(GraphProject)(table, labels, rows, run, offset, to, to_stride);
}
void graph_row_sums(const double* table, std::size_t labels, std::size_t rows, std::size_t run, double* to) {
  HWY_DYNAMIC_DISPATCH(GraphRowSums)(table, labels, rows, run, to);
}

}  // namespace m4n::kernels
#endif

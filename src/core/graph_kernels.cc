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

// The two operations that join terms; sums and products below are meant as either.
struct Plus {
  template <class X>
  static HWY_INLINE X join(X a, X b) {
    return hn::Add(a, b);
  }
  static HWY_INLINE double join(double a, double b) { return a + b; }
};
struct Times {
  template <class X>
  static HWY_INLINE X join(X a, X b) {
    return hn::Mul(a, b);
  }
  static HWY_INLINE double join(double a, double b) { return a * b; }
};

// Sums of `Vectors` vectors of one row, for the labels of x one after the other: each(x, vector, sum). The number of
// labels may be a constant, so that the loop over them is unrolled. Scalars are added up for a vector of labels at
// once, but not for a single label, which may be any: a vector from there on might leave the table.
template <class D, class Op, std::size_t Vectors, std::size_t Scalars, std::size_t Terms, class Labels, class Each>
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
      for (std::size_t k = 1; k < Scalars; ++k) scalar[0] = Op::join(scalar[0], *p[k]);
    } else {
      auto sum = hn::LoadU(d, p[0] + first);
      for (std::size_t k = 1; k < Scalars; ++k) sum = Op::join(sum, hn::LoadU(d, p[k] + first));
      hn::Store(sum, d, scalar);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(at_once, labels - first); ++i) {
      const auto base = hn::Set(d, scalar[i]);
      for (std::size_t a = 0; a < Vectors; ++a) {
        auto sum = base;
        for (std::size_t k = 0; k < Terms; ++k) sum = Op::join(sum, hn::LoadU(d, q[k] + a * lanes));
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
    for_sums<D, Plus, count>(from, labels, row, column,
                             [&](std::size_t, std::size_t a, auto sum) HWY_ATTR { best[a] = hn::Max(best[a], sum); });
    for (std::size_t a = 0; a < count; ++a) hn::StoreU(best[a], d, to + row * run + column + a * lanes);
  });
}

// to[row][c] = max_x sum[x][row][c].
template <class D, class Op, std::size_t Scalars, std::size_t Terms>
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

template <class D, class Op, class Labels, std::size_t Scalars, std::size_t Terms>
HWY_INLINE void store_sums(const GraphStep& step, Labels labels, const Readers<Scalars, Terms>& from, double* to,
                           std::size_t x_stride) {
  constexpr D d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const std::size_t run = step.run;
  for_blocks<D>(step.rows, run, [&](std::size_t row, std::size_t column, auto vectors) HWY_ATTR {
    double* out = to + row * run + column;
    for_sums<D, Op, decltype(vectors)::value>(from, labels, row, column,
                                              [&](std::size_t x, std::size_t a, auto sum)
                                                  HWY_ATTR { hn::StoreU(sum, d, out + x * x_stride + a * lanes); });
  });
}

// to[x * x_stride + row run + c] = sum[x][row][c].
template <class D, class Op, std::size_t Scalars, std::size_t Terms>
void Sums(const GraphStep& step, const GraphMemory& memory, double* to, std::size_t x_stride) {
  Readers<Scalars, Terms> from(step, memory);
  if (step.run % hn::MaxLanes(D()) == 0) return store_sums<D, Op>(step, std::size_t{step.labels}, from, to, x_stride);
  // Where rows are not whole vectors, labels are outermost: what a row writes beyond its end is written again.
  for (std::size_t x = 0; x < step.labels; ++x) {
    store_sums<D, Op>(step, Number<1>(), from, to, x_stride);
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
#define M4N_TERMS(Function, D, Op, scalars) \
  { Function<D, Op, scalars, 0>, Function<D, Op, scalars, 1>, Function<D, Op, scalars, 2>, Function<D, Op, scalars, 3> }
#define M4N_SCALARS(Function, D, Op)                                                             \
  {                                                                                              \
    M4N_TERMS(Function, D, Op, 1), M4N_TERMS(Function, D, Op, 2), M4N_TERMS(Function, D, Op, 3), \
        M4N_TERMS(Function, D, Op, 4)                                                            \
  }
constexpr Versions max_versions{{M4N_SCALARS(MaxOfSums, Narrow, Plus), M4N_SCALARS(MaxOfSums, Wide, Plus)}};
constexpr Versions sum_versions{{M4N_SCALARS(Sums, Narrow, Plus), M4N_SCALARS(Sums, Wide, Plus)}};
constexpr Versions product_versions{{M4N_SCALARS(Sums, Narrow, Times), M4N_SCALARS(Sums, Wide, Times)}};
#undef M4N_SCALARS
#undef M4N_TERMS

template <class Finish>
HWY_INLINE void run_steps(std::span<const GraphStep> steps, const GraphMemory& memory, const Versions& versions,
                          Finish&& finish) {
  for (const GraphStep& step : steps) {
    switch (step.kind) {
      case GraphStepKind::gather:
        gather(step, memory);
        break;
      case GraphStepKind::transpose:
        transpose(step, memory);
        break;
      case GraphStepKind::add:
        versions(step)(step, memory, memory.arena + step.to, static_cast<std::size_t>(step.rows) * step.run);
        break;
      case GraphStepKind::finish:
        finish(step);
        break;
    }
  }
}

void GraphMaxPlus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  run_steps(steps, memory, sum_versions,
            [&](const GraphStep& step) HWY_ATTR { max_versions(step)(step, memory, memory.arena + step.to, 0); });
}

HWY_INLINE void tables_of(std::span<const GraphStep> steps, const GraphMemory& memory, const Versions& versions,
                          double* tables) {
  run_steps(steps, memory, versions, [&](const GraphStep& step) HWY_ATTR {
    versions(step)(step, memory, tables + step.table, padded(static_cast<std::size_t>(step.rows) * step.run));
  });
}
void GraphSums(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  tables_of(steps, memory, sum_versions, tables);
}
void GraphProducts(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  tables_of(steps, memory, product_versions, tables);
}

}  // namespace m4n::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::kernels {

HWY_EXPORT(GraphMaxPlus);
HWY_EXPORT(GraphSums);
HWY_EXPORT(GraphProducts);

void graph_max_plus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  HWY_DYNAMIC_DISPATCH(GraphMaxPlus)(steps, memory);
}
void graph_sums(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  HWY_DYNAMIC_DISPATCH(GraphSums)(steps, memory, tables);
}
void graph_products(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  HWY_DYNAMIC_DISPATCH(GraphProducts)(steps, memory, tables);
}

}  // namespace m4n::kernels
#endif

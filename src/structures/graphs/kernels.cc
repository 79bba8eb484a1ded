// The steps of kernels.h, compiled once for every vector width. Every entry of a table has the same bits whatever the
// width.
#include "structures/graphs/kernels.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/graphs/kernels.cc"
// foreach_target must come before highway.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::kernels::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
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

// All terms of a step. Their numbers are constants where the loops over them are to be unrolled.
template <class Scalars, class Terms>
struct Readers {
  Scalars scalars;
  Terms terms;
  Reader scalar[most_scalars], term[most_terms];
  HWY_INLINE Readers(const GraphStep& step, const GraphMemory& memory, Scalars scalar_count, Terms term_count)
      : scalars(scalar_count), terms(term_count) {
    for (std::size_t k = 0; k < scalars; ++k) scalar[k] = reader(step.scalar[k], memory);
    for (std::size_t k = 0; k < terms; ++k) term[k] = reader(step.term[k], memory);
  }
  HWY_INLINE void next_label() {
    for (std::size_t k = 0; k < scalars; ++k) scalar[k].base += scalar[k].x_stride;
    for (std::size_t k = 0; k < terms; ++k) term[k].base += term[k].x_stride;
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
template <class D, class Op, std::size_t Vectors, class Scalars, class Terms, class Labels, class Each>
HWY_INLINE void for_sums(const Readers<Scalars, Terms>& from, Labels labels, std::size_t row, std::size_t column,
                         Each&& each) {
  constexpr D d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  constexpr std::size_t at_once = std::is_same_v<Labels, Number<1>> ? 1 : lanes;
  const double* p[most_scalars];
  const double* q[most_terms];
  p[0] = from.scalar[0].base + from.scalar[0].offset[row];
  for (std::size_t k = 1; k < from.scalars; ++k) p[k] = from.scalar[k].base + from.scalar[k].offset[row];
  for (std::size_t k = 0; k < from.terms; ++k) q[k] = from.term[k].base + from.term[k].offset[row] + column;
  for (std::size_t first = 0; first < labels; first += at_once) {
    alignas(64) double scalar[lanes];
    if constexpr (at_once == 1) {
      scalar[0] = p[0][first];
      for (std::size_t k = 1; k < from.scalars; ++k) scalar[0] = Op::join(scalar[0], p[k][first]);
    } else {
      auto sum = hn::LoadU(d, p[0] + first);
      for (std::size_t k = 1; k < from.scalars; ++k) sum = Op::join(sum, hn::LoadU(d, p[k] + first));
      hn::Store(sum, d, scalar);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(at_once, labels - first); ++i) {
      // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): scalar[i] was set above, there are as many as lanes
      const auto base = hn::Set(d, scalar[i]);
      for (std::size_t a = 0; a < Vectors; ++a) {
        auto sum = base;
        for (std::size_t k = 0; k < from.terms; ++k) sum = Op::join(sum, hn::LoadU(d, q[k] + a * lanes));
        each(first + i, a, sum);
      }
      for (std::size_t k = 0; k < from.terms; ++k) q[k] += from.term[k].x_stride;
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

template <class D, class Labels, class Scalars, class Terms>
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
template <class D, std::size_t Scalars, std::size_t Terms>
void MaxOfSums(const GraphStep& step, const GraphMemory& memory, double* to) {
  const Readers from(step, memory, Number<Scalars>(), Number<Terms>());
  if constexpr (std::is_same_v<D, Narrow>) {
    if (step.labels == 4) return max_of_sums<D>(step, Number<4>(), from, to);
  }
  max_of_sums<D>(step, std::size_t{step.labels}, from, to);
}

template <class D, class Op, class Labels, class Scalars, class Terms>
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
template <class D, class Op>
HWY_INLINE void sums(const GraphStep& step, const GraphMemory& memory, double* to, std::size_t x_stride) {
  Readers from(step, memory, std::size_t{step.scalars}, std::size_t{step.terms});
  if (step.run % hn::MaxLanes(D()) == 0) return store_sums<D, Op>(step, std::size_t{step.labels}, from, to, x_stride);
  // Where rows are not whole vectors, labels are outermost: what a row writes beyond its end is written again.
  for (std::size_t x = 0; x < step.labels; ++x) {
    store_sums<D, Op>(step, Number<1>(), from, to, x_stride);
    to += x_stride;
    from.next_label();
  }
}
template <class Op>
void Sums(const GraphStep& step, const GraphMemory& memory, double* to, std::size_t x_stride) {
  step.run <= 4 ? sums<Narrow, Op>(step, memory, to, x_stride) : sums<Wide, Op>(step, memory, to, x_stride);
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

// The versions of the last step, where maximising spends its time: by the vectors that suit the run, by the number of
// scalars and of terms.
using MaxFunction = void (*)(const GraphStep&, const GraphMemory&, double* to);
static_assert(most_scalars == 4 && most_terms == 3);
template <class D, std::size_t Scalars>
constexpr std::array<MaxFunction, most_terms + 1> max_by_terms{MaxOfSums<D, Scalars, 0>, MaxOfSums<D, Scalars, 1>,
                                                               MaxOfSums<D, Scalars, 2>, MaxOfSums<D, Scalars, 3>};
template <class D>
constexpr std::array max_versions{max_by_terms<D, 1>, max_by_terms<D, 2>, max_by_terms<D, 3>, max_by_terms<D, 4>};

template <class Op, class Finish>
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
        Sums<Op>(step, memory, memory.arena + step.to, static_cast<std::size_t>(step.rows) * step.run);
        break;
      case GraphStepKind::finish:
        finish(step);
        break;
    }
  }
}

void GraphMaxPlus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  run_steps<Plus>(steps, memory, [&](const GraphStep& step) HWY_ATTR {
    // NOLINTNEXTLINE(misc-redundant-expression): the two are one where vectors are short
    const auto& versions = step.run <= 4 ? max_versions<Narrow> : max_versions<Wide>;
    versions[step.scalars - std::size_t{1}][step.terms](step, memory, memory.arena + step.to);
  });
}

template <class Op>
HWY_INLINE void tables_of(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  run_steps<Op>(steps, memory, [&](const GraphStep& step) HWY_ATTR {
    Sums<Op>(step, memory, tables + step.table, padded(static_cast<std::size_t>(step.rows) * step.run));
  });
}
void GraphSums(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  tables_of<Plus>(steps, memory, tables);
}
void GraphProducts(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  tables_of<Times>(steps, memory, tables);
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(GraphMaxPlus);
M4N_KERNEL(GraphSums);
M4N_KERNEL(GraphProducts);

void graph_max_plus(std::span<const GraphStep> steps, const GraphMemory& memory) {
  M4N_DISPATCH(GraphMaxPlus)(steps, memory);
}
void graph_sums(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  M4N_DISPATCH(GraphSums)(steps, memory, tables);
}
void graph_products(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables) {
  M4N_DISPATCH(GraphProducts)(steps, memory, tables);
}

}  // namespace m4n::detail::kernels
#endif

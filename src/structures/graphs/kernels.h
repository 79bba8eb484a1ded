// The hot loops of inference on a junction tree, as a list of steps that structures/graphs/junction_tree.h lays down
// once per shape.
//
// A table belongs to a node x, has x as its outermost index and the labels of some other nodes behind it, the last of
// them fastest. Those others are cut into `rows` of `run` consecutive entries. A term of a sum over such a table is
// either read along the run, entry by entry, or it is the same for the whole run, a scalar:
//
//     sum[x][row][c] = sum_k scalar_k[offset_k[row] + x] + sum_k term_k[x * x_stride_k + offset_k[row] + c]
//
// Scalars lie with the labels of x next to each other, so that a vector holds those of several labels.
//
// Vectors run over the end of a row: what they write there is written again by the next row, what they read there is
// thrown away. So every buffer has `graph_slack` entries behind it, and no step reads what it writes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/views.h"
#include "structures/chains/kernels.h"

namespace m4n::detail::kernels {

inline constexpr std::size_t graph_slack = 8;
inline constexpr std::size_t most_scalars = 4, most_terms = 3;

// A table that is read: in the arena, or one of the scores that were handed over.
struct GraphTerm {
  std::uint32_t at = 0;        // entry of the arena, or number of the outside table
  std::uint32_t x_stride = 0;  // entries from a label of x to the next; 1 for scalars
  std::uint32_t offsets = 0;   // where the offsets of the rows begin in the index
  bool outside = false;
};

enum class GraphStepKind : std::uint8_t {
  gather,     // arena[to + i] = term_0[index[offsets + i]],  i < labels rows run
  transpose,  // arena[to + c transposed_stride(rows) + r] = term_0[r x_stride + c],  r < rows, c < run
  add,        // arena[to + (x rows + row) run + c] = sum[x][row][c]
  finish      // arena[to + row run + c] = max_x sum[x][row][c], or other sums over x
};

constexpr std::size_t transposed_stride(std::size_t rows) { return (rows + 3) / 4 * 4; }

struct GraphStep {
  GraphStepKind kind;
  std::uint8_t scalars = 0, terms = 0;  // at least one scalar
  std::uint32_t labels = 0, rows = 0, run = 0, to = 0;
  std::uint32_t table = 0;  // finish: where the conditional distribution of x goes
  std::array<GraphTerm, most_scalars> scalar{};
  std::array<GraphTerm, most_terms> term{};
};

// What the steps work on. The arena starts with what joins without effect, zeros or ones, one for every label of the
// widest node; the index starts with a zero.
struct GraphMemory {
  const std::uint32_t* index;
  const double* const* outside;
  double* arena;
};

// All steps, with max. O(sum of the tables).
void graph_max_plus(std::span<const GraphStep> steps, const GraphMemory& memory);

// Some steps, with the sums of every `finish` kept: sum[x][row][c] goes to
// tables[table + x * padded(rows run) + row run + c]; and the same with products instead of sums.
void graph_sums(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables);
void graph_products(std::span<const GraphStep> steps, const GraphMemory& memory, double* tables);

// A table of labels x size sums becomes distributions of x, exp(table[x][i] - out[i]), with out[i] the logarithm of
// what they were normalised by; exact for sums of any size. Rows of tables are padded(size) long here and below.
void graph_normalise_logs(double* table, std::size_t labels, std::size_t size, double* out);
// out[i] = sum_x table[x][i], divided by the largest of them. Returns the smallest and the largest.
Extent graph_sum_out(const double* table, std::size_t labels, std::size_t size, double* out);
// out = exp(in - largest entry of in), 0 where that is below e^-708 and on the padding; returns the largest entry.
double graph_exp(PaddedRows<const double> in, PaddedRows<double> out);

// The first x at which sum[x][row][column] is largest, to the same bits: what going back from the maxima asks for.
inline std::size_t graph_best_label(const GraphStep& step, const GraphMemory& memory, std::size_t row,
                                    std::size_t column) {
  // Terms that are not there read the zero at the start of the arena: no branches.
  constexpr std::size_t most = most_scalars + most_terms;
  const double* from[most];
  std::size_t stride[most];
  for (std::size_t k = 0; k < most; ++k) {
    const bool scalar = k < most_scalars, there = scalar ? k < step.scalars : k - most_scalars < step.terms;
    const GraphTerm& term = scalar ? step.scalar[k] : step.term[k - most_scalars];
    const double* base = term.outside ? memory.outside[term.at] : memory.arena + term.at;
    from[k] = there ? base + memory.index[term.offsets + row] + (scalar ? 0 : column) : memory.arena;
    stride[k] = there ? term.x_stride : 0;
  }
  std::size_t best = 0;
  double top = 0;
  for (std::size_t x = 0; x < step.labels; ++x) {
    double sum = *from[0];
    for (std::size_t k = 1; k < most; ++k) sum += *from[k];
    for (std::size_t k = 0; k < most; ++k) from[k] += stride[k];
    const bool better = x == 0 || sum > top;
    top = better ? sum : top;
    best = better ? x : best;
  }
  return best;
}

// table[x][i] *= weight[i], and own[x] = sum_i table[x][i], for x < labels, i < size.
void graph_weigh(double* table, const double* weight, std::size_t labels, std::size_t size, double* own);

// to[x * to_stride + offset[row] + c] += table[x][row run + c]; rows of the table are padded(rows run) long.
void graph_project(const double* table, std::size_t labels, std::size_t rows, std::size_t run,
                   const std::uint32_t* offset, double* to, std::size_t to_stride);

// to[x rows + row] = sum_c table[x][row run + c].
void graph_row_sums(const double* table, std::size_t labels, std::size_t rows, std::size_t run, double* to);

}  // namespace m4n::detail::kernels

// What inference on a graph does, step by step, worked out once per shape.
//
// Nodes are eliminated one after the other (structures/graphs/min_fill.h). The bucket of node x with the separator S
// joins all that involves x and nothing eliminated before: the unary scores of x, its edges to S, and the messages of
// earlier buckets that hand over to x. Its table has an entry for every label of x and every labelling of S; going up,
// x is maximised or summed out of it, and the message over S goes to the first node of S to be eliminated. This is
// message passing on the clique tree with the cliques {x} + S.
//
// S is ordered by elimination, so that a message lies in the order in which the next bucket wants it, the receiving
// node outermost. The last nodes of S, as many as fill a vector with their labels, are the run of the table; terms that
// do not involve them are the same for a whole run. Other layouts than these are made before: edges are transposed, a
// term that involves only a part of the run is spread over it. When maximising, the table itself is never stored.
//
// Going down, p(x, S) = p(x | S) p(S) is summed down to the separators of the buckets that sent messages and to the
// edges. Conditional distributions are never divided by a marginal, so that labels without mass do no harm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/graphs/factor_graph.h"
#include "structures/graphs/kernels.h"
#include "structures/graphs/min_fill.h"

namespace m4n::detail {

struct JunctionBucket {
  std::uint32_t node = 0, labels = 0;
  std::vector<std::uint32_t> separator;                  // by elimination
  std::vector<std::uint32_t> row_stride, column_stride;  // of each of them in the rows and in a run of the table
  std::uint32_t size = 1;                                // entries of the message
  std::uint32_t finish = 0;                              // the step that makes the message
  std::uint32_t mass = 0;                                // p(S) in the arena of masses
  std::uint32_t first_flow = 0, last_flow = 0;
};

// A sum that goes down from the table of a bucket.
struct JunctionFlow {
  enum class Kind : std::uint8_t {
    own,       // mass[to + x] = p(x)
    project,   // mass[to + x to_stride + offset[row] + c] += table[x][row][c]
    row_sums,  // mass[to + x rows + row] = sum_c table[x][row][c]
    scatter    // mass[to + index[i]] += mass[from + i],  i < size
  };
  Kind kind;
  std::uint32_t from = 0, to = 0, to_stride = 0, size = 0, offsets = 0;
};

struct JunctionPlan {
  std::vector<kernels::GraphStep> steps;
  std::vector<std::uint32_t> index;
  std::vector<JunctionBucket> buckets;  // in the order of elimination
  std::vector<JunctionFlow> flows;
  std::vector<std::uint32_t> edge_mass;  // where the marginals of every edge are, padded rows; they come first
  std::uint32_t edge_size = 0;           // entries of all of them
  std::uint32_t arena_size = 0, table_size = 0, mass_size = 0;  // entries of the workspaces
};

// The bytes that the plan and the workspaces of one thread take, without making them. The order must be complete.
double plan_bytes(const FactorGraph& graph, const Elimination& elimination);
// `plan_bytes` must be below 2^34, so that 32 bits count all entries.
JunctionPlan make_plan(const FactorGraph& graph, const Elimination& elimination);

}  // namespace m4n::detail

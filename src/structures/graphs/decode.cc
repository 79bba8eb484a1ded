#include "structures/graphs/decode.h"

#include "structures/graphs/workspace.h"

namespace m4n::detail {

double GraphDecoder::solve(const GraphScores& v, std::span<std::int32_t> y) {
  const JunctionPlan& plan = v.tree->plan();
  const kernels::GraphMemory memory = graph_memory(v, arena_, outside_);
  kernels::graph_max_plus(plan.steps, memory);
  for (std::size_t place = plan.buckets.size(); place-- > 0;) {
    const JunctionBucket& bucket = plan.buckets[place];
    const kernels::GraphStep& step = plan.steps[bucket.finish];
    std::size_t row = 0, column = 0;
    for (std::size_t i = 0; i < bucket.separator.size(); ++i) {
      const auto label = static_cast<std::size_t>(y[bucket.separator[i]]);
      row += label * bucket.row_stride[i];
      column += label * bucket.column_stride[i];
    }
    y[bucket.node] = static_cast<std::int32_t>(kernels::graph_best_label(step, memory, row, column));
  }
  return score(v, y);
}

}  // namespace m4n::detail

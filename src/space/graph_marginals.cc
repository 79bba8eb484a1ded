#include "space/graph_marginals.h"

#include <algorithm>

#include "space/graph_workspace.h"

namespace m4n {

double GraphSumProduct::log_partition(const GraphScores& v) {
  tree_ = v.tree;
  const JunctionPlan& plan = tree_->plan();
  const kernels::GraphMemory memory = graph_memory(v, arena_, outside_);
  if (tables_.size() < plan.table_size) tables_.resize(plan.table_size);
  kernels::graph_log_sum(plan.steps, memory, tables_.data());
  double sum = 0;  // every connected part ends in a bucket without separator
  for (const JunctionBucket& bucket : plan.buckets)
    if (bucket.separator.empty()) sum += memory.arena[plan.steps[bucket.finish].to];
  return sum;
}

double GraphSumProduct::solve(const GraphScores& v) {
  const double log_partition_value = log_partition(v);
  const JunctionPlan& plan = tree_->plan();
  if (mass_.size() < plan.mass_size) mass_.resize(plan.mass_size);
  std::fill_n(mass_.begin(), plan.mass_size, 0.0);
  const PaddedRows<double> node = node_.shape(v.length(), v.graph().widest());
  std::fill_n(node.data(), node.rows() * node.stride(), 0.0);
  for (std::size_t place = plan.buckets.size(); place-- > 0;) {
    const JunctionBucket& bucket = plan.buckets[place];
    const kernels::GraphStep& step = plan.steps[bucket.finish];
    double* table = tables_.data() + step.table;
    if (bucket.separator.empty()) mass_[bucket.mass] = 1;
    kernels::graph_weigh(table, mass_.data() + bucket.mass, bucket.labels, bucket.size, node.row(bucket.node));
    for (std::size_t f = bucket.first_flow; f < bucket.last_flow; ++f) {
      const JunctionFlow& flow = plan.flows[f];
      double* to = mass_.data() + flow.to;
      const std::uint32_t* offset = plan.index.data() + flow.offsets;
      switch (flow.kind) {
        case JunctionFlow::Kind::project:
          kernels::graph_project(table, bucket.labels, step.rows, step.run, offset, to, flow.to_stride);
          break;
        case JunctionFlow::Kind::row_sums:
          kernels::graph_row_sums(table, bucket.labels, step.rows, step.run, to);
          break;
        case JunctionFlow::Kind::scatter:
          for (std::size_t i = 0; i < flow.size; ++i) to[offset[i]] += mass_[flow.from + i];
          break;
      }
    }
  }
  return log_partition_value;
}

PaddedRows<const double> GraphSumProduct::edge(std::size_t e) const {
  const auto [u, v] = tree_->graph().edges()[e];
  return {mass_.data() + tree_->plan().edge_mass[e], tree_->graph().labels(u), tree_->graph().labels(v)};
}

}  // namespace m4n

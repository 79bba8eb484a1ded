// Max-product and sum-product on a junction tree (space.h).
#include "structures/graphs/space.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

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

namespace {

// The least sum over x that linear space is trusted with: what underflows is then below 1e-58 of it.
constexpr double least_sum = 1e-250;

// body(bucket, steps) for all buckets in the order of elimination.
template <class Body>
bool for_buckets(const JunctionPlan& plan, Body&& body) {
  std::size_t first = 0;
  for (const JunctionBucket& bucket : plan.buckets) {
    const std::size_t end = bucket.finish + std::size_t{1};
    if (!body(bucket, std::span(plan.steps).subspan(first, end - first))) return false;
    first = end;
  }
  return true;
}

}  // namespace

double GraphSumProduct::log_partition(const GraphScores& v) {
  tree_ = v.tree;
  if (tables_.size() < tree_->plan().table_size) tables_.resize(tree_->plan().table_size);
  double out = 0;
  logarithmic_ = !up_linear(v, out);
  return logarithmic_ ? up_logarithmic(v) : out;
}

double GraphSumProduct::solve(const GraphScores& v) {
  const double out = log_partition(v);
  down(v);
  return out;
}

// Fills unary_ and view_; returns the sum of what the tables were divided by, as logarithms. Edges that share a table
// one after the other share its exponentials.
double GraphSumProduct::exponentiate(const GraphScores& v) {
  const FactorGraph& graph = v.graph();
  const JunctionPlan& plan = tree_->plan();
  const PaddedRows<double> unary = unary_.shape(graph.nodes(), v.unary.columns());
  double shift = 0;
  for (std::size_t m = 0; m < graph.nodes(); ++m) {
    shift += kernels::graph_exp({v.unary.row(m), 1, graph.labels(m)}, {unary.row(m), 1, graph.labels(m)});
  }
  if (pairwise_.size() < plan.edge_size) pairwise_.resize(plan.edge_size);
  view_.resize(v.pairwise.size());
  double most = 0;
  for (std::size_t e = 0; e < view_.size(); ++e) {
    const PaddedRows<const double>& table = v.pairwise[e];
    const bool again = e > 0 && table.data() == v.pairwise[e - 1].data() && table.rows() == view_[e - 1].rows() &&
                       table.columns() == view_[e - 1].columns();
    if (!again) {
      const PaddedRows<double> own(pairwise_.data() + plan.edge_mass[e], table.rows(), table.columns());
      most = kernels::graph_exp(table, own);
      view_[e] = own;
    } else {
      view_[e] = view_[e - 1];
    }
    shift += most;
  }
  return shift;
}

// False if a sum came too near to zero.
bool GraphSumProduct::up_linear(const GraphScores& v, double& log_partition) {
  log_partition = exponentiate(v);
  const GraphScores weights{tree_, std::as_const(unary_).view(), view_};
  const kernels::GraphMemory memory = graph_memory(weights, arena_, outside_, 1);
  largest_.resize(v.length());
  return for_buckets(tree_->plan(), [&](const JunctionBucket& bucket, std::span<const kernels::GraphStep> steps) {
    const kernels::GraphStep& last = steps.back();
    kernels::graph_products(steps, memory, tables_.data());
    const kernels::Extent sums =
        kernels::graph_sum_out(tables_.data() + last.table, bucket.labels, bucket.size, memory.arena + last.to);
    largest_[bucket.node] = sums.most;
    log_partition += std::log(sums.most);
    return sums.least >= least_sum;
  });
}

double GraphSumProduct::up_logarithmic(const GraphScores& v) {
  const kernels::GraphMemory memory = graph_memory(v, arena_, outside_);
  double sum = 0;  // every connected part ends in a bucket without separator
  for_buckets(tree_->plan(), [&](const JunctionBucket& bucket, std::span<const kernels::GraphStep> steps) {
    const kernels::GraphStep& last = steps.back();
    kernels::graph_sums(steps, memory, tables_.data());
    kernels::graph_normalise_logs(tables_.data() + last.table, bucket.labels, bucket.size, memory.arena + last.to);
    if (bucket.separator.empty()) sum += memory.arena[last.to];
    return true;
  });
  return sum;
}

// p(x, S) = p(x | S) p(S), bucket by bucket, and what is summed out of it. In linear space the table of a bucket is
// p(x | S) times the sum over x, which is the message times its largest entry.
void GraphSumProduct::down(const GraphScores& v) {
  const JunctionPlan& plan = tree_->plan();
  if (mass_.size() < plan.mass_size) mass_.resize(plan.mass_size);
  std::fill_n(mass_.begin(), plan.mass_size, 0.0);
  const PaddedRows<double> node = node_.shape(v.length(), v.graph().widest());
  std::fill_n(node.data(), node.rows() * node.stride(), 0.0);
  for (std::size_t place = plan.buckets.size(); place-- > 0;) {
    const JunctionBucket& bucket = plan.buckets[place];
    const kernels::GraphStep& step = plan.steps[bucket.finish];
    double* table = tables_.data() + step.table;
    double* mass = mass_.data() + bucket.mass;
    if (bucket.separator.empty()) mass[0] = 1;
    for (std::size_t i = 0; !logarithmic_ && i < bucket.size; ++i)
      mass[i] /= arena_[step.to + i] * largest_[bucket.node];
    kernels::graph_weigh(table, mass, bucket.labels, bucket.size, node.row(bucket.node));
    for (std::size_t f = bucket.first_flow; f < bucket.last_flow; ++f) {
      const JunctionFlow& flow = plan.flows[f];
      double* to = mass_.data() + flow.to;
      const std::uint32_t* offset = plan.index.data() + flow.offsets;
      switch (flow.kind) {
        case JunctionFlow::Kind::own:
          std::copy_n(node.row(bucket.node), bucket.labels, to);
          break;
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
}

PaddedRows<const double> GraphSumProduct::edge(std::size_t e) const {
  const auto [u, v] = tree_->graph().edges()[e];
  return {mass_.data() + tree_->plan().edge_mass[e], tree_->graph().labels(u), tree_->graph().labels(v)};
}

}  // namespace m4n::detail

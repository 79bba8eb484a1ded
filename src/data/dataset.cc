// Some examples of a dataset, with everything they own.
#include <algorithm>
#include <cmath>

#include "m4n/dataset.h"

namespace m4n {
namespace {

std::vector<std::size_t> runs(const Groups& groups, std::span<const std::size_t> examples) {
  std::vector<std::size_t> out;
  for (const std::size_t i : examples)
    for (std::size_t r = groups.begin(i); r < groups.end(i); ++r) out.push_back(r);
  return out;
}

Groups regrouped(const Groups& groups, std::span<const std::size_t> examples) {
  std::vector<std::size_t> offsets{0};
  bool even = true;
  const auto length = [&](std::size_t i) { return groups.end(i) - groups.begin(i); };
  for (const std::size_t i : examples) {
    offsets.push_back(offsets.back() + length(i));
    even = even && length(i) == length(examples[0]);
  }
  return even ? Groups(examples.size(), examples.empty() ? 1 : length(examples[0])) : Groups(std::move(offsets));
}

DenseMatrix take(const DenseMatrix& x, const std::vector<std::size_t>& index) {
  DenseMatrix out{index.size(), x.cols, {}};
  out.values.reserve(index.size() * x.cols);
  for (const std::size_t i : index) {
    const auto row = x.view().row(i);
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  return out;
}

SparseMatrix take(const SparseMatrix& x, const std::vector<std::size_t>& index) {
  SparseMatrix out{index.size(), x.cols, {0}, {}, {}};
  for (const std::size_t i : index) {
    const SparseRow row = x.view().row(i);
    out.column.insert(out.column.end(), row.column.begin(), row.column.end());
    out.value.insert(out.value.end(), row.value.begin(), row.value.end());
    out.row_start.push_back(out.column.size());
  }
  return out;
}

GraphStructure subset(const GraphStructure& graph, const Groups& rows, std::span<const std::size_t> examples) {
  GraphStructure out = graph;
  out.edges = regrouped(graph.edges, examples);
  out.edge.clear();
  out.edge_type.clear();
  out.node_type.clear();
  const std::vector<std::size_t> edges = runs(graph.edges, examples);
  out.edge_features = take(graph.edge_features, edges);
  for (const std::size_t e : edges) {
    out.edge.push_back(graph.edge[e]);
    if (!graph.edge_type.empty()) out.edge_type.push_back(graph.edge_type[e]);
  }
  if (!graph.node_type.empty())
    for (const std::size_t r : runs(rows, examples)) out.node_type.push_back(graph.node_type[r]);
  return out;
}

}  // namespace

Features take_rows(const Features& x, const std::vector<std::size_t>& index) {
  return std::visit([&](const auto& matrix) -> Features { return take(matrix, index); }, x);
}

Dataset subset(const Dataset& data, std::span<const std::size_t> examples) {
  Dataset out;
  out.x = take_rows(data.x, runs(data.feature_rows, examples));
  out.feature_names = data.feature_names;
  out.class_names = data.class_names;
  out.bins = data.bins;
  for (const std::size_t l : runs(data.labels, examples)) out.label.push_back(data.label[l]);
  if (!data.weight.empty())
    for (const std::size_t i : examples) out.weight.push_back(data.weight[i]);
  if (!data.costs.names.empty())
    out.costs = {data.costs.names, take(data.costs.values, {examples.begin(), examples.end()})};
  out.feature_rows = regrouped(data.feature_rows, examples);
  out.labels = regrouped(data.labels, examples);
  out.input = data.input;
  if (data.graph) out.graph = std::make_shared<const GraphStructure>(subset(*data.graph, data.feature_rows, examples));
  return out;
}

}  // namespace m4n

// Grades cut from a raw target: K - 1 cut points c_1 <= .. <= c_{K-1}, and grade(t) = #{i : c_i < t}.
//
//   quantile  c_i = x_(j) + (h - j)(x_(j+1) - x_(j)),  h = (n - 1) i/K,  j = floor(h),  x_(0) <= .. <= x_(n-1) sorted
//   width     c_i = min + i (max - min)/K
namespace m4n {
namespace {

double between(double low, double high, double share) {
  const double gap = high - low;
  if (!std::isfinite(gap)) return low * (1 - share) + high * share;
  return share < 0.5 ? low + gap * share : high - gap * (1 - share);  // exact at both ends
}

}  // namespace

OrdinalBins cut_into_grades(std::vector<double> values, int bins, Binning rule) {
  std::sort(values.begin(), values.end());
  std::vector<double> cuts;
  for (int i = 1; i < bins; ++i) {
    const double share = static_cast<double>(i) / bins;
    double cut = 0;
    if (rule == Binning::width) {
      const double range = values.back() - values.front();
      cut = std::isfinite(range) ? values.front() + i * range / bins : between(values.front(), values.back(), share);
      if (!std::isfinite(cut)) cut = between(values.front(), values.back(), share);
    } else {
      const double position = static_cast<double>(values.size() - 1) * share, below = std::floor(position);
      const auto j = static_cast<std::size_t>(below);
      cut = between(values[j], values[std::min(j + 1, values.size() - 1)], position - below);
    }
    cuts.push_back(cuts.empty() ? cut : std::max(cut, cuts.back()));
  }
  return {rule, std::move(cuts)};
}

std::int32_t grade_of(double target, const OrdinalBins& bins) {
  return static_cast<std::int32_t>(std::lower_bound(bins.cuts.begin(), bins.cuts.end(), target) - bins.cuts.begin());
}

}  // namespace m4n

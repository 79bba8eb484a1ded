// Some examples of a dataset, with everything they own.
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
  out.feature_rows = regrouped(data.feature_rows, examples);
  out.labels = regrouped(data.labels, examples);
  out.input = data.input;
  if (data.graph) out.graph = std::make_shared<const GraphStructure>(subset(*data.graph, data.feature_rows, examples));
  return out;
}

}  // namespace m4n

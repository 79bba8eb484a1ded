#include "structures/label_sets/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/message.h"
#include "core/wording.h"

namespace m4n::detail {
namespace {

// sum c log c, with 0 log 0 = 0.
double sum_of_logs(std::span<const double> counts) {
  double sum = 0;
  for (const double c : counts)
    if (c > 0) sum += c * std::log(c);
  return sum;
}

}  // namespace

LabelCounts::LabelCounts(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts)
    : labels_(labels), counts_(counts), rows_(counts.empty() ? 0 : labels.size() / counts.size()) {
  const std::size_t parts = counts.size();
  if (rows_ == 0 || labels.size() != rows_ * parts)
    throw Error(
        say("{} cannot be rows of {}; expected at least one whole row", counted(labels.size(), "label"), parts));
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const std::size_t m = e % parts;
    if (labels[e] < 0 || static_cast<std::uint32_t>(labels[e]) >= counts[m])
      throw Error(say("row {}, label {}: found {}, expected a number from 0 to {}", e / parts, m, labels[e],
                      static_cast<std::int64_t>(counts[m]) - 1));
  }
  for (std::size_t m = 0; m < parts; ++m) {
    std::vector<double> count(counts[m]);
    for (std::size_t i = 0; i < rows_; ++i) ++count[static_cast<std::size_t>(labels[i * parts + m])];
    negative_entropy_.push_back(sum_of_logs(count));
  }
}

double LabelCounts::mutual_information(std::size_t u, std::size_t v) const {
  const std::size_t parts = counts_.size();
  std::vector<double> pair(static_cast<std::size_t>(counts_[u]) * counts_[v]);
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::int32_t* row = labels_.data() + i * parts;
    ++pair[static_cast<std::size_t>(row[u]) * counts_[v] + static_cast<std::size_t>(row[v])];
  }
  const auto n = static_cast<double>(rows_);
  return std::max(0.0, (sum_of_logs(pair) - negative_entropy_[u] - negative_entropy_[v]) / n + std::log(n));
}

std::vector<GraphEdge> label_tree(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts) {
  const LabelCounts data(labels, counts);
  const std::size_t parts = data.parts();
  // For every label outside the tree: the label of the tree it is tied to most.
  std::vector<double> best(parts, -std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> nearest(parts, 0);
  std::vector<bool> inside(parts, false);
  std::vector<GraphEdge> edges;
  for (std::uint32_t added = 0; edges.size() + 1 < parts;) {
    inside[added] = true;
    std::uint32_t next = 0;
    for (std::uint32_t m = 0; m < parts; ++m) {
      if (inside[m]) continue;
      const double tie = data.mutual_information(std::min(m, added), std::max(m, added));
      if (tie > best[m]) {
        best[m] = tie;
        nearest[m] = added;
      }
      if (inside[next] || best[m] > best[next]) next = m;
    }
    edges.push_back({std::min(next, nearest[next]), std::max(next, nearest[next])});
    added = next;
  }
  std::sort(edges.begin(), edges.end(),
            [](const GraphEdge& a, const GraphEdge& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
  return edges;
}

}  // namespace m4n::detail

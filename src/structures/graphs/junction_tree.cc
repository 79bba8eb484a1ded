#include "structures/graphs/junction_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/message.h"

namespace m4n::detail {
namespace {

// More than this cannot be counted with the 32 bits of a plan.
constexpr double countable = 0x1p34;

std::string memory_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return bytes < 1e12 ? fmt::format("{:.1f} GB", bytes / 1e9) : fmt::format("{:.3g} GB", bytes / 1e9);
}

[[noreturn]] void refuse(std::size_t treewidth, bool complete, double bytes, double limit) {
  throw Error(
      say("treewidth {}{} would need {}{}; the limit is {}: remove edges that close long cycles, or use "
          "fewer labels",
          treewidth, complete ? "" : " or more", complete ? "" : "more than ", memory_text(bytes), memory_text(limit)));
}

}  // namespace

JunctionTree::JunctionTree(FactorGraph graph, double limit) : graph_(std::move(graph)) {
  const Elimination elimination = min_fill(graph_);
  treewidth_ = elimination.treewidth;
  if (!elimination.complete) refuse(treewidth_, false, 8 * 0x1p40, limit);
  bytes_ = plan_bytes(graph_, elimination);
  if (!(bytes_ <= std::min(limit, countable))) refuse(treewidth_, true, bytes_, std::min(limit, countable));
  plan_ = make_plan(graph_, elimination);
}

double JunctionTree::table_entries() const {
  double sum = 0;
  for (const JunctionBucket& bucket : plan_.buckets) sum += static_cast<double>(bucket.labels) * bucket.size;
  return sum;
}

const JunctionTree& JunctionTreeCache::find(const FactorGraph& graph) {
  const auto known = trees_.find(graph);
  if (known != trees_.end()) return *known->second;
  return *trees_.emplace(graph, std::make_unique<JunctionTree>(graph, limit_)).first->second;
}

double score(const GraphScores& v, LabelView y) {
  double sum = 0;
  for (std::size_t m = 0; m < v.length(); ++m) sum += v.unary(m, static_cast<std::size_t>(y[m]));
  for (std::size_t e = 0; e < v.pairwise.size(); ++e) {
    const auto [a, b] = v.graph().edges()[e];
    sum += v.pairwise[e](static_cast<std::size_t>(y[a]), static_cast<std::size_t>(y[b]));
  }
  return sum;
}

}  // namespace m4n::detail

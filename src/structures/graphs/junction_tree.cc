// Junction trees within a limit of memory, found again by shape, and the order of elimination by min-fill
// (junction_tree.h).
#include "structures/graphs/junction_tree.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
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

namespace {

// Logarithms to the base 2 are kept as integers, in units of 2^-20, so that sums of them are exact.
constexpr double log_unit = 1 << 20;
constexpr std::int64_t hopeless_table = 40 << 20;

// The graph that is left, with the number of edges that eliminating each node would add.
class Remainder {
 public:
  explicit Remainder(const FactorGraph& graph)
      : neighbours_(graph.nodes()), fill_(graph.nodes()), weight_(graph.nodes()), table_(graph.nodes()) {
    for (std::uint32_t m = 0; m < graph.nodes(); ++m)
      table_[m] = weight_[m] = std::llround(std::log2(static_cast<double>(graph.labels(m))) * log_unit);
    for (const GraphEdge& edge : graph.edges()) join(edge.u, edge.v);
    for (std::uint32_t m = 0; m < graph.nodes(); ++m) queue_.insert(rank(m));
  }
  bool empty() const { return queue_.empty(); }

  // The table of the node that is next is too large.
  bool hopeless() const { return std::get<1>(*queue_.begin()) > hopeless_table; }
  // Eliminates the best node, unless its table is too large; returns it and leaves its neighbours in `separator`.
  std::uint32_t eliminate(std::vector<std::uint32_t>& separator) {
    const bool last = hopeless();
    const std::uint32_t node = std::get<2>(*queue_.begin());
    queue_.erase(queue_.begin());
    separator = neighbours_[node];
    if (last) return node;
    for (std::size_t i = 0; i < separator.size(); ++i)
      for (std::size_t j = i + 1; j < separator.size(); ++j)
        if (!joined(separator[i], separator[j])) join(separator[i], separator[j]);
    for (const std::uint32_t other : separator) {
      // The other neighbours of `node` are neighbours of `other` too; pairs of `node` with anything else disappear.
      change(other, [&] {
        erase(neighbours_[other], node);
        fill_[other] -=
            static_cast<std::int64_t>(neighbours_[other].size()) - static_cast<std::int64_t>(separator.size() - 1);
        table_[other] -= weight_[node];
      });
    }
    neighbours_[node].clear();
    return node;
  }

 private:
  using Rank = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;
  Rank rank(std::uint32_t node) const { return {fill_[node], table_[node], node}; }
  bool joined(std::uint32_t a, std::uint32_t b) const {
    return std::binary_search(neighbours_[a].begin(), neighbours_[a].end(), b);
  }
  static void erase(std::vector<std::uint32_t>& list, std::uint32_t node) {
    list.erase(std::lower_bound(list.begin(), list.end(), node));
  }
  template <class Body>
  void change(std::uint32_t node, Body&& body) {
    const bool queued = queue_.erase(rank(node)) > 0;
    body();
    if (queued) queue_.insert(rank(node));
  }

  // Adds the edge a-b: a common neighbour has one pair less to join, a and b have new pairs.
  void join(std::uint32_t a, std::uint32_t b) {
    const bool a_has_fewer = neighbours_[a].size() <= neighbours_[b].size();
    const std::uint32_t few = a_has_fewer ? a : b, many = a_has_fewer ? b : a;
    std::int64_t common = 0;
    for (const std::uint32_t other : neighbours_[few]) {
      if (!joined(many, other)) continue;
      ++common;
      change(other, [&] { --fill_[other]; });
    }
    const auto gain = [&](std::uint32_t node, std::uint32_t other) {
      change(node, [&] {
        std::vector<std::uint32_t>& list = neighbours_[node];
        fill_[node] += static_cast<std::int64_t>(list.size()) - common;
        list.insert(std::lower_bound(list.begin(), list.end(), other), other);
        table_[node] += weight_[other];
      });
    };
    gain(a, b);
    gain(b, a);
  }

  std::vector<std::vector<std::uint32_t>> neighbours_;  // ascending
  std::vector<std::int64_t> fill_, weight_,
      table_;  // weight_, table_: logarithms of the numbers of labels and of entries of the tables
  std::set<Rank> queue_;
};

}  // namespace

Elimination min_fill(const FactorGraph& graph) {
  Elimination out;
  Remainder rest(graph);
  out.place.resize(graph.nodes());
  out.separator.reserve(graph.nodes());
  std::vector<std::uint32_t> separator;
  while (!rest.empty() && out.complete) {
    out.complete = !rest.hopeless();
    const std::uint32_t node = rest.eliminate(separator);
    out.place[node] = static_cast<std::uint32_t>(out.order.size());
    out.order.push_back(node);
    out.separator.push_back(separator);
    out.treewidth = std::max(out.treewidth, separator.size());
  }
  for (std::vector<std::uint32_t>& nodes : out.separator)
    std::sort(nodes.begin(), nodes.end(),
              [&](std::uint32_t a, std::uint32_t b) { return out.place[a] < out.place[b]; });
  return out;
}

}  // namespace m4n::detail

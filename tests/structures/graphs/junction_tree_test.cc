// Shapes, the order of elimination, what is refused and what the cache keeps.
#include "structures/graphs/junction_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "m4n/error.h"
#include "structures/graphs/space.h"
#include "support/random_graph.h"

namespace m4n::detail {
namespace {

using test::random_edges;
using test::random_shape;
using test::shape_kinds;
using test::ShapeKind;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::vector<std::uint32_t>& labels, const std::vector<GraphEdge>& edges,
                    double limit = JunctionTree::default_limit) {
  try {
    const JunctionTree tree(FactorGraph(labels, edges), limit);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FactorGraph, BadShapesAreRefusedByName) {
  EXPECT_THAT(refusal({}, {}), HasSubstr("at least one node"));
  EXPECT_THAT(refusal({2, 1}, {}), AllOf(HasSubstr("node 1"), HasSubstr("1 label")));
  EXPECT_THAT(refusal({2, 70000}, {}), AllOf(HasSubstr("node 1"), HasSubstr("70000")));
  EXPECT_THAT(refusal({2, 3}, {{0, 1}, {1, 1}}), AllOf(HasSubstr("edge 1"), HasSubstr("node 1 with itself")));
  EXPECT_THAT(refusal({2, 3}, {{0, 7}}), AllOf(HasSubstr("edge 0 (0-7)"), HasSubstr("node 7"), HasSubstr("2 nodes")));
  EXPECT_THAT(refusal({2, 3, 2}, {{0, 1}, {1, 2}, {0, 1}}), HasSubstr("edges 0 and 2 both join the nodes 0 and 1"));
  EXPECT_THAT(refusal({2, 3, 2}, {{0, 1}, {1, 2}, {2, 1}}), HasSubstr("edges 1 and 2 both join the nodes 1 and 2"));
  EXPECT_EQ(refusal({2, 3, 2}, {{0, 1}, {1, 2}, {2, 0}}), "accepted");
}

TEST(FactorGraph, EqualityAndHashTellShapesApart) {
  const FactorGraph a({2, 3, 2}, {{0, 1}, {1, 2}}), same({2, 3, 2}, {{0, 1}, {1, 2}}),
      turned({2, 3, 2}, {{1, 0}, {1, 2}}), other({2, 3, 3}, {{0, 1}, {1, 2}}), fewer({2, 3, 2}, {{0, 1}});
  EXPECT_EQ(a, same);
  EXPECT_EQ(a.hash(), same.hash());
  for (const FactorGraph* graph : {&turned, &other, &fewer}) {
    EXPECT_FALSE(a == *graph);
    EXPECT_NE(a.hash(), graph->hash());
  }
}

// Eliminates in the order found, by the definition.
TEST(MinFill, SeparatorsAreTheNeighboursAtTheTimeAndTheFillIsLeast) {
  std::mt19937_64 random(41);
  for (int repeat = 0; repeat < 400; ++repeat) {
    const ShapeKind kind = shape_kinds[repeat % std::size(shape_kinds)];
    const auto nodes = static_cast<std::uint32_t>(kind == ShapeKind::single ? 1 : 2 + random() % 20);
    std::vector<std::uint32_t> labels(nodes);
    for (std::uint32_t& count : labels) count = 2 + static_cast<std::uint32_t>(random() % 3);
    const FactorGraph graph(
        labels, random_edges(kind == ShapeKind::complete && nodes > 8 ? ShapeKind::grid : kind, nodes, random));
    std::vector<std::set<std::uint32_t>> neighbours(nodes);
    for (const GraphEdge& edge : graph.edges()) {
      neighbours[edge.u].insert(edge.v);
      neighbours[edge.v].insert(edge.u);
    }
    const auto fill = [&](std::uint32_t m) {
      int missing = 0;
      for (const std::uint32_t a : neighbours[m])
        for (const std::uint32_t b : neighbours[m]) missing += a < b && !neighbours[a].contains(b);
      return missing;
    };
    std::set<std::uint32_t> left;
    for (std::uint32_t m = 0; m < nodes; ++m) left.insert(m);
    const Elimination found = min_fill(graph);
    ASSERT_TRUE(found.complete);
    ASSERT_EQ(found.order.size(), nodes);
    std::size_t widest = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::uint32_t m = found.order[i];
      EXPECT_EQ(found.place[m], i);
      for (const std::uint32_t other : left) EXPECT_LE(fill(m), fill(other));
      EXPECT_EQ(std::set<std::uint32_t>(found.separator[i].begin(), found.separator[i].end()), neighbours[m]);
      EXPECT_TRUE(std::is_sorted(found.separator[i].begin(), found.separator[i].end(),
                                 [&](std::uint32_t a, std::uint32_t b) { return found.place[a] < found.place[b]; }));
      widest = std::max(widest, neighbours[m].size());
      for (const std::uint32_t a : neighbours[m]) {
        neighbours[a].erase(m);
        for (const std::uint32_t b : neighbours[m])
          if (a != b) neighbours[a].insert(b);
      }
      left.erase(m);
    }
    EXPECT_EQ(found.treewidth, widest);
  }
}

TEST(MinFill, FindsTheTreewidthOfShapesWhereItIsKnown) {
  std::mt19937_64 random(42);
  const auto treewidth = [&](ShapeKind kind, std::uint32_t nodes) {
    return min_fill({std::vector<std::uint32_t>(nodes, 2), random_edges(kind, nodes, random)}).treewidth;
  };
  EXPECT_EQ(treewidth(ShapeKind::no_edges, 9), 0);
  EXPECT_EQ(treewidth(ShapeKind::tree, 100), 1);
  EXPECT_EQ(treewidth(ShapeKind::chain, 100), 1);
  EXPECT_EQ(treewidth(ShapeKind::cycle, 100), 2);
  EXPECT_EQ(treewidth(ShapeKind::grid, 30), 3);
  EXPECT_EQ(treewidth(ShapeKind::complete, 9), 8);
  for (int repeat = 0; repeat < 20; ++repeat) EXPECT_LE(treewidth(ShapeKind::k_tree, 50), 3);
}

TEST(JunctionTree, TooLargeIsRefusedWithNumbersBeforeAnythingIsAllocated) {
  const auto grid = [](std::uint32_t side) {
    std::vector<GraphEdge> edges;
    for (std::uint32_t r = 0; r < side; ++r) {
      for (std::uint32_t c = 0; c < side; ++c) {
        if (c + 1 < side) edges.push_back({r * side + c, r * side + c + 1});
        if (r + 1 < side) edges.push_back({r * side + c, (r + 1) * side + c});
      }
    }
    return edges;
  };
  EXPECT_EQ(refusal(std::vector<std::uint32_t>(36, 2), grid(6)), "accepted");
  EXPECT_THAT(refusal(std::vector<std::uint32_t>(36, 2), grid(6), 1000),
              AllOf(HasSubstr("treewidth 6 would need "), HasSubstr(" kB; the limit is 1.0 kB: ")));
  EXPECT_THAT(refusal(std::vector<std::uint32_t>(144, 8), grid(12)),
              AllOf(HasSubstr("treewidth 1"), HasSubstr("GB; the limit is 256.0 MB"), HasSubstr("fewer labels")));
  // Far beyond 64 bits.
  EXPECT_THAT(refusal(std::vector<std::uint32_t>(900, 65535), grid(30)),
              AllOf(HasSubstr("or more would need more than"), HasSubstr("the limit is 256.0 MB")));
  std::mt19937_64 random(43);
  EXPECT_THAT(refusal(std::vector<std::uint32_t>(200, 3), random_edges(ShapeKind::complete, 200, random)),
              HasSubstr("treewidth 199 or more"));
}

// What is counted beforehand is what is made.
TEST(JunctionTree, TheEstimateOfMemoryHolds) {
  std::mt19937_64 random(44);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const JunctionTree tree(random_shape(shape_kinds[repeat % std::size(shape_kinds)], random));
    const JunctionPlan& plan = tree.plan();
    double bytes =
        8.0 * (plan.arena_size + plan.table_size + plan.mass_size + plan.edge_size) +
        16.0 * static_cast<double>(tree.graph().nodes() * row_stride<double>(tree.graph().widest())) +
        4.0 * static_cast<double>(plan.index.size()) +
        static_cast<double>(plan.steps.size() * sizeof(kernels::GraphStep) + plan.flows.size() * sizeof(JunctionFlow) +
                            plan.buckets.size() * sizeof(JunctionBucket));
    for (const JunctionBucket& bucket : plan.buckets) bytes += 12.0 * static_cast<double>(bucket.separator.size());
    EXPECT_EQ(tree.bytes(), bytes);
  }
}

TEST(JunctionTree, TheCacheMakesATreeOncePerShape) {
  JunctionTreeCache cache;
  const FactorGraph a({2, 3, 2}, {{0, 1}, {1, 2}}), same({2, 3, 2}, {{0, 1}, {1, 2}}),
      other({2, 3, 2}, {{0, 1}, {2, 1}});
  const JunctionTree* first = &cache.find(a);
  EXPECT_EQ(first, &cache.find(same));
  EXPECT_NE(first, &cache.find(other));
  std::mt19937_64 random(45);
  for (int repeat = 0; repeat < 100; ++repeat) cache.find(random_shape(ShapeKind::tree, random));
  EXPECT_EQ(first, &cache.find(a));
  EXPECT_EQ(first->graph(), a);
  EXPECT_GE(cache.size(), 50);
  JunctionTreeCache small(100);
  EXPECT_THROW(small.find(a), Error);
  EXPECT_EQ(small.size(), 0);
}

}  // namespace
}  // namespace m4n::detail

// The tree of label dependencies against all trees, and on data drawn from a known tree.
#include "structures/label_sets/edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "m4n/error.h"

namespace m4n::detail {
namespace {

// The definition, in long double.
double information(const std::vector<std::int32_t>& labels, std::size_t parts, std::size_t u, std::size_t v) {
  const std::size_t rows = labels.size() / parts;
  long double sum = 0;
  for (std::int32_t a = 0; a < 4; ++a) {
    for (std::int32_t b = 0; b < 4; ++b) {
      long double both = 0, of_u = 0, of_v = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const bool is_a = labels[i * parts + u] == a, is_b = labels[i * parts + v] == b;
        both += is_a && is_b;
        of_u += is_a;
        of_v += is_b;
      }
      const auto n = static_cast<long double>(rows);
      if (both > 0) sum += both / n * std::log(both * n / (of_u * of_v));
    }
  }
  return static_cast<double>(sum);
}

// All trees on `parts` labels, by their Pruefer sequences.
std::vector<std::vector<GraphEdge>> all_trees(std::size_t parts) {
  std::vector<std::vector<GraphEdge>> trees;
  if (parts == 1) return {{}};
  if (parts == 2) return {{{0, 1}}};
  std::vector<std::uint32_t> code(parts - 2, 0);
  for (;;) {
    std::vector<int> degree(parts, 1);
    for (const std::uint32_t c : code) ++degree[c];
    std::vector<GraphEdge> tree;
    for (const std::uint32_t c : code) {
      for (std::uint32_t leaf = 0; leaf < parts; ++leaf) {
        if (degree[leaf] != 1) continue;
        tree.push_back({leaf, c});
        --degree[leaf];
        --degree[c];
        break;
      }
    }
    std::vector<std::uint32_t> last;
    for (std::uint32_t m = 0; m < parts; ++m)
      if (degree[m] == 1) last.push_back(m);
    tree.push_back({last[0], last[1]});
    trees.push_back(tree);
    std::size_t i = 0;
    while (i < code.size() && ++code[i] == parts) code[i++] = 0;
    if (i == code.size()) return trees;
  }
}

TEST(LabelTree, NoTreeIsMoreInformative) {
  EXPECT_EQ(all_trees(5).size(), 125);
  std::mt19937_64 random(61);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const std::size_t parts = 1 + random() % 5, rows = 1 + random() % 30;
    std::vector<std::uint32_t> counts(parts);
    for (std::uint32_t& count : counts) count = 2 + static_cast<std::uint32_t>(random() % 3);
    std::vector<std::int32_t> labels;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t m = 0; m < parts; ++m)
        labels.push_back(m > 0 && random() % 2 == 0 ? labels.back() % static_cast<std::int32_t>(counts[m])
                                                    : static_cast<std::int32_t>(random() % counts[m]));
    const LabelCounts data(labels, counts);
    const auto total = [&](const std::vector<GraphEdge>& tree) {
      double sum = 0;
      for (const GraphEdge& edge : tree) sum += information(labels, parts, edge.u, edge.v);
      return sum;
    };
    const std::vector<GraphEdge> found = label_tree(labels, counts);
    ASSERT_EQ(found.size(), parts - 1);
    const FactorGraph graph(counts, found);  // no duplicate, no loop
    std::vector<std::size_t> root(parts);
    for (std::size_t m = 0; m < parts; ++m) root[m] = m;
    for (const GraphEdge& edge : found) {
      EXPECT_LT(edge.u, edge.v);
      EXPECT_NE(root[edge.u], root[edge.v]);  // no cycle
      const std::size_t old = root[edge.v];
      for (std::size_t& r : root)
        if (r == old) r = root[edge.u];
      EXPECT_NEAR(data.mutual_information(edge.u, edge.v), information(labels, parts, edge.u, edge.v), 1e-12);
    }
    double best = 0;
    for (const std::vector<GraphEdge>& tree : all_trees(parts)) best = std::max(best, total(tree));
    EXPECT_NEAR(total(found), best, 1e-11);
  }
}

TEST(LabelTree, FindsTheTreeThatTheLabelsWereDrawnFrom) {
  std::mt19937_64 random(62);
  constexpr std::size_t parts = 20, rows = 4000;
  std::vector<std::uint32_t> parent(parts, 0);
  std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t m = 1; m < parts; ++m) {
    parent[m] = static_cast<std::uint32_t>(random() % m);
    expected.insert({parent[m], m});
  }
  std::vector<std::int32_t> labels(rows * parts);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t m = 0; m < parts; ++m)
      labels[i * parts + m] =
          m == 0 || random() % 5 == 0 ? static_cast<std::int32_t>(random() % 2) : labels[i * parts + parent[m]];
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const GraphEdge& edge : label_tree(labels, std::vector<std::uint32_t>(parts, 2))) found.insert({edge.u, edge.v});
  EXPECT_EQ(found, expected);
}

TEST(LabelTree, TiesPreferSmallNumbersAndConstantLabelsAreTied) {
  const std::vector<std::int32_t> equal{0, 0, 0, 1, 1, 1}, constant{0, 0, 0, 0, 0, 0};
  const std::vector<GraphEdge> star{{0, 1}, {0, 2}};
  EXPECT_EQ(label_tree(equal, std::vector<std::uint32_t>{2, 2, 2}), star);
  EXPECT_EQ(label_tree(constant, std::vector<std::uint32_t>{2, 2, 2}), star);
}

TEST(LabelTree, BadLabelsAreRefusedByPlace) {
  const auto message = [](const std::vector<std::int32_t>& labels, const std::vector<std::uint32_t>& counts) {
    try {
      label_tree(labels, counts);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({0, 1, 2, 0}, {2, 3}),
              ::testing::HasSubstr("row 1, label 0: found 2, expected a number from 0 to 1"));
  EXPECT_THAT(message({0, -1}, {2, 3}), ::testing::HasSubstr("row 0, label 1: found -1"));
  EXPECT_THAT(message({0, 1, 1}, {2, 2}), ::testing::HasSubstr("3 labels cannot be rows of 2"));
  EXPECT_THAT(message({}, {2, 2}), ::testing::HasSubstr("at least one whole row"));
  EXPECT_THAT(message({}, {}), ::testing::HasSubstr("at least one whole row"));
}

}  // namespace
}  // namespace m4n::detail

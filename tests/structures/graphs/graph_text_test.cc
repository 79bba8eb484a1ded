// Graphs as text: what is read, what is refused with its line, and that what is written is read again.
#include "structures/graphs/text.h"

#include <gmock/gmock.h>

#include "core/rng.h"
#include "m4n/error.h"
#include "support/random_graph.h"

namespace m4n::detail {
namespace {

GraphText read(std::string_view text) {
  Input input = Input::memory(text, "g.txt");
  LineReader lines(input);
  return read_graph_text(lines);
}

std::string refusal(std::string_view text) {
  try {
    read(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(GraphText, NodesEdgesFeaturesAndTypes) {
  const GraphText g = read(
      "# molecules\n\ngraph\nnode a C 1 -2.5\n  node\tb O 3e-1 0\nedge b a 7\n"
      "graph\r\nnode a ? 1 1\r\n# a note\ngraph\nnode x O 0 0\nnode y C 1 2\nnode z C 3 4\nedge x y 1\nedge z x 2");
  EXPECT_EQ(g.graphs(), 3U);
  EXPECT_EQ(g.nodes.end(0), 2U);
  EXPECT_EQ(g.nodes.end(1), 3U);
  EXPECT_EQ(g.nodes.end(2), 6U);
  EXPECT_THAT(g.label, testing::ElementsAre(0, 1, unknown_label, 1, 0, 0));
  EXPECT_THAT(g.label_names, testing::ElementsAre("C", "O"));
  EXPECT_THAT(g.x.values, testing::ElementsAre(1, -2.5, 0.3, 0, 1, 1, 0, 0, 1, 2, 3, 4));
  EXPECT_EQ(g.x.rows, 6U);
  EXPECT_EQ(g.x.cols, 2U);
  EXPECT_THAT(g.structure.edge, testing::ElementsAre(GraphEdge{1, 0}, GraphEdge{0, 1}, GraphEdge{2, 0}));
  EXPECT_EQ(g.structure.edges.end(0), 1U);
  EXPECT_EQ(g.structure.edges.end(1), 1U);
  EXPECT_EQ(g.structure.edges.end(2), 3U);
  EXPECT_THAT(g.structure.edge_features.values, testing::ElementsAre(7, 1, 2));
  EXPECT_EQ(g.structure.edge_features.rows, 3U);
  EXPECT_EQ(g.structure.node_types(), 1U);
  EXPECT_THAT(g.graph_line, testing::ElementsAre(3, 7, 10));
  try {
    g.require_labels();
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "g.txt: line 8: the label of node 'a' is not known (?); training and evaluation need all labels");
  }
  const GraphText typed = read("graph\nnode:p 1 A 0\nnode:q 2 B 0\nedge:r 1 2\nnode:p 3 A 1\nedge:s 3 2\n");
  EXPECT_THAT(typed.structure.node_type, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(typed.structure.node_type_names, testing::ElementsAre("p", "q"));
  EXPECT_THAT(typed.structure.edge_type, testing::ElementsAre(0, 1));
  EXPECT_EQ(typed.structure.edge_types(), 2U);
  EXPECT_EQ(typed.structure.edge_features.cols, 0U);
  EXPECT_NO_THROW(typed.require_labels());
}

TEST(GraphText, RefusesWithFileAndLine) {
  EXPECT_EQ(refusal(""), "g.txt: no graph in this file; expected a line `graph` and nodes behind it");
  EXPECT_EQ(refusal("node a A 1\n"), "g.txt: line 1: node before the first line `graph`");
  EXPECT_EQ(refusal("graph\ngraph\n"), "g.txt: line 1: this graph has no nodes");
  EXPECT_EQ(refusal("graph\nnode a A 1\n\ngraph\n"), "g.txt: line 4: this graph has no nodes");
  EXPECT_EQ(refusal("graph 1\n"), "g.txt: line 1: found '1' behind graph; expected nothing there");
  EXPECT_EQ(refusal("graph\nvertex a\n"),
            "g.txt: line 2: found 'vertex'; expected graph, node, edge, node:TYPE, edge:TYPE or a # comment");
  EXPECT_THAT(refusal("graph\nnode: a A 1\n"), testing::HasSubstr("line 2: found 'node:'"));
  EXPECT_EQ(refusal("graph\nnode a\n"),
            "g.txt: line 2: expected node NAME LABEL and features; LABEL is ? where it is not known");
  EXPECT_EQ(refusal("graph\nnode a A\n"), "g.txt: line 2: node 'a' has no features");
  EXPECT_EQ(refusal("graph\nnode a A 1\nnode b A 1 2\n"),
            "g.txt: line 3: a node with 2 features, but the ones before have 1");
  EXPECT_EQ(refusal("graph\nnode a A 1\nnode a A 1\n"), "g.txt: line 3: node 'a' stands in line 2 already");
  for (const std::string bad : {"nan", "inf", "1e13", "x", "1,2"})
    EXPECT_EQ(refusal("graph\nnode a A 1 " + bad + "\n"),
              "g.txt: line 2: feature 2 is '" + bad + "'; expected a number of at most 1000000000000 in size");
  const std::string two = "graph\nnode a A 1\nnode b A 1\n";
  EXPECT_EQ(refusal(two + "edge a c\n"),
            "g.txt: line 4: no node 'c' in this graph; nodes stand before the edges that name them");
  EXPECT_EQ(refusal(two + "graph\nnode c A 1\nedge a c\n"),
            "g.txt: line 6: no node 'a' in this graph; nodes stand before the edges that name them");
  EXPECT_EQ(refusal(two + "edge b b\n"), "g.txt: line 4: this edge joins node 'b' with itself");
  EXPECT_EQ(refusal(two + "edge a b\nedge b a\n"), "g.txt: line 5: nodes 'b' and 'a' are joined in line 4 already");
  EXPECT_EQ(refusal(two + "edge a\n"), "g.txt: line 4: expected edge NAME NAME, and features if edges have any");
  EXPECT_EQ(refusal(two + "node c A 1\nedge a b 1\nedge b c\n"),
            "g.txt: line 6: an edge with 0 features, but the ones before have 1");
  EXPECT_EQ(refusal("graph\nnode:t a A 1\nnode b A 1\n"),
            "g.txt: line 3: this node has no type, but the ones before have one; give all of them one, or none");
  EXPECT_EQ(refusal(two + "node c A 1\nedge a b\nedge:t b c\n"),
            "g.txt: line 6: this edge has a type, but the ones before have none; give all of them one, or none");
}

TEST(GraphText, RefusesTooLargeATreewidthWithItsLine) {
  std::string text = "graph\nnode a A 1\n\ngraph\n";
  for (int m = 0; m < 12; ++m) text += "node " + std::to_string(m) + " A 1\n";
  for (int m = 0; m < 12; ++m)
    for (int o = 0; o < m; ++o) text += "edge " + std::to_string(o) + " " + std::to_string(m) + "\n";
  const GraphText g = read(text);
  EXPECT_NO_THROW(g.require_low_treewidth(2));
  try {
    g.require_low_treewidth(5);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(),
                testing::MatchesRegex("g.txt: line 4: treewidth 11 would need .*B; the limit is 256.0 MB: .*"));
  }
}

TEST(GraphText, IsRecognisedByItsFirstWord) {
  EXPECT_TRUE(looks_like_graphs("graph\nnode a A 1"));
  EXPECT_TRUE(looks_like_graphs("# note\r\n\r\n\tgraph \r\nnode"));
  EXPECT_TRUE(looks_like_graphs("graph"));
  for (const char* other : {"", "#", "graph,label\n1,2", "graphs\n", "label\n", "# graph\n", "graph NN B-NP\n"})
    EXPECT_FALSE(looks_like_graphs(other)) << other;
}

TEST(GraphText, WhatIsWrittenIsReadAgain) {
  Rng rng(1);
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const auto nodes = static_cast<std::uint32_t>(1 + rng.below(9));
    const auto kind = nodes == 1 ? test::ShapeKind::single : test::shape_kinds[rng.below(std::size(test::shape_kinds))];
    const std::vector<GraphEdge> edges = test::random_edges(kind, nodes, random);
    DenseMatrix x{nodes, 1 + rng.below(3), {}}, f{edges.size(), rng.below(3), {}};
    std::vector<std::string> labels;
    for (std::size_t e = 0; e < x.rows * x.cols; ++e)
      x.values.push_back(rng.normal() * std::pow(10, rng.uniform(-9, 9)));
    for (std::size_t e = 0; e < f.rows * f.cols; ++e) f.values.push_back(rng.normal());
    for (std::size_t m = 0; m < nodes; ++m) labels.push_back("L" + std::to_string(rng.below(3)));
    const std::string text = graph_to_text(labels, x, edges, f);
    const GraphText again = read(text + text);
    ASSERT_EQ(again.graphs(), 2U);
    EXPECT_TRUE(std::equal(x.values.begin(), x.values.end(), again.x.values.begin()));
    EXPECT_TRUE(std::equal(x.values.rbegin(), x.values.rend(), again.x.values.rbegin()));
    EXPECT_TRUE(std::equal(edges.begin(), edges.end(), again.structure.edge.begin()));
    EXPECT_TRUE(std::equal(f.values.rbegin(), f.values.rend(), again.structure.edge_features.values.rbegin()));
    for (std::size_t m = 0; m < nodes; ++m)
      EXPECT_EQ(again.label_names[static_cast<std::size_t>(again.label[nodes + m])], labels[m]);
  }
}

}  // namespace
}  // namespace m4n::detail

// Edges between labels as a text file.
#include "structures/label_sets/edges.h"

#include "support/read_text.h"

namespace m4n::detail {
namespace {

const std::vector<std::string> labels{"y1", "y2", "y3", "2"};

std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_of(const std::string& text) {
  const TemporaryFile file(text);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const GraphEdge& edge : read_label_edges(file.path(), labels)) out.emplace_back(edge.u, edge.v);
  return out;
}

TEST(LabelEdges, NamesOrNumbersWithAnySeparator) {
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(edges_of("y1,y2\n"), (Edges{{0, 1}}));
  EXPECT_EQ(edges_of("# a comment\r\n\n  y3 , y1 \r\ny2\ty3\ny1;y2"), (Edges{{2, 0}, {1, 2}, {0, 1}}));
  EXPECT_EQ(edges_of("1 3\n4,1\n"), (Edges{{0, 2}, {3, 0}}));
  EXPECT_EQ(edges_of("1 2\n"), (Edges{{0, 3}}));  // a name goes before a number
  EXPECT_EQ(edges_of(byte_order_mark + "y1 y2\n"), (Edges{{0, 1}}));
}

TEST(LabelEdges, RefusesWithFileAndLine) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& parts) {
    const TemporaryFile file(text);
    const std::string message = refusal([&] { read_label_edges(file.path(), labels); });
    expect_says(message, parts);
    expect_says(message, {file.path()});
  };
  refused("y1,y2\ny1,y9\n", {"line 2", "'y9' is no label", "'y1', 'y2', 'y3', '2'", "a number from 1 to 4"});
  refused("y1,0\n", {"line 1", "'0' is no label"});
  refused("y1,5\n", {"line 1", "'5' is no label"});
  refused("y1,1.5\n", {"line 1", "'1.5' is no label"});
  refused("y1,nan\n", {"line 1", "'nan' is no label"});
  refused("y1,1e300\n", {"line 1", "'1e300' is no label"});
  refused("y1,-1\n", {"line 1", "'-1' is no label"});
  refused("\ny2,y2\n", {"line 2", "'y2' is joined with itself"});
  refused("y1,1\n", {"line 1", "'y1' is joined with itself"});
  refused("y1,y2\n#\ny2,y1\n", {"line 3", "the edge of line 1 once more"});
  refused("y1\n", {"line 1", "1 words; expected the two labels"});
  refused("y1,y2,y3\n", {"line 1", "3 words"});
  refused(",\n", {"line 1", "0 words"});
  refused("", {"no edges"});
  refused("# nothing\n\n", {"no edges", "--edges none"});
  expect_says(refusal([] { read_label_edges("not/there", labels); }), {"not/there"});
}

}  // namespace
}  // namespace m4n::detail

// From graphs as text to examples: for training, for a model, and some of them.
#include "structures/graphs/text.h"

#include "support/flat_model.h"
#include "support/read_text.h"
#include "support/sample_labels.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

GraphText text_of(std::string_view text) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_graph_text(lines);
}

const std::string typed =
    "graph\nnode:bond a C 1\nnode:atom b C 2\nedge:far b a 0.5\n"
    "graph\nnode:atom x \xc3\xb6 3\n"
    "graph\nnode:atom a C 4\nnode:atom b \xc3\xb6 5\nnode:bond c C 6\nedge:near a b 1.5\nedge:far c a 2.5\n";

using Labels = std::vector<std::int32_t>;
using Types = std::vector<std::uint32_t>;

TEST(GraphData, TrainingSortsLabelsAndKeepsStructure) {
  const Dataset words = graphs_for_training(text_of("graph\nnode 1 b 0\nnode 2 a 1\nnode 3 b 1\nedge 1 2\n"));
  EXPECT_EQ(words.class_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(words.label, (Labels{1, 0, 1}));
  EXPECT_EQ(words.examples(), 1U);
  const Dataset numbers = graphs_for_training(text_of("graph\nnode 1 10 0\ngraph\nnode 1 9 1\n"));
  EXPECT_EQ(numbers.class_names, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(numbers.label, (Labels{1, 0}));
  const Dataset data = graphs_for_training(text_of(typed));
  EXPECT_EQ(data.examples(), 3U);
  EXPECT_EQ(data.feature_rows.end(2), 6U);
  EXPECT_EQ(data.labels.begin(2), 3U);
  EXPECT_EQ(data.graph->edges.begin(1), data.graph->edges.end(1));
  EXPECT_EQ(data.graph->node_type_names, (std::vector<std::string>{"bond", "atom"}));
  EXPECT_TRUE(data.weight.empty());
}

TEST(GraphData, TrainingRefusals) {
  expect_says(refusal([] { graphs_for_training(text_of("graph\nnode a A 1\ngraph\nnode b ? 1\n")); }),
              {"file: line 4", "'b'", "not known"});
  std::string grid = "graph\nnode a A 0\nnode b B 0\ngraph\n";
  const int side = 30;
  for (int m = 0; m < side * side; ++m) grid += "node " + std::to_string(m) + " A 1\n";
  for (int m = 0; m < side * side; ++m) {
    if (m % side + 1 < side) grid += "edge " + std::to_string(m) + " " + std::to_string(m + 1) + "\n";
    if (m / side + 1 < side) grid += "edge " + std::to_string(m) + " " + std::to_string(m + side) + "\n";
  }
  expect_says(refusal([&] { graphs_for_training(text_of(grid)); }), {"file: line 4", "treewidth", "limit"});
}

// Labels and types get the numbers of the model, whatever order they occur in.
TEST(GraphData, ForAModel) {
  const FlatModel model = test::sample_graphs();
  std::vector<std::string> unseen;
  const auto labelled = [&](std::string_view text, Truth truth) {
    Examples out = graphs_for_model(text_of(text), model, truth);
    unseen.assign(out.names.begin() + static_cast<std::ptrdiff_t>(model.k()), out.names.end());
    return out.data;
  };
  const Dataset data = labelled(typed, Truth::required);
  EXPECT_TRUE(unseen.empty());
  EXPECT_EQ(data.class_names, model.classes);
  EXPECT_EQ(data.label, (Labels{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(data.graph->node_type, (Types{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(data.graph->edge_type, (Types{1, 0, 1}));
  EXPECT_EQ(data.graph->node_type_names, model.graph.node_types);

  const Dataset other = labelled("graph\nnode:atom a Zn 1\nnode:atom b ? 1\nnode:bond c C 1\n", Truth::optional);
  EXPECT_EQ(other.label, (Labels{unknown_label, unknown_label, 0}));
  EXPECT_EQ(unseen, std::vector<std::string>{"Zn"});
  EXPECT_EQ(model.predict(view(other.x), other.feature_rows, *other.graph).size(), 3U);  // there need be no edges
}

TEST(GraphData, RefusesWhatDoesNotFitTheModel) {
  const auto refused = [](const FlatModel& model, std::string_view text, const std::vector<std::string>& parts) {
    const std::string message = refusal([&] { graphs_for_model(text_of(text), model, Truth::required); });
    expect_says(message, parts);
    EXPECT_EQ(message.substr(0, 5), "file:");
  };
  const FlatModel model = test::sample_graphs(), plain = test::sample_plain_graphs();
  refused(model, "graph\nnode:atom a ? 1\n", {"line 2", "'a'"});
  refused(model, "graph\nnode:atom a C 1 2\n", {"2 features", "trained on 1"});
  refused(model, "graph\nnode a C 1\n", {"nodes have no types", "node:TYPE"});
  refused(model, "graph\nnode:ion a C 1\n", {"node type 'ion'", "'atom', 'bond'"});
  refused(model, "graph\nnode:atom a C 1\nnode:atom b C 1\nedge:near a b\n", {"0 features", "trained on 1"});
  refused(model, "graph\nnode:atom a C 1\nnode:atom b C 1\nedge a b 1\n", {"edges have no types", "edge:TYPE"});
  refused(model, "graph\nnode:atom a C 1\nnode:atom b C 1\nedge:odd a b 1\n", {"edge type 'odd'", "'near', 'far'"});
  refused(plain, "graph\nnode:atom a A 1\n", {"nodes have types", "had none"});
  refused(plain, "graph\nnode a A 1\nnode b A 1\nedge:x a b\n", {"edges have types", "had none"});
  refused(plain, "graph\nnode a A 1\nnode b A 1\nedge a b 3\n", {"1 features", "trained on 0"});
}

TEST(GraphData, SomeOfTheExamples) {
  const Dataset data = graphs_for_training(text_of(typed));
  const std::vector<std::size_t> chosen{2, 0, 2, 1};
  const Dataset some = subset(data, chosen);
  ASSERT_EQ(some.examples(), 4U);
  ASSERT_TRUE(some.graph);
  const GraphStructure &all = *data.graph, &found = *some.graph;
  EXPECT_EQ(found.node_type_names, all.node_type_names);
  EXPECT_EQ(found.edge_type_names, all.edge_type_names);
  ASSERT_EQ(found.edges.count(), 4U);
  EXPECT_EQ(found.node_type.size(), 9U);
  EXPECT_EQ(found.edge_features.rows, 5U);
  const auto &x = std::get<DenseMatrix>(data.x), &y = std::get<DenseMatrix>(some.x);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t from = chosen[i], nodes = data.labels.end(from) - data.labels.begin(from);
    ASSERT_EQ(some.labels.end(i) - some.labels.begin(i), nodes);
    ASSERT_EQ(some.feature_rows.begin(i), some.labels.begin(i));
    for (std::size_t m = 0; m < nodes; ++m) {
      const std::size_t a = data.labels.begin(from) + m, b = some.labels.begin(i) + m;
      EXPECT_EQ(some.label[b], data.label[a]);
      EXPECT_EQ(y.values[b], x.values[a]);
      EXPECT_EQ(found.node_type[b], all.node_type[a]);
    }
    ASSERT_EQ(found.edges.end(i) - found.edges.begin(i), all.edges.end(from) - all.edges.begin(from));
    for (std::size_t e = 0; e < all.edges.end(from) - all.edges.begin(from); ++e) {
      const std::size_t a = all.edges.begin(from) + e, b = found.edges.begin(i) + e;
      EXPECT_EQ(found.edge[b].u, all.edge[a].u);
      EXPECT_EQ(found.edge[b].v, all.edge[a].v);
      EXPECT_EQ(found.edge_type[b], all.edge_type[a]);
      EXPECT_EQ(found.edge_features.values[b], all.edge_features.values[a]);
    }
  }
  // Graphs without any edge.
  const Dataset lonely = subset(data, std::vector<std::size_t>{1, 1});
  EXPECT_EQ(lonely.graph->edges.count(), 2U);
  EXPECT_EQ(lonely.graph->edges.end(1), 0U);
}

}  // namespace
}  // namespace m4n::detail

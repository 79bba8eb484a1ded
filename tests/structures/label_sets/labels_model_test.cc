// FlatModel files of label sets and graphs: they come back as they were; whatever is cut off or changed is refused or
// gives a model that works; every condition on them is checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "m4n/error.h"
#include "m4n/model.h"
#include "structures/graphs/factor_graph.h"
#include "support/expect_same_model.h"
#include "support/flat_model.h"
#include "support/model_attacks.h"
#include "support/model_bytes.h"
#include "support/sample_chains.h"
#include "support/sample_labels.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using nlohmann::json;
using test::expect_refused;
using test::OpenedModel;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string& name = test::attacked_name;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::vector<Model> samples() {
  return {test::sample_joined_labels(), test::sample_label_sets(), test::sample_one_label(), test::sample_graphs(),
          test::sample_plain_graphs()};
}

// Predicts one row, or the two joined nodes of a graph, none of which has a feature.
void expect_labels(const FlatModel& model) {
  const bool graph = model.task == "graph";
  const std::size_t rows = graph ? 2 : 1, outputs = graph ? 2 : model.k(), values = graph ? model.k() : 2;
  const DenseMatrix dense{rows, model.d, std::vector<double>(rows * model.d)};
  const SparseMatrix sparse{rows, model.d, std::vector<std::size_t>(rows + 1), {}, {}};
  const FeaturesView x = model.sparse ? FeaturesView(sparse.view()) : FeaturesView(dense.view());
  const auto small = [](const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double value) { return std::abs(value) < 1e100; });
  };
  // What overflows is refused before it is decoded.
  if (!small(model.scores(x)) || !small(model.graph.weights) || !small(model.cost)) return;
  GraphStructure structure;
  structure.edges = Groups(1);
  structure.edge = {{0, 1}};
  structure.edge_features = {1, model.graph.features, std::vector<double>(model.graph.features)};
  structure.node_type_names = model.graph.node_types;
  structure.edge_type_names = model.graph.edge_types;
  const std::vector<std::int32_t> y = graph ? model.predict(x, Groups(1, 2), structure) : model.predict(x);
  ASSERT_EQ(y.size(), outputs);
  for (const std::int32_t label : y) {
    EXPECT_GE(label, 0);
    EXPECT_LT(label, static_cast<std::int32_t>(values));
  }
}

test::ModelAttacks attacks() {
  return {samples(), [](const FlatModel& model) {
            if (model.d < 100 && model.graph.features < 100) expect_labels(model);
          }};
}

TEST(LabelsModel, BytesGiveTheSameModelAndTheSameBytes) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    const FlatModel back = FlatModel::from_bytes(bytes, name);
    test::expect_same_model(back, model);
    EXPECT_EQ(back.to_bytes(), bytes);
    EXPECT_EQ(test::open_model(bytes).header["kind"], "labels");
    expect_labels(back);
  }
}

TEST(LabelsModel, IsSavedAndLoaded) {
  const test::TempDir dir;
  test::sample_graphs().save(dir / "a.m4n");
  test::expect_same_model(FlatModel::load(dir / "a.m4n"), test::sample_graphs());
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(LabelsModel, NamesOfScores) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(test::sample_label_sets().output_names(), (Names{"y1", "y2", "y3"}));
  EXPECT_EQ(test::sample_one_label().output_names(), (Names{"y1"}));
  EXPECT_EQ(test::sample_joined_labels().output_names(), (Names{"y1_0", "y1_1", "y2_0", "y2_1", "y3_0", "y3_1"}));
  EXPECT_EQ(test::sample_graphs().output_names(),
            (Names{"atom:C", "atom:\xc3\xb6", "bond:C", "bond:\xc3\xb6", "\xff:C", "\xff:\xc3\xb6"}));
  EXPECT_EQ(test::sample_plain_graphs().output_names(), (Names{"A", "B", "C"}));
  for (const FlatModel model : samples()) EXPECT_EQ(model.output_names().size(), model.outputs());
}

TEST(LabelsModel, SignsOfScoresAndTheirProbabilities) {
  const FlatModel model = test::sample_label_sets();
  const DenseMatrix x{2, 1, {1, -1}};
  // Scores x + 0, -2 x + 1, x/2 - 1/4.
  const std::vector<double> scores = model.scores(x.view());
  EXPECT_EQ(scores, (std::vector<double>{1, -1, 0.25, -1, 3, -0.75}));
  EXPECT_EQ(model.predict(x.view()), (std::vector<std::int32_t>{1, 0, 1, 0, 1, 0}));
  const std::vector<double> p = model.marginals(scores);
  for (std::size_t e = 0; e < p.size(); ++e) EXPECT_NEAR(p[e], 1 / (1 + std::exp(-2 * scores[e])), 1e-15);
  EXPECT_THAT([&] { test::sample_one_label().marginals(std::vector<double>(1)); },
              ThrowsMessage<UsageError>(HasSubstr("--surrogate crf")));
}

TEST(LabelsModel, EveryTruncationIsRefused) { attacks().every_truncation_is_refused(); }

TEST(LabelsModel, ResealedChangesAreRefusedOrGiveAValidModel) {
  attacks().resealed_changes_are_refused_or_give_a_valid_model();
}

TEST(LabelsModel, EveryFieldAndEveryArrayIsNeeded) { attacks().every_field_and_every_array_is_needed(); }

TEST(LabelsModel, FieldsHaveRanges) {
  const auto refused = [](const FlatModel& model, const char* field, const json& value, const std::string& message) {
    OpenedModel file = test::open_model(model.to_bytes());
    file.header["fields"][field] = value;
    expect_refused(file.sealed(), message);
  };
  const FlatModel joined = test::sample_joined_labels(), sets = test::sample_label_sets(),
                  one = test::sample_one_label(), graphs = test::sample_graphs();
  for (const char* task : {"multiclass", "ordinal", "sequence", "ranking"})
    refused(joined, "task", task, std::string("a model of the kind 'labels' cannot have the task ") + task);
  refused(one, "task", "graph", "'k' of its header is 1");
  refused(sets, "task", "graph", "'edge_weights' has 0 entries; expected 9");
  refused(graphs, "task", "multilabel", "types or features of edges, which label sets have not");
  refused(one, "k", 0, "a whole number from 1");
  refused(graphs, "k", 1, "a whole number from 2");
  refused(sets, "k", 4, "expected 4");
  refused(joined, "edges", 1, "'edge_ends' has 4 entries; expected 2");
  refused(joined, "edges", 3, "'edge_ends' has 4 entries; expected 6");
  refused(joined, "edges", std::uint64_t{1} << 40, "a whole number from 0");
  refused(graphs, "node_types", 2, "'node_type_names' has 3 entries; expected 2");
  refused(graphs, "edge_types", 3, "'edge_type_names' has 2 entries; expected 3");
  refused(graphs, "edge_features", 2, "'edge_weights' has 16 entries; expected 24");
  refused(graphs, "edge_features", 4294967295U, "'edge_weights' has 16 entries");
  refused(graphs, "edge_features", std::uint64_t{1} << 32, "a whole number from 0");
  refused(sets, "loss", "costs", "expected hamming without costs, or costs");
  refused(joined, "loss", "hamming", "expected hamming without costs, or costs");
  refused(graphs, "loss", "zero-one", "the loss is 'zero-one'");
  refused(graphs, "loss", "hamming", "called hamming but its costs are others");
  refused(sets, "bias", false, "'weights' has 6 entries; expected 3");
  refused(joined, "mapped", false, "'weights' has 12 entries; expected 18");
  refused(sets, "mapped", true, "the field 'features' of its header is missing");
  refused(sets, "decode", "adversary", "the decoder adversary does not go with the surrogate crf");
  refused(joined, "decode", "expected", "the decoder expected does not go with the surrogate m4n");
  refused(graphs, "decode", "viterbi", "viterbi is no decoder of graphs");
  refused(graphs, "surrogate", "qs", "its surrogate qs is not one of graphs");
}

void expect_invalid(const FlatModel& sample, const std::string& message, const std::function<void(FlatModel&)>& spoil) {
  FlatModel model = sample;
  spoil(model);
  EXPECT_THAT([&] { model.to_bytes(); }, ThrowsMessage<Error>(HasSubstr(message)));
}

TEST(LabelsModel, HasInvariants) {
  const FlatModel joined = test::sample_joined_labels(), sets = test::sample_label_sets(),
                  graphs = test::sample_graphs();
  const std::string bad_edge = "an edge joins labels that are not there, a label with itself, or occurs twice";
  expect_invalid(joined, "weights has 11 entries; expected 12", [](FlatModel& m) { m.weights.pop_back(); });
  expect_invalid(joined, "weights holds nan at entry 2", [](FlatModel& m) { m.weights[2] = nan; });
  expect_invalid(joined, "edge_weights holds inf at entry 1", [](FlatModel& m) { m.graph.weights[1] = inf; });
  expect_invalid(joined, "edge_weights has 7 entries; expected 8", [](FlatModel& m) { m.graph.weights.pop_back(); });
  expect_invalid(joined, bad_edge, [](FlatModel& m) { m.graph.edges[0].u = 3; });
  expect_invalid(joined, bad_edge, [](FlatModel& m) { m.graph.edges[0].u = 0; });
  expect_invalid(joined, bad_edge, [](FlatModel& m) { m.graph.edges[1] = {0, 2}; });
  expect_invalid(joined, "cost holds nan at entry 0", [](FlatModel& m) { m.cost[0] = nan; });
  expect_invalid(joined, "a miss of label 'y2' costs 0", [](FlatModel& m) { m.cost[1] = 0; });
  expect_invalid(joined, "a false alarm of label 'y1' costs -1", [](FlatModel& m) { m.cost[3] = -1; });
  expect_invalid(joined, "3 labels", [](FlatModel& m) { m.cost.resize(4); });
  expect_invalid(joined, "smoothed, which examples have not", [](FlatModel& m) { m.smoothing = 1; });
  expect_invalid(joined, "the class 'y1' occurs twice", [](FlatModel& m) { m.classes[1] = "y1"; });
  expect_invalid(joined, "its surrogate qs is not one of labels with edges",
                 [](FlatModel& m) { m.surrogate = SurrogateKind::qs, m.decode = Decoder::argmax; });
  expect_invalid(sets, "it has 0 labels; expected 1", [](FlatModel& m) { m.classes.clear(), m.weights.clear(); });
  expect_invalid(graphs, "the node type 'atom' occurs twice", [](FlatModel& m) { m.graph.node_types[1] = "atom"; });
  expect_invalid(graphs, "the edge type 'near' occurs twice", [](FlatModel& m) { m.graph.edge_types[1] = "near"; });
  expect_invalid(graphs, "edge_weights has 16 entries; expected 24", [](FlatModel& m) { m.graph.features = 2; });
  expect_invalid(graphs, "edge_weights holds nan", [](FlatModel& m) { m.graph.weights[15] = nan; });
  expect_invalid(graphs, "weights has 12 entries; expected 8", [](FlatModel& m) { m.graph.node_types.pop_back(); });
  expect_invalid(graphs, "cost[0][1] is not greater", [](FlatModel& m) { m.cost[1] = 0; });
  expect_invalid(graphs, "cost has 3 entries; expected 4", [](FlatModel& m) { m.cost.pop_back(); });
}

TEST(LabelsModel, EndsOfEdgesAreWholeNumbersOfLabels) {
  const OpenedModel whole = test::open_model(test::sample_joined_labels().to_bytes());
  const auto ends = std::find_if(whole.header["arrays"].begin(), whole.header["arrays"].end(),
                                 [](const json& array) { return array["name"] == "edge_ends"; });
  ASSERT_NE(ends, whole.header["arrays"].end());
  for (const double wrong : {-1.0, 0.5, 3.0, 1e300, nan, -inf}) {
    OpenedModel file = whole;
    std::memcpy(file.payload.data() + (*ends)["offset"].get<std::size_t>(), &wrong, sizeof wrong);
    expect_refused(file.sealed(), "an edge joins the label");
  }
}

TEST(LabelsModel, AsksForWhatItNeeds) {
  const FlatModel graphs = test::sample_plain_graphs(), sets = test::sample_label_sets();
  const DenseMatrix one{2, 1, {1, 2}}, wide{2, 3, std::vector<double>(6)};
  GraphStructure structure;
  structure.edges = Groups(1);
  structure.edge = {{0, 1}};
  structure.edge_features = {1, 0, {}};
  EXPECT_EQ(graphs.predict(one.view(), Groups(1, 2), structure).size(), 2U);
  EXPECT_THAT([&] { graphs.predict(one.view()); }, ThrowsMessage<Error>(HasSubstr("decoded together")));
  EXPECT_THAT([&] { graphs.predict(one.view(), Groups(1, 2)); }, ThrowsMessage<Error>(HasSubstr("graph")));
  EXPECT_THAT([&] { graphs.predict(wide.view(), Groups(1, 2), structure); },
              ThrowsMessage<Error>(HasSubstr("3 features")));
  EXPECT_THAT([&] { graphs.predict(one.view(), Groups(1, 1), structure); }, ThrowsMessage<Error>(HasSubstr("1 rows")));
  GraphStructure other = structure;
  other.edge_features = {1, 1, {0.5}};
  EXPECT_THAT([&] { graphs.predict(one.view(), Groups(1, 2), other); }, ThrowsMessage<Error>(HasSubstr("of training")));
  other = structure;
  other.node_type_names = {"a", "b"};
  EXPECT_THAT([&] { graphs.predict(one.view(), Groups(1, 2), other); }, ThrowsMessage<Error>(HasSubstr("of training")));
  EXPECT_THAT([&] { sets.predict(one.view(), Groups(1, 2), structure); },
              ThrowsMessage<Error>(HasSubstr("predicts no graphs")));
  EXPECT_THAT([&] { sets.predict(one.view(), Groups(1, 2)); }, ThrowsMessage<Error>(HasSubstr("single rows")));
  EXPECT_THAT([&] { graphs.marginals(std::vector<double>(6)); },
              ThrowsMessage<UsageError>(HasSubstr("--surrogate crf")));
}

}  // namespace
}  // namespace m4n::detail

// fit() on label sets and graphs, from a dataset to a model: the certificate is that of the objective by its definition
// (all labellings listed), the model's predictions are the best of all labellings, and what it says of its training is
// what evaluation finds.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "support/flat_model.h"
#include "support/judge.h"
#include "support/random_chain.h"
#include "support/random_graph_sets.h"
#include "support/random_multilabel.h"
#include "support/temp_dir.h"

namespace m4n::detail::test {
namespace {

constexpr SurrogateKind all_joined[] = {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf};

TrainOptions options_of(const std::string& task, SurrogateKind surrogate) {
  TrainOptions o;
  o.task = task;
  o.surrogate = surrogate;
  o.lambda = 0.1;
  o.tol = 1e-7;
  o.epochs = 20000;
  o.standardize = false;
  return o;
}

Dataset dataset_of(const GraphSet& set, bool multilabel) {
  Dataset data;
  data.x = set.x;
  data.label = set.label;
  data.feature_rows = multilabel ? Groups(set.examples()) : set.rows;
  data.labels = set.nodes;
  const std::size_t classes = multilabel ? set.slots() : set.labels;
  for (std::size_t c = 1; c <= classes; ++c) data.class_names.push_back("y" + std::to_string(c));
  if (multilabel) data.weight = set.share;
  if (!multilabel) data.graph = std::make_shared<const GraphStructure>(set.structure);
  return data;
}

// From rows of features with the types beside each other, as models keep them, to a block a type.
std::vector<double> all_weights(const GraphSet& set, const FlatModel& model) {
  const std::size_t types = set.structure.node_types(), width = set.slots() * set.labels, rows = set.x.cols + 1;
  std::vector<double> out(model.weights.size());
  for (std::size_t t = 0; t < types; ++t)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t c = 0; c < width; ++c)
        out[(t * rows + j) * width + c] = model.weights[(j * types + t) * width + c];
  out.insert(out.end(), model.graph.weights.begin(), model.graph.weights.end());
  return out;
}

void expect_certified(const GraphSet& set, std::span<const CostMatrix> costs, const FitResult& found,
                      SurrogateKind surrogate) {
  const ListedGraphs objective(set, costs, surrogate, 0.1);
  const Certificate& c = found.report.certificate;
  EXPECT_TRUE(c.converged);
  const std::vector<double> w = all_weights(set, found.model);
  EXPECT_NEAR(objective(w), c.primal, 1e-8) << to_string(surrogate);
  // Around an optimum nothing is better by more than the gap.
  Rng rng(9);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> near = w;
    for (double& e : near) e += 0.01 * rng.normal();
    EXPECT_GE(objective(near), c.dual - 1e-9);
  }
  EXPECT_EQ(FlatModel::from_bytes(found.model.to_bytes(), "m").to_bytes(), found.model.to_bytes());
}

TEST(LabelsFit, JoinedLabelsAgreeWithAllLabellings) {
  const TempDir dir;
  const std::string path = dir / "edges.csv";
  std::ofstream(path) << "y2,y1\n2,3\ny4,y3\ny1 y4\n";  // a cycle
  const std::vector<GraphEdge> edges{{1, 0}, {1, 2}, {3, 2}, {0, 3}};
  Rng rng(1);
  for (const SurrogateKind surrogate : all_joined)
    for (const bool even : {true, false}) {
      const GraphSet set = random_dependent_labels(rng, 7, 2, 4, 2, edges);
      TrainOptions o = options_of("multilabel", surrogate);
      o.edges = path;
      if (!even) o.cost = {1, 3, 0.5, 2, 2, 1, 1, 2};
      const FitResult found = fit(dataset_of(set, true), o);
      const LabelCosts labels = even ? LabelCosts::hamming(4) : LabelCosts({1, 3, 0.5, 2}, {2, 1, 1, 2}, "test");
      std::vector<CostMatrix> costs;
      for (std::size_t j = 0; j < 4; ++j) costs.push_back(labels.matrix(j));
      expect_certified(set, costs, found, surrogate);
      const std::vector<std::int32_t> y = found.model.predict(set.x.view());
      EXPECT_NEAR(evaluate(found.model, set.nodes, set.label, y, set.share).loss, FlatModel(found.model).train_loss,
                  1e-12);
      EXPECT_EQ(FlatModel(found.model).graph.edges.size(), 4U);
      EXPECT_EQ(FlatModel(found.model).graph.edges[3].v, 3U);
    }
}

TEST(LabelsFit, GraphsAgreeWithAllLabellings) {
  Rng rng(2);
  for (const SurrogateKind surrogate : all_joined)
    for (const std::size_t types : {1U, 2U}) {
      const GraphSet drawn = random_graph_set(
          rng, {.examples = 7, .edge_features = types - 1, .labels = 3, .most_nodes = 4, .types = types});
      GraphSet set = drawn;
      set.share.assign(7, 1.0 / 7);  // graphs have no weights
      const std::vector<CostMatrix> costs{CostMatrix::named("hamming", 3)};
      const FitResult found = fit(dataset_of(set, false), options_of("graph", surrogate));
      expect_certified(set, costs, found, surrogate);
      const std::vector<std::int32_t> y = FlatModel(found.model).predict(set.x.view(), set.rows, set.structure);
      EXPECT_NEAR(evaluate(found.model, set.nodes, set.label, y).loss, FlatModel(found.model).train_loss, 1e-12);
      if (FlatModel(found.model).decode != Decoder::argmax) continue;
      // Scores of whole labellings, by the one model kept.
      const std::vector<double> scores = found.model.scores(set.x.view());
      const std::size_t de = set.structure.edge_features.cols;
      for (std::size_t i = 0; i < set.examples(); ++i) {
        const std::size_t first = set.nodes.begin(i), nodes = set.nodes.end(i) - first;
        const auto score = [&](LabelView labels) {
          double sum = 0;
          for (std::size_t m = 0; m < nodes; ++m)
            sum += scores[((first + m) * types + set.structure.type_of_row(first + m)) * 3 +
                          static_cast<std::size_t>(labels[m])];
          for (std::size_t e = set.structure.edges.begin(i); e < set.structure.edges.end(i); ++e)
            for (std::size_t f = 0; f <= de; ++f)
              sum += (f < de ? set.structure.edge_features.values[e * de + f] : 1) *
                     FlatModel(found.model)
                         .graph.weights[((set.structure.type_of_edge(e) * (de + 1) + f) * 3 +
                                         static_cast<std::size_t>(labels[set.structure.edge[e].u])) *
                                            3 +
                                        static_cast<std::size_t>(labels[set.structure.edge[e].v])];
          return sum;
        };
        double best = -1e300;
        for_labellings(nodes, 3,
                       [&](const std::vector<std::int32_t>& labels) { best = std::max(best, score(labels)); });
        EXPECT_NEAR(score(std::span(y).subspan(first, nodes)), best, 1e-9);
      }
    }
}

// Edges are standardised for the solver, and the model applies to them as they came.
TEST(LabelsFit, ScalesOfEdgeFeaturesDoNotMatter) {
  Rng rng(3);
  const GraphSet set = random_graph_set(rng, {.examples = 12, .edge_features = 2, .labels = 2, .most_nodes = 5});
  GraphSet scaled = set;
  for (std::size_t e = 0; e < set.structure.edge.size(); ++e) {
    scaled.structure.edge_features.values[2 * e] = 1e6 * set.structure.edge_features.values[2 * e] + 3e6;
    scaled.structure.edge_features.values[2 * e + 1] *= -1e-3;
  }
  for (const SurrogateKind surrogate : all_joined) {
    TrainOptions o = options_of("graph", surrogate);
    o.standardize = true;
    const FitResult a = fit(dataset_of(set, false), o), b = fit(dataset_of(scaled, false), o);
    EXPECT_NEAR(a.report.certificate.primal, b.report.certificate.primal, 1e-7);
    EXPECT_NEAR(a.report.norm_squared, b.report.norm_squared, 1e-4);
    EXPECT_EQ(FlatModel(a.model).predict(set.x.view(), set.rows, set.structure),
              FlatModel(b.model).predict(scaled.x.view(), scaled.rows, scaled.structure));
  }
}

// A tree between the labels can only lower the objective; without any edge they are independent.
TEST(LabelsFit, ATreeContainsLabelsApart) {
  Rng rng(4);
  const GraphSet set = random_dependent_labels(rng, 30, 2, 3, 2, {});
  for (const SurrogateKind surrogate : all_joined) {
    TrainOptions o = options_of("multilabel", surrogate);
    const FitResult apart = fit(dataset_of(set, true), o);
    o.edges = "none";
    EXPECT_EQ(fit(dataset_of(set, true), o).model.to_bytes(), apart.model.to_bytes());
    o.edges = "tree";
    const FitResult tree = fit(dataset_of(set, true), o);
    EXPECT_EQ(FlatModel(tree.model).graph.edges.size(), 2U);
    EXPECT_LE(tree.report.certificate.dual, apart.report.certificate.primal + 1e-9);
    EXPECT_LT(tree.report.certificate.primal, apart.report.certificate.primal);
  }
}

TEST(LabelsFit, ThreadsDoNotChangeABit) {
  Rng rng(5);
  const GraphSet set = random_graph_set(rng, {.examples = 20, .labels = 3, .most_nodes = 5});
  for (const SurrogateKind surrogate : all_joined) {
    const TrainOptions o = options_of("graph", surrogate);
    EXPECT_EQ(fit(dataset_of(set, false), o, {1, {}, {}}).model.to_bytes(),
              fit(dataset_of(set, false), o, {3, {}, {}}).model.to_bytes());
  }
}

TEST(LabelsFit, Refusals) {
  Rng rng(6);
  const GraphSet graphs = random_graph_set(rng, {.examples = 3, .labels = 2});
  const GraphSet sets = random_dependent_labels(rng, 4, 1, 3, 2, {});
  const auto refused = [](Dataset data, const TrainOptions& o, const char* message) {
    EXPECT_THAT([&] { fit(data, o); }, testing::ThrowsMessage<Error>(testing::HasSubstr(message)));
  };
  const TrainOptions graph = options_of("graph", SurrogateKind::m4n);
  TrainOptions set = options_of("multilabel", SurrogateKind::m4n);
  Dataset data = dataset_of(graphs, false);
  data.graph = nullptr;
  refused(data, graph, "no edges");
  data = dataset_of(graphs, false);
  data.label[0] = unknown_label;
  refused(data, graph, "every node needs its label");
  data = dataset_of(graphs, false);
  data.label.pop_back();
  refused(data, graph, "do not belong together");
  data = dataset_of(graphs, false);
  data.weight.assign(3, -1.0);
  refused(data, graph, "weight");
  data = dataset_of(graphs, false);
  data.class_names = {"A"};
  refused(data, graph, "only 1 label");
  for (const char* edges : {"", "tree"}) {
    set.edges = edges;
    data = dataset_of(sets, true);
    data.label[4] = 2;
    refused(data, set, "example 2: y2 is 2, expected 0 or 1");
    data = dataset_of(sets, true);
    data.weight[1] = -1;
    refused(data, set, "weight");
    set.cost = {1, 1, 1};
    refused(dataset_of(sets, true), set, "label");
    set.cost.clear();
  }
  set.surrogate = SurrogateKind::qs;
  EXPECT_THROW(fit(dataset_of(sets, true), set), UsageError);
}

}  // namespace
}  // namespace m4n::detail::test

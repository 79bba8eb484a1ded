// Loss and metrics of label sets and graphs: values that scikit-learn gives (f1_score, hamming_loss, accuracy_score;
// zero_division = 0), sums by hand, and bootstrap intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "support/flat_model.h"
#include "support/judge.h"

namespace m4n::detail {

using test::bootstrap;
using test::evaluate;

using test::FlatModel;
namespace {

using Labels = std::vector<std::int32_t>;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Label 1: 2 of 3 found, one false alarm; label 2: never predicted; label 3: never on, predicted once; label 4: all.
const Labels truth{1, 1, 0, 0,  //
                   1, 0, 0, 1,  //
                   0, 1, 0, 0,  //
                   1, 0, 0, 1};
const Labels predicted{1, 0, 0, 0,  //
                       1, 0, 0, 1,  //
                       1, 0, 1, 0,  //
                       0, 0, 0, 1};

FlatModel label_model(std::size_t labels, std::vector<double> costs = {}) {
  FlatModel model;
  model.task = "multilabel";
  model.loss_name = costs.empty() ? "hamming" : "costs";
  model.cost = std::move(costs);
  for (std::size_t j = 1; j <= labels; ++j) model.classes.push_back("y" + std::to_string(j));
  return model;
}

FlatModel graph_model(std::size_t k, std::vector<double> cost = {}) {
  FlatModel model;
  model.task = "graph";
  model.loss_name = cost.empty() ? "hamming" : "matrix";
  model.cost = std::move(cost);
  for (std::size_t a = 0; a < k; ++a) model.classes.emplace_back(1, static_cast<char>('A' + a));
  for (std::size_t a = 0; model.loss_name == "hamming" && a < k * k; ++a)
    model.cost.push_back(a % (k + 1) == 0 ? 0 : 1);
  return model;
}

std::map<std::string, double> named(const Evaluation& e) {
  std::map<std::string, double> out(e.metrics.begin(), e.metrics.end());
  out["loss"] = e.loss;
  return out;
}

TEST(LabelSetEvaluation, ByHand) {
  const Evaluation e = evaluate(label_model(4), Groups(4, 4), truth, predicted);
  std::map<std::string, double> m = named(e);
  EXPECT_EQ(e.n, 4U);
  EXPECT_EQ(m.size(), 5U);
  EXPECT_DOUBLE_EQ(m["loss"], 5.0 / 16);
  EXPECT_DOUBLE_EQ(m["hamming"], 5.0 / 16);
  EXPECT_DOUBLE_EQ(m["subset_accuracy"], 1.0 / 4);
  // TP 2 + 0 + 0 + 2, on 3 + 2 + 0 + 2, predicted 3 + 0 + 1 + 2
  EXPECT_DOUBLE_EQ(m["micro_f1"], 2 * 4.0 / (7 + 6));
  EXPECT_DOUBLE_EQ(m["macro_f1"], (2.0 / 3 + 0 + 0 + 1) / 4);
  ASSERT_EQ(e.labels.size(), 4U);
  EXPECT_EQ(e.labels[0].first, "y1");
  EXPECT_DOUBLE_EQ(e.labels[0].second.precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(e.labels[0].second.recall(), 2.0 / 3);
  EXPECT_EQ(e.labels[1].second.precision(), 0);
  EXPECT_EQ(e.labels[1].second.recall(), 0);
  EXPECT_EQ(e.labels[1].second.actual, 2U);
  EXPECT_EQ(e.labels[2].second.f1(), 0);
  EXPECT_EQ(e.labels[2].second.predicted, 1U);
  EXPECT_EQ(e.labels[3].second.f1(), 1);
}

TEST(LabelSetEvaluation, CostsOfMissesAndFalseAlarms) {
  // Misses: y1 in the last, y2 in the first and third example; false alarms: y1 and y3 in the third.
  const FlatModel model = label_model(4, {2, 3, 5, 7, 11, 13, 17, 19});
  const Evaluation e = evaluate(model, Groups(4, 4), truth, predicted);
  EXPECT_DOUBLE_EQ(e.loss, (2 + 3 + 3 + 11 + 17) / 16.0);
  const std::vector<double> weight{1, 1, 2, 1};
  EXPECT_DOUBLE_EQ(evaluate(model, Groups(4, 4), truth, predicted, weight).loss,
                   (2 + 3 + 2 * (3 + 11 + 17)) / 4.0 / 5.0);
}

TEST(LabelSetEvaluation, WeightsCountExamples) {
  const std::vector<double> weight{2, 1, 0, 1};
  Labels t, p;
  for (const std::size_t i : {0U, 0U, 1U, 3U})
    for (std::size_t j = 0; j < 4; ++j) {
      t.push_back(truth[4 * i + j]);
      p.push_back(predicted[4 * i + j]);
    }
  const Evaluation a = evaluate(label_model(4), Groups(4, 4), truth, predicted, weight),
                   b = evaluate(label_model(4), Groups(4, 4), t, p);
  const std::map<std::string, double> found = named(a);
  for (const auto& [name, value] : named(b)) EXPECT_DOUBLE_EQ(found.at(name), value) << name;
  EXPECT_EQ(a.labels[2].second.predicted, 1U);  // the table counts rows, whatever they weigh
}

TEST(LabelSetEvaluation, AllOffHasNoF1) {
  const Labels off(3, 0);
  std::map<std::string, double> m = named(evaluate(label_model(1), Groups(3), off, off));
  EXPECT_EQ(m["loss"], 0);
  EXPECT_EQ(m["subset_accuracy"], 1);
  EXPECT_EQ(m["micro_f1"], 0);
  EXPECT_EQ(m["macro_f1"], 0);
}

TEST(GraphEvaluation, NodesAndWholeGraphs) {
  const Groups nodes(std::vector<std::size_t>{0, 1, 4, 6});
  const Labels t{0, 1, 2, 0, 1, 1}, p{0, 1, 2, 1, 1, 1};
  const Evaluation e = evaluate(graph_model(3), nodes, t, p);
  std::map<std::string, double> m = named(e);
  EXPECT_EQ(m.size(), 3U);
  EXPECT_DOUBLE_EQ(m["node_accuracy"], 5.0 / 6);
  EXPECT_DOUBLE_EQ(m["graph_accuracy"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(m["loss"], (0 + 1.0 / 3 + 0) / 3);  // a mean over graphs of the mean over their nodes
  EXPECT_EQ(e.n, 3U);
  EXPECT_EQ(e.parts, 6U);
  EXPECT_EQ(e.unseen, 0U);
  EXPECT_EQ(e.confusion, (std::vector<std::uint64_t>{1, 1, 0, 0, 3, 0, 0, 0, 1}));
  ASSERT_EQ(e.labels.size(), 3U);
  EXPECT_EQ(e.labels[1].second.actual, 3U);
  EXPECT_EQ(e.labels[1].second.predicted, 4U);
  EXPECT_EQ(e.labels[1].second.found, 3U);
  const std::vector<double> weight{1, 3, 0};
  m = named(evaluate(graph_model(3), nodes, t, p, weight));
  EXPECT_DOUBLE_EQ(m["loss"], (3 * 1.0 / 3) / 4);
  EXPECT_DOUBLE_EQ(m["node_accuracy"], (1 + 3 * 2.0) / (1 + 3 * 3));
  EXPECT_DOUBLE_EQ(m["graph_accuracy"], 1.0 / 4);
}

TEST(GraphEvaluation, LabelsNeverSeenCostTheMost) {
  const FlatModel model = graph_model(2, {0, 1, 4, 0});
  const Labels t{0, unknown_label, 1}, p{1, 0, 0};
  const Evaluation e = evaluate(model, Groups(std::vector<std::size_t>{0, 2, 3}), t, p);
  EXPECT_DOUBLE_EQ(e.loss, ((1 + 4) / 2.0 + 4) / 2);
  EXPECT_EQ(e.unseen, 1U);
  EXPECT_EQ(e.confusion, (std::vector<std::uint64_t>{0, 1, 1, 0}));
}

// Of n examples the mean of a resample has the standard deviation sigma / sqrt(n); F1 lies where its values lie.
TEST(LabelSetEvaluation, Bootstrap) {
  Rng rng(3, 1);
  const std::size_t n = 80, k = 3;
  Labels t, p;
  double first = 0, second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double wrong = 0;
    for (std::size_t j = 0; j < k; ++j) {
      t.push_back(rng.uniform() < 0.5 ? 1 : 0);
      p.push_back(rng.uniform() < 0.3 ? 1 - t.back() : t.back());
      wrong += t.back() != p.back() ? 1.0 / 3 : 0;
    }
    first += wrong / static_cast<double>(n);
    second += wrong * wrong / static_cast<double>(n);
  }
  const Groups sets(n, k);
  const FlatModel model = label_model(k);
  const Bootstrap one = bootstrap(model, sets, t, p, {}, 4000, 7, {1, {}, {}});
  const double sigma = std::sqrt((second - first * first) / static_cast<double>(n));
  EXPECT_NEAR(one.loss.se, sigma, 0.05 * sigma);
  EXPECT_NEAR(one.loss.low, first - 1.96 * sigma, 0.2 * sigma);
  EXPECT_NEAR(one.loss.high, first + 1.96 * sigma, 0.2 * sigma);
  const Evaluation e = evaluate(model, sets, t, p);
  ASSERT_EQ(one.metrics.size(), e.metrics.size());
  const Bootstrap two = bootstrap(model, sets, t, p, {}, 4000, 7, {3, {}, {}});
  for (std::size_t m = 0; m < e.metrics.size(); ++m) {
    EXPECT_EQ(one.metrics[m].first, e.metrics[m].first);
    EXPECT_LT(one.metrics[m].second.low, e.metrics[m].second);
    EXPECT_GT(one.metrics[m].second.high, e.metrics[m].second);
    EXPECT_EQ(one.metrics[m].second.low, two.metrics[m].second.low);
    EXPECT_EQ(one.metrics[m].second.se, two.metrics[m].second.se);
  }
  // Rows of weight zero are not there, whatever is drawn; one row alone has no interval.
  std::vector<double> weight(n, 0.0);
  weight[5] = 2;
  EXPECT_FALSE(bootstrap(model, sets, t, p, weight, 50, 1).loss.known());
  for (std::size_t j = 0; j < k; ++j) {
    t[6 * k + j] = t[5 * k + j];
    p[6 * k + j] = p[5 * k + j];
  }
  weight[6] = 1;
  const double only =
      evaluate(model, Groups(1, k), std::span(t).subspan(5 * k, k), std::span(p).subspan(5 * k, k)).loss;
  const Bootstrap alike = bootstrap(model, sets, t, p, weight, 50, 1);
  EXPECT_NEAR(alike.loss.low, only, 1e-15);
  EXPECT_NEAR(alike.loss.high, only, 1e-15);
}

TEST(GraphEvaluation, BootstrapDrawsWholeGraphs) {
  // Two graphs, one all right and one all wrong, of 3 nodes and 1: node accuracies of draws are 0, 3/4 and 1.
  const Groups nodes(std::vector<std::size_t>{0, 3, 4});
  const Labels t{0, 1, 0, 1}, p{0, 1, 0, 0};
  const Bootstrap found = bootstrap(graph_model(2), nodes, t, p, {}, 4000, 5);
  ASSERT_EQ(found.metrics[0].first, "node_accuracy");
  EXPECT_EQ(found.metrics[0].second.low, 0);
  EXPECT_EQ(found.metrics[0].second.high, 1);
  const double mean = 0.25 * 0 + 0.5 * 0.75 + 0.25;
  const double variance = 0.25 * mean * mean + 0.5 * (0.75 - mean) * (0.75 - mean) + 0.25 * (1 - mean) * (1 - mean);
  EXPECT_NEAR(found.metrics[0].second.se, std::sqrt(variance), 0.02);
  EXPECT_NEAR(found.loss.se, std::sqrt(0.125), 0.02);
}

TEST(LabelSetEvaluation, Refusals) {
  const auto refused = [](const FlatModel& model, const Labels& t, const Labels& p, const Groups& parts,
                          const std::vector<double>& weight, const char* message) {
    EXPECT_THAT([&] { evaluate(model, parts, t, p, weight); }, ThrowsMessage<Error>(HasSubstr(message)));
    EXPECT_THAT([&] { bootstrap(model, parts, t, p, weight, 10, 0); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  const FlatModel sets = label_model(2), graphs = graph_model(2);
  const Labels right{0, 1, 1, 0};
  refused(sets, right, {0, 1}, Groups(2, 2), {}, "2 predictions");
  refused(sets, right, right, Groups(2, 2), {1}, "1 weights");
  refused(sets, right, right, Groups(2, 2), {1, -1}, "weight -1 of example 2");
  refused(sets, right, right, Groups(2, 2), {0, 0}, "the weights sum to 0");
  refused(sets, right, right, Groups(1, 4), {}, "example 1 has 4 labels, the model 2");
  refused(sets, {0, 2, 1, 0}, right, Groups(2, 2), {}, "example 1 has a mark that is neither 0 nor 1");
  refused(sets, right, {0, 1, 1, -1}, Groups(2, 2), {}, "example 2 has a mark that is neither 0 nor 1");
  refused(sets, {}, {}, Groups(0, 2), {}, "no examples");
  refused(graphs, {0, 2, 1, 0}, right, Groups(1, 4), {}, "node 2 of graph 1 has a label beyond the model's 2");
  refused(graphs, right, {0, 1, -1, 0}, Groups(1, 4), {}, "node 3 of graph 1 has a label beyond the model's 2");
  refused(graphs, right, right, Groups(std::vector<std::size_t>{0, 4, 4}), {}, "example 2 has no parts");
}

}  // namespace
}  // namespace m4n::detail

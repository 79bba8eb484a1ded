// Predictions of graphs against all labellings listed, and models trained on generated graphs against the best loss
// there is.
#include "structures/graphs/predictor.h"

#include <gmock/gmock.h>

#include <cmath>

#include "losses/label_costs.h"
#include "m4n/error.h"
#include "structures/classes/decoder.h"
#include "structures/graphs/synthetic.h"
#include "structures/label_sets/synthetic.h"
#include "structures/label_sets/training.h"
#include "support/decoders.h"
#include "support/random_chain.h"
#include "support/random_graph_sets.h"

namespace m4n::detail::test {
namespace {

// For every row of features, by node type, the scores of its nodes: w . (x, 1).
std::vector<double> scores_of(const GraphSet& set, const GraphWeights& w) {
  const std::size_t d = set.x.cols, rows = d + (set.bias ? 1 : 0), width = set.slots() * set.labels;
  std::vector<double> out;
  for (std::size_t r = 0; r < set.x.rows; ++r)
    for (std::size_t t = 0; t < set.structure.node_types(); ++t)
      for (std::size_t c = 0; c < width; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < rows; ++j)
          sum += (j < d ? set.x.values[r * d + j] : 1) * w.node[(t * rows + j) * width + c];
        out.push_back(sum);
      }
  return out;
}

GraphPredictor predictor_of(const GraphSet& set, const GraphWeights& w, const std::vector<CostMatrix>& costs,
                            Decoder decode) {
  return {costs, decode, w.edge, set.structure.edge_features.cols};
}

std::vector<std::int32_t> labels_of(const GraphSet& set, const GraphWeights& w, const std::vector<CostMatrix>& costs,
                                    Decoder decode, unsigned threads = 1) {
  return predictor_of(set, w, costs, decode)
      .labellings(scores_of(set, w), {&set.rows, &set.nodes, &set.structure}, {threads, {}, {}});
}

GraphWeights random_weights(Rng& rng, const GraphSet& set) {
  GraphWeights w;
  w.node.resize(set.structure.node_types() * (set.x.cols + (set.bias ? 1 : 0)) * set.slots() * set.labels);
  w.edge.resize(set.structure.edge_types() * (set.structure.edge_features.cols + 1) * set.labels * set.labels);
  for (double& e : w.node) e = rng.normal();
  for (double& e : w.edge) e = rng.normal();
  return w;
}

// score(y) by the layout of the weights.
double listed_score(const GraphSet& set, const GraphWeights& w, std::size_t i, LabelView y) {
  const std::size_t k = set.labels, slots = set.slots(), d = set.x.cols, rows = d + (set.bias ? 1 : 0);
  const GraphStructure& s = set.structure;
  double sum = 0;
  for (std::size_t m = 0; m < y.size(); ++m) {
    const std::size_t row = set.rows.begin(i) + m / slots;
    for (std::size_t j = 0; j < rows; ++j)
      sum += (j < d ? set.x.values[row * d + j] : 1) *
             w.node[((s.type_of_row(row) * rows + j) * slots + m % slots) * k + static_cast<std::size_t>(y[m])];
  }
  const std::size_t de = s.edge_features.cols;
  for (std::size_t e = s.edges.begin(i); e < s.edges.end(i); ++e)
    for (std::size_t j = 0; j <= de; ++j)
      sum += (j < de ? s.edge_features.values[e * de + j] : 1) *
             w.edge[((s.type_of_edge(e) * (de + 1) + j) * k + static_cast<std::size_t>(y[s.edge[e].u])) * k +
                    static_cast<std::size_t>(y[s.edge[e].v])];
  return sum;
}

TEST(GraphPredictor, AgreesWithAllLabellings) {
  Rng rng(1);
  for (int trial = 0; trial < 30; ++trial) {
    GraphSet set = trial % 3 == 0 ? random_dependent_labels(rng, 5, 2, 5, 3, {{0, 1}, {2, 1}, {4, 2}, {1, 4}})
                                  : random_graph_set(rng, {.examples = 8,
                                                           .edge_features = static_cast<std::size_t>(trial % 2 * 2),
                                                           .labels = 3,
                                                           .most_nodes = 6,
                                                           .types = trial % 4 == 1 ? 2U : 1U});
    set.bias = trial % 5 != 0;
    const GraphWeights w = random_weights(rng, set);
    std::vector<double> values(9, 0.0);
    for (std::size_t e = 0; e < 9; ++e)
      if (e % 4 != 0) values[e] = rng.uniform(0.2, 3);
    const std::vector<CostMatrix> costs{CostMatrix::from_values(values, 3, "matrix", {}, "test")};
    const std::vector<std::int32_t> best = labels_of(set, w, costs, Decoder::argmax, 2),
                                    expected = labels_of(set, w, costs, Decoder::expected);
    EXPECT_EQ(labels_of(set, w, costs, Decoder::argmax, 1), best);
    const GraphPredictor predictor = predictor_of(set, w, costs, Decoder::expected);
    const GraphExamples examples{&set.rows, &set.nodes, &set.structure};
    const std::vector<double> marginals = predictor.marginals(scores_of(set, w), examples, {2, {}, {}});
    ASSERT_EQ(best.size(), set.label.size());
    ASSERT_EQ(marginals.size(), 3 * set.label.size());
    for (std::size_t i = 0; i < set.examples(); ++i) {
      const std::size_t nodes = set.nodes.end(i) - set.nodes.begin(i);
      double top = -1e300, total = 0;
      std::vector<double> mass(nodes * 3);
      for_labellings(nodes, 3, [&](const std::vector<std::int32_t>& y) {
        const double s = listed_score(set, w, i, y);
        top = std::max(top, s);
        total += std::exp(s);
        for (std::size_t m = 0; m < nodes; ++m) mass[m * 3 + static_cast<std::size_t>(y[m])] += std::exp(s);
      });
      EXPECT_NEAR(listed_score(set, w, i, std::span(best).subspan(set.nodes.begin(i), nodes)), top, 1e-9);
      for (std::size_t m = 0; m < nodes; ++m) {
        double least = 1e300, own = 0;
        for (std::size_t p = 0; p < 3; ++p) {
          double cost = 0;
          for (std::size_t t = 0; t < 3; ++t) cost += costs[0](t, p) * mass[m * 3 + t] / total;
          least = std::min(least, cost);
          if (p == static_cast<std::size_t>(expected[set.nodes.begin(i) + m])) own = cost;
          EXPECT_NEAR(marginals[(set.nodes.begin(i) + m) * 3 + p], mass[m * 3 + p] / total, 1e-10);
        }
        EXPECT_NEAR(own, least, 1e-9);
      }
    }
  }
}

// Without edges the game of every node is its own: the thresholds of labels that are on or off.
TEST(GraphPredictor, AdversaryOfLabelsApart) {
  Rng rng(2);
  const std::size_t m = 4;
  const GraphSet set = random_dependent_labels(rng, 200, 2, m, 2, {});
  const LabelCosts labels({1, 3, 0.5, 2}, {2, 1, 1, 2}, "test");
  std::vector<CostMatrix> costs;
  for (std::size_t j = 0; j < m; ++j) costs.push_back(labels.matrix(j));
  EXPECT_EQ(test::decoder_of("graph", Decoder::automatic, SurrogateKind::m4n, labels.symmetric()), Decoder::adversary);
  GraphWeights w = random_weights(rng, set);
  for (double& e : w.node) e *= 0.3;
  const std::vector<std::int32_t> found = labels_of(set, w, costs, Decoder::adversary);
  const std::vector<LabelThreshold> threshold = label_thresholds(SurrogateKind::m4n, Decoder::adversary, labels);
  for (std::size_t i = 0; i < set.examples(); ++i)
    for (std::size_t j = 0; j < m; ++j) {
      double s = 0;
      for (std::size_t f = 0; f < 3; ++f)
        s += (f < 2 ? set.x.values[2 * i + f] : 1) * (w.node[(f * m + j) * 2 + 1] - w.node[(f * m + j) * 2]) / 2;
      if (std::abs(s - threshold[j].high) < 1e-6) continue;
      EXPECT_EQ(found[i * m + j], s > threshold[j].high ? 1 : 0) << s << " " << threshold[j].high;
    }
}

TEST(GraphPredictor, UsualDecoders) {
  const auto usual = [](SurrogateKind s, bool symmetric) {
    return test::decoder_of("graph", Decoder::automatic, s, symmetric);
  };
  EXPECT_EQ(usual(SurrogateKind::m4n, true), Decoder::argmax);
  EXPECT_EQ(usual(SurrogateKind::m4n, false), Decoder::adversary);
  EXPECT_EQ(usual(SurrogateKind::m3n, false), Decoder::argmax);
  EXPECT_EQ(usual(SurrogateKind::crf, true), Decoder::expected);
  for (const SurrogateKind s : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf}) {
    EXPECT_EQ(test::decoder_of("graph", Decoder::argmax, s, true), Decoder::argmax);
    EXPECT_THROW(test::decoder_of("graph", Decoder::viterbi, s, true), UsageError);
  }
  EXPECT_THROW(test::decoder_of("graph", Decoder::adversary, SurrogateKind::crf, true), UsageError);
  EXPECT_THROW(test::decoder_of("graph", Decoder::expected, SurrogateKind::m4n, true), UsageError);
}

TEST(GraphPredictor, RefusesScoresBeyondDoubles) {
  Rng rng(3);
  const GraphSet set = random_dependent_labels(rng, 3, 2, 3, 2, {{0, 1}, {2, 1}});
  const std::vector<CostMatrix> costs{CostMatrix::named("hamming", 2)};
  const std::vector<CostMatrix> own(3, costs[0]);
  const GraphWeights w = random_weights(rng, set);
  const auto refused = [&](const GraphSet& data, const GraphWeights& weights, const char* where) {
    for (const Decoder decode : {Decoder::argmax, Decoder::expected, Decoder::adversary})
      EXPECT_THAT([&] { labels_of(data, weights, own, decode, 2); },
                  testing::ThrowsMessage<Error>(testing::HasSubstr(where)));
    EXPECT_THROW(predictor_of(data, weights, own, Decoder::expected)
                     .marginals(scores_of(data, weights), {&data.rows, &data.nodes, &data.structure}, {1, {}, {}}),
                 Error);
  };
  for (const double huge : {1e308, 1e295, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    GraphSet data = set;
    data.x.values[2] = huge;  // of the second example
    refused(data, w, "example 2 (counted from 1), node 1");
    GraphWeights weights = w;
    weights.edge[4] = huge;  // every edge has weights of its own, and all examples have all edges
    refused(set, weights, "example 1 (counted from 1), edge 2");
  }
  GraphWeights large = w;
  for (double& e : large.edge) e *= 1e280;
  EXPECT_EQ(labels_of(set, large, own, Decoder::argmax).size(), 9U);
}

GraphSet generated(std::uint64_t seed, std::size_t n, double& best_loss) {
  SyntheticGraphs graphs(seed);
  GraphSet set;
  set.labels = SyntheticGraphs::labels();
  std::vector<std::size_t> nodes{0}, edges{0};
  set.x.cols = SyntheticGraphs::signs();
  best_loss = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticGraphs::Graph g = graphs.next();
    const DenseMatrix x = SyntheticGraphs::features(g.sign);
    set.x.values.insert(set.x.values.end(), x.values.begin(), x.values.end());
    set.label.insert(set.label.end(), g.label.begin(), g.label.end());
    set.structure.edge.insert(set.structure.edge.end(), g.edge.begin(), g.edge.end());
    nodes.push_back(set.label.size());
    edges.push_back(set.structure.edge.size());
    best_loss += g.best_loss / static_cast<double>(n);
  }
  set.x.rows = nodes.back();
  set.rows = set.nodes = Groups(nodes);
  set.structure.edges = Groups(edges);
  set.share.assign(n, 1 / static_cast<double>(n));
  return set;
}

// A CRF learns the very distribution; max-margin surrogates come near.
TEST(GraphPredictor, TrainedModelsComeNearTheBestLoss) {
  double ignored = 0, best_loss = 0;
  const GraphSet train = generated(1, 300, ignored), test = generated(2, 400, best_loss);
  const std::vector<CostMatrix> costs{CostMatrix::named("hamming", 3)};
  for (const SurrogateKind surrogate : {SurrogateKind::crf, SurrogateKind::m4n, SurrogateKind::m3n}) {
    TrainOptions o;
    o.surrogate = surrogate;
    o.tol = 1e-2;
    const double lambda = surrogate == SurrogateKind::crf ? 0.003 : 0.03;
    const GraphSolution model = solve_path(train, costs, {lambda}, o).front();
    EXPECT_TRUE(model.result.certificate.converged);
    const std::vector<std::int32_t> found =
        labels_of(test, model.weights, costs, test::decoder_of("graph", Decoder::automatic, surrogate, true));
    const double loss = mean_sequence_cost(costs[0], test.nodes, test.label, found);
    EXPECT_LT(loss, best_loss + (surrogate == SurrogateKind::crf ? 0.02 : 0.05)) << to_string(surrogate);
    EXPECT_GT(loss, best_loss - 0.03) << to_string(surrogate);
  }
}

TEST(MultilabelModels, ComeNearTheBestLoss) {
  SyntheticLabels draws(1);
  const std::size_t m = SyntheticLabels::labels(), regions = SyntheticLabels::regions(), n = 3000;
  DenseMatrix x{n, regions, std::vector<double>(n * regions, 0.0)};
  std::vector<std::int32_t> label;
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticLabels::Draw d = draws.next();
    x.values[i * regions + d.region] = 1;
    label.insert(label.end(), d.label.begin(), d.label.end());
  }
  const std::vector<double> share(n, 1 / static_cast<double>(n));
  const LabelCosts hamming = LabelCosts::hamming(m), uneven(std::vector<double>(m, 3), std::vector<double>(m, 1), "x");
  for (const LabelCosts* costs : {&hamming, &uneven})
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
      TrainOptions o;
      o.surrogate = surrogate;
      const double lambda = 1e-3;
      const Context context{1, {}, {}};
      const std::vector<LabelThreshold> threshold = label_thresholds(surrogate, Decoder::automatic, *costs);
      solve_multilabel({x.view(), nullptr, true, label, share, costs, {&lambda, 1}, Decoder::automatic, &o, &context},
                       [&](std::unique_ptr<MultilabelSolution> found) {
                         const MultilabelSolution& s = *found;
                         double risk = 0;
                         for (std::size_t r = 0; r < regions; ++r)
                           for (std::size_t j = 0; j < m; ++j) {
                             const double score = s.weights[r * m + j] + s.weights[regions * m + j];
                             const double p = SyntheticLabels::percent(r, j) / 100.0;
                             risk +=
                                 (score > threshold[j].high ? costs->false_alarm(j) * (1 - p) : costs->miss(j) * p) /
                                 static_cast<double>(regions * m);
                           }
                         // M3N is not consistent where costs are uneven; all others are.
                         const double slack = surrogate == SurrogateKind::m3n && costs == &uneven ? 0.2 : 0.02;
                         EXPECT_LE(risk, SyntheticLabels::best_loss(*costs) + slack) << to_string(surrogate);
                       });
    }
}

}  // namespace
}  // namespace m4n::detail::test

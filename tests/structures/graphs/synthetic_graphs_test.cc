// Generated graphs and labels: the best losses against sums over all labellings, the shapes, the frequencies of what is
// drawn.
#include "structures/graphs/synthetic.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "structures/graphs/junction_tree.h"
#include "structures/graphs/text.h"
#include "structures/label_sets/synthetic.h"
#include "support/random_chain.h"

namespace m4n::detail {
namespace {

// Calls visit(labels, p(labels, signs) up to a factor) for all labellings.
template <class Visit>
void for_weighted(const SyntheticGraphs::Graph& g, Visit&& visit) {
  test::for_labellings(g.sign.size(), 3, [&](const std::vector<std::int32_t>& y) {
    double p = 1;
    for (const GraphEdge& e : g.edge)
      p *= SyntheticGraphs::agreement(static_cast<std::size_t>(y[e.u]), static_cast<std::size_t>(y[e.v])) / 5.0;
    for (std::size_t m = 0; m < y.size(); ++m)
      p *= SyntheticGraphs::percent(static_cast<std::size_t>(y[m]), static_cast<std::size_t>(g.sign[m])) / 20.0;
    visit(y, p);
  });
}

TEST(SyntheticGraphs, TheBestLossIsThatOfAllLabellings) {
  SyntheticGraphs graphs(1);
  std::map<SyntheticGraphs::Shape, int> checked;
  for (int i = 0; i < 150; ++i) {
    const SyntheticGraphs::Graph g = graphs.next();
    const std::size_t nodes = g.label.size();
    ASSERT_EQ(g.sign.size(), nodes);
    if (nodes > 8) continue;
    std::vector<double> mass(nodes * 3);
    double total = 0, loss = 0;
    for_weighted(g, [&](const std::vector<std::int32_t>& y, double p) {
      total += p;
      for (std::size_t m = 0; m < nodes; ++m) mass[m * 3 + static_cast<std::size_t>(y[m])] += p;
    });
    for (std::size_t m = 0; m < nodes; ++m) loss += 1 - *std::max_element(&mass[m * 3], &mass[m * 3] + 3) / total;
    EXPECT_NEAR(g.best_loss, loss / static_cast<double>(nodes), 1e-12);
    ++checked[g.shape];
  }
  for (const auto shape :
       {SyntheticGraphs::Shape::tree, SyntheticGraphs::Shape::grid, SyntheticGraphs::Shape::partial_two_tree})
    EXPECT_GT(checked[shape], 8);
}

TEST(SyntheticGraphs, HaveTheShapesTheySay) {
  SyntheticGraphs graphs(2);
  std::size_t with_cycles = 0;
  for (int i = 0; i < 300; ++i) {
    const SyntheticGraphs::Graph g = graphs.next();
    const std::size_t nodes = g.label.size();
    ASSERT_TRUE(nodes >= 3 && nodes <= 16) << nodes;
    const JunctionTree tree(FactorGraph(std::vector<std::uint32_t>(nodes, 3), g.edge));
    if (g.shape == SyntheticGraphs::Shape::tree) {
      EXPECT_EQ(g.edge.size(), nodes - 1);
      EXPECT_EQ(tree.treewidth(), 1U);
    } else if (g.shape == SyntheticGraphs::Shape::grid) {
      EXPECT_LE(tree.treewidth(), 4U);
    } else {
      EXPECT_LE(tree.treewidth(), 2U);
      with_cycles += g.edge.size() > nodes - 1 ? 1 : 0;
    }
  }
  EXPECT_GT(with_cycles, 50U);
}

// How often a sign goes with a label.
TEST(SyntheticGraphs, AreDrawnFromTheModel) {
  SyntheticGraphs graphs(3);
  double expected = 0, nodes = 0, shown[3][6] = {}, of[3] = {};
  for (int i = 0; i < 4000; ++i) {
    const SyntheticGraphs::Graph g = graphs.next();
    expected += g.best_loss * static_cast<double>(g.label.size());
    nodes += static_cast<double>(g.label.size());
    for (std::size_t m = 0; m < g.label.size(); ++m) {
      ++shown[g.label[m]][g.sign[m]];
      ++of[g.label[m]];
    }
  }
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t s = 0; s < 6; ++s)
      EXPECT_NEAR(shown[k][s] / of[k], SyntheticGraphs::percent(k, s) / 100.0, 5 * std::sqrt(0.25 / of[k]));
  EXPECT_TRUE(expected / nodes > 0.2 && expected / nodes < 0.45) << expected / nodes;
}

// Labels drawn one after the other have the distribution of the product: counts of whole labellings of small trees.
TEST(SyntheticGraphs, WholeLabellingsAreDrawnWithTheirProbability) {
  SyntheticGraphs graphs(4);
  double observed = 0, mean = 0, variance = 0;
  for (int i = 0; i < 3000; ++i) {
    SyntheticGraphs::Graph g = graphs.next();
    if (g.label.size() > 6) continue;
    // The score sum over edges of log T[y_u][y_v] against its expectation and variance under p(y).
    double total = 0, first = 0, second = 0, own = 0;
    const auto score = [&](const std::vector<std::int32_t>& y) {
      double sum = 0;
      for (const GraphEdge& e : g.edge)
        sum += std::log(SyntheticGraphs::agreement(static_cast<std::size_t>(y[e.u]), static_cast<std::size_t>(y[e.v])));
      return sum;
    };
    test::for_labellings(g.label.size(), 3, [&](const std::vector<std::int32_t>& y) {
      const double s = score(y), p = std::exp(s);
      total += p;
      first += p * s;
      second += p * s * s;
    });
    own = score(g.label);
    observed += own;
    mean += first / total;
    variance += second / total - (first / total) * (first / total);
  }
  EXPECT_NEAR(observed, mean, 4 * std::sqrt(variance));
}

TEST(SyntheticGraphs, TextIsReadAgainAndTheSeedDecides) {
  SyntheticGraphs a(5), b(5), c(6);
  std::string text, other;
  for (int i = 0; i < 10; ++i) {
    const SyntheticGraphs::Graph g = a.next();
    EXPECT_EQ(SyntheticGraphs::text(g), SyntheticGraphs::text(b.next()));
    text += SyntheticGraphs::text(g);
    other += SyntheticGraphs::text(c.next());
  }
  EXPECT_NE(text, other);
  Input input = Input::memory(text, "g");
  LineReader lines(input);
  const GraphText read = read_graph_text(lines);
  EXPECT_EQ(read.graphs(), 10U);
  EXPECT_EQ(read.x.cols, SyntheticGraphs::signs());
}

TEST(SyntheticLabels, FrequenciesAndBestLoss) {
  SyntheticLabels labels(1);
  const std::size_t regions = SyntheticLabels::regions(), m = SyntheticLabels::labels();
  std::vector<double> count(regions), on(regions * m), both(regions);
  for (int i = 0; i < 30000; ++i) {
    const SyntheticLabels::Draw draw = labels.next();
    ++count[draw.region];
    for (std::size_t j = 0; j < m; ++j) on[draw.region * m + j] += draw.label[j];
    both[draw.region] += draw.label[0] * draw.label[1];
  }
  const LabelCosts hamming = LabelCosts::hamming(m);
  double best = 0;
  for (std::size_t r = 0; r < regions; ++r) {
    EXPECT_NEAR(count[r] / 30000, 1.0 / static_cast<double>(regions), 0.01);
    for (std::size_t j = 0; j < m; ++j) {
      const double p = SyntheticLabels::percent(r, j) / 100.0;
      EXPECT_NEAR(on[r * m + j] / count[r], p, 0.04);
      EXPECT_NE(p, 0.5);
      best += std::min(p, 1 - p) / static_cast<double>(regions * m);
    }
    // The labels of a pair depend on each other.
    const double a = SyntheticLabels::percent(r, 0) / 100.0, b = SyntheticLabels::percent(r, 1) / 100.0;
    EXPECT_NEAR(both[r] / count[r], std::min(a, b), 0.04);
  }
  EXPECT_NEAR(SyntheticLabels::best_loss(hamming), best, 1e-14);
  const LabelCosts costs(std::vector<double>(m, 10), std::vector<double>(m, 1), "test");
  EXPECT_LT(SyntheticLabels::best_loss(costs), 1);
  EXPECT_GT(SyntheticLabels::best_loss(costs), best);
}

}  // namespace
}  // namespace m4n::detail

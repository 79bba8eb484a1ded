// Values that scikit-learn gives (f1_score, hamming_loss, accuracy_score; zero_division = 0), and sums by hand.
#include "eval/multilabel_metrics.h"

#include <gmock/gmock.h>

namespace m4n {
namespace {

// Label 1: 2 of 3 found, one false alarm; label 2: never predicted; label 3: never on, predicted once; label 4: all.
const std::vector<std::int32_t> truth{1, 1, 0, 0,  //
                                      1, 0, 0, 1,  //
                                      0, 1, 0, 0,  //
                                      1, 0, 0, 1};
const std::vector<std::int32_t> predicted{1, 0, 0, 0,  //
                                          1, 0, 0, 1,  //
                                          1, 0, 1, 0,  //
                                          0, 0, 0, 1};

TEST(MultilabelMetrics, ByHand) {
  const MultilabelMetrics m = multilabel_metrics(4, truth, predicted);
  EXPECT_DOUBLE_EQ(m.hamming, 5.0 / 16);
  EXPECT_DOUBLE_EQ(m.subset_accuracy, 1.0 / 4);
  // TP 2 + 0 + 0 + 2, on 3 + 2 + 0 + 2, predicted 3 + 0 + 1 + 2
  EXPECT_DOUBLE_EQ(m.micro_f1, 2 * 4.0 / (7 + 6));
  EXPECT_DOUBLE_EQ(m.macro_f1, (2.0 / 3 + 0 + 0 + 1) / 4);
  EXPECT_DOUBLE_EQ(m.label[0].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.label[0].recall, 2.0 / 3);
  EXPECT_EQ(m.label[1].precision, 0);
  EXPECT_EQ(m.label[1].recall, 0);
  EXPECT_EQ(m.label[1].support, 2);
  EXPECT_EQ(m.label[2].f1, 0);
  EXPECT_EQ(m.label[2].predicted, 1);
  EXPECT_EQ(m.label[3].f1, 1);
}

TEST(MultilabelMetrics, WeightsCountExamples) {
  const std::vector<double> weight{2, 1, 0, 1};
  std::vector<std::int32_t> t, p;
  for (const std::size_t i : {0U, 0U, 1U, 3U})
    for (std::size_t j = 0; j < 4; ++j) {
      t.push_back(truth[4 * i + j]);
      p.push_back(predicted[4 * i + j]);
    }
  const MultilabelMetrics a = multilabel_metrics(4, truth, predicted, weight), b = multilabel_metrics(4, t, p);
  EXPECT_DOUBLE_EQ(a.hamming, b.hamming);
  EXPECT_DOUBLE_EQ(a.subset_accuracy, b.subset_accuracy);
  EXPECT_DOUBLE_EQ(a.micro_f1, b.micro_f1);
  EXPECT_DOUBLE_EQ(a.macro_f1, b.macro_f1);
}

TEST(GraphMetrics, NodesAndWholeGraphs) {
  const Groups nodes(std::vector<std::size_t>{0, 1, 4, 6});
  const std::vector<std::int32_t> t{0, 1, 2, 0, 1, 1}, p{0, 1, 2, 1, 1, 1};
  const GraphMetrics m = graph_metrics(nodes, t, p);
  EXPECT_DOUBLE_EQ(m.node_accuracy, 5.0 / 6);
  EXPECT_DOUBLE_EQ(m.graph_accuracy, 2.0 / 3);
}

}  // namespace
}  // namespace m4n

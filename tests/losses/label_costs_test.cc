#include "losses/label_costs.h"

#include <gmock/gmock.h>

#include "m4n/error.h"

namespace m4n::detail {
namespace {

const std::vector<std::string> names{"calm", "sad", "happy"};

std::string refusal(const std::string& text) {
  try {
    LabelCosts::from_csv(text, names, "c.csv");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(LabelCosts, RowsInTheOrderOfTheLabelsOrByName) {
  const LabelCosts in_order = LabelCosts::from_csv("miss,false_alarm\n1,2\n3,4\n5,6\n", names, "c.csv");
  EXPECT_EQ(in_order.miss(1), 3);
  EXPECT_EQ(in_order.false_alarm(2), 6);
  const LabelCosts by_name = LabelCosts::from_csv("happy,5,6\n\ncalm,1,2\nsad,3,4", names, "c.csv");
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(in_order.miss(j), by_name.miss(j));
    EXPECT_EQ(in_order.false_alarm(j), by_name.false_alarm(j));
  }
  EXPECT_EQ(in_order.most(), 6);
  EXPECT_FALSE(in_order.symmetric());
  EXPECT_TRUE(LabelCosts::hamming(2).hamming());
  EXPECT_FALSE(LabelCosts({2, 1}, {2, 1}, "x").hamming());
  // cost[true][predicted]
  EXPECT_EQ(in_order.matrix(0)(1, 0), 1);
  EXPECT_EQ(in_order.matrix(0)(0, 1), 2);
}

TEST(LabelCosts, RefusesWithFileAndLine) {
  EXPECT_EQ(refusal("1,2\n3,4\n"), "c.csv: 2 lines of costs for 3 labels; label 'happy' has none");
  EXPECT_EQ(refusal("1,2\n3,4\n5,6\n7,8\n"), "c.csv: line 4: more lines than the 3 labels of the data");
  EXPECT_EQ(refusal("calm,1,2\nglad,3,4\n"),
            "c.csv: line 2: 'glad' is no label of the data; the labels are 'calm', 'sad', 'happy'");
  EXPECT_EQ(refusal("calm,1,2\ncalm,3,4\n"), "c.csv: line 2: label 'calm' stood in line 1 already");
  EXPECT_EQ(refusal("1,2\n3\n"),
            "c.csv: line 2: 1 value; expected the cost of a miss, that of a false alarm and perhaps that of the answer "
            "unsure, with "
            "the name of the label before them or not");
  EXPECT_EQ(refusal("1,2\ncalm,3,4\n"), "c.csv: line 2: 3 values, but the lines before have 2");
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e31", "x", ""})
    EXPECT_EQ(refusal("1,2\n3," + bad + "\n"), "c.csv: line 2: '" + bad +
                                                   "' as the cost of a false alarm of label 'sad'; expected a number "
                                                   "from 1e-30 to 1e+30");
  EXPECT_THROW(LabelCosts({1}, {0}, "x"), Error);
  EXPECT_THROW(LabelCosts({}, {}, "x"), Error);
}

TEST(LabelCosts, MeanOverLabelsAndExamples) {
  const LabelCosts costs({1, 10}, {2, 20}, "x");
  const std::vector<std::int32_t> truth{1, 0, 0, 1}, predicted{0, 1, 0, 1};
  EXPECT_DOUBLE_EQ(mean_label_cost(costs, truth, predicted, {}), (1 + 20) / 2.0 / 2);
  const std::vector<double> weight{1, 3};
  EXPECT_DOUBLE_EQ(mean_label_cost(costs, truth, predicted, weight), (1 + 20) / 2.0 / 4);
}

}  // namespace
}  // namespace m4n::detail

// Cost matrices: values, what is derived from them, files in any order, and refusals.
#include "losses/cost_matrix.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;

const std::vector<std::string> abc = {"a", "b", "c"};

CostMatrix from(std::vector<double> cost, const std::vector<std::string>& classes = abc) {
  return CostMatrix::from_values(std::move(cost), classes.size(), "matrix", classes, "given");
}

TEST(CostMatrix, NamedLosses) {
  for (const std::size_t k : {1U, 2U, 3U, 7U}) {
    const CostMatrix zero_one = CostMatrix::named("zero-one", k), absolute = CostMatrix::named("absolute", k),
                     squared = CostMatrix::named("squared", k);
    EXPECT_EQ(zero_one.kind(), LossKind::zero_one);
    EXPECT_EQ(absolute.kind(), LossKind::absolute);
    EXPECT_EQ(squared.kind(), k <= 2 ? LossKind::zero_one : LossKind::matrix);
    EXPECT_EQ(squared.name(), "squared");
    const auto last = static_cast<double>(k - 1);
    EXPECT_EQ(zero_one.largest(), k > 1 ? 1 : 0);
    EXPECT_EQ(absolute.largest(), last);
    EXPECT_EQ(squared.largest(), last * last);
    EXPECT_DOUBLE_EQ(absolute.mean_off_diagonal(), k > 1 ? static_cast<double>(k + 1) / 3 : 0);  // of |t - p|, t != p
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p) {
        const double gap = std::abs(static_cast<double>(t) - static_cast<double>(p));
        EXPECT_EQ(zero_one(t, p), t == p ? 0 : 1);
        EXPECT_EQ(absolute(t, p), gap);
        EXPECT_EQ(squared(t, p), gap * gap);
      }
  }
  expect_says(refusal<UsageError>([] { CostMatrix::named("hinge", 3); }), {"'hinge'", "zero-one|absolute|squared"});
  expect_says(refusal([] { CostMatrix::named("zero-one", 0); }), {"at least one class"});
}

TEST(CostMatrix, RowsAreTruthsColumnsArePredictions) {
  const CostMatrix cost = from({0, 1, 2, 3, 0, 4, 5, 6, 0});
  EXPECT_EQ(cost(0, 2), 2);
  EXPECT_EQ(cost(2, 0), 5);
  EXPECT_THAT(cost.of_truth(1), ElementsAre(3, 0, 4));
  EXPECT_THAT(cost.of_prediction(1), ElementsAre(1, 0, 6));
  EXPECT_FALSE(cost.symmetric());
  EXPECT_EQ(cost.largest(), 6);
  EXPECT_EQ(cost.mean_off_diagonal(), 3.5);
  EXPECT_EQ(cost.kind(), LossKind::matrix);
  EXPECT_EQ(cost.name(), "matrix");
  EXPECT_TRUE(from({0, 1, 2, 1, 0, 4, 2, 4, 0}).symmetric());
}

TEST(CostMatrix, RecognisesMultiples) {
  const CostMatrix flat = from({0, 2.5, 2.5, 2.5, 0, 2.5, 2.5, 2.5, 0});
  EXPECT_EQ(flat.kind(), LossKind::zero_one);
  EXPECT_EQ(flat.scale(), 2.5);
  EXPECT_EQ(flat.name(), "matrix");
  const std::vector<std::string> four = {"a", "b", "c", "d"};
  const CostMatrix line = from({0, .1, .2, .3, .1, 0, .1, .2, .2, .1, 0, .1, .3, .2, .1, 0}, four);
  EXPECT_EQ(line.kind(), LossKind::absolute);
  EXPECT_EQ(line.scale(), .1);
  EXPECT_EQ(line(0, 3), .1 * 3);
  EXPECT_EQ(from({0, 1, 2, 1, 0, 1, 2, 1.0001, 0}).kind(), LossKind::matrix);
  EXPECT_EQ(from({0, 1, 1, 1, 0, 1, 1, 1.0001, 0}).kind(), LossKind::matrix);
  EXPECT_EQ(from({1, 2, 2, 2, 1, 2, 2, 2, 1}).kind(), LossKind::matrix);  // the diagonal counts
  EXPECT_EQ(from({0, 3, 3, 0}, {"a", "b"}).kind(), LossKind::zero_one);
  EXPECT_EQ(from({0, 3, 2, 0}, {"a", "b"}).kind(), LossKind::matrix);
  EXPECT_EQ(from({0}, {"a"}).kind(), LossKind::zero_one);
  EXPECT_EQ(from({4}, {"a"}).largest(), 4);
}

TEST(CostMatrix, NegativeCostsAreFineWhereMistakesCostMore) {
  const CostMatrix reward = from({-5, 1, 0, 2, -1, 0, 0, 0, -3});
  EXPECT_EQ(reward.largest(), 2);
  EXPECT_DOUBLE_EQ(reward.mean_off_diagonal(), (6 + 5 + 3 + 1 + 3 + 3) / 6.0);  // above the right answer of the row
}

TEST(CostMatrix, RefusesWhatIsNoCostMatrix) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  expect_says(refusal([] { from({0, 1, 1, 0, 1, 1}); }), {"given", "6 costs", "3 classes", "square"});
  expect_says(refusal([] { from({0, 1, 1, 1, 0, 1, 1, 1, 0, 1}); }), {"10 costs"});
  expect_says(refusal([] { from({}, {}); }), {"0 classes"});
  expect_says(refusal([&] { from({0, 1, nan, 1, 0, 1, 1, 1, 0}); }), {"predicting 'c'", "truth is 'a'", "finite"});
  expect_says(refusal([&] { from({0, 1, 1, 1, inf, 1, 1, 1, 0}); }), {"predicting 'b'", "truth is 'b'"});
  expect_says(refusal([] { from({0, 1, 1, 1, 0, 1, 1, 0, 0}); }), {"row 'c'", "column 'b'", "costs 0"});
  expect_says(refusal([] { from({0, 1, -1, 1, 0, 1, 1, 1, 0}); }), {"row 'a'", "column 'c'", "costs -1"});
  expect_says(refusal([] {
                CostMatrix::from_values({0, 0, 1, 0}, 2, "matrix", {}, "given");
              }),
              {"row '0'", "column '1'"});
}

TEST(CostMatrixFile, AllFourLayoutsSayTheSame) {
  const std::vector<double> expected = {0, 1, 2, 3, 0, 4, 5, 6, 0};
  for (const std::string& text : std::initializer_list<std::string>{
           "0,1,2\n3,0,4\n5,6,0\n", byte_order_mark + "0, 1 ,2\r\n3,0,4\r\n5,6,0", "c,a,b\n0,5,6\n2,0,1\n4,3,0\n",
           "b,0,3,4\na,1,0,2\nc,6,5,0\n", "truth,b,c,a\nc,6,0,5\na,1,2,0\nb,0,4,3\n\n",
           ",b,c,a\nc,6,0,5\na,1,2,0\nb,0,4,3\n", "b,c,a\n\"c\",6,0,5\na,1,2,0\nb,0,4,3\n"})
    EXPECT_EQ(CostMatrix::from_csv(text, abc, "file").values(), expected) << text;
}

TEST(CostMatrixFile, NumbersAsClassNames) {
  const std::vector<std::string> classes = {"1", "2"};
  EXPECT_THAT(CostMatrix::from_csv("2,1\n0,7\n8,0\n", classes, "file").values(), ElementsAre(0, 8, 7, 0));
  EXPECT_THAT(CostMatrix::from_csv("2.0,1.0\n0,7\n8,0\n", classes, "file").values(), ElementsAre(0, 8, 7, 0));
  EXPECT_THAT(CostMatrix::from_csv("only\n0\n", {"only"}, "file").values(), ElementsAre(0));
}

TEST(CostMatrixFile, RandomMatricesInAnyOrder) {
  EXPECT_TRUE(rc::check("permuted rows and columns", [] {
    const std::size_t k = *rc::gen::inRange<std::size_t>(1, 7);
    std::vector<std::string> classes(k);
    std::vector<std::size_t> row(k), column(k);
    for (std::size_t c = 0; c < k; ++c) {
      classes[c] = "class " + std::to_string(c);
      row[c] = column[c] = c;
    }
    for (std::size_t c = k; c > 1; --c) {
      std::swap(row[c - 1], row[*rc::gen::inRange<std::size_t>(0, c)]);
      std::swap(column[c - 1], column[*rc::gen::inRange<std::size_t>(0, c)]);
    }
    std::vector<double> cost(k * k);
    for (std::size_t e = 0; e < k * k; ++e) cost[e] = e % (k + 1) == 0 ? 0 : 0.5 + *rc::gen::inRange(0, 1000) / 8.0;
    std::string text = "corner";
    for (std::size_t j = 0; j < k; ++j) text += "," + classes[column[j]];
    for (std::size_t i = 0; i < k; ++i) {
      text += "\n" + classes[row[i]];
      for (std::size_t j = 0; j < k; ++j) text += fmt::format(",{}", cost[row[i] * k + column[j]]);
    }
    RC_ASSERT(CostMatrix::from_csv(text, classes, "file").values() == cost);
  }));
}

TEST(CostMatrixFile, RefusesDefectsWithTheirPlace) {
  const auto says = [](const char* text) { return refusal([&] { CostMatrix::from_csv(text, abc, "file"); }); };
  expect_says(says(""), {"file", "0 rows for 3 classes"});
  expect_says(says("0,1\n1,0\n"), {"2 rows for 3 classes", "'a', 'b', 'c'"});
  expect_says(says("0,1,2\n1,0\n1,1,0\n"), {"line 2", "2 cells for 3 classes"});
  expect_says(says("0,1,2\n1,x,2\n1,1,0\n"), {"line 2, column 2", "'x'"});
  expect_says(says("0,1,2\n1,0,nan\n1,1,0\n"), {"line 2, column 3", "'nan'"});
  expect_says(says("0,1,2\n\n1,0,1\n1,1,0\n"), {"line 2", "blank"});
  expect_says(says("a,b,d\n0,1,2\n1,0,1\n1,1,0\n"), {"line 1, column 3", "'d'", "no class of the data"});
  expect_says(says("a,b,b\n0,1,2\n1,0,1\n1,1,0\n"), {"line 1, column 3", "'b'", "second time"});
  expect_says(says("a,0,1,2\na,1,0,1\nc,1,1,0\n"), {"line 2, column 1", "'a'", "second time"});
  expect_says(says(",a,b,c\na,0,1,1\nc,1,1,0\nx,1,0,1\n"), {"line 4, column 1", "'x'"});
  expect_says(says("c,b,a\n0,0,1\n1,0,1\n1,1,0\n"), {"row 'c'", "column 'b'"});
  expect_says(says("0,1,\"2\n1,0,1\n1,1,0\n"), {"line 1, column 3", "not closed"});
}

TEST(CostMatrix, RangeIsLargestMinusSmallest) {
  EXPECT_EQ(CostMatrix::named("absolute", 4).range(), 3);
  EXPECT_EQ(CostMatrix::named("squared", 4).range(), 9);
  EXPECT_EQ(CostMatrix::from_values({-3, 1, 7, -0.5}, 2, "matrix", {"u", "v"}, "test").range(), 10);
  EXPECT_EQ(CostMatrix::from_values({5, 6, 8, 5.5}, 2, "matrix", {"u", "v"}, "test").range(), 3);
}

TEST(CostMatrix, CostsTooLargeOrTooCloseAreRefused) {
  const auto says = [](std::vector<double> cost) {
    return refusal([&] { CostMatrix::from_values(cost, 2, "matrix", {"u", "v"}, "origin"); });
  };
  expect_says(says({0, 1, 2e30, 0}), {"origin", "row 'v'", "column 'u'", "2e+30"});
  expect_says(says({-2e30, 1, 1, 0}), {"row 'u'", "column 'u'", "-2e+30"});
  expect_says(says({0, 1e-31, 3e-31, 0}), {"row 'v'", "column 'u'", "3e-31", "1e-30"});
  EXPECT_EQ(CostMatrix::from_values({0, 1e30, 1e-30, 0}, 2, "matrix", {"u", "v"}, "origin").largest(), 1e30);
  EXPECT_EQ(CostMatrix::from_values({0, 1e-30, 1e-30, 0}, 2, "matrix", {"u", "v"}, "origin").range(), 1e-30);
}

TEST(CostMatrixFile, ParseTakesNamesAndFiles) {
  const std::vector<std::string> grades{"1", "2.5", "10"};
  EXPECT_EQ(CostMatrix::parse("absolute", grades).kind(), LossKind::absolute);
  EXPECT_EQ(CostMatrix::parse("absolute", grades).k(), 3U);
  EXPECT_EQ(CostMatrix::parse("squared", grades).name(), "squared");
  EXPECT_EQ(CostMatrix::parse("zero-one", abc).k(), 3U);
  for (const char* loss : {"absolute", "squared"}) {
    expect_says(refusal([&] { CostMatrix::parse(loss, abc); }), {loss, "'a'", "order of words", "numbers", "--loss"});
    expect_says(refusal([&] { CostMatrix::parse(loss, {"1", "two"}); }), {"'two'"});
  }
  const TemporaryFile file("0,2,2\n2,0,2\n2,2,0\n");
  const CostMatrix read = CostMatrix::parse(file.path(), abc);
  EXPECT_EQ(read.name(), "matrix");
  EXPECT_EQ(read.kind(), LossKind::zero_one);
  EXPECT_EQ(read.scale(), 2);
  expect_says(refusal<UsageError>([] { CostMatrix::parse("no-such", abc); }),
              {"'no-such'", "zero-one|absolute|squared|FILE.csv"});
  expect_says(refusal([] { CostMatrix::parse(testing::TempDir(), abc); }), {"is a directory"});
}

}  // namespace
}  // namespace m4n::detail

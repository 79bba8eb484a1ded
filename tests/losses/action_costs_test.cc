// Costs of predictions that are no class: files with extra columns, rejection, trees of classes, and refusals.
#include <fmt/format.h>
#include <rapidcheck.h>

#include <numeric>

#include "core/rng.h"
#include "losses/cost_matrix.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

using Names = std::vector<std::string>;
using testing::ElementsAre;
using testing::IsEmpty;

const Names ab = {"a", "b"}, abc = {"a", "b", "c"};

CostMatrix read(std::string_view text, const Names& classes = ab) {
  return CostMatrix::from_csv(text, classes, "file");
}
std::string refused(std::string_view text, const Names& classes = ab) {
  return refusal([&] { read(text, classes); });
}

// ---- values -----------------------------------------------------------------------------------------------------

TEST(ActionCosts, RowsAreTruthsColumnsArePredictions) {
  const CostMatrix cost = CostMatrix::from_values({0, 1, 0.5, 2, 0, 0.25}, 2, "matrix", ab, "given");
  EXPECT_EQ(cost.k(), 2U);
  EXPECT_EQ(cost.predictions(), 3U);
  EXPECT_TRUE(cost.has_actions());
  EXPECT_THAT(cost.prediction_names(), ElementsAre("a", "b", "reject"));
  EXPECT_EQ(cost(1, 2), 0.25);
  EXPECT_EQ(cost(0, 1), 1);
  EXPECT_THAT(cost.of_truth(1), ElementsAre(2, 0, 0.25));
  EXPECT_THAT(cost.of_prediction(2), ElementsAre(0.5, 0.25));
  EXPECT_FALSE(cost.symmetric());
  EXPECT_EQ(cost.kind(), LossKind::matrix);
  EXPECT_EQ(cost.largest(), 2);
  EXPECT_EQ(cost.range(), 2);
  // Of every row what all but a best one cost more than it, in the mean: (1 + 0.5 + 2 + 0.25) / 4.
  EXPECT_DOUBLE_EQ(cost.mean_off_diagonal(), 3.75 / 4);
}

// A column that nobody would ever choose does not change the unit of the costs; equal columns are choices.
TEST(ActionCosts, PointlessPredictionsDoNotCountAsMistakes) {
  const CostMatrix plain = CostMatrix::named("zero-one", 3);
  for (const double price : {1.5, 1000.0, 1e9})
    EXPECT_EQ(plain.with_reject(price, abc).mean_off_diagonal(), 1) << price;
  EXPECT_DOUBLE_EQ(plain.with_reject(0.25, abc).mean_off_diagonal(), (2 + 0.25) / 3);
  EXPECT_EQ(read("a,b,x,y\n0,4,2,2\n4,0,2,2\n").mean_off_diagonal(), 8.0 / 3);
  EXPECT_EQ(read("a,b,x,y\n0,4,2,3\n4,0,2,2\n").mean_off_diagonal(), 3);  // y is never better than x
  EXPECT_EQ(read("x,y\n1,2\n2,2\n").mean_off_diagonal(), 0);              // x is always the best
}

TEST(ActionCosts, MoreColumnsThanClassesHaveNames) {
  const auto names = [](std::size_t width) {
    std::vector<double> values(2 * width, 3.0);
    values[0] = values[width + 1] = 0;
    return CostMatrix::from_values(values, 2, "matrix", ab, "given").prediction_names();
  };
  EXPECT_THAT(names(2), IsEmpty());
  EXPECT_THAT(names(3), ElementsAre("a", "b", "reject"));
  EXPECT_THAT(names(4), ElementsAre("a", "b", "action1", "action2"));
  EXPECT_THAT(names(5), ElementsAre("a", "b", "action1", "action2", "action3"));
}

TEST(ActionCosts, SymmetricClassesWithAnActionAreNotSymmetric) {
  const CostMatrix plain = CostMatrix::named("zero-one", 3), more = plain.with_reject(0.3, abc);
  EXPECT_TRUE(plain.symmetric());
  EXPECT_FALSE(more.symmetric());
  EXPECT_EQ(more.kind(), LossKind::matrix);
  EXPECT_EQ(more.name(), "matrix");
  EXPECT_EQ(more.values(), (std::vector<double>{0, 1, 1, 0.3, 1, 0, 1, 0.3, 1, 1, 0, 0.3}));
  // As many actions as classes, none of which is one: square and symmetric as numbers, and still not of classes.
  const CostMatrix square = CostMatrix::from_values({0, 1, 1, 0}, 2, "matrix", ab, "given", {"treat", "wait"});
  EXPECT_TRUE(square.has_actions());
  EXPECT_FALSE(square.symmetric());
  EXPECT_EQ(square.kind(), LossKind::matrix);
}

TEST(ActionCosts, RejectIsOneMoreColumnOfAnyCosts) {
  const CostMatrix twice = read("a,b,refer\n0,1,0.5\n2,0,0.5\n").with_reject(-0.25, ab);
  EXPECT_THAT(twice.prediction_names(), ElementsAre("a", "b", "refer", "reject"));
  EXPECT_EQ(twice.values(), (std::vector<double>{0, 1, 0.5, -0.25, 2, 0, 0.5, -0.25}));
  const CostMatrix pure = read("treat,wait\n0,1\n2,0\n").with_reject(3, ab);
  EXPECT_THAT(pure.prediction_names(), ElementsAre("treat", "wait", "reject"));
  const CostMatrix plain = CostMatrix::named("zero-one", 2);
  expect_says(refusal([&] { plain.with_reject(0.1, {"reject", "b"}); }), {"'reject'", "twice"});
  expect_says(refusal([&] { plain.with_reject(0.1, ab).with_reject(0.2, ab); }), {"'reject'", "twice"});
  expect_says(refusal([&] { plain.with_reject(NAN, ab); }), {"reject", "finite"});
  expect_says(refusal([&] { plain.with_reject(2e30, ab); }), {"reject", "2e+30"});
}

// The square game has the same value: copies of predictions, and truths that cost what another does.
TEST(ActionCosts, SquaredKeepsWhatItHas) {
  const CostMatrix wide = CostMatrix::from_values({0, 1, 2, 3, 0, 4}, 2, "matrix", ab, "given");
  EXPECT_EQ(wide.squared().values(), (std::vector<double>{0, 1, 2, 3, 0, 4, 0, 1, 2}));
  const CostMatrix narrow = CostMatrix::from_values({1, 2, 3, 4, 5, 6}, 3, "matrix", abc, "given", {"x", "y"});
  EXPECT_EQ(narrow.squared().values(), (std::vector<double>{1, 2, 1, 3, 4, 3, 5, 6, 5}));
}

TEST(ActionCosts, ActionsMayCostAnythingClassesMayNot) {
  // Cheaper than the right class, the same for all, negative.
  const CostMatrix cost = CostMatrix::from_values({0, 1, -5, 0, 2, 0, -5, 0}, 2, "matrix", ab, "given");
  EXPECT_EQ(cost.predictions(), 4U);
  const auto says = [](std::vector<double> values, Names predictions = {}) {
    return refusal([&] { CostMatrix::from_values(values, 2, "matrix", ab, "given", predictions); });
  };
  expect_says(says({0, 0, 9, 1, 0, 9}), {"given", "row 'a'", "column 'b'", "every mistake"});
  expect_says(says({0, 1, 9, 1, 1, 9}), {"row 'b'", "column 'a'"});
  expect_says(says({0, 1, INFINITY, 1, 0, 9}), {"predicting 'reject'", "truth is 'a'", "finite"});
  expect_says(says({0, 1, 9, 1, 0, -2e30}), {"row 'b'", "column 'reject'", "-2e+30"});
  // Classes among the predictions in another order are found by their names.
  EXPECT_EQ(CostMatrix::from_values({1, 0, 7, 0, 1, 7}, 2, "matrix", ab, "given", {"b", "a", "c"})(0, 0), 1);
  expect_says(says({0, 1, 7, 1, 0, 7}, {"b", "a", "c"}), {"row 'a'", "column 'b'"});
}

TEST(ActionCosts, ShapesAndNamesThatDoNotFit) {
  const auto says = [](std::vector<double> values, Names predictions = {}) {
    return refusal([&] { CostMatrix::from_values(values, 2, "matrix", ab, "given", predictions); });
  };
  expect_says(says({0, 1, 2}), {"given", "3 costs for 2 classes"});
  expect_says(says({0, 1}), {"2 costs for 2 classes"});  // one column, and no name for it
  expect_says(says({}), {"0 costs for 2 classes"});
  expect_says(says({0, 1, 1, 0}, {"x"}), {"1 predictions have names", "2 columns"});
  expect_says(says({0, 1, 1, 0}, {"x", "y", "z"}), {"3 predictions have names", "2 columns"});
  expect_says(says({0, 1, 1, 0}, {"x", "x"}), {"'x'", "twice"});
  expect_says(says({0, 1, 5, 1, 0, 5}, {"a", "b", "a"}), {"'a'", "twice"});
  expect_says(says({1, 1, 1, 1}, {"x", "y"}), {"largest cost", "above the smallest"});
}

// ---- files ------------------------------------------------------------------------------------------------------

TEST(ActionFiles, AHeaderNamesColumnsInAnyOrder) {
  const std::vector<double> expected = {0, 1, 0.5, 0.7, 2, 0, 0.25, 0.9};  // a, b, refer, wait
  for (const char* text : {
           "a,b,refer,wait\n0,1,0.5,0.7\n2,0,0.25,0.9\n",
           "refer,b,wait,a\n0.25,0,0.9,2\n0.5,1,0.7,0\n",  // rows in the order of its classes: b, a
           "truth,refer,b,wait,a\na,0.5,1,0.7,0\nb,0.25,0,0.9,2\n",
           ",refer,b,wait,a\nb,0.25,0,0.9,2\na,0.5,1,0.7,0\n",
           "refer,b,wait,a\nb,0.25,0,0.9,2\na,0.5,1,0.7,0\n",  // the corner left out
           "refer , \"b\",wait,a\r\nb,0.25,0,0.9,2\r\na,0.5,1,0.7,0\r\n",
       }) {
    const CostMatrix cost = read(text);
    EXPECT_EQ(cost.values(), expected) << text;
    EXPECT_THAT(cost.prediction_names(), ElementsAre("a", "b", "refer", "wait")) << text;
  }
}

TEST(ActionFiles, WithoutAHeaderClassesComeFirst) {
  const CostMatrix one = read("0,1,0.2\n1,0,0.3\n");
  EXPECT_THAT(one.prediction_names(), ElementsAre("a", "b", "reject"));
  EXPECT_EQ(one.values(), (std::vector<double>{0, 1, 0.2, 1, 0, 0.3}));
  const CostMatrix two = read("0,1,0.2,5\n1,0,0.3,6\n");
  EXPECT_THAT(two.prediction_names(), ElementsAre("a", "b", "action1", "action2"));
  EXPECT_EQ(two(1, 3), 6);
  // Names of rows alone: the classes among the columns have their order.
  const CostMatrix named = read("b,0,1,0.3\na,2,0,0.2\n");
  EXPECT_THAT(named.prediction_names(), ElementsAre("a", "b", "reject"));
  EXPECT_EQ(named.values(), (std::vector<double>{0, 2, 0.2, 1, 0, 0.3}));
}

// Costs of 0 and 1 in the first column look like the classes 0 and 1.
TEST(ActionFiles, CostsThatLookLikeNumberedClasses) {
  const Names digits = {"0", "1"};
  const CostMatrix plain = read("0,1,0.2\n1,0,0.3\n", digits);
  EXPECT_EQ(plain.values(), (std::vector<double>{0, 1, 0.2, 1, 0, 0.3}));
  EXPECT_THAT(plain.prediction_names(), ElementsAre("0", "1", "reject"));
  // Names of rows they are where the rest are costs of classes.
  EXPECT_EQ(read("0,0,5\n1,7,0\n", digits).values(), (std::vector<double>{0, 5, 7, 0}));
  EXPECT_EQ(read("1,0,7\n0,5,0\n", digits).values(), (std::vector<double>{0, 5, 7, 0}));
  EXPECT_EQ(read("0,0,5,9\n1,7,0,8\n", digits).values(), (std::vector<double>{0, 5, 9, 7, 0, 8}));
  EXPECT_EQ(read("0,1,reject\n0,1,0.2\n1,0,0.3\n", digits).values(), plain.values());
  EXPECT_EQ(read(",0,1,reject\n1,1,0,0.3\n0,0,1,0.2\n", digits).values(), plain.values());
  EXPECT_EQ(read("0,1,reject\n1,1,0,0.3\n0,0,1,0.2\n", digits).values(), plain.values());
  EXPECT_EQ(read("0,1,2,3\n1,0,4,5\n", digits).values(), (std::vector<double>{0, 1, 2, 3, 1, 0, 4, 5}));
  EXPECT_EQ(read("treat,wait\n0,1\n1,0\n", digits).values(), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(read(",treat,wait\n1,1,0\n0,0,1\n", digits).values(), (std::vector<double>{0, 1, 1, 0}));
  const CostMatrix headed = read("1,reject,0\n0,0.3,1\n1,0.2,0\n", digits);
  EXPECT_EQ(headed.values(), (std::vector<double>{0, 1, 0.2, 1, 0, 0.3}));
}

TEST(ActionFiles, ActionsAlone) {
  for (const char* text : {"treat,wait\n0,5\n1,0\n", "truth,treat,wait\na,0,5\nb,1,0\n", ",treat,wait\nb,1,0\na,0,5\n",
                           "treat,wait\nb,1,0\na,0,5\n"}) {
    const CostMatrix cost = read(text);
    EXPECT_EQ(cost.values(), (std::vector<double>{0, 5, 1, 0})) << text;
    EXPECT_THAT(cost.prediction_names(), ElementsAre("treat", "wait")) << text;
  }
  EXPECT_THAT(read("only\n3\n1\n").prediction_names(), ElementsAre("only"));
}

// Fewer, as many and more actions than classes, with every form of names.
TEST(ActionFiles, AnyNumberOfActionsAlone) {
  for (const std::size_t k : {2U, 3U, 5U})
    for (std::size_t width = 1; width <= 7; ++width) {
      Names classes, actions;
      for (std::size_t c = 0; c < k; ++c) classes.push_back(fmt::format("class {}", c));
      for (std::size_t p = 0; p < width; ++p) actions.push_back(fmt::format("do {}", p));
      const std::string header = fmt::format("{}", fmt::join(actions, ","));
      std::string bare = header, full = "truth," + header, blank = "," + header, cornerless = header;
      std::vector<double> expected(k * width);
      for (std::size_t e = 0; e < k * width; ++e) expected[e] = static_cast<double>(e * e % 11) + 0.5;
      expected[0] = 20;
      for (std::size_t t = 0; t < k; ++t) {
        const std::size_t backwards = k - 1 - t;
        const auto row = [&](std::size_t c) {
          return fmt::format("{}", fmt::join(expected.begin() + static_cast<std::ptrdiff_t>(c * width),
                                             expected.begin() + static_cast<std::ptrdiff_t>((c + 1) * width), ","));
        };
        bare += "\n" + row(t);
        for (std::string* text : {&full, &blank, &cornerless})
          *text += "\n" + classes[backwards] + "," + row(backwards);
      }
      for (const std::string& text : {bare, full, blank, cornerless}) {
        try {
          const CostMatrix cost = read(text, classes);
          EXPECT_EQ(cost.values(), expected) << text;
          EXPECT_EQ(cost.prediction_names(), actions) << text;
        } catch (const Error& error) {
          ADD_FAILURE() << error.what() << "\n" << text;
        }
      }
    }
}

TEST(ActionFiles, RandomMatricesInAnyOrder) {
  EXPECT_TRUE(rc::check("permuted rows and columns", [] {
    const std::size_t k = *rc::gen::inRange<std::size_t>(2, 6), extra = *rc::gen::inRange<std::size_t>(1, 5);
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    Names classes, all;
    std::vector<std::size_t> row(k), column(k + extra);
    std::iota(row.begin(), row.end(), 0);
    std::iota(column.begin(), column.end(), 0);
    rng.shuffle(std::span(row));
    rng.shuffle(std::span(column));
    for (std::size_t c = 0; c < k; ++c) classes.push_back("class " + std::to_string(c));
    all = classes;
    for (std::size_t e = 0; e < extra; ++e) all.push_back("extra " + std::to_string(e));
    std::vector<double> cost;
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k + extra; ++p) cost.push_back(t == p ? 0 : 0.5 + static_cast<double>(rng.below(99)));
    std::string text = "corner";
    for (const std::size_t p : column) text += "," + all[p];
    for (const std::size_t t : row) {
      text += "\n" + classes[t];
      for (const std::size_t p : column) text += fmt::format(",{}", cost[t * (k + extra) + p]);
    }
    // Classes first, in their order; the others behind them, in that of the file.
    std::vector<std::size_t> place(k);
    std::iota(place.begin(), place.end(), 0);
    for (const std::size_t p : column)
      if (p >= k) place.push_back(p);
    const CostMatrix found = CostMatrix::from_csv(text, classes, "file");
    RC_ASSERT(found.predictions() == k + extra);
    for (std::size_t p = 0; p < k + extra; ++p) {
      RC_ASSERT(found.prediction_names()[p] == all[place[p]]);
      for (std::size_t t = 0; t < k; ++t) RC_ASSERT(found(t, p) == cost[t * (k + extra) + place[p]]);
    }
  }));
}

TEST(ActionFiles, MisspeltClassesAreRefusedWithTheirPlace) {
  // A column, with and without further ones; the message names the class that is missing.
  expect_says(refused("a,B,refer\n0,1,2\n1,0,2\n"), {"file: line 1, column 2", "'B'", "'b' has no column"});
  expect_says(refused("refer,a,B\n2,0,1\n2,1,0\n"), {"line 1, column 1", "'refer'", "'b' has no column"});
  expect_says(refused("truth,a,B\na,0,1\nb,1,0\n"), {"line 1, column 3", "'B'", "'b' has no column"});
  // A row.
  expect_says(refused("truth,a,b,refer\na,0,1,2\nB,1,0,2\n"), {"line 3, column 1", "'B'", "no class of the data"});
  expect_says(refused("truth,treat,wait\na,0,1\nB,1,0\nc,1,1\n", abc), {"line 3, column 1", "'B'"});
  expect_says(refused("b,0,1,0.3\nA,2,0,0.2\n"), {"line 2, column 1", "'A'"});
}

TEST(ActionFiles, MissingRowsAreNamed) {
  expect_says(refused(",a,b,c,refer\na,0,1,1,2\nc,1,1,0,2\n", abc), {"file", "no row for 'b'"});
  expect_says(refused("truth,a,b,c,refer\na,0,1,1,2\nc,1,1,0,2\n", abc), {"file", "no row for 'b'"});
  expect_says(refused("truth,treat,wait\nb,1,0\nc,0,1\n", abc), {"no row for 'a'"});
  expect_says(refused("a,b,c,refer\n0,1,1,2\n1,1,0,2\n", abc), {"2 rows below the header", "'a', 'b', 'c'"});
  expect_says(refused("0,1,2\n"), {"1 rows for 2 classes"});
}

TEST(ActionFiles, DefectsAreRefusedWithTheirPlace) {
  expect_says(refused("a,b,,x\n0,1,2,2\n1,0,2,2\n"), {"line 1, column 3", "no name"});
  expect_says(refused("a,b,x,x\n0,1,2,2\n1,0,2,2\n"), {"line 1, column 4", "'x'", "second time"});
  expect_says(refused("a,b,x,b\n0,1,2,2\n1,0,2,2\n"), {"line 1, column 4", "'b'", "second time"});
  expect_says(refused("t,a,b,x\na,0,1,2\na,1,0,2\n"), {"line 3, column 1", "'a'", "second time"});
  expect_says(refused("a,b,x\n0,1,free\n1,0,2\n"), {"line 2, column 3", "'free'", "no finite number"});
  expect_says(refused("t,a,b,x\na,0,1,2\nb,1,0,inf\n"), {"line 3, column 4", "'inf'"});
  expect_says(refused("a,b,x\n0,1,\n1,0,2\n"), {"line 2, column 3", "''"});
  expect_says(refused("a,b,x\n0,1,2\n1,0\n"), {"line 3", "2 cells"});
  expect_says(refused("a,b,x\n0,1\n1,0,2\n"), {"line 2", "2 cells"});
  expect_says(refused("0,x\n1,0\n"), {"line 1, column 2", "'x'"});  // no header above too few rows
  expect_says(refused("treat,wait\n1,1\n1,1\n"), {"above the smallest"});
  expect_says(refused("a,b,x\n0,1e31,2\n1,0,2\n"), {"row 'a'", "column 'b'", "1e+31"});
}

// ---- trees ------------------------------------------------------------------------------------------------------

const std::string animals = "cat,animal\ndog,animal\nanimal,thing\ncar,thing\n";
const Names things = {"car", "cat", "dog"};

CostMatrix tree(std::string_view text, bool inner = false, const Names& classes = things) {
  return CostMatrix::from_tree(text, classes, inner, "tree");
}

TEST(Trees, CostsAreWaysBetweenNodes) {
  const CostMatrix leaves = tree(animals);
  EXPECT_EQ(leaves.values(), (std::vector<double>{0, 3, 3, 3, 0, 2, 3, 2, 0}));
  EXPECT_FALSE(leaves.has_actions());
  EXPECT_TRUE(leaves.symmetric());
  const CostMatrix all = tree(animals, true);
  EXPECT_THAT(all.prediction_names(), ElementsAre("car", "cat", "dog", "animal", "thing"));
  EXPECT_EQ(all.values(), (std::vector<double>{0, 3, 3, 2, 1, 3, 0, 2, 1, 2, 3, 2, 0, 1, 2}));
  EXPECT_FALSE(all.symmetric());
}

TEST(Trees, LengthsHeadersAndBlankLines) {
  const CostMatrix cost =
      tree("child,parent,length\r\n\r\ncat,animal,0.5\r\ndog,animal,0.25\r\nanimal,thing,4\r\ncar,thing\r\n");
  EXPECT_EQ(cost.values(), (std::vector<double>{0, 5.5, 5.25, 5.5, 0, 0.75, 5.25, 0.75, 0}));
  EXPECT_EQ(tree("child,parent\n" + animals).values(), tree(animals).values());
}

TEST(Trees, ClassesMayBeInnerNodesOrTheRoot) {
  // A path: thing - animal - cat, all of them classes.
  const CostMatrix cost = tree("cat,animal\nanimal,thing\n", true, {"animal", "cat", "thing"});
  EXPECT_FALSE(cost.has_actions());
  EXPECT_EQ(cost.values(), (std::vector<double>{0, 1, 1, 1, 0, 2, 1, 2, 0}));
  // A path is what absolute costs are.
  EXPECT_EQ(tree("0,1\n1,2\n2,3\n", false, {"0", "1", "2", "3"}).kind(), LossKind::absolute);
  // A star is what zero-one costs are, times two.
  EXPECT_EQ(tree("x,top\ny,top\nz,top\n", false, {"x", "y", "z"}).kind(), LossKind::zero_one);
}

// Random trees against the shortest ways of Floyd and Warshall.
TEST(Trees, RandomOnesHaveShortestWays) {
  Rng rng(3);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t nodes = 3 + rng.below(12);
    std::vector<std::vector<double>> way(nodes, std::vector<double>(nodes, 1e9));
    std::vector<std::string> lines;
    for (std::size_t v = 0; v < nodes; ++v) {
      way[v][v] = 0;
      if (v == 0) continue;
      const std::size_t parent = rng.below(v);
      const double length = static_cast<double>(1 + rng.below(8)) / 4;
      way[v][parent] = way[parent][v] = length;
      lines.push_back(fmt::format("n{},n{},{}", v, parent, length));
    }
    rng.shuffle(std::span(lines));
    for (std::size_t m = 0; m < nodes; ++m)
      for (std::size_t a = 0; a < nodes; ++a)
        for (std::size_t b = 0; b < nodes; ++b) way[a][b] = std::min(way[a][b], way[a][m] + way[m][b]);
    const Names classes = {"n1", "n2"};
    const CostMatrix cost = tree(fmt::format("{}", fmt::join(lines, "\n")), true, classes);
    ASSERT_EQ(cost.predictions(), nodes);
    for (std::size_t t = 0; t < 2; ++t)
      for (std::size_t p = 0; p < nodes; ++p) {
        const auto node = static_cast<std::size_t>(std::stoul(cost.prediction_names()[p].substr(1)));
        EXPECT_EQ(cost(t, p), way[t + 1][node]);
      }
  }
}

TEST(Trees, DefectsAreRefusedWithTheirPlace) {
  const auto says = [](const std::string& text, const Names& classes = things) {
    return refusal([&] { tree(text, false, classes); });
  };
  expect_says(says(""), {"tree", "empty"});
  expect_says(says("child,parent\n"), {"empty"});
  expect_says(says("cat,dog\ndog,car\ncar,cat\n"), {"line 1", "'cat'", "circle"});
  expect_says(says("cat,dog\ndog,car\ncar,dog\n"), {"line 2", "'dog'", "circle"});  // which the cat is not on
  expect_says(says("cat,cat\n"), {"line 1", "'cat'", "circle"});
  expect_says(says(animals + "x,y\ny,x\n"), {"line 5", "'x'", "circle"});
  expect_says(says("cat,animal\ndog,animal\ncar,machine\n"), {"'animal'", "'machine'", "no parent"});
  expect_says(says(animals + "cat,thing\n"), {"line 5", "'cat'", "line 1"});
  expect_says(says("cat,thing\ndog,thing\n"), {"class 'car'", "no node"});
  for (const char* length : {"0", "-1", "nan", "inf", "long", "", "1e31"})
    expect_says(says(fmt::format("cat,thing,1\ndog,thing,{}\ncar,thing,1\n", length)),
                {"line 2", fmt::format("'{}'", length), "positive"});
  expect_says(says("cat\n"), {"line 1", "1 cell", "child,parent"});
  expect_says(says("cat,thing,1,2\n"), {"line 1", "4 cells"});
  expect_says(says("cat,\n"), {"line 1", "no name"});
  expect_says(says(",thing\n"), {"line 1", "no name"});
  // Ways too long to compute with.
  expect_says(says("cat,thing,9e29\ndog,thing,9e29\ncar,thing,9e29\n"), {"beyond"});
}

TEST(Trees, AreReadFromFilesBehindTheirPrefix) {
  const TemporaryFile file(animals);
  EXPECT_EQ(CostMatrix::parse("tree:" + file.path(), things).values(), tree(animals).values());
  EXPECT_EQ(CostMatrix::parse("tree:" + file.path(), things, true).predictions(), 5U);
  EXPECT_THROW(CostMatrix::parse("tree:/no/such/file", things), Error);
  expect_says(refusal<UsageError>([] { CostMatrix::parse("zero-one", things, true); }), {"--inner", "tree:FILE"});
  expect_says(refusal<UsageError>([&] { CostMatrix::parse(file.path(), things, true); }), {"--inner", "tree:FILE"});
}

}  // namespace
}  // namespace m4n::detail

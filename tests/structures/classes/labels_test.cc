// Labels: classes, grades, bins, class weights.
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "structures/classes/labels.h"
#include "structures/table_structure.h"
#include "support/flat_model.h"
#include "support/read_text.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RawTable column(const std::vector<std::string>& cells, const std::string& name = "label") {
  RawTable table;
  table.path = "file";
  table.x = DenseMatrix{cells.size(), 1, std::vector<double>(cells.size())};
  table.target_name = name;
  table.target = cells;
  for (std::size_t i = 0; i < cells.size(); ++i) table.line.push_back(i + 2);
  return table;
}

// The task of those who name none.
std::string guess_task(const RawTable& table, int bins) {
  TrainOptions options;
  options.bins = bins;
  for (const Structure* structure : structures())
    if (const auto* own = dynamic_cast<const TableStructure*>(structure); own && own->recognises(table, options))
      return own->name();
  return {};
}

Dataset label_for(RawTable table, const FlatModel& model, std::vector<std::string>* unseen) {
  Examples out;
  label_for_model(std::move(table), model.classes, model.bins, out);
  if (unseen != nullptr) unseen->assign(out.names.begin() + static_cast<std::ptrdiff_t>(model.k()), out.names.end());
  return out.data;
}

Dataset train(const std::vector<std::string>& cells, Order order = Order::none, int bins = 0,
              Binning rule = Binning::quantile) {
  return label_for_training(column(cells), order, bins, rule);
}

std::vector<std::string> as_cells(const std::vector<double>& values) {
  std::vector<std::string> cells;
  for (const double value : values) cells.push_back(fmt::format("{}", value));
  return cells;
}

TEST(Labels, ClassesSortAsNumbersOrAsWords) {
  const Dataset numbers = train({"10", "9", "-1.5", "10"});
  EXPECT_THAT(numbers.class_names, ElementsAre("-1.5", "9", "10"));
  EXPECT_THAT(numbers.label, ElementsAre(2, 1, 0, 2));
  EXPECT_EQ(numbers.examples(), 4U);
  EXPECT_EQ(numbers.feature_rows.count(), 4U);
  EXPECT_THAT(train({"10", "9", "x"}).class_names, ElementsAre("10", "9", "x"));
  const Dataset grades = train({"3", "1", "2"}, Order::grades);
  EXPECT_THAT(grades.label, ElementsAre(2, 0, 1));
}

TEST(Labels, FeaturesAndWeightsAreCarriedAlong) {
  RawTable table = column({"u", "v"});
  table.x = DenseMatrix{2, 1, {7, 8}};
  table.weight = {1, 2};
  table.feature_names = {"f"};
  const Dataset data = label_for_training(std::move(table), Order::none);
  EXPECT_THAT(std::get<DenseMatrix>(data.x).values, ElementsAre(7, 8));
  EXPECT_THAT(data.weight, ElementsAre(1, 2));
  EXPECT_THAT(data.feature_names, ElementsAre("f"));
  EXPECT_THAT(data.bins.cuts, IsEmpty());
}

TEST(Labels, RefusesWhatCannotBeLearnt) {
  expect_says(refusal([] { train({"1", "2", "1.0"}); }), {"line 4", "'1.0'", "line 2", "'1'", "one way"});
  expect_says(refusal([] { train({"0", "-0"}); }), {"line 3", "'-0'"});
  expect_says(refusal([] { train({"x", "x"}); }), {"only one class", "'x'"});
  expect_says(refusal([] { train({"1", "nan"}); }), {"line 3", "'nan'"});
  expect_says(refusal([] {
                train({"1", "good"}, Order::grades);
              }),
              {"line 3", "'good'", "numbers", "--task multiclass"});
  expect_says(refusal([] { train({}); }), {"no labels"});
  std::vector<double> many;
  for (int i = 0; i < 101; ++i) many.push_back(i);
  expect_says(refusal([&] { train(as_cells(many), Order::grades); }), {"101 different values", "--bins"});
  many.pop_back();
  EXPECT_EQ(train(as_cells(many), Order::grades).class_names.size(), 100U);
  for (int i = 100; i < 1001; ++i) many.push_back(i);
  EXPECT_EQ(train(as_cells(many)).class_names.size(), 1001U);
  for (double& value : many) value += 0.25;
  expect_says(refusal([&] { train(as_cells(many)); }), {"1001 different numbers", "--task ordinal --bins"});
}

TEST(Bins, RefusesWhatCannotBeCut) {
  expect_says(refusal<UsageError>([] { train({"1", "2"}, Order::none, 2); }), {"--bins", "--task ordinal"});
  expect_says(refusal<UsageError>([] { train({"1", "2"}, Order::grades, 1); }), {"--bins 1", "expected 2"});
  expect_says(refusal<UsageError>([] { train({"1", "2"}, Order::grades, -3); }), {"--bins -3"});
  expect_says(refusal([] { train({"1", "x"}, Order::grades, 2); }), {"line 3", "'x'", "finite number"});
  expect_says(refusal([] { train({"1", "inf"}, Order::grades, 2); }), {"line 3", "'inf'"});
  expect_says(refusal([] { train({"5", "5.0"}, Order::grades, 2); }), {"every target", "nothing to cut"});
}

TEST(Bins, KnownQuantilesAndWidths) {
  // numpy.quantile([1, 2, 3, 4, 10], [1/3, 2/3]) = 2.3333.., 3.6666..
  const Dataset data = train({"10", "1", "4", "2", "3"}, Order::grades, 3, Binning::quantile);
  ASSERT_EQ(data.bins.cuts.size(), 2U);
  EXPECT_DOUBLE_EQ(data.bins.cuts[0], 7.0 / 3);
  EXPECT_DOUBLE_EQ(data.bins.cuts[1], 11.0 / 3);
  EXPECT_THAT(data.label, ElementsAre(2, 0, 2, 0, 1));
  EXPECT_THAT(data.class_names, ElementsAre("0", "1", "2"));
  const Dataset wide = train({"10", "1", "4", "2", "3"}, Order::grades, 3, Binning::width);
  EXPECT_EQ(wide.bins.rule, Binning::width);
  EXPECT_THAT(wide.bins.cuts, ElementsAre(4, 7));
  EXPECT_THAT(wide.label, ElementsAre(2, 0, 0, 0, 0));  // a cut point itself belongs below
  EXPECT_THAT(wide.class_names, ElementsAre("0", "1", "2"));
}

// Against the definition: the i/K quantile is where the piecewise linear function through (m/(n-1), x_(m)) stands,
// found here by a search over the segments in long double.
TEST(Bins, RandomTargetsAgreeWithTheDefinition) {
  EXPECT_TRUE(rc::check("quantiles", [] {
    const auto whole = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-8, 8)));
    RC_PRE(*std::min_element(whole.begin(), whole.end()) < *std::max_element(whole.begin(), whole.end()));
    const int bins = *rc::gen::inRange(2, 12);
    std::vector<double> values(whole.begin(), whole.end());
    for (double& value : values) value *= 0.37;
    const Dataset data = train(as_cells(values), Order::grades, bins, Binning::quantile);
    const OrdinalBins& found = data.bins;
    RC_ASSERT(found.cuts.size() == static_cast<std::size_t>(bins - 1));
    RC_ASSERT(std::is_sorted(found.cuts.begin(), found.cuts.end()));
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const auto last = static_cast<long double>(sorted.size() - 1);
    for (int i = 1; i < bins; ++i) {
      const long double share = static_cast<long double>(i) / bins;
      std::size_t m = 0;
      while (static_cast<long double>(m + 1) / last < share) ++m;
      const long double in_segment = share * last - static_cast<long double>(m);
      const long double cut = sorted[m] + in_segment * (static_cast<long double>(sorted[m + 1]) - sorted[m]);
      RC_ASSERT(std::abs(static_cast<double>(cut) - found.cuts[static_cast<std::size_t>(i - 1)]) < 1e-12);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      RC_ASSERT(data.label[i] ==
                std::count_if(found.cuts.begin(), found.cuts.end(), [&](double c) { return c < values[i]; }));
  }));
}

TEST(Bins, ExtremeTargetsStayFinite) {
  for (const Binning rule : {Binning::quantile, Binning::width}) {
    const Dataset data = train({"-1.7e308", "1.7e308", "0"}, Order::grades, 4, rule);
    for (const double cut : data.bins.cuts) EXPECT_TRUE(std::isfinite(cut));
    EXPECT_THAT(data.label, ElementsAre(0, 3, 1));
  }
}

std::vector<int> counts(const std::string& file, int bins) {
  const Dataset data =
      label_for_training(read_table(data_folder() + "/" + file, {}, Truth::required), Order::grades, bins);
  std::vector<int> count(data.class_names.size());
  for (const std::int32_t label : data.label) ++count[static_cast<std::size_t>(label)];
  return count;
}

TEST(Bins, RealDataHaveThePublishedCounts) {
  if (data_folder().empty()) GTEST_SKIP() << "no data sets: set M4N_DATA to their folder";
  EXPECT_EQ(counts("wisconsin.csv", 5), (std::vector{42, 36, 38, 39, 39}));
  EXPECT_EQ(counts("stocks.csv", 5), (std::vector{192, 188, 191, 190, 189}));
  EXPECT_EQ(counts("machine.csv", 10), (std::vector{22, 23, 24, 17, 24, 15, 21, 22, 20, 21}));
  std::vector<int> abalone = counts("abalone.csv", 10);
  EXPECT_EQ(abalone.size(), 10U);
  std::erase(abalone, 0);
  EXPECT_EQ(abalone, (std::vector{448, 391, 568, 689, 634, 487, 267, 329, 364}));
}

TEST(RealData, ShapesAreThePublishedOnes) {
  if (data_folder().empty()) GTEST_SKIP() << "no data sets: set M4N_DATA to their folder";
  struct Expected {
    const char* file;
    std::size_t n, d, k;
  };
  for (const auto& [file, n, d, k] : {Expected{"iris.csv", 150, 4, 3},
                                      {"segment.csv", 2310, 19, 7},
                                      {"letter.csv.gz", 15000, 16, 26},
                                      {"mfeat.csv.gz", 2000, 216, 10},
                                      {"trec_qc_train.libsvm.gz", 5452, 37203, 50}}) {
    const Dataset data = label_for_training(read_table(data_folder() + "/" + file, {}, Truth::required), Order::none);
    EXPECT_EQ(data.examples(), n) << file;
    EXPECT_EQ(cols(data.x), d) << file;
    EXPECT_EQ(data.class_names.size(), k) << file;
  }
  for (const auto& [file, task, n, d] :
       {std::tuple{"ml_emotions_train.csv.gz", "multilabel", 391U, 72U}, {"lr_glass.csv", "ranking", 214U, 9U}}) {
    RawTable table = read_table(data_folder() + "/" + file, {}, Truth::required);
    EXPECT_EQ(guess_task(table, 0), task);
    const Dataset data = with_outputs(table, *task == 'm' ? OutputColumns::marks : OutputColumns::ranks);
    EXPECT_EQ(data.examples(), n) << file;
    EXPECT_EQ(cols(data.x), d) << file;
    EXPECT_EQ(data.class_names.size(), 6U) << file;
    EXPECT_EQ(data.label.size(), 6 * n) << file;
  }
}

TEST(LabelsForModel, KnownUnknownAndSpelledOtherwise) {
  FlatModel model;
  model.classes = {"1", "2", "10"};
  std::vector<std::string> unseen;
  const Dataset data = label_for(column({"10", "3", "2.0", "x", "3", "1"}), model, &unseen);
  EXPECT_THAT(data.label, ElementsAre(2, unknown_label, 1, unknown_label, unknown_label, 0));
  EXPECT_THAT(unseen, ElementsAre("3", "x"));
  EXPECT_EQ(data.class_names, model.classes);
  model.classes = {"a", "1"};
  unseen.clear();
  EXPECT_THAT(label_for(column({"1", "1.0"}), model, &unseen).label, ElementsAre(1, unknown_label));
  EXPECT_THAT(unseen, ElementsAre("1.0"));
}

TEST(LabelsForModel, CutsAndTablesWithoutLabels) {
  FlatModel model;
  model.classes = {"0", "1", "2"};
  model.bins.cuts = {1.5, 3};
  EXPECT_THAT(label_for(column({"1.5", "2", "3", "99", "-4"}), model, nullptr).label, ElementsAre(0, 1, 1, 2, 0));
  expect_says(refusal([&] { label_for(column({"1", "?"}), model, nullptr); }), {"line 3", "'?'"});
  RawTable bare = column({"1", "2"});
  bare.target.clear();
  std::vector<std::string> unseen;
  EXPECT_THAT(label_for(std::move(bare), model, &unseen).label, ElementsAre(unknown_label, unknown_label));
  EXPECT_THAT(unseen, IsEmpty());
}

TEST(GuessTask, RawTargetsAndBinsAreOrdinal) {
  EXPECT_EQ(guess_task(column({"1", "2"}, "label"), 0), "multiclass");
  EXPECT_EQ(guess_task(column({"1", "2"}, "label"), 4), "ordinal");
  EXPECT_EQ(guess_task(column({"1", "2.5"}, "target"), 0), "ordinal");
  EXPECT_EQ(guess_task(column({"1", "x"}, "target"), 0), "multiclass");
}

TEST(ClassWeights, BalancedMakesClassesWeighTheSame) {
  const Dataset data = train({"a", "a", "a", "b", "b", "c"});
  EXPECT_THAT(read_class_weights("balanced", data), ElementsAre(6.0 / 9, 1, 2));
  Dataset with_empty = data;
  with_empty.class_names.emplace_back("d");
  EXPECT_THAT(read_class_weights("balanced", with_empty), ElementsAre(0.5, 0.75, 1.5, 1));
}

TEST(ClassWeights, FromAFile) {
  const Dataset data = train({"a", "b", "c"});
  for (const std::string& text :
       std::initializer_list<std::string>{"b,2\nc,3.5\na,1\n", "class,weight\r\nb,2\r\nc,3.5\r\na,1",
                                          byte_order_mark + "\"b\", 2\n\nc,3.5\na,1\n\n"}) {
    const TemporaryFile file(text);
    EXPECT_THAT(read_class_weights(file.path(), data), ElementsAre(1, 2, 3.5)) << text;
  }
  const auto says = [&](const char* text) {
    const TemporaryFile file(text);
    return refusal([&] { read_class_weights(file.path(), data); });
  };
  expect_says(says("a,1\nb,2\nd,3\n"), {"line 3", "'d'", "'a', 'b', 'c'"});
  expect_says(says("a,1\nc,2\n"), {"no weight for 1 of the 3 classes", "'b'"});
  expect_says(says(""), {"no weight for 3 of the 3"});
  expect_says(says("a,1\nb,0\nc,1\n"), {"line 2, column 2", "'0'"});
  expect_says(says("a,1\nb,-2\nc,1\n"), {"line 2", "'-2'"});
  expect_says(says("a,1\nb,inf\nc,1\n"), {"line 2", "'inf'"});
  expect_says(says("a,1\nb,x\nc,1\n"), {"line 2", "'x'"});
  expect_says(says("a,1\nb,2e30\nc,1\n"), {"line 2", "'2e30'", "1e+30"});
  expect_says(says("a,1\nb,1e-31\nc,1\n"), {"line 2", "'1e-31'", "1e-30"});
  expect_says(says("a,1\na,2\nc,1\n"), {"line 2", "'a'", "second time"});
  expect_says(says("a,1,2\n"), {"line 1", "3 cells"});
  expect_says(refusal([&] { read_class_weights("no_such_file", data); }), {"no_such_file", "cannot be opened"});
}

}  // namespace
}  // namespace m4n::detail

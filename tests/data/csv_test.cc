// CSV files: what is read, and what is refused with which words.
#include "support/flat_model.h"
#include "support/read_text.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdlib>

namespace m4n::detail {

using test::FlatModel;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Csv, ReadsFeaturesLabelsAndLineNumbers) {
  const RawTable table = read_text("a,label,b\n1,x,2\n-3.5,y,4e-2\n");
  EXPECT_EQ(dense(table).rows, 2U);
  EXPECT_EQ(dense(table).cols, 2U);
  EXPECT_THAT(dense(table).values, ElementsAre(1, 2, -3.5, 0.04));
  EXPECT_THAT(table.target, ElementsAre("x", "y"));
  EXPECT_THAT(table.line, ElementsAre(2, 3));
  EXPECT_THAT(table.feature_names, ElementsAre("a", "b"));
  EXPECT_EQ(table.target_name, "label");
  EXPECT_EQ(table.path, "file");
  EXPECT_THAT(table.weight, IsEmpty());
  EXPECT_THAT(table.ids, IsEmpty());
}

TEST(Csv, LineEndsByteOrderMarkBlanksAndTrailingBlankLinesMakeNoDifference) {
  const std::vector<double> expected = dense(read_text("a,b,label\n1,2,u\n3,4,v\n")).values;
  for (const std::string& text : std::initializer_list<std::string>{
           "a,b,label\r\n1,2,u\r\n3,4,v\r\n", byte_order_mark + "a,b,label\n1,2,u\n3,4,v",
           "a , b,label\n 1 ,\t2, u \n+3,4.0,v\n\n \n\r\n", "\n\na,b,label\n1,2,u\n3,4,v\n",
           "\"a\",\"b\",\"label\"\n\"1\",2,\"u\"\n3, \"4\" ,v\n"}) {
    const RawTable table = read_text(text);
    EXPECT_EQ(dense(table).values, expected) << text;
    EXPECT_THAT(table.target, ElementsAre("u", "v")) << text;
    EXPECT_THAT(table.feature_names, ElementsAre("a", "b")) << text;
  }
}

TEST(Csv, QuotedNamesAndLabels) {
  const RawTable table = read_text("\"a,\"\"b\"\"\",label\n1,\"x, y\"\n2,\"say \"\"no\"\"\"\n3,\"\"\"\"\n");
  EXPECT_THAT(table.feature_names, ElementsAre("a,\"b\""));
  EXPECT_THAT(table.target, ElementsAre("x, y", "say \"no\"", "\""));
}

TEST(Csv, TargetWeightAndIdColumns) {
  const std::string text = "id,x,target,w,label\nr1,1,0.5,2,p\nr2,3,0.25,4,q\n";
  ReadOptions options;
  options.id = "id";
  options.weights = "w";
  const RawTable by_default = read_text(text, options);
  EXPECT_EQ(by_default.target_name, "label");
  EXPECT_THAT(by_default.feature_names, ElementsAre("x"));  // `target` would give the label away
  EXPECT_THAT(by_default.weight, ElementsAre(2, 4));
  EXPECT_THAT(by_default.ids, ElementsAre("r1", "r2"));
  options.target = "x";
  expect_says(refusal_of(text, options), {"line 2", "column 5", "'label'", "'p'", "finite number"});
  EXPECT_EQ(read_text("x,target\n1,2\n").target_name, "target");
}

TEST(Csv, OneOfSeveralOutputsIsLearntWithoutTheOthers) {
  ReadOptions options;
  options.target = "y2";
  const RawTable table = read_text("x1,y1,y2,y3,year\n1,0,1,0,7\n2,1,0,0,8\n", options);
  EXPECT_THAT(table.feature_names, ElementsAre("x1", "year"));
  EXPECT_THAT(table.target, ElementsAre("1", "0"));
}

TEST(Csv, RefusesBadHeaders) {
  expect_says(refusal_of(""), {"file", "empty"});
  expect_says(refusal_of("\n\n  \n"), {"only blank lines"});
  expect_says(refusal_of("a,label\n"), {"only a header", "no examples"});
  expect_says(refusal_of("a,label\n\n\n"), {"only a header"});
  expect_says(refusal_of("1,2,2\n3,4,5\n"), {"line 1", "only numbers", "names of the columns"});
  expect_says(refusal_of("5.1,3.5,setosa\n4,3,setosa\n"), {"line 1", "no column label", "looks like data"});
  expect_says(refusal_of("a,b,a,label\n1,2,3,4\n"), {"line 1", "columns 1 and 3", "'a'"});
  expect_says(refusal_of("a,,label\n1,2,3\n"), {"line 1, column 2", "no name"});
  EXPECT_THAT(refusal_of("a,,label\n1,2,3\n"), Not(HasSubstr("pandas")));
  expect_says(refusal_of(",a,label\n0,2,3\n"), {"line 1, column 1", "no name", "pandas", "index=False"});
  expect_says(refusal_of("label\n1\n"), {"no feature columns"});
  expect_says(refusal_of("a,b\n1,2\n"), {"no column label or target", "'a', 'b'", "--target"});
  expect_says(refusal_of("a;b;label\n1;2;3\n"), {"line 1", "separated by commas"});
  expect_says(refusal_of("a\tb\tlabel\n1\t2\t3\n"), {"separated by commas"});
  expect_says(refusal_of("a,\"b,label\n1,2,3\n"), {"line 1, column 2", "not closed"});
  expect_says(refusal_of(std::string_view("a\0b,label\n1,2\n", 14)), {"binary"});
  ReadOptions one;
  one.outputs = OutputColumns::one;
  expect_says(refusal_of("x1,y1,y2\n1,0,1\n", one), {"sets of labels", "--task multilabel", "--target"});
  expect_says(refusal_of("x1,r1,r2\n1,2,1\n", one), {"rankings", "--task ranking", "--target"});
  expect_says(refusal_of("x1,y1,y2,r1,r2\n1,0,1,1,2\n"), {"several output columns", "--target"});
  one.outputs = OutputColumns::marks;
  expect_says(refusal_of("x1,y1,y3\n1,0,1\n", one), {"y2 is not among them"});
  expect_says(refusal_of("x1,y1,y2\n1,0,2\n"), {"line 2", "y2", "found 2", "0 or 1"});
}

TEST(Csv, RefusesColumnsThatAreNotThere) {
  ReadOptions options;
  options.target = "goal";
  expect_says(refusal_of("a,label\n1,2\n", options), {"no column 'goal'", "--target", "'a', 'label'"});
  options = {};
  options.weights = "w";
  expect_says(refusal_of("a,label\n1,2\n", options), {"no column 'w'", "--weights"});
  options = {};
  options.id = "name";
  expect_says(refusal_of("a,label\n1,2\n", options), {"no column 'name'", "--id"});
  options.id = "label";
  expect_says(refusal<UsageError>([&] { read_text("a,label\n1,2\n", options); }),
              {"two of target, weights, id and folds"});
}

TEST(Csv, RefusesBadRows) {
  expect_says(refusal_of("a,b,label\n1,2,x\n1,2\n"), {"file: line 3", "found 2 cells", "expected 3"});
  expect_says(refusal_of("a,b,label\n1,2,x,\n"), {"line 2", "found 4 cells", "expected 3"});
  expect_says(refusal_of("a,b,label\n1,2,x\n\n1,2,x\n"), {"line 3", "blank line"});
  expect_says(refusal_of("a,b,label\n1,two,x\n"), {"line 2, column 2", "'b'", "'two'", "finite number"});
  expect_says(refusal_of("a,b,label\n1,,x\n"), {"line 2, column 2", "missing value"});
  expect_says(refusal_of("a,b,label\n1, ,x\n"), {"line 2, column 2", "missing value"});
  expect_says(refusal_of("a,b,label\n1,2,\n"), {"line 2, column 3", "missing label"});
  expect_says(refusal_of("a,b,label\n1,2,\" \"\n"), {"line 2, column 3", "missing label"});
  expect_says(refusal_of("a,b,label\n1,\"2,x\n"), {"line 2, column 2", "not closed"});
  expect_says(refusal_of("a,label\n1,\"x\"y\n"), {"line 2, column 2", "closing quote"});
  for (const std::string bad : {"nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "0x10", "1.2.3", "--1", "+-1", "1e",
                                ".", "-", "1 2", "1_000", "1d3", "?"}) {
    expect_says(refusal_of("a,label\n" + bad + ",x\n"), {"line 2, column 1", "'a'", "'" + bad + "'", "finite number"});
    EXPECT_THAT(read_text("a,label\n1," + bad + "\n").target, ElementsAre(bad));
  }
}

TEST(Csv, LogicalCellsAreRefusedWithTheRemedy) {
  for (const std::string bad : {"True", "False", "TRUE", "false"})
    expect_says(refusal_of("a,label\n" + bad + ",x\n"), {"line 2, column 1", "'" + bad + "'", "1 and 0"});
  EXPECT_THAT(refusal_of("a,label\nTruth,x\n"), Not(HasSubstr("1 and 0")));
}

FlatModel remembering_model() {
  FlatModel model;
  model.feature_names = {"a", "b"};
  model.d = 2;
  model.target_column = "goal";
  model.weights_column = "w";
  model.id_column = "name";
  return model;
}

TEST(Csv, ColumnsRememberedFromTrainingAreNoFeatures) {
  const FlatModel model = remembering_model();
  const std::string text = "name,a,goal,b,w\nr1,1,yes,2,0.5\nr2,3,no,4,-7\n";
  const RawTable table = read_text(text, {}, Truth::required, &model);
  EXPECT_THAT(dense(table).values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(table.target_name, "goal");
  EXPECT_THAT(table.target, ElementsAre("yes", "no"));
  EXPECT_THAT(table.weight, IsEmpty());  // not asked for, so not even read
  EXPECT_THAT(table.ids, IsEmpty());
  EXPECT_THAT(dense(read_text("b,a\n2,1\n", {}, Truth::optional, &model)).values,
              ElementsAre(1, 2));  // they may be absent
}

TEST(Csv, OptionsWinOverWhatTheModelRemembers) {
  const FlatModel model = remembering_model();
  ReadOptions options;
  options.id = "key";
  options.weights = "v";
  options.target = "other";
  const RawTable table =
      read_text("key,name,a,b,goal,other,v,w\nk,n,1,2,yes,no,3,4\n", options, Truth::required, &model);
  EXPECT_THAT(table.ids, ElementsAre("k"));
  EXPECT_THAT(table.weight, ElementsAre(3));
  EXPECT_THAT(table.target, ElementsAre("no"));
  EXPECT_EQ(read_text("a,b,label\n1,2,yes\n", {}, Truth::required, &model).target_name, "label");  // no column goal
}

TEST(Csv, AnUnknownColumnNamesTheOptionsForIt) {
  FlatModel model = remembering_model();
  model.weights_column.clear();
  expect_says(refusal_of("a,b,w,goal\n1,2,3,yes\n", {}, Truth::required, &model),
              {"line 1, column 3", "'w'", "--target", "--id", "--weights"});
}

TEST(Csv, ColumnsThatWouldGiveTheLabelAwayAreListed) {
  EXPECT_THAT(read_text("x,target,label\n1,0.5,u\n").left_out, ElementsAre("target"));
  EXPECT_THAT(read_text("x,label\n1,u\n").left_out, IsEmpty());
  ReadOptions options;
  options.target = "y1";
  EXPECT_THAT(read_text("x,y1,y2,y3\n1,0,1,1\n", options).left_out, ElementsAre("y2", "y3"));
}

TEST(Csv, RefusesBadWeights) {
  ReadOptions options;
  options.weights = "w";
  for (const std::string bad : {"0", "-1", "nan", "inf", "x", "", "1.1e30", "1e-31"})
    expect_says(refusal_of("a,w,label\n1,1,x\n1," + bad + ",x\n", options), {"line 3, column 2", "'w'"});
}

class CsvForModel : public testing::Test {
 protected:
  CsvForModel() {
    model_.feature_names = {"a", "b", "c"};
    model_.d = 3;
    nameless_.d = 3;
  }
  FlatModel model_, nameless_;
};

TEST_F(CsvForModel, FindsColumnsByName) {
  const RawTable table = read_text("c,label,a,target,b\n3,x,1,0,2\n6,y,4,0,5\n", {}, Truth::required, &model_);
  EXPECT_THAT(dense(table).values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(table.feature_names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.target, ElementsAre("x", "y"));
}

TEST_F(CsvForModel, PredictionNeedsNoLabel) {
  const RawTable table = read_text("b,a,c\n2,1,3\n", {}, Truth::optional, &model_);
  EXPECT_THAT(dense(table).values, ElementsAre(1, 2, 3));
  EXPECT_THAT(table.target, IsEmpty());
  EXPECT_EQ(table.target_name, "");
  EXPECT_THAT(read_text("b,a,c,label\n2,1,3,\n", {}, Truth::optional, &model_).target, ElementsAre(""));
  ReadOptions options;
  options.target = "goal";
  EXPECT_THAT(read_text("a,b,c,goal\n1,2,3,u\n", options, Truth::optional, &model_).target, ElementsAre("u"));
  EXPECT_THAT(read_text("a,b,c\n1,2,3\n", options, Truth::optional, &model_).target, IsEmpty());
  expect_says(refusal_of("a,b,c\n1,2,3\n", {}, Truth::required, &model_), {"no column label or target"});
}

TEST_F(CsvForModel, RefusesUnknownAndMissingColumns) {
  expect_says(refusal_of("a,b,c,extra\n1,2,3,4\n", {}, Truth::optional, &model_),
              {"column 4", "'extra'", "no feature of the model"});
  expect_says(refusal_of("b,label\n1,2\n", {}, Truth::required, &model_), {"2 of the model's 3 features", "'a', 'c'"});
  FlatModel wide;
  for (int j = 0; j < 9; ++j) wide.feature_names.push_back("f" + std::to_string(j));
  wide.d = 9;
  const std::string message = refusal_of("f0\n1\n", {}, Truth::optional, &wide);
  expect_says(message, {"8 of the model's 9", "'f5' and 3 more"});
  EXPECT_EQ(message.find("'f6'"), std::string::npos);
}

TEST_F(CsvForModel, FeaturesCalledLabelOrNumbersAreStillFeatures) {
  FlatModel odd;
  odd.feature_names = {"label", "7"};
  odd.d = 2;
  const RawTable table = read_text("7,label,target\n1,2,u\n", {}, Truth::required, &odd);
  EXPECT_THAT(dense(table).values, ElementsAre(2, 1));
  EXPECT_THAT(table.target, ElementsAre("u"));
  FlatModel numbered;
  numbered.feature_names = {"0", "1"};
  numbered.d = 2;
  EXPECT_THAT(dense(read_text("1,0\n5,6\n", {}, Truth::optional, &numbered)).values, ElementsAre(6, 5));
}

TEST_F(CsvForModel, ModelWithoutNamesTakesColumnsByCount) {
  const RawTable table = read_text("p,q,label,r\n1,2,x,3\n", {}, Truth::required, &nameless_);
  EXPECT_THAT(dense(table).values, ElementsAre(1, 2, 3));
  expect_says(refusal_of("p,q,label\n1,2,x\n", {}, Truth::required, &nameless_), {"2 feature columns", "3 features"});
}

TEST(Csv, LongLinesAndManyRowsCrossTheBuffer) {
  std::string text = "label";
  const std::size_t d = 150000, n = 5;  // lines far longer than the buffer
  for (std::size_t j = 0; j < d; ++j) text += ",x" + std::to_string(j);
  for (std::size_t i = 0; i < n; ++i) {
    text += "\n" + std::to_string(i);
    for (std::size_t j = 0; j < d; ++j) text += "," + std::to_string(i * d + j) + ".5";
  }
  const RawTable wide = read_text(text);
  ASSERT_EQ(dense(wide).values.size(), n * d);
  for (std::size_t e = 0; e < n * d; ++e) ASSERT_EQ(dense(wide).values[e], static_cast<double>(e) + 0.5);

  text = "a,label\n";
  const std::size_t many = 300000;
  for (std::size_t i = 0; i < many; ++i) text += std::to_string(i) + ",k" + std::to_string(i % 3) + "\n";
  const RawTable tall = read_text(text);
  ASSERT_EQ(dense(tall).rows, many);
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_EQ(dense(tall).values[i], static_cast<double>(i));
    ASSERT_EQ(tall.target[i], "k" + std::to_string(i % 3));
    ASSERT_EQ(tall.line[i], i + 2);
  }
}

TEST(Csv, FilesThatAreNotThereOrNoFiles) {
  expect_says(refusal([] { read_table("no_such_file.csv", {}, Truth::required); }),
              {"no_such_file.csv", "cannot be opened"});
  expect_says(refusal([] { read_table(testing::TempDir(), {}, Truth::required); }), {"is a directory"});
  const TemporaryFile file("a,label\n1,2\n");
  EXPECT_EQ(read_table(file.path(), {}, Truth::required).path, file.path());
}

TEST(Numbers, AgreeWithStrtodToTheLastBit) {
  const auto check = [](const std::string& text) {
    double value = 0;
    const char* const stop = scan_number(text.data(), text.data() + text.size(), value);
    RC_ASSERT(stop == text.data() + text.size());
    const double reference = std::strtod(text.c_str(), nullptr);
    RC_ASSERT(std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(reference));
  };
  EXPECT_TRUE(rc::check("decimals", [&](std::int64_t whole, std::uint64_t fraction, std::uint8_t cut) {
    check(fmt::format("{}.{}", whole / (std::int64_t{1} << (cut % 60)), fraction >> (cut % 64)));
  }));
  EXPECT_TRUE(rc::check("shortest round trip", [&](std::uint64_t bits) {
    const auto value = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(value));
    check(fmt::format("{}", value));
    check(fmt::format("{:.6g}", value));
  }));
  EXPECT_TRUE(rc::check("exponents", [&](std::int32_t mantissa) {
    check(fmt::format("{}e{}", mantissa, *rc::gen::inRange(-290, 290)));
  }));
  for (const char* text : {"-0", "0.0", "9007199254740993", "9007199254740992", "0.1", "1.", ".5", "00012.50",
                           "18446744073709551616", "99999999999999999999999", "4.9e-324", "1.7976931348623157e308",
                           "0.0000000000000000000000001", "123456789012345678.9"})
    check(text);
}

}  // namespace
}  // namespace m4n::detail

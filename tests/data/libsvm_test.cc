// LIBSVM files, and how a format is recognised.
#include "support/flat_model.h"
#include "support/read_text.h"

#include <fmt/format.h>
#include <rapidcheck.h>

namespace m4n::detail {

using test::FlatModel;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Libsvm, ReadsLabelsAndPairs) {
  const RawTable table = read_text("# two examples\n+1 1:0.5 3:-2  # first\r\n-1\nword\t2:1e3 900000:4\n\n");
  const SparseMatrix& x = sparse(table);
  EXPECT_EQ(x.rows, 3U);
  EXPECT_EQ(x.cols, 900000U);
  EXPECT_THAT(x.row_start, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(x.column, ElementsAre(0, 2, 1, 899999));
  EXPECT_THAT(x.value, ElementsAre(0.5, -2, 1000, 4));
  EXPECT_THAT(table.target, ElementsAre("+1", "-1", "word"));
  EXPECT_THAT(table.line, ElementsAre(2, 3, 4));
  EXPECT_THAT(table.feature_names, IsEmpty());
}

TEST(Libsvm, PredictionNeedsNoLabels) {
  const RawTable table = read_text("1:2 2:3\n3:4", {}, Truth::optional);
  EXPECT_THAT(sparse(table).value, ElementsAre(2, 3, 4));
  EXPECT_THAT(table.target, IsEmpty());
  EXPECT_EQ(table.target_name, "");
  expect_says(refusal_of("1:2 2:3\n"), {"line 1", "'1:2'", "expected a label"});
  expect_says(refusal_of("1:2\n5 1:2\n", {}, Truth::optional), {"line 2", "'5'", "unlike the lines before"});
  expect_says(refusal_of("5 1:2\n1:2\n", {}, Truth::optional), {"line 2", "'1:2'", "no label"});
}

TEST(Libsvm, RefusesBadLines) {
  expect_says(refusal_of("1 1:2\n1 2:1 2:3\n"), {"file: line 2", "index 2 after 2", "increase"});
  expect_says(refusal_of("1 1:2\n1 3:1 2:3\n"), {"line 2", "index 2 after 3"});
  expect_says(refusal_of("1 1:2\n1 0:1\n"), {"line 2", "index 0", "from 1"});
  expect_says(refusal_of("1 1:2\n1 2147483649:1\n"), {"line 2", "2147483649", "2^31"});
  expect_says(refusal_of("1 1:2\n1 99999999999999999999999:1\n"), {"line 2", "2^31"});
  for (const std::string bad :
       {"a:1", "-1:2", "1:", ":1", "1:x", "1:nan", "1:inf", "1:1e999", "1:2:3", "7", "1:2,", "1.5:2"})
    expect_says(refusal_of("1 1:2\n1 " + bad + " 9:1\n"), {"line 2", "'" + bad + "'", "index:value"});
  expect_says(refusal_of("1 1:2\n1 1: 2\n"), {"line 2", "'1:'"});
  expect_says(refusal_of("1 qid:3 1:2\n"), {"line 1", "qid:3", "ranking"});
  expect_says(refusal_of("1,3 1:2\n"), {"line 1", "'1,3'", "multi-label"});
  expect_says(refusal_of("1 1:2\n\n1 1:2\n"), {"line 2", "blank line"});
  ReadOptions libsvm;
  libsvm.format = "libsvm";
  expect_says(refusal_of("1\n2\n", libsvm), {"no index:value pair"});
  expect_says(refusal_of("# nothing\n", libsvm), {"no examples"});
  ReadOptions named;
  named.weights = "w";
  expect_says(refusal<UsageError>([&] { read_text("1 1:2\n", named); }), {"--weights w", "no named columns"});
}

TEST(Libsvm, ModelSaysHowManyColumns) {
  FlatModel model;
  model.d = 4;
  EXPECT_EQ(sparse(read_text("1 2:1\n", {}, Truth::required, &model)).cols, 4U);
  EXPECT_EQ(sparse(read_text("1 4:1\n", {}, Truth::required, &model)).cols, 4U);
  expect_says(refusal_of("1 2:1\n1 5:1\n", {}, Truth::required, &model), {"line 2", "index 5", "4 features", "leave"});
}

TEST(Libsvm, AnIndexFarBeyondTheFileIsRefusedInTraining) {
  expect_says(refusal_of("1 1:2\n2 200000000:1\n1 2:3\n"),
              {"file: line 2", "index 200000000", "only 3 entries", "renumber"});
  EXPECT_EQ(sparse(read_text("1 1:2\n2 1000000:1\n")).cols, 1000000U);  // below that no question is asked
  std::string wide;                                                     // 2001 entries are enough for two million
  for (int i = 0; i < 2000; ++i) wide += "1 7:1\n";
  EXPECT_EQ(sparse(read_text(wide + "2 2000000:1\n")).cols, 2000000U);
  expect_says(refusal_of(wide + "2 2003000:1\n"), {"line 2001", "index 2003000", "2001 entries"});
  FlatModel model;
  model.d = 2147483648U;
  EXPECT_THAT(sparse(read_text("1 2147483648:1\n", {}, Truth::required, &model)).column, ElementsAre(2147483647U));
  EXPECT_EQ(sparse(read_text("1 200000000:1\n", {}, Truth::required, &model)).cols, model.d);
}

TEST(Libsvm, RandomTablesComeBackAsTheyWere) {
  EXPECT_TRUE(rc::check("round trip", [](const std::vector<std::vector<std::pair<std::uint8_t, double>>>& rows) {
    RC_PRE(!rows.empty());
    SparseMatrix expected;
    std::string text;
    for (const auto& row : rows) {
      text += "c" + std::to_string(row.size());
      std::size_t index = 0;
      for (const auto& [gap, value] : row) {
        index += gap + std::size_t{1};
        expected.column.push_back(static_cast<std::uint32_t>(index - 1));
        expected.value.push_back(value);
        text += fmt::format(" {}:{}", index, value);
        expected.cols = std::max(expected.cols, index);
      }
      expected.row_start.push_back(expected.value.size());
      text += "\n";
    }
    RC_PRE(expected.cols > 0);
    ReadOptions options;
    options.format = "libsvm";
    const RawTable table = read_text(text, options);
    RC_ASSERT(sparse(table).cols == expected.cols);
    RC_ASSERT(sparse(table).rows == rows.size());
    RC_ASSERT(sparse(table).column == expected.column);
    RC_ASSERT(sparse(table).value == expected.value);
    RC_ASSERT(sparse(table).row_start == expected.row_start);
  }));
}

TEST(FormatByContent, TellsLibsvmFromCsv) {
  for (const std::string& text : std::initializer_list<std::string>{
           "1 1:2\n", "\n\n1 1:2\n", "a 7:0.5 9:1\n", "# x, y\n1 1:2\n", "0\n1\n0 3:1\n", byte_order_mark + "1 1:2\n"})
    EXPECT_TRUE(std::holds_alternative<SparseMatrix>(read_text(text).x)) << text;
  EXPECT_TRUE(std::holds_alternative<SparseMatrix>(read_text("5:1 7:2\n", {}, Truth::optional).x));
  for (const char* text : {"a,label\n1,2\n", "a 1:2,label\n1,2\n", "#a,label\n1,2\n"})
    EXPECT_TRUE(std::holds_alternative<DenseMatrix>(read_text(text).x)) << text;
  ReadOptions csv;
  csv.format = "csv";
  expect_says(refusal_of("1 1:2\n", csv), {"separated by commas"});
}

}  // namespace
}  // namespace m4n::detail

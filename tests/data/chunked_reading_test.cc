// Files read in chunks by several threads: the same table, or the same refusal, as line by line.
#include <filesystem>
#include <fstream>

#include "core/rng.h"
#include "data/table.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::HasSubstr;

struct Outcome {
  RawTable table;
  std::string refusal;  // empty: the table was read
};

Outcome outcome(const std::string& text, const ReadOptions& options, const ExpectedColumns* expected,
                const Chunking& chunking) {
  Outcome out;
  try {
    Input input = Input::memory(text, "file");
    LineReader lines(input, chunking);
    out.table = read_table(lines, options, expected != nullptr ? Truth::optional : Truth::required, expected);
  } catch (const Error& error) {
    out.refusal = error.what();
  }
  return out;
}

void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.refusal, b.refusal);
  ASSERT_EQ(a.table.x.index(), b.table.x.index());
  if (const auto* x = std::get_if<DenseMatrix>(&a.table.x)) {
    const auto& y = std::get<DenseMatrix>(b.table.x);
    ASSERT_EQ(std::tie(x->rows, x->cols, x->values), std::tie(y.rows, y.cols, y.values));
  } else {
    const SparseMatrix &s = std::get<SparseMatrix>(a.table.x), &t = std::get<SparseMatrix>(b.table.x);
    ASSERT_EQ(std::tie(s.rows, s.cols, s.row_start, s.column, s.value),
              std::tie(t.rows, t.cols, t.row_start, t.column, t.value));
  }
  const auto parts = [](const RawTable& t) {
    return std::tie(t.path, t.feature_names, t.left_out, t.target_name, t.target, t.output_names, t.outputs, t.weight,
                    t.ids, t.folds, t.line, t.costs.names, t.costs.values.rows, t.costs.values.values);
  };
  ASSERT_EQ(parts(a.table), parts(b.table));
}

void expect_same_in_chunks(const std::string& text, const ReadOptions& options = {},
                           const ExpectedColumns* expected = nullptr) {
  const Outcome whole = outcome(text, options, expected, {});
  for (const unsigned threads : {2U, 3U, 8U})
    for (const std::size_t bytes : {1, 7, 40, 300, 1 << 19}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, chunks of " << bytes << " bytes");
      ASSERT_NO_FATAL_FAILURE(expect_same(whole, outcome(text, options, expected, {threads, bytes}))) << text;
    }
}

class RandomFile {
 public:
  explicit RandomFile(std::uint64_t seed) : rng_(seed), newline_(one_in(2) ? "\r\n" : "\n") {}

  std::string csv() {
    std::string text = (one_in(5) ? byte_order_mark : "") + "a,\"the \"\"b\"\"\",label,w,id,fee" + newline_;
    rows(text, [&] {
      text += one_in(60) ? "x," : one_in(9) ? "\" 3\"," : std::to_string(rng_.normal()) + ",";
      text += std::to_string(rng_.below(9)) + ",";
      text += one_in(3) ? "\"d, og\"," : one_in(60) ? "," : one_in(3) ? "\"un\"\"quoted\"," : " cat ,";
      text +=
          std::to_string(rng_.below(100) == 0 ? 0 : 1 + rng_.below(3)) + ",id" + std::to_string(rng_.below(99)) + ",";
      text += std::to_string(rng_.below(5)) + (one_in(60) ? ",7" : "");
    });
    return text;
  }
  std::string ranks() {
    std::string text = "a,r1,r2" + newline_;
    rows(text, [&] { text += one_in(2) ? "1,1,2" : one_in(40) ? "1,2,2" : "-.5,2,1"; });
    return text;
  }
  std::string libsvm() {
    std::string text;
    const bool labelled = one_in(2);
    rows(text, [&] {
      if (one_in(10)) return void(text += "# only a comment");
      if (one_in(80) != labelled) text += std::to_string(rng_.below(3));
      std::uint64_t index = 0;
      for (std::uint64_t pairs = rng_.below(4); pairs > 0; --pairs)
        text += " " + std::to_string(index += 1 + rng_.below(3)) + ":" + std::to_string(rng_.normal());
      if (one_in(60)) text += " 1:2:3";
      if (one_in(5)) text += " # comment";
    });
    return text;
  }

 private:
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
  template <class Row>
  void rows(std::string& text, Row&& row) {
    if (one_in(6)) text += newline_;
    for (std::uint64_t n = rng_.below(14); n > 0; --n) {
      row();
      text += newline_;
      if (one_in(40)) text += " \t" + newline_;
    }
    for (std::uint64_t blank = rng_.below(3); blank > 0; --blank) text += newline_;
    if (one_in(3) && text.ends_with(newline_)) text.resize(text.size() - newline_.size());
  }
  Rng rng_;
  std::string newline_;
};

TEST(ChunkedReading, RandomCsvFilesAreReadOrRefusedAsByOneThread) {
  ReadOptions options;
  options.weights = "w";
  options.id = "id";
  options.costs = {"fee"};
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const std::string text = RandomFile(seed).csv();
    ASSERT_NO_FATAL_FAILURE(expect_same_in_chunks(text, options)) << seed;
    refused += outcome(text, options, nullptr, {}).refusal.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 8U);
  EXPECT_LT(refused, 72U);
}

TEST(ChunkedReading, RandomRankings) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    ASSERT_NO_FATAL_FAILURE(expect_same_in_chunks(RandomFile(seed).ranks()));
}

TEST(ChunkedReading, RandomLibsvmFilesAreReadOrRefusedAsByOneThread) {
  ReadOptions options;
  options.format = "libsvm";
  ExpectedColumns expected;
  expected.d = 8;
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const std::string text = RandomFile(seed).libsvm();
    ASSERT_NO_FATAL_FAILURE(expect_same_in_chunks(text, options)) << seed;
    ASSERT_NO_FATAL_FAILURE(expect_same_in_chunks(text, options, &expected)) << seed;
    refused += outcome(text, options, &expected, {}).refusal.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 8U);
  EXPECT_LT(refused, 72U);
}

// Whatever thread meets it first.
TEST(ChunkedReading, TheFirstOfManyDefectsIsTheOneReported) {
  std::string text = "a,label\n";
  for (int row = 0; row < 5000; ++row) text += row >= 2000 && row % 2 == 0 ? "x,y\n" : "1,y\n";
  for (int repeat = 0; repeat < 20; ++repeat)
    EXPECT_THAT(outcome(text, {}, nullptr, {8, 100}).refusal, HasSubstr("line 2002, column 1"));
}

TEST(ChunkedReading, LinesLongerThanAChunk) {
  std::string text = "label";
  for (int c = 0; c < 500; ++c) text += ",x" + std::to_string(c);
  for (const char* label : {"a", "b", "c"}) {
    text += "\n" + std::string(label);
    for (int c = 0; c < 500; ++c) text += "," + std::to_string(c * 0.125);
  }
  expect_same_in_chunks(text);
}

TEST(ChunkedReading, FilesAsWell) {
  std::string text = "a,label\n";
  for (int row = 0; row < 40000; ++row) text += std::to_string(row) + (row % 3 == 0 ? ",x\n" : ",y\n");
  const TemporaryFile file(text);
  const RawTable whole = read_text(text);
  for (const std::size_t bytes : {1000, 1 << 16, 1 << 19}) {
    Input input = Input::open(file.path());
    LineReader lines(input, {3, bytes});
    const RawTable table = read_table(lines, {}, Truth::required, nullptr);
    EXPECT_EQ(dense(table).values, dense(whole).values);
    EXPECT_EQ(table.line, whole.line);
    EXPECT_EQ(lines.line_number(), 40001U);
  }
}

TEST(ChunkedReading, AFileThatShrinksWhileItIsReadIsRefused) {
  std::string text = "a,label\n";
  for (int row = 0; row < 400000; ++row) text += row % 3 == 0 ? "1,x\n" : "2,y\n";
  for (const unsigned threads : {1U, 3U}) {
    const TemporaryFile file(text);
    Input input = Input::open(file.path());
    LineReader lines(input, {threads, 1 << 16});
    std::filesystem::resize_file(file.path(), text.size() / 2);
    expect_says(refusal([&] { read_table(lines, {}, Truth::required, nullptr); }),
                {file.path(), "ends after", std::to_string(text.size())});
  }
}

}  // namespace
}  // namespace m4n::detail

// The layout of the OCR letters.
#include "structures/chains/ocr_letters.h"

#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;

OcrWords letters(std::string_view text) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_ocr_letters(lines);
}
std::string letters_refusal(std::string_view text) {
  return refusal([&] { letters(text); });
}
OcrWords for_model(std::string_view text, std::size_t pixels, Truth truth) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_ocr_letters(lines, {"a", "b"}, pixels, truth);
}

const std::string good =
    "1\tb\t2\t7\t1\t0\t0\t1\n"
    "2\ta\t-1\t7\t2\t0\t1\t0.5\t\r\n"
    "3\tc\t-1\t8\t1\t9\t-2e1\t0";

TEST(OcrLetters, ReadsWordsLettersAndFolds) {
  const OcrWords words = letters(good);
  const Dataset& data = words.words.data;
  const auto& x = std::get<DenseMatrix>(data.x);
  EXPECT_EQ(x.rows, 3U);
  EXPECT_EQ(x.cols, 2U);
  EXPECT_THAT(x.values, ElementsAre(0, 1, 1, 0.5, -20, 0));
  EXPECT_THAT(data.class_names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(data.label, ElementsAre(1, 0, 2));
  EXPECT_THAT(words.folds, ElementsAre("0", "9"));
  ASSERT_EQ(data.examples(), 2U);
  EXPECT_EQ(data.feature_rows.begin(0), 0U);
  EXPECT_EQ(data.feature_rows.end(0), 2U);
  EXPECT_EQ(data.labels.end(1), 3U);
}

TEST(OcrLetters, ModelsHaveTheirOwnClasses) {
  const OcrWords words = for_model(good, 2, Truth::required);
  EXPECT_THAT(words.words.data.class_names, ElementsAre("a", "b"));
  EXPECT_THAT(words.words.data.label, ElementsAre(1, 0, unknown_label));
  EXPECT_THAT(words.words.names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(words.words.truth, ElementsAre(1, 0, 2));
  expect_says(refusal([] { for_model(good, 3, Truth::required); }),
              {"file: line 1", "found 8 columns", "expected 9", "3 pixels"});
  const std::string unknown = "1\t_\t-1\t7\t1\t0\t0\t1\n";
  EXPECT_THAT(for_model(unknown, 2, Truth::optional).words.data.label, ElementsAre(unknown_label));
  expect_says(refusal([&] { for_model(unknown, 2, Truth::required); }), {"line 1", "'_'", "not known"});
  expect_says(letters_refusal(unknown), {"line 1, column 2 (letter)", "'_'"});
}

TEST(OcrLetters, RefusesBrokenWords) {
  const std::string first = "1\tb\t2\t7\t1\t0\t0\t1\n";
  expect_says(letters_refusal(first), {"file: the file ends within a word", "letter 1", "line 1", "2 follows"});
  expect_says(letters_refusal(first + "3\ta\t-1\t7\t2\t0\t0\t1\n"), {"file: line 2", "letter 3", "letter 2 follows"});
  expect_says(letters_refusal(first + "2\ta\t-1\t8\t2\t0\t0\t1\n"), {"line 2", "word_id 8 after 7"});
  expect_says(letters_refusal(first + "2\ta\t-1\t7\t1\t0\t0\t1\n"), {"line 2", "position 1 after 1"});
  expect_says(letters_refusal(first + "2\ta\t-1\t7\t2\t5\t0\t1\n"), {"line 2", "fold '5' after '0'"});
  expect_says(letters_refusal("1\tb\t-1\t7\t1\t0\t0\t1\n2\ta\t-1\t7\t2\t0\t0\t1\n"),
              {"line 2", "letter 2 goes on with word 7", "next_id -1"});
}

TEST(OcrLetters, RefusesBadCells) {
  expect_says(letters_refusal(good + "\n4\td\t-1\t9\t1\t0\t1\n"), {"file: line 4", "found 7 columns", "expected 8"});
  expect_says(letters_refusal(good + "\n4\td\t-1\t9\t1\t0\t1\t1\t1\n"), {"line 4", "found 9 columns", "expected 8"});
  expect_says(letters_refusal("1\ta\t-1\t9\t1\t0\n"), {"line 1", "found 6 columns", "at least 7"});
  expect_says(letters_refusal("1\ta\t-1\t9\t1\t0\t\t\n"), {"line 1, column 7 (pixel 1)", "''"});
  expect_says(letters_refusal("1 a -1 9 1 0 1\n"), {"line 1", "found 1 column,", "single tabs"});
  expect_says(letters_refusal("1\ta b\t-1\t9\t1\t0\t1\n"), {"line 1, column 2 (letter)", "'a b'", "one letter"});
  expect_says(letters_refusal("1\t\t-1\t9\t1\t0\t1\n"), {"line 1, column 2 (letter)", "''"});
  expect_says(letters_refusal("x\ta\t-1\t9\t1\t0\t1\n"), {"line 1, column 1 (id)", "'x'", "whole number"});
  expect_says(letters_refusal("-1\ta\t-1\t9\t1\t0\t1\n"), {"line 1, column 1 (id)", "from 0"});
  expect_says(letters_refusal("1\ta\t-2\t9\t1\t0\t1\n"), {"line 1, column 3 (next_id)", "'-2'", "from -1"});
  expect_says(letters_refusal("1\ta\t1.5\t9\t1\t0\t1\n"), {"column 3 (next_id)", "'1.5'"});
  expect_says(letters_refusal("1\ta\t-1\t\t1\t0\t1\n"), {"column 4 (word_id)"});
  expect_says(letters_refusal("1\ta\t-1\t9\tp\t0\t1\n"), {"column 5 (position)"});
  expect_says(letters_refusal("1\ta\t-1\t9\t1\t\t1\n"), {"column 6 (fold)"});
  for (const std::string bad : {"nan", "inf", "x", "1e999", "1 ", ""})
    expect_says(letters_refusal("1\ta\t-1\t9\t1\t0\t1\t" + bad + "\t0\n"), {"column 8 (pixel 2)", "'" + bad + "'"});
  expect_says(letters_refusal(""), {"file: no letters"});
  expect_says(letters_refusal(good + "\n\n" + good), {"blank line"});
  expect_says(letters_refusal("1\ta\t-1\t9\t1\t0\t1\n"), {"only one label", "'a'"});
}

TEST(OcrLetters, RealFile) {
  const std::string folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no data sets here";
  Input input = Input::open(folder + "/ocr_letters.data.gz");
  LineReader lines(input);
  const OcrWords words = read_ocr_letters(lines);
  EXPECT_EQ(words.words.data.examples(), 6877U);
  EXPECT_EQ(words.words.data.class_names.size(), 26U);
  EXPECT_EQ(std::get<DenseMatrix>(words.words.data.x).rows, 52152U);
  EXPECT_EQ(std::get<DenseMatrix>(words.words.data.x).cols, 128U);
  EXPECT_EQ(std::count(words.folds.begin(), words.folds.end(), "0"), 626);
  EXPECT_EQ(std::count(words.folds.begin(), words.folds.end(), "9"), 675);
}

}  // namespace
}  // namespace m4n::detail

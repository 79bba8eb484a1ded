// CoNLL columns: what is kept, what is refused, and reading sentence by sentence.
#include "structures/chains/text.h"

#include <fmt/format.h>
#include <rapidcheck.h>
#include <zlib.h>

#include "support/read_text.h"

namespace m4n::detail {
namespace {

ConllText conll(std::string_view text) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_conll(lines);
}
std::string conll_refusal(std::string_view text) {
  return refusal([&] { conll(text); });
}

// All cells, a line per token and a blank line behind every sentence.
std::string cells(const ConllText& text) {
  std::string out;
  for (std::size_t s = 0; s < text.sentences(); ++s) {
    for (std::size_t t = text.begin(s); t < text.end(s); ++t)
      for (std::size_t c = 0; c < text.columns(); ++c)
        out.append(text.cell(t, c)).append(c + 1 < text.columns() ? " " : "\n");
    out += "\n";
  }
  return out;
}

TEST(Conll, ReadsColumnsAndSentences) {
  const ConllText text = conll("\n\nThe DT B-NP\ncat  NN\tI-NP \n \t\n\n# SYM O\n-DOCSTART- -X- O");
  EXPECT_EQ(text.sentences(), 2U);
  EXPECT_EQ(text.tokens(), 4U);
  EXPECT_EQ(text.columns(), 3U);
  EXPECT_EQ(cells(text), "The DT B-NP\ncat NN I-NP\n\n# SYM O\n-DOCSTART- -X- O\n\n");
  EXPECT_EQ(text.line(1), "cat  NN\tI-NP ");
  EXPECT_EQ(text.first_line(0), 3U);
  EXPECT_EQ(text.first_line(1), 7U);
  EXPECT_EQ(text.line_number(1), 4U);
  EXPECT_EQ(text.line_number(2), 7U);
  EXPECT_EQ(text.line_number(3), 8U);
}

TEST(Conll, LineEndsMarksAndPackingMakeNoDifference) {
  const std::string plain = "a b\nc d\n\ne f\n";
  const std::string expected = cells(conll(plain));
  EXPECT_EQ(expected, "a b\nc d\n\ne f\n\n");
  EXPECT_EQ(cells(conll("a b\r\nc d\r\n\r\ne f\r\n")), expected);
  EXPECT_EQ(cells(conll("a b\nc d\n\ne f")), expected);
  EXPECT_EQ(cells(conll(byte_order_mark + plain)), expected);
  EXPECT_EQ(conll("a b\r\n").line(0), "a b");

  TemporaryFile file("");
  gzFile_s* const packed = gzopen(file.path().c_str(), "wb");
  ASSERT_EQ(gzwrite(packed, plain.data(), static_cast<unsigned>(plain.size())), static_cast<int>(plain.size()));
  gzclose(packed);
  Input input = Input::open(file.path());
  LineReader lines(input);
  EXPECT_EQ(cells(read_conll(lines)), expected);
}

TEST(Conll, BytesPassThrough) {
  const std::string word("\xff\xfe\xc3\x00\x01", 5);  // neither UTF-8 nor text
  const ConllText text = conll(word + " O\n");
  EXPECT_EQ(text.cell(0, 0), word);
  EXPECT_EQ(conll("\xc2\xa0 O\n").cell(0, 0), "\xc2\xa0");  // a no-break space is no separator
}

TEST(Conll, RefusesRaggedColumns) {
  expect_says(conll_refusal("\na b c\n\nd e f\ng h\n"), {"file: line 5", "found 2 columns", "expected 3 as on line 2"});
  expect_says(conll_refusal("a b\na\n"), {"file: line 2", "found 1 column,", "expected 2"});
  expect_says(conll_refusal("a b\na b c\n"), {"file: line 2", "found 3 columns"});
  expect_says(conll_refusal("a\tb\tc\na\t\tc\n"), {"file: line 2", "found 2 columns", "none may be empty"});
  expect_says(conll_refusal(""), {"file: no tokens"});
  expect_says(conll_refusal("\n \n\t\n"), {"file: no tokens"});
}

TEST(Conll, ALineOfTenMegabytes) {
  std::string word;
  word.resize(10'000'000, 'w');
  const ConllText text = conll("a O\n" + word + " B\n\nb O\n");
  EXPECT_EQ(text.tokens(), 3U);
  EXPECT_EQ(text.cell(1, 0), word);
  EXPECT_EQ(text.cell(1, 1), "B");
  std::string many = "a O\n";
  for (int i = 0; i < 100'000; ++i) many += "x ";
  expect_says(conll_refusal(many + "\n"), {"line 2", "found 100000 columns"});
}

TEST(Conll, SentenceBySentenceTheMemoryStays) {
  std::string text;
  for (int s = 0; s < 2000; ++s) text += fmt::format("w{} x{}\nv{} y\n{}", s, s * s, s, s % 3 == 0 ? "\n\n" : "\n");
  const ConllText all = conll(text);
  ASSERT_EQ(all.sentences(), 2000U);
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  ConllReader reader(lines);
  ConllText one;
  const char* arena = nullptr;
  for (std::size_t s = 0; s < all.sentences(); ++s) {
    one.clear();
    ASSERT_TRUE(reader.next(one));
    ASSERT_EQ(one.sentences(), 1U);
    ASSERT_EQ(one.tokens(), 2U);
    ASSERT_EQ(one.first_line(0), all.first_line(s));
    ASSERT_EQ(reader.line_number(), all.first_line(s) + 2);  // the blank line behind the sentence
    for (std::size_t t = 0; t < 2; ++t) ASSERT_EQ(one.line(t), all.line(all.begin(s) + t));
    if (s == 0) arena = one.line(0).data();
    ASSERT_EQ(one.line(0).data(), arena);  // no sentence outgrows the room made for the first
  }
  one.clear();
  EXPECT_FALSE(reader.next(one));
  EXPECT_EQ(one.sentences(), 0U);
}

TEST(Conll, RaggedColumnsAreSeenAcrossSentences) {
  Input input = Input::memory("a b\n\nc\n", "file");
  LineReader lines(input);
  ConllReader reader(lines);
  ConllText one;
  ASSERT_TRUE(reader.next(one));
  one.clear();
  expect_says(refusal([&] { reader.next(one); }), {"line 3", "expected 2 as on line 1"});
}

TEST(Conll, RandomTextsComeBackAsTheyWere) {
  EXPECT_TRUE(rc::check("cells, separators and blank lines at random", [] {
    const auto columns = *rc::gen::inRange(1, 5);
    const auto sentences = *rc::gen::inRange(1, 6);
    std::string file, expected;
    for (int s = 0; s < sentences; ++s) {
      const auto tokens = *rc::gen::inRange(1, 5);
      for (int t = 0; t < tokens; ++t) {
        for (int c = 0; c < columns; ++c) {
          const std::string cell = *rc::gen::nonEmpty(rc::gen::container<std::string>(
              rc::gen::suchThat<char>([](char b) { return b != ' ' && b != '\t' && b != '\n' && b != '\r'; })));
          file += *rc::gen::element<std::string>(c == 0 ? "" : " ", c == 0 ? " " : "\t", c == 0 ? "\t" : " \t ") + cell;
          expected += cell + (c + 1 < columns ? " " : "\n");
        }
        file += *rc::gen::element<std::string>("\n", " \n", "\r\n");
      }
      file += *rc::gen::element<std::string>("\n", "\n\n", " \n\r\n");
      expected += "\n";
    }
    if (file.starts_with(byte_order_mark)) return;
    RC_ASSERT(cells(conll(file)) == expected);
  }));
}

TEST(Conll, RealFiles) {
  const std::string folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no data sets here";
  Input input = Input::open(folder + "/conll2000_train.txt.gz");
  LineReader lines(input);
  const ConllText text = read_conll(lines);
  EXPECT_EQ(text.sentences(), 8936U);
  EXPECT_EQ(text.tokens(), 211727U);
  EXPECT_EQ(text.columns(), 3U);
}

}  // namespace
}  // namespace m4n::detail

// Templates: what they give for every token, and what they refuse.
#include "structures/chains/text_template.h"

#include <fmt/format.h>

#include <set>

#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;

ConllText conll(std::string_view text) {
  Input input = Input::memory(text, "data");
  LineReader lines(input);
  return read_conll(lines);
}

// The attributes of every token of the first sentence.
std::vector<std::vector<std::string>> attributes(const std::string& rules, std::string_view text) {
  const ConllText data = conll(text);
  const TextTemplate parsed = TextTemplate::parse(rules, "rules");
  parsed.check_columns(data, data.columns());
  AttributeBatch batch;
  parsed.append(data, 0, batch);
  std::vector<std::vector<std::string>> out(batch.tokens());
  for (std::size_t t = 0; t < out.size(); ++t)
    for (std::size_t a = batch.begin(t); a < batch.end(t); ++a) out[t].emplace_back(batch.name(a));
  return out;
}
std::string one(const std::string& rule, const std::string& word) { return attributes(rule, word + " x\n")[0][0]; }

std::string parse_refusal(const std::string& rules) {
  return refusal([&] { TextTemplate::parse(rules, "rules"); });
}

TEST(TextTemplate, CellsAroundTheToken) {
  const auto found =
      attributes("U01:%x[-1,0]/%x[0,0]\r\n\n# comment\n  U02:%x[+1,1]-x \nB", "the DT\npound NN\nis VB\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0], ElementsAre("U01:_B-1/the", "U02:NN-x"));
  EXPECT_THAT(found[1], ElementsAre("U01:the/pound", "U02:VB-x"));
  EXPECT_THAT(found[2], ElementsAre("U01:pound/is", "U02:_B+1-x"));
}

TEST(TextTemplate, MarkersCountFromTheEnds) {
  const auto found = attributes("U%x[-3,0]|%x[3,0]|%s[-2,0,1]|%h[2,0]", "a x\nb x\n");
  EXPECT_THAT(found[0], ElementsAre("U_B-3|_B+2|_B-2|_B+1"));
  EXPECT_THAT(found[1], ElementsAre("U_B-2|_B+3|_B-1|_B+2"));
  EXPECT_THAT(attributes("U%x[-1,0]%x[1,0]", "a x\n")[0], ElementsAre("U_B-1_B+1"));
}

TEST(TextTemplate, SentencesAreApart) {
  const ConllText data = conll("a x\n\nb x\n");
  const TextTemplate rules = TextTemplate::parse("U%x[-1,0]%x[0,0]%x[1,0]", "rules");
  AttributeBatch batch;
  rules.append(data, 1, batch);
  ASSERT_EQ(batch.attributes(), 1U);
  EXPECT_EQ(batch.name(0), "U_B-1b_B+1");
}

TEST(TextTemplate, LowerPrefixSuffixShape) {
  EXPECT_EQ(one("U%l[0,0]", "McDONALD-9\xc3\x89"), "Umcdonald-9\xc3\x89");
  EXPECT_EQ(one("U%p[0,0,3]", "Rockwell"), "URoc");
  EXPECT_EQ(one("U%p[0,0,3]", "ab"), "Uab");
  EXPECT_EQ(one("U%s[0,0,3]", "Rockwell"), "Uell");
  EXPECT_EQ(one("U%s[0,0,3]", "abc"), "Uabc");
  EXPECT_EQ(one("U%s[0,0,9]", "ab"), "Uab");
  EXPECT_EQ(one("U%p[0,0,2]", "\xc3\x89t\xc3\xa9"), "U\xc3\x89t");
  EXPECT_EQ(one("U%s[0,0,2]", "\xc3\x89t\xc3\xa9"), "Ut\xc3\xa9");
  EXPECT_EQ(one("U%h[0,0]", "Rockwell"), "UXxxxx");
  EXPECT_EQ(one("U%h[0,0]", "U.S.-1998ab"), "UX.X.-0000xx");
  EXPECT_EQ(one("U%h[0,0]", "\xc3\x89t\xc3\xa9......"), "Uuxu....");
}

TEST(TextTemplate, BytesThatAreNoUtf8) {
  EXPECT_EQ(one("U%p[0,0,1]", "\x80\x80z"), "U\x80\x80");  // stray continuation bytes stick to what is before them
  EXPECT_EQ(one("U%s[0,0,1]", "z\x80\x80"), "Uz\x80\x80");
  EXPECT_EQ(one("U%s[0,0,1]", "\x80"), "U\x80");
  EXPECT_EQ(one("U%h[0,0]", "\x80\x80z"), "Uux");
  EXPECT_EQ(one("U%h[0,0]",
                "\xff\xfe"
                "A"),
            "UuuX");
}

TEST(TextTemplate, TransitionsAndCounts) {
  EXPECT_FALSE(TextTemplate::parse("U00:%x[0,0]", "rules").transitions());
  EXPECT_TRUE(TextTemplate::parse("U00:%x[0,0]\nB\n", "rules").transitions());
  EXPECT_TRUE(TextTemplate::parse("b", "rules").transitions());
  EXPECT_EQ(TextTemplate::parse("B", "rules").attributes(), 0U);
  const TextTemplate fixed = TextTemplate::parse("Ubias\nu%x[0,0]\nB01\n", "rules");
  EXPECT_EQ(fixed.attributes(), 2U);
  EXPECT_EQ(fixed.text(), "Ubias\nu%x[0,0]\nB01\n");
}

TEST(TextTemplate, RefusesOtherSyntax) {
  expect_says(parse_refusal("U%x[0,0]\n*:%x[0,0]\n"), {"rules: line 2", "'*:%x[0,0]'", "Wapiti's *", "U line"});
  expect_says(parse_refusal("# c\nB%x[0,0]\n"), {"rules: line 2", "transitions that depend on the text", "B alone"});
  for (const std::string macro : {"%t[0,0,\"^[A-Z]\"]", "%m[0,0,\"x\"]", "%T[0,0,\"x\"]", "%M[0,0,\"x\"]"})
    expect_says(parse_refusal("U" + macro), {"line 1", "regular expressions", "%p", "%h"});
  expect_says(parse_refusal("U%X[0,0]"), {"line 1", "%l[row,col]"});
  expect_says(parse_refusal("word[0]"), {"line 1", "'word[0]'", "starts with U"});
  expect_says(parse_refusal(""), {"rules: no template"});
  expect_says(parse_refusal("# only\n\n"), {"no template"});
  for (const std::string bad : {"%", "%%", "%x", "%x[", "%x[0", "%x[0]", "%x[0,0", "%x[0,0,0]", "%p[0,0,1,1]",
                                "%p[0,0]", "%y[0,0]", "%x(0,0)", "%[0,0]"})
    expect_says(parse_refusal("U:" + bad), {"rules: line 1", "expected %x[row,col]"});
  for (const std::string bad : {"%x[a,0]", "%x[,0]", "%x[ 0,0]", "%x[+-1,0]", "%x[1001,0]", "%x[-1001,0]", "%x[@1,0]",
                                "%x[99999999999999999999,0]"})
    expect_says(parse_refusal("U:" + bad), {"'" + bad + "'", "the row is"});
  for (const std::string bad : {"%x[0,-1]", "%x[0,]", "%x[0,1001]", "%x[0,0x]"})
    expect_says(parse_refusal("U:" + bad), {"'" + bad + "'", "the column is"});
  for (const std::string bad : {"%p[0,0,0]", "%s[0,0,]", "%s[0,0,1001]"})
    expect_says(parse_refusal("U:" + bad), {"'" + bad + "'", "the length is"});
}

TEST(TextTemplate, ColumnsOutOfRange) {
  const ConllText data = conll("\n\na b O\n");
  const TextTemplate rules = TextTemplate::parse("U0:%x[0,1]\nU1:%x[0,0]/%p[-1,2,3]\n", "rules");
  rules.check_columns(data, 3);
  expect_says(
      refusal([&] { rules.check_columns(data, 2); }),
      {"rules: line 2", "%p[-1,2,3]", "column 2", "data: line 3", "2 columns beside the label", "count from 0"});
  expect_says(refusal([&] { rules.check_columns(data, 1); }), {"rules: line 1", "%x[0,1]", "1 column beside"});
}

TEST(TextTemplate, BuiltInOnes) {
  const ConllText data = conll("He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\ndeficit NN I-NP\nnarrows VBZ B-VP\n");
  const TextTemplate chunking = TextTemplate::load("chunking");
  EXPECT_EQ(chunking.attributes(), 19U);
  chunking.check_columns(data, 2);
  for (const std::string name : {"chunking", "ner", "pos"}) {
    const TextTemplate rules = TextTemplate::load(name);
    EXPECT_TRUE(rules.transitions()) << name;
    rules.check_columns(data, name == "chunking" ? 2 : 1);
    AttributeBatch batch;
    rules.append(data, 0, batch);
    ASSERT_EQ(batch.attributes(), 5 * rules.attributes());
    for (std::size_t t = 0; t < batch.tokens(); ++t) {  // no two rules give the same attribute
      std::set<std::string_view> distinct;
      for (std::size_t a = batch.begin(t); a < batch.end(t); ++a) distinct.insert(batch.name(a));
      EXPECT_EQ(distinct.size(), rules.attributes()) << name;
    }
  }
  AttributeBatch batch;
  chunking.append(data, 0, batch);
  std::set<std::string_view> middle;
  for (std::size_t a = batch.begin(2); a < batch.end(2); ++a) middle.insert(batch.name(a));
  const std::set<std::string_view> expected{"U00:He",         "U01:reckons",     "U02:the",         "U03:deficit",
                                            "U04:narrows",    "U05:reckons/the", "U06:the/deficit", "U10:PRP",
                                            "U11:VBZ",        "U12:DT",          "U13:NN",          "U14:VBZ",
                                            "U15:PRP/VBZ",    "U16:VBZ/DT",      "U17:DT/NN",       "U18:NN/VBZ",
                                            "U20:PRP/VBZ/DT", "U21:VBZ/DT/NN",   "U22:DT/NN/VBZ"};
  EXPECT_EQ(middle, expected);
  expect_says(refusal([&] { chunking.check_columns(data, 1); }), {"template chunking: line 9", "%x[-2,1]"});
  EXPECT_TRUE(builtin_template("other").empty());
}

TEST(TextTemplate, Files) {
  const TemporaryFile file(byte_order_mark + "U%x[0,0]\n");
  EXPECT_EQ(TextTemplate::load(file.path()).attributes(), 1U);
  EXPECT_EQ(TextTemplate::load(file.path()).text(), "U%x[0,0]\n");
  expect_says(refusal([] { TextTemplate::load("no such file"); }), {"no such file"});
  expect_says(parse_refusal(std::string((std::size_t{1} << 20) + 1, '\n')), {"1048577 bytes", "is this a template?"});
}

}  // namespace
}  // namespace m4n::detail

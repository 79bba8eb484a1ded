// CRFsuite's attribute format.
#include "structures/chains/text.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include "support/read_text.h"

namespace m4n::detail {
namespace {

// Every token as label{name=value,..}, a bar between sequences.
std::string read(std::string_view text) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  CrfsuiteReader reader(lines);
  std::string out;
  for (CrfsuiteSequence sequence; reader.next(sequence); out += "|")
    for (std::size_t t = 0; t < sequence.tokens(); ++t) {
      out += fmt::format("{}:{}{{", sequence.line_number(t), sequence.label(t));
      const AttributeBatch& batch = sequence.attributes();
      for (std::size_t a = batch.begin(t); a < batch.end(t); ++a)
        out += fmt::format("{}={},", batch.name(a), batch.value(a));
      out += "}";
    }
  return out;
}
std::string read_refusal(std::string_view text) {
  return refusal([&] { read(text); });
}

TEST(Crfsuite, ReadsLabelsAttributesAndValues) {
  EXPECT_EQ(read("B-NP\tw=the\tpos=DT:0.5\nI-NP\tw=cat\n\n\nO\tbias:2\t\r\nO"),
            "1:B-NP{w=the=1,pos=DT=0.5,}2:I-NP{w=cat=1,}|5:O{bias=2,}6:O{}|");
  EXPECT_EQ(read("\n \n"), "");
  EXPECT_EQ(read("a b\tc d:-1e-3\n"), "1:a b{c d=-0.001,}|");  // blanks belong to names
}

TEST(Crfsuite, ValuesBeforeAndAfterOnesStayInPlace) {
  EXPECT_EQ(read("x\ta\tb:3\tc\td:1\te:0\nx\tf\n"), "1:x{a=1,b=3,c=1,d=1,e=0,}2:x{f=1,}|");
}

TEST(Crfsuite, Escapes) {
  EXPECT_EQ(read("a\\:b\tw=\\:\tx\\\\y:2\t\\:\\\\\\::4\n"), "1:a:b{w=:=1,x\\y=2,:\\:=4,}|");
  expect_says(read_refusal("O\ta\nO\ta\\b\n"), {"file: line 2", "'\\b'", "backslash"});
  expect_says(read_refusal("O\ta\\"), {"line 1", "backslash"});
}

TEST(Crfsuite, UnknownLabels) { EXPECT_EQ(read("_\ta\n\tb\n"), "1:_{a=1,}2:{b=1,}|"); }

TEST(Crfsuite, RefusesWhatIsSomethingElse) {
  expect_says(read_refusal("O\ta\n\nO\tw=http://x\n"), {"file: line 3", "'//x'", "\\:"});
  expect_says(read_refusal("O\ta:1:2\n"), {"line 1", "'a:1:2'", "'1:2'"});
  expect_says(read_refusal("O\ta:\n"), {"line 1", "'a:'", "number"});
  for (const std::string bad : {"nan", "inf", "1e400", "2e30", "-2e30", "0x1", "1 "})
    expect_says(read_refusal("O\ta:" + bad + "\n"), {"line 1", "'a:" + bad + "'"});
  expect_says(read_refusal("O\ta\t\tb\n"), {"line 1", "tab too many"});
  expect_says(read_refusal("O\t:1\n"), {"line 1", "':1'", "expected an attribute"});
  expect_says(read_refusal("O:1\ta\n"), {"line 1", "label 'O:1'", "colon"});
  expect_says(read_refusal("@weight:2\nO\ta\n"), {"line 1", "@weight", "not supported"});
}

TEST(Crfsuite, RandomNamesComeBackAsTheyWere) {
  EXPECT_TRUE(rc::check("any bytes but tabs and line ends, escaped", [] {
    const auto text = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(rc::gen::container<std::string>(
        rc::gen::suchThat<char>([](char b) { return b != '\t' && b != '\n' && b != '\r'; }))));
    std::string file = "L", expected = "1:L{";
    for (const std::string& name : text) {
      file += "\t";
      for (const char c : name) file += (c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
      file += ":2";
      expected += name + "=2,";
    }
    RC_ASSERT(read(file) == expected + "}|");
  }));
}

}  // namespace
}  // namespace m4n::detail

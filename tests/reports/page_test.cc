// Pages: what stands in them is safe whatever the names, and intervals are those of the bootstrap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "data/text.h"
#include "reports/page.h"
#include "reports/resample.h"

namespace m4n::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlEscaped, NamesStayNames) {
  EXPECT_EQ(html_escaped("<b a=\"1\" b='2'>&amp;"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(html_escaped("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xD7\xA9"),
            "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xD7\xA9");
  const std::string odd = "\xEF\xBF\xBD";
  for (const char* text : {"\x1B", "\x7F", "\xFF", "\xC2\x9B", "\xE2\x80\xAE", "\xE2\x81\xA7"})
    EXPECT_THAT(html_escaped(text), testing::StartsWith(odd)) << text;
  // Overlong, a surrogate, beyond Unicode, cut short.
  for (const std::string text :
       {"\xC0\xBC", "\xE0\x80\xBC", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xF0\x9F"}) {
    EXPECT_THAT(html_escaped(text), testing::StartsWith(odd));
    EXPECT_THAT(html_escaped(text), Not(HasSubstr("<")));
  }
}

TEST(HtmlEscaped, AnyBytesGiveWholeCharacters) {
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = rng.below(12); i > 0; --i) text += static_cast<char>(rng.below(256));
    const std::string safe = html_escaped(text);
    for (const char c : safe) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != '<' && c != '"');
    EXPECT_EQ(html_escaped(cut(safe, 9)).find(static_cast<char>(0x1B)), std::string::npos);
  }
}

TEST(Printable, TerminalsObeyNoName) {
  EXPECT_EQ(printable("a\x1B[31mb\r\n\tc\x7F"), "a\\x1b[31mb\\x0d\n\tc\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1m \xC3\xA9 \xE2\x80\xAE \xE2\x82\xAC \xE2\x81\xA6"),
            "\\xc2\\x9b1m \xC3\xA9 \\xe2\\x80\\xae \xE2\x82\xAC \\xe2\\x81\\xa6");
  EXPECT_EQ(shown("x\ny"), "'x\\x0ay'");
}

TEST(Cut, BehindAWholeCharacter) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "ab\u2026");
  EXPECT_EQ(cut("\xD7\xA9\xD7\xA9\xD7\xA9", 4), "\xD7\xA9\u2026");
}

TEST(Page, EveryExhibitInBothForms) {
  Page page{"T <1>", "lead", {}};
  Chart chart{"chart <c>", "x", "y", true, false, true, {{"s <s>", {0.1, 1, 10}, {1, 2, std::nan("")}}}, "note"};
  chart.series[0].marked = 1;
  page.sections.push_back({"Section & co",
                           {Words{"words <w>"}, Table{"table", {{"a|b"}, {"n", true}}, {{"<x>", "1"}}, ""},
                            HeatMap{"map", "r", "c", {"<r>"}, {"c1", "c2"}, {1, -2}, ""},
                            Bars{"bars", "axis", {{"<bar>", 1, 0.5, 1.5, true}}, ""}, chart,
                            Drawing{"drawing", "described", "<path d=\"M0 0\"/>", 10, 10, ""}}});
  const std::string html = page_html(page), markdown = page_markdown(page);
  for (const char* raw : {"<1>", "<w>", "<x>", "<r>", "<bar>", "<c>", "<s>"}) {
    EXPECT_THAT(html, Not(HasSubstr(raw)));
    EXPECT_THAT(markdown, Not(HasSubstr(raw)));
  }
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(markdown, HasSubstr("a\\|b"));
  EXPECT_THAT(markdown, HasSubstr("s &lt;s&gt; (chosen)"));
  EXPECT_EQ(page_html(page), html);
  const std::string svg = svg_file(chart);
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, HasSubstr("<title id=\"t\">chart &lt;c&gt;</title><desc id=\"d\">Chart of y over x"));
  EXPECT_THAT(svg, Not(HasSubstr("var(")));
  EXPECT_THAT(svg, HasSubstr(".s0{stroke:#0b5cad}"));
  EXPECT_THAT(svg, HasSubstr(".s0{stroke:#6fb0f7}"));
}

// The spread of a mean over resamples is its standard error, whether examples are drawn or groups of them; of weights
// the ratio of sums is taken.
TEST(Resample, IntervalsAreStandardErrors) {
  for (const std::size_t n : {400UL, 4096UL, 100'000UL}) {
    Rng rng(n);
    std::vector<double> weight;
    for (std::size_t i = 0; i < n; ++i) weight.push_back(rng.uniform(0.5, 2));
    Resample sums(n, weight, 2, 5);
    double mean = 0, all = 0;
    std::vector<double> value;
    for (std::size_t i = 0; i < n; ++i) {
      value.push_back(rng.normal() + 3 + (i < n / 2 ? 1 : 0));  // a file that is sorted
      sums.add(i, 1, value[i]);
      sums.add(i, 2, 2 * value[i]);
      mean += weight[i] * value[i];
      all += weight[i];
    }
    mean /= all;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += std::pow(weight[i] * (value[i] - mean), 2);
    const double error = std::sqrt(squares) / all;
    EXPECT_NEAR(sums.ratio(1, 0), mean, 1e-9 * mean);
    const std::pair<std::size_t, std::size_t> asked[] = {{1, 0}, {2, 1}};
    const std::vector<Interval> found = sums.intervals(asked);
    EXPECT_NEAR(found[0].se, error, 0.12 * error) << n;
    EXPECT_NEAR(found[0].high - found[0].low, 2 * 1.96 * error, 0.2 * 2 * 1.96 * error) << n;
    EXPECT_NEAR(found[1].low, 2, 1e-9);
    EXPECT_NEAR(found[1].high, 2, 1e-9);
  }
}

TEST(Resample, OneExampleHasNoInterval) {
  const std::vector<double> weight{0, 2};  // an example without weight is not there
  const Resample one(2, weight, 1, 0), two(2, {}, 1, 0);
  const std::pair<std::size_t, std::size_t> asked[] = {{1, 0}};
  EXPECT_FALSE(one.intervals(asked)[0].known());
  EXPECT_TRUE(two.intervals(asked)[0].known());
}

}  // namespace
}  // namespace m4n::detail

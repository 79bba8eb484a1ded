// The text of matchings: what it means, what is refused and in which words, and that written data read back.
#include "structures/permutations/matching_text.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/rng.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Dataset matchings(std::string_view text) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_matchings(lines);
}
Dataset for_model(std::string_view text, const std::vector<std::string>& names, std::size_t features, Truth partners) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  return read_matchings(lines, names, features, partners);
}
std::string matchings_refusal(std::string_view text) {
  return refusal([&] { matchings(text); });
}
const std::vector<double>& values(const Dataset& data) { return std::get<DenseMatrix>(data.x).values; }

const std::string one = "matching 1 1\n1 1 4 5\n";
const std::string good =
    "# made by hand\n"
    "features near\tfar\n"
    "\n"
    "matching 2 2 1\n"
    "1 1 0 -1.5\n"
    "1 2\t1e2   .25\r\n"
    "  # halfway\n"
    "  2 1 3 4  \n"
    "2 2 5 -0\n"
    "\n"
    "matching 1 1\n"
    "1 1 8 9";

TEST(MatchingText, ReadsPairsAndPartners) {
  const Dataset data = matchings(good);
  EXPECT_THAT(values(data), ElementsAre(0, -1.5, 100, 0.25, 3, 4, 5, 0, 8, 9));
  EXPECT_EQ(rows(data.x), 5U);
  EXPECT_EQ(cols(data.x), 2U);
  EXPECT_THAT(data.label, ElementsAre(1, 0, 0));
  EXPECT_THAT(data.feature_names, ElementsAre("near", "far"));
  EXPECT_THAT(data.class_names, IsEmpty());
  ASSERT_EQ(data.examples(), 2U);
  EXPECT_EQ(data.feature_rows.count(), 2U);
  EXPECT_EQ(data.feature_rows.end(0), 4U);
  EXPECT_EQ(data.feature_rows.end(1), 5U);
  EXPECT_EQ(data.labels.end(0), 2U);
  EXPECT_EQ(data.labels.end(1), 3U);
  EXPECT_THAT(matchings(byte_order_mark + one).feature_names, IsEmpty());
}

TEST(MatchingText, UnknownPartnersAreForModelsOnly) {
  const std::string unknown = "matching 2\n1 1 0\n1 2 0\n2 1 0\n2 2 0\nmatching 1 1\n1 1 7\n";
  const Dataset data = for_model(unknown, {}, 1, Truth::optional);
  EXPECT_THAT(data.label, ElementsAre(unknown_label, unknown_label, 0));
  expect_says(matchings_refusal(unknown), {"file: line 1", "no partners", "matching 2 p_1 ... p_2"});
  expect_says(refusal([&] { for_model(unknown, {}, 1, Truth::required); }), {"file: line 1", "no partners"});
}

TEST(MatchingText, ModelsFindFeaturesByNameOrByCount) {
  EXPECT_THAT(values(for_model(good, {"near", "far"}, 2, Truth::required)),
              ElementsAre(0, -1.5, 100, 0.25, 3, 4, 5, 0, 8, 9));
  const Dataset turned = for_model(good, {"far", "near"}, 2, Truth::required);
  EXPECT_THAT(values(turned), ElementsAre(-1.5, 0, 0.25, 100, 4, 3, 0, 5, 9, 8));
  EXPECT_THAT(turned.feature_names, ElementsAre("far", "near"));
  EXPECT_THAT(values(for_model(good, {}, 2, Truth::required)), ElementsAre(0, -1.5, 100, 0.25, 3, 4, 5, 0, 8, 9));
  EXPECT_THAT(values(for_model(one, {"a", "b"}, 2, Truth::required)), ElementsAre(4, 5));
  expect_says(refusal([] { for_model(one, {}, 3, Truth::required); }),
              {"line 2", "has 2 features", "expected 3 as in training"});
  expect_says(refusal([] {
                for_model(good, {"near", "red"}, 2, Truth::required);
              }),
              {"line 2", "no feature 'red'", "'near', 'far'"});
  expect_says(refusal([] { for_model(good, {"near"}, 1, Truth::required); }),
              {"line 2", "2 features", "expected 1 as in training"});
}

TEST(MatchingText, RefusesWhatIsNoPermutation) {
  const auto says = [](const std::string& head, const std::vector<std::string>& parts) {
    expect_says(matchings_refusal(one + "matching " + head + "\n"), parts);
  };
  says("3 1 2 2", {"file: line 3", "points 2 and 3", "same partner 2", "permutation of 1 to 3"});
  says("2 0 1", {"line 3", "partner of point 1 is '0'", "1 to 2"});
  says("2 1 3", {"partner of point 2 is '3'", "1 to 2"});
  says("2 1 -1", {"partner of point 2 is '-1'"});
  says("2 1.0 2", {"partner of point 1 is '1.0'"});
  says("2 1 99999999999999999999", {"partner of point 2 is '99999999999999999999'"});
  says("3 1 2", {"found 2 partners", "expected 3"});
  says("1 1 1", {"found 2 partners", "expected 1"});
}

TEST(MatchingText, RefusesSizesThatAreNone) {
  for (const std::string bad : {"0", "-1", "x", "2.5", "10001", "99999999999999999999", ""})
    expect_says(matchings_refusal("matching " + bad + "\n"), {"file: line 1", "'" + bad + "'", "from 1 to 10000"});
}

// The features of the defect in the second line of pairs.
std::string pair_refusal(const std::string& line) {
  return matchings_refusal("matching 2 1 2\n1 1 0 1\n" + line + "\n");
}

TEST(MatchingText, RefusesPairsOutOfOrder) {
  const std::string order = "has 4 pairs, in the order 1 1, 1 2, .. 2 2";
  expect_says(pair_refusal("2 1 0 1"), {"file: line 3", "found '2 1'", "expected pair 1 2", "line 1", order});
  expect_says(pair_refusal("1 1 0 1"), {"found '1 1'", "expected pair 1 2"});
  expect_says(pair_refusal("1 2x 0 1"), {"found '1 2x'"});
  expect_says(pair_refusal("18446744073709551617 2 0 1"), {"found '18446744073709551617 2'"});
  expect_says(pair_refusal("garbage"), {"found 'garbage'", "expected pair 1 2"});
  expect_says(pair_refusal("matching 2 1 2"), {"line 3", "found 'matching'", "expected pair 1 2", "correct M"});
  expect_says(pair_refusal("features a"), {"line 3", "found 'features'", "expected pair 1 2"});
  expect_says(pair_refusal("1 2 0 1"), {"file: the file ends within the matching of line 1", "after 2 of 4 pairs"});
  expect_says(matchings_refusal(good + "\nmatching 2 1 2\n"), {"ends within", "line 13", "0 of 4"});
}

TEST(MatchingText, RefusesValues) {
  for (const std::string bad : {"nan", "inf", "-inf", "x", "1e999", "1e13", "1,5", "0x1", "--1"})
    expect_says(pair_refusal("1 2 0 " + bad), {"file: line 3", "feature 2 of pair 1 2", "'" + bad + "'", "1e+12"});
  expect_says(pair_refusal("1 2 0"), {"line 3", "pair 1 2 has 1 feature,", "expected 2 as on line 2"});
  expect_says(pair_refusal("1 2"), {"pair 1 2 has 0 features", "expected 2"});
  expect_says(pair_refusal("1 2 0 1 2"), {"pair 1 2 has 3 features", "expected 2"});
  expect_says(matchings_refusal("matching 1 1\n1 1\n"), {"line 2", "pair 1 1 has no features"});
  expect_says(matchings_refusal("features a b c\n" + one), {"line 3", "has 2 features", "3 as line 1 names"});
}

TEST(MatchingText, RefusesWhatStandsElsewhere) {
  expect_says(matchings_refusal(""), {"file: no matchings"});
  expect_says(matchings_refusal("# nothing\n\n"), {"no matchings"});
  expect_says(matchings_refusal("features a\n"), {"no matchings"});
  expect_says(matchings_refusal("features\n"), {"line 1", "no names"});
  expect_says(matchings_refusal("features a b a\n"), {"line 1", "'a' occurs twice"});
  expect_says(matchings_refusal("features a\nfeatures a\n"), {"line 2", "found 'features'", "'matching M"});
  expect_says(matchings_refusal("x1,x2\n1,2\n"), {"line 1", "'x1,x2'", "'features NAME"});
  expect_says(matchings_refusal(one + "features a\n"), {"line 3", "before all else"});
  expect_says(matchings_refusal(one + "1 2 3 4\n"), {"line 3", "found '1'", "line 1", "all its 1 pair"});
}

TEST(MatchingText, IsRecognised) {
  for (const char* const head : {"matching 3 1 2 3\n", "# words\n\nmatching\t2\n1 1 0", "features a b\nmatching 1 1",
                                 "features a\r\n# c\r\nmatching 1\r\n", "features of a line that is cut"})
    EXPECT_TRUE(looks_like_matchings(head)) << head;
  for (const char* const head : {"", "# matching 3\n", "matching NN B-NP\nof IN B-PP\n", "matching,features\n1,2\n",
                                 "features NNS B-NP\nof IN B-PP\n", "features,label\n", "1 1:0.5\n", "matchings 3\n"})
    EXPECT_FALSE(looks_like_matchings(head)) << head;
}

TEST(MatchingText, WrittenMatchingsReadBackBitForBit) {
  Rng rng(5);
  Dataset data;
  DenseMatrix x{0, 3, {}};
  std::vector<std::size_t> pairs{0}, points{0};
  for (const std::size_t size : {4, 1, 7, 2}) {
    pairs.push_back(pairs.back() + size * size);
    points.push_back(points.back() + size);
    std::vector<std::int32_t> y(size);
    std::iota(y.begin(), y.end(), 0);
    rng.shuffle(std::span(y));
    data.label.insert(data.label.end(), y.begin(), y.end());
  }
  std::fill(data.label.begin() + 5, data.label.begin() + 12, unknown_label);
  x.rows = pairs.back();
  while (x.values.size() < x.rows * x.cols) x.values.push_back(rng.normal() * std::exp(8 * rng.normal()));
  x.values[1] = std::numeric_limits<double>::denorm_min();
  x.values[2] = -1e12;
  data.x = x;
  data.feature_rows = Groups(pairs);
  data.labels = Groups(points);
  data.feature_names = {"a", "#b", "c=1"};
  std::string text;
  append_feature_line(data.feature_names, text);
  for (std::size_t e = 0; e < data.examples(); ++e) append_matching(data, e, text);
  const Dataset again = for_model(text, {}, 3, Truth::optional);
  EXPECT_EQ(values(again), x.values);
  EXPECT_EQ(again.label, data.label);
  EXPECT_EQ(again.feature_names, data.feature_names);
  for (std::size_t e = 0; e < data.examples(); ++e) {
    EXPECT_EQ(again.feature_rows.end(e), pairs[e + 1]);
    EXPECT_EQ(again.labels.end(e), points[e + 1]);
  }
  std::string unwritten;
  append_feature_line({}, unwritten);
  EXPECT_EQ(unwritten, "");
  for (const std::string bad : {"", "two words", " x", "tab\t", "line\r"})
    expect_says(refusal([&] { append_feature_line({bad}, unwritten); }), {"'", "single words"});
}

TEST(MatchingText, GzipIsTheSame) {
  std::string packed(500, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string text = good;
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  EXPECT_EQ(values(matchings(packed)), values(matchings(good)));
}

}  // namespace
}  // namespace m4n::detail

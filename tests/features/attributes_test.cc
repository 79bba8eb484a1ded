// The dictionary of attributes against maps of strings, and its bytes against every kind of damage.
#include "features/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/rng.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Token = std::vector<std::pair<std::string, double>>;

AttributeBatch batch_of(const std::vector<Token>& tokens) {
  AttributeBatch batch;
  for (const Token& token : tokens) {
    for (const auto& [name, value] : token) {
      batch.bytes() += name;
      batch.end_attribute(value);
    }
    batch.end_token();
  }
  return batch;
}

struct Learnt {
  AttributeDictionary dictionary;
  SparseMatrix rows;
};
Learnt learn(const std::vector<Token>& tokens, std::uint64_t min_count = 1) {
  AttributeCounter counter;
  for (const Token& token : tokens) counter.add(batch_of({token}));
  Learnt learnt;
  learnt.dictionary = counter.finish(min_count, learnt.rows);
  return learnt;
}
std::vector<std::string> names(const AttributeDictionary& dictionary) {
  std::vector<std::string> out;
  for (std::size_t c = 0; c < dictionary.columns(); ++c) out.emplace_back(dictionary.name(c));
  return out;
}
SparseMatrix rows_of(const AttributeDictionary& dictionary, const std::vector<Token>& tokens) {
  SparseMatrix out;
  AttributeDictionary::Scratch scratch;
  dictionary.append_rows(batch_of(tokens), scratch, out);
  return out;
}
void expect_same(const SparseMatrix& a, const SparseMatrix& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_EQ(a.row_start, b.row_start);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.value, b.value);
}

const std::vector<Token> sample = {{{"b", 1}, {"z", 1}}, {{"z", 1}, {"a", 2}, {"c", 1}}, {}, {{"c", 0.5}, {"z", 1}}};

TEST(Attributes, FrequentFirstTiesByBytes) {
  const Learnt learnt = learn(sample);
  EXPECT_THAT(names(learnt.dictionary), ElementsAre("z", "c", "a", "b"));
  EXPECT_EQ(learnt.rows.rows, 4U);
  EXPECT_EQ(learnt.rows.cols, 4U);
  EXPECT_THAT(learnt.rows.row_start, ElementsAre(0, 2, 5, 5, 7));
  EXPECT_THAT(learnt.rows.column, ElementsAre(0, 3, 0, 1, 2, 0, 1));
  EXPECT_THAT(learnt.rows.value, ElementsAre(1, 1, 1, 1, 2, 1, 0.5));
}

TEST(Attributes, RareOnesAreDropped) {
  const Learnt learnt = learn(sample, 2);
  EXPECT_THAT(names(learnt.dictionary), ElementsAre("z", "c"));
  EXPECT_THAT(learnt.rows.row_start, ElementsAre(0, 1, 3, 3, 5));
  EXPECT_THAT(learnt.rows.column, ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(names(learn(sample, 4).dictionary), IsEmpty());
  EXPECT_THAT(learn(sample, 4).rows.row_start, ElementsAre(0, 0, 0, 0, 0));
}

TEST(Attributes, TwiceInATokenCountsOnceAndAddsUp) {
  const Learnt learnt = learn({{{"a", 1}, {"b", 1}, {"a", 3}}, {{"b", 1}}});
  EXPECT_THAT(names(learnt.dictionary), ElementsAre("b", "a"));
  EXPECT_THAT(learnt.rows.column, ElementsAre(0, 1, 0));
  EXPECT_THAT(learnt.rows.value, ElementsAre(1, 4, 1));
}

TEST(Attributes, UnknownOnesAreDroppedInPrediction) {
  const Learnt learnt = learn(sample, 2);
  const SparseMatrix rows = rows_of(learnt.dictionary, {{{"new", 1}}, {{"c", 7}, {"b", 1}, {"z", 1}}});
  EXPECT_EQ(rows.cols, 2U);
  EXPECT_THAT(rows.row_start, ElementsAre(0, 0, 2));
  EXPECT_THAT(rows.column, ElementsAre(0, 1));
  EXPECT_THAT(rows.value, ElementsAre(1, 7));
  EXPECT_THAT(rows_of(AttributeDictionary(), {{{"a", 1}}}).row_start, ElementsAre(0, 0));
}

TEST(Attributes, LongTiesAreSortedByAllTheirBytes) {
  const std::vector<std::string> expected{std::string(1, '\0'),
                                          "a",
                                          std::string("a\0", 2),
                                          "aaaaaaaaaaaaaaaaX",
                                          "aaaaaaaaaaaaaaaaXa",
                                          "aaaaaaaaaaaaaaaaY",
                                          "aaaaaaaab",
                                          "b",
                                          "\x80",
                                          "\xff"};
  Token token;
  for (const std::string& name : expected) token.emplace_back(name, 1);
  std::reverse(token.begin(), token.end());
  EXPECT_EQ(names(learn({token}).dictionary), expected);
}

// Random tokens over a few thousand names, against ordered maps of strings.
TEST(Attributes, RandomAgainstMaps) {
  Rng rng(3);
  std::vector<Token> tokens(3000);
  for (Token& token : tokens)
    for (std::size_t a = rng.below(12); a > 0; --a)
      token.emplace_back(fmt::format("U{:02}:{}", rng.below(3), rng.below(1 + rng.below(3000))),
                         rng.uniform() < 0.5 ? 1 : static_cast<double>(rng.below(8)));
  for (const std::uint64_t min_count : {1U, 2U, 5U}) {
    std::map<std::string, std::uint64_t> count;
    for (const Token& token : tokens) {
      std::set<std::string> once;
      for (const auto& pair : token) once.insert(pair.first);
      for (const std::string& name : once) ++count[name];
    }
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, times] : count)
      if (times >= min_count) order.emplace_back(-static_cast<std::int64_t>(times), name);
    std::sort(order.begin(), order.end());
    std::map<std::string, std::uint32_t> number;
    for (const auto& entry : order) number.emplace(entry.second, static_cast<std::uint32_t>(number.size()));
    SparseMatrix expected;
    expected.cols = number.size();
    for (const Token& token : tokens) {
      std::map<std::uint32_t, double> row;
      for (const auto& [name, value] : token)
        if (number.contains(name)) row[number[name]] += value;
      for (const auto& [column, value] : row) {
        expected.column.push_back(column);
        expected.value.push_back(value);
      }
      expected.row_start.push_back(expected.column.size());
      ++expected.rows;
    }
    const Learnt learnt = learn(tokens, min_count);
    EXPECT_GT(number.size(), 500U);
    ASSERT_EQ(learnt.dictionary.columns(), number.size());
    for (std::size_t c = 0; c < order.size(); ++c) EXPECT_EQ(learnt.dictionary.name(c), order[c].second);
    expect_same(learnt.rows, expected);
    expect_same(rows_of(learnt.dictionary, tokens), expected);

    std::vector<Token> shuffled = tokens;
    rng.shuffle(std::span<Token>(shuffled));
    EXPECT_EQ(learn(shuffled, min_count).dictionary.to_bytes(), learnt.dictionary.to_bytes());
    const std::string bytes = learnt.dictionary.to_bytes();
    const AttributeDictionary again = AttributeDictionary::from_bytes(bytes, "model");
    EXPECT_EQ(again.to_bytes(), bytes);
    expect_same(rows_of(again, tokens), expected);
  }
}

TEST(Attributes, Hashing) {
  const AttributeDictionary one_bit = AttributeDictionary::hashing(1), wide = AttributeDictionary::hashing(20);
  EXPECT_EQ(one_bit.columns(), 2U);
  EXPECT_EQ(wide.columns(), 1048576U);
  Token token;
  for (int i = 0; i < 1000; ++i) token.emplace_back("U00:" + std::to_string(i), 1);
  const SparseMatrix two = rows_of(one_bit, {token});
  ASSERT_EQ(two.column.size(), 2U);  // collisions add up
  EXPECT_EQ(two.value[0] + two.value[1], 1000);
  EXPECT_NEAR(two.value[0], 500, 80);  // five standard deviations
  const SparseMatrix many = rows_of(wide, {token, {{"U00:7", 2}}});
  EXPECT_GT(many.row_start[1], 990U);
  EXPECT_TRUE(std::is_sorted(many.column.begin(), many.column.end() - 1));
  EXPECT_TRUE(std::binary_search(many.column.begin(), many.column.end() - 1, many.column.back()));
  const AttributeDictionary again = AttributeDictionary::from_bytes(wide.to_bytes(), "model");
  EXPECT_EQ(again.hash_bits(), 20);
  expect_same(rows_of(again, {token}), rows_of(wide, {token}));
  expect_says(refusal<UsageError>([] { AttributeDictionary::hashing(0); }), {"--hash 0", "1 to 30"});
  expect_says(refusal<UsageError>([] { AttributeDictionary::hashing(31); }), {"--hash 31"});
}

// Part of the model format: these values, worked out apart from the code, must never change. The lengths are around
// every branch of the function.
TEST(Attributes, TheHashIsFixed) {
  const std::string text = "U05:Confidence/in the pound";
  std::vector<std::uint64_t> found;
  std::set<std::uint64_t> distinct;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    distinct.insert(attribute_hash(text.substr(0, size)));
    if (size == 0 || size == 1 || size == 3 || size == 4 || size == 7 || size == 8 || size == 9 || size == 17)
      found.push_back(attribute_hash(text.substr(0, size)));
  }
  EXPECT_EQ(distinct.size(), text.size() + 1);
  EXPECT_THAT(found,
              ElementsAre(0x546838e57e1ff05aULL, 0xcffc899a9e8ba93cULL, 0x718c0b44e749f445ULL, 0x6fa4ea9de02a1d6bULL,
                          0x706e3beaed544e68ULL, 0x2f1a65885640f52fULL, 0x32d34c04d780af7bULL, 0x35ee5d21e864f9c4ULL));
}

TEST(Attributes, DamagedBytes) {
  const std::string good = learn({{{"abc", 1}, {"d", 1}, {std::string(200, 'e'), 1}}}).dictionary.to_bytes();
  EXPECT_THAT(names(AttributeDictionary::from_bytes(good, "model")), ElementsAre("abc", "d", std::string(200, 'e')));
  const auto from = [](const std::string& bytes) {
    return refusal([&] { AttributeDictionary::from_bytes(bytes, "model"); });
  };
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_NE(from(good.substr(0, size)), "") << size;
  expect_says(from(good + "x"), {"model", "damaged"});
  expect_says(from(""), {"model", "cut off"});
  const auto with = [&](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  expect_says(from(with(0, 2)), {"version 2", "newer m4n"});
  expect_says(from(with(8, 31)), {"hash size"});
  expect_says(from(with(8, 5)), {"both hashing and names"});
  expect_says(from(with(16, 4)), {"damaged"});
  expect_says(from(with(23, 0x7f)), {"sizes"});  // a huge count asks for no memory
  expect_says(from(with(31, 0x7f)), {"sizes"});
  expect_says(from(with(32, 0)), {"length"});        // an empty name
  expect_says(from(with(32, 2)), {"damaged"});       // the names are shorter than their bytes
  expect_says(from(with(32, '\x7f')), {"damaged"});  // and longer
  const std::string twice = learn({{{"ab", 1}, {"ac", 1}}}).dictionary.to_bytes();
  std::string same = twice;
  same.back() = 'b';
  expect_says(from(same), {"occurs twice"});
  std::string padded = learn({{{"a", 1}}}).dictionary.to_bytes();
  padded.replace(32, 1, std::string("\x81\x00", 2));  // the length 1 in two bytes
  expect_says(from(padded), {"damaged"});
}

}  // namespace
}  // namespace m4n::detail

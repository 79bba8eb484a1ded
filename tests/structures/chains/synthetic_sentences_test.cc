// Generated sentences: the best loss against the sum over all labellings, with the tables of the hidden Markov model
// written down a second time; and the frequencies of what is drawn.
#include "structures/chains/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "support/random_chain.h"

namespace m4n::detail {
namespace {

// In percent; labels D, N, V; words the, a, no, can, fish, run, boat, water, watch, sees.
constexpr double start[] = {55, 35, 10};
constexpr double next[3][3] = {{2, 88, 10}, {10, 30, 60}, {50, 30, 20}};
constexpr double word[3][10] = {
    {50, 35, 9, 1, 1, 1, 1, 1, 1, 0}, {1, 1, 1, 12, 20, 10, 20, 18, 16, 1}, {0, 1, 1, 20, 16, 18, 8, 14, 10, 12}};

TEST(SyntheticSentences, TheBestLossIsThatOfAllLabellings) {
  SyntheticSentences sentences(11);
  std::size_t checked = 0;
  for (int i = 0; i < 120; ++i) {
    const SyntheticSentences::Sentence s = sentences.next();
    const std::size_t length = s.word.size();
    ASSERT_EQ(s.label.size(), length);
    if (length > 8) continue;  // 3^12 labellings take long
    std::vector<double> mass(length * 3);
    double total = 0;
    test::for_labellings(length, 3, [&](const std::vector<std::int32_t>& y) {
      double p = start[y[0]];
      for (std::size_t m = 0; m < length; ++m) p *= word[y[m]][s.word[m]] / 100;
      for (std::size_t m = 1; m < length; ++m) p *= next[y[m - 1]][y[m]] / 100;
      total += p;
      for (std::size_t m = 0; m < length; ++m) mass[m * 3 + static_cast<std::size_t>(y[m])] += p;
    });
    double loss = 0;
    for (std::size_t m = 0; m < length; ++m) loss += 1 - *std::max_element(&mass[m * 3], &mass[m * 3] + 3) / total;
    EXPECT_NEAR(s.best_loss, loss / static_cast<double>(length), 1e-13);
    ++checked;
  }
  EXPECT_GT(checked, 40U);
}

TEST(SyntheticSentences, AreDrawnFromTheTables) {
  constexpr int count = 20000;
  SyntheticSentences sentences(12);
  std::map<std::size_t, double> lengths, starts;
  double pairs[3][3] = {}, from[3] = {}, emitted[3][10] = {}, of[3] = {};
  for (int i = 0; i < count; ++i) {
    const SyntheticSentences::Sentence s = sentences.next();
    ++lengths[s.word.size()];
    ++starts[s.label[0]];
    for (std::size_t m = 0; m < s.word.size(); ++m) {
      ++emitted[s.label[m]][s.word[m]];
      ++of[s.label[m]];
      if (m == 0) continue;
      ++pairs[s.label[m - 1]][s.label[m]];
      ++from[s.label[m - 1]];
    }
  }
  // Within five standard deviations of a share p of `all` draws.
  const auto expect_share = [](double hits, double all, double p) {
    EXPECT_NEAR(hits / all, p, 5 * std::sqrt(p * (1 - p) / all) + 1e-12);
  };
  ASSERT_EQ(lengths.size(), 10U);
  for (const auto& [length, hits] : lengths) {
    EXPECT_TRUE(length >= 3 && length <= 12);
    expect_share(hits, count, 0.1);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    expect_share(starts[a], count, start[a] / 100);
    for (std::size_t b = 0; b < 3; ++b) expect_share(pairs[a][b], from[a], next[a][b] / 100);
    for (std::size_t w = 0; w < 10; ++w) expect_share(emitted[a][w], of[a], word[a][w] / 100);
  }
}

TEST(SyntheticSentences, DependOnTheSeedAloneAndHaveNames) {
  SyntheticSentences a(1), b(1), c(2);
  bool differs = false;
  for (int i = 0; i < 20; ++i) {
    const auto x = a.next(), y = b.next(), z = c.next();
    EXPECT_EQ(x.word, y.word);
    EXPECT_EQ(x.label, y.label);
    differs = differs || x.word != z.word;
  }
  EXPECT_TRUE(differs);
  ASSERT_EQ(SyntheticSentences::labels(), 3U);
  EXPECT_EQ(SyntheticSentences::label_name(2), std::string("V"));
  EXPECT_EQ(SyntheticSentences::word_name(4), std::string("fish"));
}

}  // namespace
}  // namespace m4n::detail

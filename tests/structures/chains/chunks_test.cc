// Chunk counts against a second implementation that looks at it the other way round (it cuts every sentence into spans
// and intersects the sets), and against counts worked out by the published rules for tricky sequences.
#include "structures/chains/evaluation.h"

#include <set>
#include <sstream>
#include <tuple>

#include "core/rng.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::vector<std::int32_t> numbers(const std::vector<std::string>& tags, const std::vector<std::string>& labels) {
  std::vector<std::int32_t> out;
  for (const std::string& tag : tags)
    out.push_back(static_cast<std::int32_t>(std::find(labels.begin(), labels.end(), tag) - labels.begin()));
  return out;
}

std::vector<std::string> labels_of(std::initializer_list<std::vector<std::string>> texts) {
  std::set<std::string> labels;
  for (const auto& text : texts) labels.insert(text.begin(), text.end());
  return {labels.begin(), labels.end()};
}

ChunkScore score(const std::string& truth, const std::string& predicted) {
  const std::vector<std::string> labels = labels_of({words(truth), words(predicted)});
  ChunkCounter counter(labels);
  counter.add(numbers(words(truth), labels), numbers(words(predicted), labels));
  return counter.score();
}

using Span = std::tuple<std::size_t, std::size_t, std::string>;  // first, last, type

// A tag of B, I, E, S joins the chunk of the token before if it is I or E, that token is B or I, and the types agree.
std::set<Span> spans(const std::vector<std::string>& tags) {
  std::set<Span> found;
  std::size_t first = 0;
  for (std::size_t t = 0; t < tags.size(); ++t) {
    const auto joins = [&](std::size_t u) {
      return u > 0 && u < tags.size() && (tags[u][0] == 'I' || tags[u][0] == 'E') &&
             (tags[u - 1][0] == 'B' || tags[u - 1][0] == 'I') && tags[u].substr(1) == tags[u - 1].substr(1);
    };
    if (tags[t] == "O") continue;
    if (!joins(t)) first = t;
    if (!joins(t + 1)) found.emplace(first, t, tags[t].substr(1));
  }
  return found;
}

void expect_counts(const FoundCounts& counts, std::uint64_t actual, std::uint64_t predicted, std::uint64_t found) {
  EXPECT_EQ(counts.actual, actual);
  EXPECT_EQ(counts.predicted, predicted);
  EXPECT_EQ(counts.found, found);
}

TEST(Chunks, TrickySequences) {
  struct Case {
    std::string truth, predicted;
    std::uint64_t actual, guessed, found;
  };
  const std::vector<Case> cases = {
      {"B-A I-A O", "B-A I-A O", 1, 1, 1},
      {"B-A I-A O", "I-A I-A O", 1, 1, 1},                      // I- behind O starts: IOB1 and IOB2 mean the same
      {"O I-A I-B", "O I-A B-B", 2, 2, 2},                      // a new type starts a chunk
      {"I-A I-A", "I-A I-B", 1, 2, 0},                          // so none of them is found
      {"I-A B-A I-A", "I-A I-A I-A", 2, 1, 0},                  // B- inside cuts
      {"B-A B-A", "B-A I-A", 2, 1, 0},                          //
      {"B-A I-A", "B-A O", 1, 1, 0},                            // half a chunk is none
      {"O O B-A", "O O B-A", 1, 1, 1},                          // at the last token
      {"O O B-A", "O O O", 1, 0, 0},                            //
      {"O O O", "O B-A I-A", 0, 1, 0},                          //
      {"B-A E-A O", "B-A I-A O", 1, 1, 1},                      // schemes may be mixed
      {"E-A E-A O", "S-A S-A O", 2, 2, 2},                      // E- alone, S-
      {"S-A I-A", "B-A B-A", 2, 2, 2},                          //
      {"B-A E-A B-A E-A", "B-A I-A I-A I-A", 2, 1, 0},          // E- ends
      {"B-A E-A I-A O", "B-A I-A B-A O", 2, 2, 2},              //
      {"B I O B", "B I O I", 2, 2, 2},                          // no types at all
      {"B- I- O", "B I O", 1, 1, 1},                            // an empty type is none
      {"B-A-B I-A-B I-A", "B-A-B I-A-B B-A", 2, 2, 2},          // only the first hyphen counts
      {"B-A I-A I-A", "O I-A I-A", 1, 1, 0},                    // a late start
      {"B-A O B-B", "B-B O B-A", 2, 2, 0},                      // wrong types at the right places
      {"I-A O I-A I-B I-B O", "I-A O I-A I-B I-A O", 3, 4, 2},  //
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.truth + " / " + c.predicted);
    expect_counts(score(c.truth, c.predicted).chunks, c.actual, c.guessed, c.found);
  }
}

TEST(Chunks, ByTypeAndByLabel) {
  const ChunkScore s = score("B-A I-A O B-B O B-B", "B-A I-A O B-A B-B O");
  EXPECT_THAT(s.types, testing::ElementsAre("A", "B"));
  expect_counts(s.by_type[0], 1, 2, 1);
  expect_counts(s.by_type[1], 2, 1, 0);
  expect_counts(s.chunks, 3, 3, 1);
  EXPECT_DOUBLE_EQ(s.by_type[0].precision(), 0.5);
  EXPECT_DOUBLE_EQ(s.by_type[0].recall(), 1);
  EXPECT_DOUBLE_EQ(s.by_type[0].f1(), 2.0 / 3);
  EXPECT_EQ(s.by_type[1].f1(), 0);
  EXPECT_EQ(s.tokens, 6U);
  EXPECT_EQ(s.correct, 3U);
  EXPECT_DOUBLE_EQ(s.token_accuracy(), 0.5);
  ASSERT_EQ(s.by_label.size(), 4U);       // B-A B-B I-A O
  expect_counts(s.by_label[0], 1, 2, 1);  //
  expect_counts(s.by_label[1], 2, 1, 0);
  expect_counts(s.by_label[2], 1, 1, 1);
  expect_counts(s.by_label[3], 2, 2, 1);
}

TEST(Chunks, NothingToFind) {
  const FoundCounts none;
  EXPECT_EQ(none.precision(), 0);
  EXPECT_EQ(none.recall(), 0);
  EXPECT_EQ(none.f1(), 0);
  EXPECT_EQ(ChunkScore().token_accuracy(), 0);
}

TEST(Chunks, SentencesAreApart) {
  const std::vector<std::string> labels{"B-A", "I-A", "O"};
  ChunkCounter counter(labels);
  const std::vector<std::int32_t> first{2, 0}, second{1, 2};
  counter.add(first, first);
  counter.add(second, second);
  counter.add({}, {});
  expect_counts(counter.score().chunks, 2, 2, 2);  // one sentence of both would have a single chunk
}

TEST(Chunks, RandomTagsAgainstSpans) {
  Rng rng(7);
  for (const std::string alphabet :
       {"O I-A I-B", "O B-A I-A B-B I-B", "O B-A I-A E-A S-A B-B I-B E-B S-B", "O B I E S", "O I-A B-A E- S- B-"}) {
    const std::vector<std::string> labels = words(alphabet);
    ChunkCounter counter(labels);
    FoundCounts expected;
    for (int sentence = 0; sentence < 3000; ++sentence) {
      const std::size_t length = rng.below(9);
      std::vector<std::int32_t> truth, predicted;
      std::vector<std::string> true_tags, predicted_tags;
      for (std::size_t t = 0; t < length; ++t) {
        truth.push_back(static_cast<std::int32_t>(rng.below(labels.size())));
        predicted.push_back(rng.uniform() < 0.7 ? truth.back() : static_cast<std::int32_t>(rng.below(labels.size())));
        true_tags.push_back(labels[static_cast<std::size_t>(truth.back())]);
        predicted_tags.push_back(labels[static_cast<std::size_t>(predicted.back())]);
      }
      counter.add(truth, predicted);
      const std::set<Span> a = spans(true_tags), b = spans(predicted_tags);
      expected.actual += a.size();
      expected.predicted += b.size();
      for (const Span& span : a) expected.found += b.count(span);
    }
    EXPECT_GT(expected.found, 1000U);
    SCOPED_TRACE(alphabet);
    expect_counts(counter.score().chunks, expected.actual, expected.predicted, expected.found);
    FoundCounts sum;
    for (const FoundCounts& type : counter.score().by_type) {
      sum.actual += type.actual;
      sum.found += type.found;
    }
    if (alphabet.find("B-B") != std::string::npos) {
      EXPECT_EQ(sum.actual, expected.actual);
      EXPECT_EQ(sum.found, expected.found);
    }
  }
}

TEST(Chunks, RefusesWhatDoesNotFit) {
  ChunkCounter counter({"O", "B"});
  const std::vector<std::int32_t> two{0, 1}, one{0}, high{2}, low{-1};
  expect_says(refusal([&] { counter.add(two, one); }), {"2 labels", "1 predictions"});
  expect_says(refusal([&] { counter.add(one, high); }), {"label 2", "0..1"});
  expect_says(refusal([&] { counter.add(low, one); }), {"label -1"});
}

TEST(Chunks, WhichLabelsAreTags) {
  EXPECT_TRUE(are_chunk_tags({"O", "B-NP", "I-NP"}));
  EXPECT_TRUE(are_chunk_tags({"I", "S-x"}));
  EXPECT_FALSE(are_chunk_tags({"O"}));
  EXPECT_FALSE(are_chunk_tags({"O", "NN", "B-NP"}));
  EXPECT_FALSE(are_chunk_tags({"O", "BI-NP"}));
  EXPECT_FALSE(are_chunk_tags({"O", "-NP"}));
  EXPECT_FALSE(are_chunk_tags({}));
}

}  // namespace
}  // namespace m4n::detail

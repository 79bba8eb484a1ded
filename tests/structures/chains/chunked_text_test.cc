// Sequences read in chunks by several threads: the same data, or the same refusal, as line by line.
#include "core/rng.h"
#include "structures/chains/data.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

const std::vector<Chunking> chunkings{{2, 1}, {3, 9}, {8, 60}, {2, 400}, {3, 1 << 19}};

// What it gives, in words and numbers, or why it is refused.
template <class Read>
auto outcome(const std::string& text, const Chunking& chunking, Read&& read) {
  Input input = Input::memory(text, "file");
  auto out = decltype(read(std::declval<LineReader&>()))();
  std::string refusal;
  try {
    LineReader lines(input, chunking);
    out = read(lines);
  } catch (const Error& error) {
    refusal = error.what();
  }
  return std::pair(std::move(out), refusal);
}

void expect_same_rows(const Features& a, const Features& b) {
  const SparseMatrix &x = std::get<SparseMatrix>(a), &y = std::get<SparseMatrix>(b);
  ASSERT_EQ(std::tie(x.rows, x.cols, x.row_start, x.column, x.value),
            std::tie(y.rows, y.cols, y.row_start, y.column, y.value));
}

void expect_same_groups(const Groups& a, const Groups& b) {
  ASSERT_EQ(a.count(), b.count());
  for (std::size_t i = 0; i <= a.count() && a.count() > 0; ++i) ASSERT_EQ(a.begin(i), b.begin(i));
}

void expect_same(const SequenceTraining& a, const SequenceTraining& b) {
  ASSERT_EQ(a.dictionary.to_bytes(), b.dictionary.to_bytes());
  ASSERT_EQ(a.data.label, b.data.label);
  ASSERT_EQ(a.data.class_names, b.data.class_names);
  ASSERT_EQ(a.data.x.index(), b.data.x.index());
  if (std::holds_alternative<SparseMatrix>(a.data.x)) expect_same_rows(a.data.x, b.data.x);
  expect_same_groups(a.data.labels, b.data.labels);
}

void expect_same(const Examples& a, const Examples& b) {
  ASSERT_EQ(a.truth, b.truth);
  ASSERT_EQ(a.names, b.names);
  ASSERT_EQ(a.data.x.index(), b.data.x.index());
  if (std::holds_alternative<SparseMatrix>(a.data.x)) expect_same_rows(a.data.x, b.data.x);
  expect_same_groups(a.data.labels, b.data.labels);
}

// Returns whether it was refused.
template <class Read>
bool same_in_chunks(const std::string& text, Read&& read) {
  const auto whole = outcome(text, {}, read);
  for (const Chunking& chunking : chunkings) {
    SCOPED_TRACE(testing::Message() << chunking.threads << " threads, chunks of " << chunking.bytes << " bytes");
    const auto chunked = outcome(text, chunking, read);
    EXPECT_EQ(whole.second, chunked.second) << text;
    if (whole.second.empty()) expect_same(whole.first, chunked.first);
  }
  return !whole.second.empty();
}

// Sentences of tokens with two columns and a label, or with attributes; now and then a defect.
std::string random_text(Rng& rng, bool columns) {
  const std::string newline = rng.below(2) == 0 ? "\r\n" : "\n";
  const auto word = [&] { return "w" + std::to_string(rng.below(12)); };
  std::string text = rng.below(4) == 0 ? newline + newline : "";
  for (std::uint64_t sentence = rng.below(9); sentence > 0; --sentence) {
    for (std::uint64_t token = 1 + rng.below(7); token > 0; --token) {
      const std::string label = rng.below(100) == 0 ? "_" : std::string(1, static_cast<char>('X' + rng.below(3)));
      if (columns) {
        text += word() + (rng.below(5) == 0 ? " \t" : " ") + word() + (rng.below(100) == 0 ? " more " : " ") + label;
      } else {
        text += label;
        for (std::uint64_t a = rng.below(4); a > 0; --a)
          text += "\t" + word() + (rng.below(3) == 0 ? ":" + std::to_string(rng.normal()) : "");
        if (rng.below(100) == 0) text += "\tb:x";
      }
      text += newline;
    }
    text += (rng.below(5) == 0 ? " \t" : "") + newline + (rng.below(6) == 0 ? newline : "");
  }
  if (rng.below(3) == 0)
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

TEST(ChunkedText, ColumnsWithATemplate) {
  const TextTemplate rules = TextTemplate::parse("U:%x[-1,0]/%x[0,0]\nU:%x[0,1]\nU:%l[0,1]\nB\n", "rules");
  Rng rng(3);
  std::size_t refused = 0;
  for (int file = 0; file < 80; ++file) {
    const DictionaryOptions dictionary{file % 3 == 1 ? 2U : 1U, file % 3 == 2 ? 3 : 0};
    refused += same_in_chunks(random_text(rng, true), [&](LineReader& lines) {
      return training_sequences(read_conll(lines), rules, dictionary, lines.chunking().threads);
    });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 8U);
  EXPECT_LT(refused, 72U);
}

TEST(ChunkedText, Attributes) {
  Rng rng(4);
  std::size_t refused = 0;
  for (int file = 0; file < 80; ++file) {
    const DictionaryOptions dictionary{file % 3 == 1 ? 2U : 1U, file % 3 == 2 ? 3 : 0};
    refused += same_in_chunks(random_text(rng, false),
                              [&](LineReader& lines) { return training_sequences(lines, dictionary); });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 8U);
  EXPECT_LT(refused, 72U);
}

TEST(ChunkedText, ForAModel) {
  const TextTemplate rules = TextTemplate::parse("U:%x[-1,0]/%x[0,0]\nU:%x[0,1]\nB\n", "rules");
  Rng rng(5);
  const AttributeDictionary hashing = AttributeDictionary::hashing(6);
  for (int file = 0; file < 100; ++file) {
    const Truth truth = file % 2 == 0 ? Truth::required : Truth::optional;
    same_in_chunks(random_text(rng, true), [&](LineReader& lines) {
      return model_sequences(read_conll(lines), rules, hashing, 2, {"X", "Y"}, truth, lines.chunking().threads);
    });
    same_in_chunks(random_text(rng, false), [&](LineReader& lines) {
      return model_sequences(lines, hashing, {"X", "Y"}, truth);
    });
    if (testing::Test::HasFailure()) return;
  }
}

// More sentences than a thread takes at a time.
TEST(ChunkedText, ManySentences) {
  const TextTemplate rules = TextTemplate::load("chunking");
  Rng rng(6);
  std::string text;
  for (int sentence = 0; sentence < 3000; ++sentence) {
    for (std::uint64_t token = 1 + rng.below(9); token > 0; --token)
      text += "w" + std::to_string(rng.below(1 + rng.below(5000))) + " T" + std::to_string(rng.below(9)) +
              (rng.below(2) == 0 ? " B\n" : " I\n");
    text += "\n";
  }
  EXPECT_FALSE(same_in_chunks(text, [&](LineReader& lines) {
    return training_sequences(read_conll(lines), rules, {}, lines.chunking().threads);
  }));
}

}  // namespace
}  // namespace m4n::detail

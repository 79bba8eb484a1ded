// Texts to datasets: for training, for a model, and sentence by sentence.
#include "structures/chains/data.h"

#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;

ConllText conll(std::string_view text) {
  Input input = Input::memory(text, "data");
  LineReader lines(input);
  return read_conll(lines);
}
SequenceTraining train(std::string_view text, const std::string& rules, const DictionaryOptions& options = {}) {
  return training_sequences(conll(text), TextTemplate::parse(rules, "rules"), options);
}
SequenceTraining train_crfsuite(std::string_view text, const DictionaryOptions& options = {}) {
  Input input = Input::memory(text, "data");
  LineReader lines(input);
  return training_sequences(lines, options);
}
Examples model_crfsuite(std::string_view text, const SequenceTraining& trained, Truth use) {
  Input input = Input::memory(text, "data");
  LineReader lines(input);
  return model_sequences(lines, trained.dictionary, trained.data.class_names, use);
}
const SparseMatrix& rows_of(const Dataset& data) { return std::get<SparseMatrix>(data.x); }

const std::string training_text = "a X\nb Y\n\nb X\n";
const std::string word_rule = "U%x[0,0]\nB\n";

TEST(SequenceData, Training) {
  const SequenceTraining trained = train(training_text, word_rule);
  EXPECT_THAT(trained.data.class_names, ElementsAre("X", "Y"));
  EXPECT_THAT(trained.data.label, ElementsAre(0, 1, 0));
  EXPECT_EQ(trained.feature_columns, 1U);
  EXPECT_EQ(trained.dictionary.name(0), "Ub");
  EXPECT_EQ(trained.dictionary.name(1), "Ua");
  EXPECT_THAT(rows_of(trained.data).column, ElementsAre(1, 0, 0));
  EXPECT_TRUE(rows_of(trained.data).value.empty());  // all ones
  EXPECT_EQ(rows_of(trained.data).cols, 2U);
  ASSERT_EQ(trained.data.examples(), 2U);
  EXPECT_EQ(trained.data.labels.end(0), 2U);
  EXPECT_EQ(trained.data.feature_rows.end(1), 3U);
}

TEST(SequenceData, ClassesAreSortedByBytes) {
  const SequenceTraining trained = train("w b\nw B-x\nw O\nw B-x\nw 10\nw 9\n", word_rule);
  EXPECT_THAT(trained.data.class_names, ElementsAre("10", "9", "B-x", "O", "b"));
  EXPECT_THAT(trained.data.label, ElementsAre(4, 2, 3, 2, 0, 1));
}

TEST(SequenceData, TrainingRefuses) {
  expect_says(refusal([] { train("a X\n\nb Y\nc _\n", word_rule); }),
              {"data: line 4", "'_'", "training needs the label", "leave the sentence out"});
  expect_says(refusal([] { train("a\nb\n", word_rule); }), {"data: line 1", "1 column", "last the label"});
  expect_says(refusal([] { train("a X\nb X\n", word_rule); }), {"data: only one label, 'X'"});
  expect_says(refusal([] { train("\na X\nb Y\n", "U%x[0,0]\nU%x[0,1]\n"); }),
              {"rules: line 2", "%x[0,1]", "data: line 2", "1 column beside the label"});
  DictionaryOptions options;
  options.min_count = 3;
  expect_says(refusal([&] { train(training_text, word_rule, options); }), {"data: no attribute", "3 tokens"});
  options.hash_bits = 8;
  expect_says(refusal<UsageError>([&] { train(training_text, word_rule, options); }), {"--min-count 3", "--hash 8"});
  options = {0, 0};
  expect_says(refusal<UsageError>([&] { train(training_text, word_rule, options); }), {"--min-count 0"});
  expect_says(refusal([] { train_crfsuite(""); }), {"data: no labels"});
  expect_says(refusal([] { train_crfsuite("X\ta\n\n_\ta\nY\n"); }), {"data: line 3", "'_'"});
  expect_says(refusal([] { train_crfsuite("X\ta\n\ta\n"); }), {"data: line 2", "''", "not known"});
}

TEST(SequenceData, ForAModel) {
  const SequenceTraining trained = train(training_text, word_rule);
  const TextTemplate rules = TextTemplate::parse(word_rule, "rules");
  const auto encode = [&](std::string_view text, Truth use) {
    return model_sequences(conll(text), rules, trained.dictionary, 1, trained.data.class_names, use);
  };
  const Examples found = encode("b Y\nnew W\n\na V\nb W\n", Truth::required);
  EXPECT_THAT(found.data.label, ElementsAre(1, unknown_label, unknown_label, unknown_label));
  EXPECT_THAT(found.names, ElementsAre("X", "Y", "W", "V"));
  EXPECT_THAT(found.truth, ElementsAre(1, 2, 3, 2));
  EXPECT_THAT(found.data.class_names, ElementsAre("X", "Y"));
  EXPECT_THAT(rows_of(found.data).row_start, ElementsAre(0, 1, 1, 2, 3));
  EXPECT_THAT(rows_of(found.data).column, ElementsAre(0, 1, 0));
  EXPECT_EQ(found.data.examples(), 2U);

  const Examples partly = encode("b _\na X\n", Truth::optional);
  EXPECT_THAT(partly.truth, ElementsAre(unknown_label, 0));
  EXPECT_THAT(partly.names, ElementsAre("X", "Y"));  // `_` is no label that was not seen
  const Examples unlabelled = encode("b\na\n", Truth::optional);
  EXPECT_THAT(unlabelled.data.label, ElementsAre(unknown_label, unknown_label));
  EXPECT_THAT(rows_of(unlabelled.data).column, ElementsAre(0, 1));

  expect_says(refusal([&] { encode("a X\nb _\n", Truth::required); }), {"data: line 2", "'_'", "evaluation"});
  expect_says(refusal([&] { encode("\na\n", Truth::required); }), {"data: line 2", "no label", "column 2"});
  expect_says(refusal([&] { encode("a b X\n", Truth::optional); }),
              {"data: line 1", "found 3 columns", "expected 1 as in training, or 2"});
}

TEST(SequenceData, CrfsuiteGivesTheSameAsColumns) {
  for (const DictionaryOptions options : {DictionaryOptions{1, 0}, DictionaryOptions{2, 0}, DictionaryOptions{1, 6}}) {
    const SequenceTraining columns = train("a X\nb Y\n\nb X\n", "U%x[0,0]\nUbias\n", options);
    const SequenceTraining ready = train_crfsuite("X\tUa\tUbias\nY\tUb\tUbias\n\nX\tUb\tUbias\n", options);
    EXPECT_EQ(ready.data.label, columns.data.label);
    EXPECT_EQ(ready.data.class_names, columns.data.class_names);
    EXPECT_EQ(rows_of(ready.data).column, rows_of(columns.data).column);
    EXPECT_EQ(rows_of(ready.data).row_start, rows_of(columns.data).row_start);
    EXPECT_EQ(rows_of(ready.data).cols, rows_of(columns.data).cols);
    EXPECT_EQ(ready.dictionary.to_bytes(), columns.dictionary.to_bytes());
    EXPECT_EQ(ready.data.labels.end(0), 2U);
  }
}

TEST(SequenceData, CrfsuiteForAModel) {
  const SequenceTraining trained = train_crfsuite("X\ta:2\nY\tb\ta:0.5\n");
  EXPECT_THAT(rows_of(trained.data).value, ElementsAre(2, 0.5, 1));
  const Examples found = model_crfsuite("W\tb:3\tq\n\n_\ta\n", trained, Truth::optional);
  EXPECT_THAT(found.truth, ElementsAre(2, unknown_label));
  EXPECT_THAT(found.names, ElementsAre("X", "Y", "W"));
  EXPECT_THAT(found.data.label, ElementsAre(unknown_label, unknown_label));
  EXPECT_THAT(rows_of(found.data).value, ElementsAre(3, 1));
  EXPECT_EQ(found.data.examples(), 2U);
  expect_says(refusal([&] { model_crfsuite("X\ta\n\n_\ta\n", trained, Truth::required); }), {"data: line 3"});
  expect_says(refusal([&] { model_crfsuite("\n", trained, Truth::optional); }), {"data: no tokens"});
}

TEST(SequenceData, SentenceBySentenceIsAllAtOnce) {
  const std::string rules_text = "U%x[-1,0]/%x[0,0]\nU%s[0,0,1]\n";
  const SequenceTraining trained = train("aa bb X\nbb aa Y\ncc aa X\n\nbb cc Y\n", rules_text);
  const TextTemplate rules = TextTemplate::parse(rules_text, "rules");
  const std::string text = "bb aa\ncc zz\n\nzz zz\n\naa aa\nbb bb\ncc cc\n";
  const Examples all =
      model_sequences(conll(text), rules, trained.dictionary, 2, trained.data.class_names, Truth::optional);
  Input input = Input::memory(text, "data");
  LineReader lines(input);
  ConllReader reader(lines);
  SequenceEncoder encoder(rules, trained.dictionary, 2);
  ConllText sentence;
  for (std::size_t s = 0; s < 3; ++s, sentence.clear()) {
    ASSERT_TRUE(reader.next(sentence));
    const SparseMatrix& rows = encoder.encode(sentence, 0);
    ASSERT_EQ(rows.rows, all.data.feature_rows.end(s) - all.data.feature_rows.begin(s));
    for (std::size_t t = 0; t < rows.rows; ++t) {
      const SparseRow one = rows.view().row(t);
      const SparseRow same = rows_of(all.data).view().row(all.data.feature_rows.begin(s) + t);
      EXPECT_TRUE(std::ranges::equal(one.column, same.column));
      EXPECT_TRUE(std::ranges::equal(one.value, same.value));
    }
  }
  EXPECT_FALSE(reader.next(sentence));
  expect_says(refusal([&] { encoder.encode(conll("a b c d\n"), 0); }), {"data: line 1", "found 4 columns"});
}

TEST(SequenceData, ATokenOfTenMegabytes) {
  std::string word;
  word.append(10'000'000, 'w');
  const SequenceTraining trained = train(word + " X\nb Y\n", word_rule);
  EXPECT_EQ(trained.dictionary.name(1).size(), word.size() + 1);
  EXPECT_EQ(AttributeDictionary::from_bytes(trained.dictionary.to_bytes(), "model").name(1).size(), word.size() + 1);
}

// The customary templates on the customary data; the number of attributes was counted apart from the code.
TEST(SequenceData, RealFile) {
  const std::string folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no data sets here";
  Input input = Input::open(folder + "/conll2000_train.txt.gz");
  LineReader lines(input);
  const ConllText text = read_conll(lines);
  const SequenceTraining trained = training_sequences(text, TextTemplate::load("chunking"), {});
  EXPECT_EQ(trained.data.class_names.size(), 22U);
  EXPECT_EQ(trained.dictionary.columns(), 338551U);
  EXPECT_EQ(rows_of(trained.data).column.size(), 211727U * 19);
}

}  // namespace
}  // namespace m4n::detail

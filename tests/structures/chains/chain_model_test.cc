// FlatModel files of sequences: all ways of reading come back as they were; whatever is cut off or changed is refused
// or gives a model that works; every condition on a chain and on its input is checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "m4n/error.h"
#include "m4n/model.h"
#include "support/expect_same_model.h"
#include "support/flat_model.h"
#include "support/model_attacks.h"
#include "support/model_bytes.h"
#include "support/sample_chains.h"
#include "support/sample_models.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using nlohmann::json;
using test::expect_refused;
using test::OpenedModel;
using testing::AnyOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string& name = test::attacked_name;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::vector<Model> samples() {
  return {test::sample_chain(),         test::sample_hashed_chain(),  test::sample_letters(),
          test::sample_picture_chain(), test::sample_chain_of_rows(), test::sample_smallest_chain()};
}

// Tags a sentence of two tokens without a feature.
void expect_labels(const FlatModel& model) {
  DenseMatrix dense{2, model.d, std::vector<double>(2 * model.d)};
  SparseMatrix sparse{2, model.d, {0, 0, 0}, {}, {}};
  const FeaturesView x = model.sparse ? FeaturesView(sparse.view()) : FeaturesView(dense.view());
  const auto small = [](const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double value) { return std::abs(value) <= 1e80; });
  };
  const ChainWeights& w = model.chain;
  if (!small(w.transitions) || !small(w.start) || !small(w.end) || !small(w.bias)) {
    EXPECT_THROW(model.predict(x, Groups(1, 2)), Error);
    return;
  }
  const std::vector<std::int32_t> y = model.predict(x, Groups(1, 2));
  ASSERT_EQ(y.size(), 2U);
  for (const std::int32_t label : y) EXPECT_TRUE(label >= 0 && static_cast<std::size_t>(label) < model.k());
}

test::ModelAttacks attacks() {
  return {samples(), [](const FlatModel& model) {
            if (model.d < 100 && model.k() < 100) expect_labels(model);
          }};
}

TEST(ChainModel, BytesGiveTheSameModelAndTheSameBytes) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    const FlatModel back = FlatModel::from_bytes(bytes, name);
    test::expect_same_model(back, model);
    EXPECT_EQ(back.to_bytes(), bytes);
    EXPECT_EQ(test::open_model(bytes).header["kind"], "chain");
    EXPECT_EQ(test::open_model(bytes).sealed(), bytes);
    expect_labels(back);
  }
}

TEST(ChainModel, IsSavedAndLoaded) {
  const test::TempDir dir;
  test::sample_chain().save(dir / "a.m4n");
  test::expect_same_model(FlatModel::load(dir / "a.m4n"), test::sample_chain());
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(ChainModel, EveryTruncationIsRefused) { attacks().every_truncation_is_refused(); }

TEST(ChainModel, EveryChangedByteIsRefusedByTheChecksum) {
  const std::string bytes = test::sample_chain().to_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_FALSE(attacks().gives_model(changed)) << i;
  }
}

TEST(ChainModel, ResealedChangesAreRefusedOrGiveAValidModel) {
  attacks().resealed_changes_are_refused_or_give_a_valid_model();
}

TEST(ChainModel, EveryFieldAndEveryArrayIsNeeded) { attacks().every_field_and_every_array_is_needed(); }

TEST(ChainModel, FieldsHaveRanges) {
  const auto refused = [](const FlatModel& model, const char* field, const json& value, const std::string& message) {
    OpenedModel file = test::open_model(model.to_bytes());
    file.header["fields"][field] = value;
    expect_refused(file.sealed(), message);
  };
  const FlatModel text = test::sample_chain(), letters = test::sample_picture_chain();
  refused(text, "task", "multiclass", "a model of the kind 'chain' cannot have the task multiclass");
  refused(text, "task", "ordinal", "a model of the kind 'chain' cannot have the task ordinal");
  refused(text, "format", "csv", "the format csv has no sequences");
  refused(text, "format", "auto", "the format auto has no sequences");
  refused(text, "format", "crfsuite", "a template goes with columns of text");
  refused(text, "format", "ocr", "a dictionary of attributes, but is about letters");
  refused(text, "feature_columns", 0, "goes with columns of text");
  refused(text, "feature_columns", 1, "its template asks for columns it has not");
  refused(text, "grid_height", 1, "it has a grid of pixels");
  refused(text, "tokens", 6, "it has 7 sequences but 6 tokens");
  refused(text, "d", 3, "'features' has 12 entries; expected 9");
  refused(text, "k", 4, "expected 4");
  refused(text, "decode", "argmax", "argmax is no decoder of sequences");
  refused(text, "loss", "zero-one", "the loss is 'zero-one'");
  refused(letters, "grid_width", 3, "its input has");
  refused(letters, "grid_width", 0, "its grid of pixels is empty");
  refused(letters, "grid_width", 10001, "a whole number from 0 to 10000");
  refused(letters, "sparse", false, "whether its features are sparse is not as its format");
}

TEST(ChainModel, DictionariesAndTemplatesInAFileAreChecked) {
  const auto with = [](std::size_t which, const std::string& text) {
    OpenedModel file = test::open_model(test::sample_chain().to_bytes());
    for (json& array : file.header["arrays"]) {
      if (array["name"] != "input") continue;
      // It is the last array: both texts are written anew.
      const std::size_t at = array["offset"];
      const SequenceInput input = *test::sample_chain().input;
      std::string texts[] = {input.attributes.text(), input.dictionary.to_bytes()};
      texts[which] = text;
      std::string bytes;
      for (const std::string& own : texts) append_little_endian<std::uint64_t>(&bytes, own.size());
      for (const std::string& own : texts) bytes += own;
      array["bytes"] = bytes.size();
      bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
      file.payload = file.payload.substr(0, at) + bytes;
    }
    return file.sealed();
  };
  const std::string dictionary = test::sample_chain().input->dictionary.to_bytes();
  EXPECT_NO_THROW(FlatModel::from_bytes(with(1, dictionary), name));
  expect_refused(with(0, "U:%x[0\nB\n"), "template");
  expect_refused(with(0, ""), "a template goes with columns of text");
  expect_refused(with(0, "U:%x[0,5]\nB\n"), "its template asks for columns it has not");
  expect_refused(with(1, test::dictionary_of({"a", "b", "c"}).to_bytes()), "its input has 3 columns");
  expect_refused(with(1, AttributeDictionary::hashing(3).to_bytes()), "its input has 8 columns");
  expect_refused(with(1, ""), "its input has 0 columns");
  for (std::size_t size = 1; size < dictionary.size(); ++size) expect_refused(with(1, dictionary.substr(0, size)), "");
  expect_refused(with(1, dictionary + "x"), "");
}

void expect_invalid(const FlatModel& sample, const std::string& message, const std::function<void(FlatModel&)>& spoil) {
  FlatModel model = sample;
  spoil(model);
  EXPECT_THAT([&] { model.to_bytes(); }, ThrowsMessage<Error>(HasSubstr(message)));
}

TEST(ChainModel, WeightsHaveShapesAndAreFinite) {
  const FlatModel rows = test::sample_chain_of_rows();
  const auto refused = [&](const std::string& message, const std::function<void(FlatModel&)>& spoil) {
    expect_invalid(rows, message, spoil);
  };
  const auto features = [](FlatModel& m) -> std::vector<double>& {
    return std::get<std::vector<double>>(m.chain.features);
  };
  EXPECT_NO_THROW(rows.to_bytes());
  refused("features has 3 entries; expected 4", [&](FlatModel& m) { features(m).pop_back(); });
  refused("features has 4 entries; expected 6", [](FlatModel& m) { m.d = 3, m.feature_names.clear(); });
  refused("features holds nan at entry 2", [&](FlatModel& m) { features(m)[2] = nan; });
  refused("features holds inf at entry 1", [](FlatModel& m) {
    m.sparse = true, m.chain.features = std::vector<float>{1, HUGE_VALF, 2, 3};
  });
  refused("bias has 1 entries; expected 2", [](FlatModel& m) { m.chain.bias.pop_back(); });
  refused("transitions has 3 entries; expected 4", [](FlatModel& m) { m.chain.transitions.pop_back(); });
  refused("start has 0 entries; expected 2", [](FlatModel& m) { m.chain.start.clear(); });
  refused("end has 3 entries; expected 2", [](FlatModel& m) { m.chain.end.push_back(0); });
  refused("bias holds inf", [](FlatModel& m) { m.chain.bias[0] = inf; });
  refused("transitions holds nan", [](FlatModel& m) { m.chain.transitions[3] = nan; });
  refused("start holds -inf", [](FlatModel& m) { m.chain.start[1] = -inf; });
  refused("end holds nan", [](FlatModel& m) { m.chain.end[0] = nan; });
  refused("in single precision, but its features are not sparse", [](FlatModel& m) {
    m.chain.features = std::vector<float>{1, 2, 3, 4};
  });
  refused("4 sequences but 3 tokens", [](FlatModel& m) { m.parts = 3; });
}

TEST(ChainModel, HasASurrogateADecoderAndCostsOfSequences) {
  const FlatModel rows = test::sample_chain_of_rows();
  const auto refused = [&](const std::string& message, const std::function<void(FlatModel&)>& spoil) {
    expect_invalid(rows, message, spoil);
  };
  refused("its surrogate qs is not one of sequences", [](FlatModel& m) { m.surrogate = SurrogateKind::qs; });
  refused("smoothed, which sequences have not", [](FlatModel& m) { m.smoothing = 0.5; });
  refused("called hamming but its costs are others", [](FlatModel& m) { m.cost[1] = 2; });
  refused("beyond 1e+30", [](FlatModel& m) { m.loss_name = "matrix", m.cost = {0, 1e31, 1, 0}; });
  refused("expected at least 1e-30", [](FlatModel& m) { m.loss_name = "matrix", m.cost = {0, 1e-31, 1e-31, 0}; });
  refused("the loss is 'zero-one'; expected absolute, squared, hamming or matrix",
          [](FlatModel& m) { m.loss_name = "zero-one"; });
  refused("still to be chosen", [](FlatModel& m) { m.decode = Decoder::automatic; });
  refused("which sequences have not", [](FlatModel& m) { m.target_column = "y"; });
  const auto allowed = [](SurrogateKind s, Decoder d) {
    return d == Decoder::viterbi || (s == SurrogateKind::crf && d == Decoder::expected) ||
           (s == SurrogateKind::m4n && d == Decoder::adversary);
  };
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
    for (const Decoder decode : {Decoder::argmax, Decoder::viterbi, Decoder::expected, Decoder::adversary}) {
      FlatModel model = rows;
      model.surrogate = surrogate;
      model.decode = decode;
      if (allowed(surrogate, decode))
        EXPECT_NO_THROW(model.to_bytes());
      else
        EXPECT_THAT([&] { model.to_bytes(); },
                    ThrowsMessage<Error>(AnyOf(HasSubstr("does not go with the surrogate"),
                                               HasSubstr("argmax is no decoder of sequences"))));
    }
  FlatModel classes = test::sample_smallest();
  classes.decode = Decoder::viterbi;
  EXPECT_THAT([&] { classes.to_bytes(); }, ThrowsMessage<Error>(HasSubstr("viterbi is no decoder of examples")));
}

// The lanes beyond the last label hold -1e100: no label may lose to one that is none.
TEST(ChainModel, TransitionsBelowThePaddingAreNotDecoded) {
  FlatModel model = test::sample_chain_of_rows();
  const DenseMatrix x{2, model.d, std::vector<double>(2 * model.d, 1.0)};
  const auto predicted = [&] { return model.predict(x.view(), Groups(std::vector<std::size_t>{0, 2})); };
  std::fill(model.chain.transitions.begin(), model.chain.transitions.end(), -1.0);
  for (const std::int32_t y : predicted()) EXPECT_LT(static_cast<std::size_t>(y), model.k());
  std::fill(model.chain.transitions.begin(), model.chain.transitions.end(), -1e200);
  EXPECT_THAT(predicted, ThrowsMessage<Error>(HasSubstr("a transition of the model scores -1e+200")));
}

TEST(ChainModel, TheInputFitsTheWeights) {
  const auto refused = [](const FlatModel& sample, const std::string& message,
                          const std::function<void(SequenceInput&)>& spoil) {
    expect_invalid(sample, message, [&](FlatModel& model) {
      SequenceInput input = *model.input;
      spoil(input);
      test::set_input(model, std::move(input));
    });
  };
  const FlatModel text = test::sample_chain(), hashed = test::sample_hashed_chain(), letters = test::sample_letters(),
                  pictures = test::sample_picture_chain();
  refused(hashed, "it has a grid of pixels", [](SequenceInput& i) { i.grid = PixelGrid{2, 2}; });
  refused(letters, "a dictionary of attributes, but is about letters",
          [](SequenceInput& i) { i.dictionary = AttributeDictionary::hashing(2); });
  refused(letters, "its grid of pixels is empty", [](SequenceInput& i) { i.grid = PixelGrid{0, 3}; });
  refused(letters, "whether its features are sparse", [](SequenceInput& i) { i.grid = PixelGrid{1, 2}; });
  refused(pictures, "whether its features are sparse", [](SequenceInput& i) { i.grid.reset(); });
  refused(pictures, "its input has", [](SequenceInput& i) { i.grid = PixelGrid{2, 3}; });
  refused(hashed, "its input has 8 columns, its weights are for 4",
          [](SequenceInput& i) { i.dictionary = AttributeDictionary::hashing(3); });
  refused(text, "its input has 1 columns", [](SequenceInput& i) { i.dictionary = test::dictionary_of({"U0:the"}); });
  refused(text, "a template goes with columns of text", [](SequenceInput& i) { i.attributes = {}; });
  refused(text, "a template goes with columns of text", [](SequenceInput& i) { i.format = SequenceFormat::crfsuite; });
  refused(text, "the number of columns goes with columns of text", [](SequenceInput& i) { i.feature_columns = 0; });
  refused(hashed, "the number of columns goes with columns of text", [](SequenceInput& i) { i.feature_columns = 1; });
  refused(text, "asks for columns it has not", [](SequenceInput& i) { i.feature_columns = 1; });
  expect_invalid(text, "whether its features are sparse is not as its format", [](FlatModel& m) {
    m.sparse = false;
    m.chain.features = std::vector<double>(12);
  });
}

}  // namespace
}  // namespace m4n::detail

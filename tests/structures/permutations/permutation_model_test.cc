// FlatModel files of rankings and matchings: they come back as they were; whatever is cut off or changed is refused or
// gives a model that works; every condition on them is checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "core/kernels.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "support/expect_same_model.h"
#include "support/flat_model.h"
#include "support/model_attacks.h"
#include "support/model_bytes.h"
#include "support/sample_chains.h"
#include "support/sample_models.h"
#include "support/sample_permutations.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using nlohmann::json;
using test::expect_refused;
using test::OpenedModel;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string& name = test::attacked_name;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

std::vector<Model> samples() {
  return {test::sample_ranking(), test::sample_item_ranking(), test::sample_weighted_ranking(),
          test::sample_matching()};
}

// Ranks one row, or matches two points, none of which has a feature.
void expect_permutation(const FlatModel& model) {
  const bool matching = model.task == "matching";
  const std::size_t rows = matching ? 4 : 1, items = matching ? 2 : model.k();
  const DenseMatrix dense{rows, model.d, std::vector<double>(rows * model.d)};
  const SparseMatrix sparse{rows, model.d, std::vector<std::size_t>(rows + 1), {}, {}};
  const FeaturesView x = model.sparse ? FeaturesView(sparse.view()) : FeaturesView(dense.view());
  const std::vector<double> scores = model.scores(x);
  // What overflows is refused by the commands before it is decoded.
  if (!std::all_of(scores.begin(), scores.end(), [](double v) { return kernels::is_score(v); })) return;
  std::vector<std::int32_t> y = matching ? model.predict(x, Groups(1, 4)) : model.predict(x);
  std::sort(y.begin(), y.end());
  ASSERT_EQ(y.size(), items);
  for (std::size_t i = 0; i < items; ++i) EXPECT_EQ(y[i], static_cast<std::int32_t>(i));
}

test::ModelAttacks attacks() {
  return {samples(), [](const FlatModel& model) {
            if (model.d < 100 && model.task != "sequence") expect_permutation(model);
          }};
}

TEST(PermutationModel, BytesGiveTheSameModelAndTheSameBytes) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    const FlatModel back = FlatModel::from_bytes(bytes, name);
    test::expect_same_model(back, model);
    EXPECT_EQ(back.to_bytes(), bytes);
    EXPECT_EQ(test::open_model(bytes).header["kind"], "permutation");
    expect_permutation(back);
  }
}

TEST(PermutationModel, IsSavedAndLoaded) {
  const test::TempDir dir;
  test::sample_matching().save(dir / "a.m4n");
  test::expect_same_model(FlatModel::load(dir / "a.m4n"), test::sample_matching());
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(PermutationModel, ScoresOfItemsAreSorted) {
  // precision@2 sorts the items by their scores 3, -1, 2.5, 0.
  const DenseMatrix x{2, 1, {1, -1}};
  const std::vector<std::int32_t> y = test::sample_item_ranking().predict(x.view());
  EXPECT_EQ(y, (std::vector<std::int32_t>{0, 3, 1, 2, 3, 0, 2, 1}));
}

TEST(PermutationModel, NamesOfScores) {
  EXPECT_EQ(test::sample_item_ranking().output_names(), (std::vector<std::string>{"r1", "r2", "r3", "r4"}));
  EXPECT_EQ(test::sample_weighted_ranking().output_names(), (std::vector<std::string>{"r1_1", "r1_2", "r2_1", "r2_2"}));
  EXPECT_EQ(test::sample_matching().output_names(), (std::vector<std::string>{"pair"}));
  for (const FlatModel model : samples()) EXPECT_EQ(model.output_names().size(), model.outputs());
}

TEST(PermutationModel, EveryTruncationIsRefused) { attacks().every_truncation_is_refused(); }

TEST(PermutationModel, ResealedChangesAreRefusedOrGiveAValidModel) {
  attacks().resealed_changes_are_refused_or_give_a_valid_model();
}

TEST(PermutationModel, EveryFieldAndEveryArrayIsNeeded) { attacks().every_field_and_every_array_is_needed(); }

TEST(PermutationModel, FieldsHaveRanges) {
  const auto refused = [](const FlatModel& model, const char* field, const json& value, const std::string& message) {
    OpenedModel file = test::open_model(model.to_bytes());
    file.header["fields"][field] = value;
    expect_refused(file.sealed(), message);
  };
  const FlatModel ranking = test::sample_ranking(), items = test::sample_item_ranking(),
                  pairs = test::sample_matching();
  for (const char* task : {"multiclass", "ordinal", "sequence"})
    refused(ranking, "task", task, std::string("a model of the kind 'permutation' cannot have the task ") + task);
  refused(ranking, "task", "matching", "'k' of its header is 3");
  refused(pairs, "task", "ranking", "'k' of its header is 0");
  refused(ranking, "k", 1, "a whole number from 2");
  refused(ranking, "k", 4, "expected 4");
  refused(pairs, "k", 2, "'k' of its header is 2");
  refused(ranking, "loss", "footrule", "'cost' has 9 entries; expected 0");
  refused(ranking, "loss", "weighted", "'cost' has 9 entries; expected 3");
  refused(pairs, "loss", "zero-one", "unknown loss 'zero-one' of permutations");
  refused(pairs, "loss", "kendall", "unknown loss 'kendall' of permutations");
  refused(items, "loss", "precision@0", "unknown loss 'precision@0'");
  refused(items, "loss", "precision@4", "all 4 items are among the first 4");
  refused(items, "loss", "precision@99999999999999999999", "unknown loss");
  refused(items, "loss", "hamming", "'weights' has 4 entries; expected 16");
  refused(pairs, "loss", "spearman", "matchings have the loss hamming only");
  refused(ranking, "items", 4, "it has 5 rankings but 4 items");
  refused(ranking, "most_points", 3, "it has points, but its task is not matching");
  refused(pairs, "most_points", 0, "it has no points");
  refused(pairs, "most_points", std::uint64_t{1} << 40, "a whole number from 0");
  refused(pairs, "bias", true, "'weights' has 2 entries; expected 3");
  refused(ranking, "mapped", false, "'weights' has 18 entries; expected 27");
  refused(pairs, "mapped", true, "the field 'features' of its header is missing");
  refused(ranking, "decode", "expected", "the decoder expected does not go with the surrogate m4n of rankings");
  refused(pairs, "decode", "adversary", "the decoder adversary does not go with the surrogate qs of matchings");
  refused(ranking, "width", 2, "'points' has 2 entries; expected 4");
  refused(ranking, "gamma", 0, "gamma is 0");
}

void expect_invalid(const FlatModel& sample, const std::string& message, const std::function<void(FlatModel&)>& spoil) {
  FlatModel model = sample;
  spoil(model);
  EXPECT_THAT([&] { model.to_bytes(); }, ThrowsMessage<Error>(HasSubstr(message)));
}

TEST(PermutationModel, HasInvariants) {
  const FlatModel ranking = test::sample_ranking(), weighted = test::sample_weighted_ranking(),
                  pairs = test::sample_matching();
  expect_invalid(ranking, "weights has 17 entries; expected 18", [](FlatModel& m) { m.weights.pop_back(); });
  expect_invalid(ranking, "weights holds nan at entry 2", [](FlatModel& m) { m.weights[2] = nan; });
  expect_invalid(ranking, "cost holds inf at entry 1", [](FlatModel& m) { m.cost[1] = inf; });
  expect_invalid(ranking, "some wrong permutation costs", [](FlatModel& m) { m.cost[0] = 9; });
  expect_invalid(ranking, "cost the same", [](FlatModel& m) { m.cost.assign(9, 1.5); });
  expect_invalid(ranking, "has 8 numbers for 3 items", [](FlatModel& m) { m.cost.pop_back(); });
  expect_invalid(ranking, "it has 1 items; expected 2", [](FlatModel& m) { m.classes.resize(1); });
  expect_invalid(ranking, "the class 'r1' occurs twice", [](FlatModel& m) { m.classes[1] = "r1"; });
  expect_invalid(ranking, "smoothed, which rankings have not", [](FlatModel& m) { m.smoothing = 1; });
  expect_invalid(ranking, "viterbi", [](FlatModel& m) { m.decode = Decoder::viterbi; });
  expect_invalid(ranking, "decoder is still to be chosen", [](FlatModel& m) { m.decode = Decoder::automatic; });
  expect_invalid(weighted, "the weight of item 0 is -1", [](FlatModel& m) { m.cost[0] = -1; });
  expect_invalid(weighted, "cost the same", [](FlatModel& m) { m.cost[0] = 0; });
  expect_invalid(weighted, "its features are sparse", [](FlatModel& m) { m.standardizer.mean = {1}; });
  expect_invalid(pairs, "neither a bias nor a feature map", [](FlatModel& m) { m.bias = true, m.weights = {1, 2, 3}; });
  expect_invalid(pairs, "it has 2 points; expected 0 to 0", [](FlatModel& m) { m.classes = {"a", "b"}; });
  expect_invalid(pairs, "no points", [](FlatModel& m) { m.points = 0; });
  expect_invalid(pairs, "neither features nor a bias",
                 [](FlatModel& m) { m.d = 0, m.weights.clear(), m.feature_names.clear(), m.standardizer = {}; });
}

TEST(PermutationModel, AsksForWhatItNeeds) {
  const FlatModel pairs = test::sample_matching(), ranking = test::sample_item_ranking();
  const DenseMatrix three{3, 2, std::vector<double>(6)}, one{4, 1, std::vector<double>(4)};
  EXPECT_THAT([&] { pairs.predict(three.view(), Groups(1, 3)); },
              ThrowsMessage<Error>(HasSubstr("3 rows of features")));
  EXPECT_THAT([&] { pairs.predict(three.view(), Groups(1, 4)); }, ThrowsMessage<Error>(HasSubstr("rows 0 to 4 of 3")));
  EXPECT_THAT([&] { pairs.predict(three.view(), Groups(1, 1)); }, ThrowsMessage<Error>(HasSubstr("have 1 rows")));
  EXPECT_THAT([&] { pairs.predict(one.view(), Groups(1, 4)); }, ThrowsMessage<Error>(HasSubstr("1 features")));
  EXPECT_THAT([&] { pairs.predict(three.view()); }, ThrowsMessage<Error>(HasSubstr("decoded together")));
  EXPECT_THAT([&] { ranking.predict(one.view(), Groups(1, 4)); }, ThrowsMessage<Error>(HasSubstr("single rows")));
  EXPECT_THAT([&] { ranking.marginals(std::vector<double>(4)); },
              ThrowsMessage<UsageError>(HasSubstr("--surrogate crf")));
}

}  // namespace
}  // namespace m4n::detail

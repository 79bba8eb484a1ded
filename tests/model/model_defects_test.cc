// One defect at a time in an otherwise valid file with a right checksum, and the message each must give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "m4n/error.h"
#include "m4n/model.h"
#include "support/flat_model.h"
#include "support/model_attacks.h"
#include "support/model_bytes.h"
#include "support/sample_models.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using nlohmann::json;
using test::expect_refused;
using test::OpenedModel;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ModelDefects, UnchangedAndResealedIsAccepted) {
  const std::string bytes = test::sample_linear().to_bytes();
  EXPECT_EQ(test::open_model(bytes).sealed(), bytes);
  EXPECT_NO_THROW(FlatModel::from_bytes(test::resealed(bytes), "m.m4n"));
}

TEST(ModelDefects, EveryFieldIsNeededAndHasAType) {
  const OpenedModel whole = test::open_model(test::sample_linear().to_bytes());
  EXPECT_EQ(whole.header["fields"].size(), 23U);
  for (const auto& [field, value] : whole.header["fields"].items()) {
    OpenedModel file = whole;
    file.header["fields"].erase(field);
    expect_refused(file.sealed(), "the field '" + field + "' of its header is missing");
    for (const json& wrong : {json(nullptr), json::array(), json::object(), json(-1.5), json(true), json("?"), json(-1),
                              json("NaN"), json(1e300)}) {
      const bool allowed = (value.is_number_float() && wrong.is_number()) || wrong.type() == value.type();
      if (allowed) continue;
      file.header["fields"][field] = wrong;
      expect_refused(file.sealed(), "'" + field + "' of its header is " + wrong.dump());
    }
  }
}

TEST(ModelDefects, EveryArrayIsNeededWithItsTypeAndLength) {
  const OpenedModel whole = test::open_model(test::sample_linear().to_bytes());
  ASSERT_EQ(whole.header["arrays"].size(), 8U);
  for (std::size_t a = 0; a < 8; ++a) {
    const auto changed = [&](const std::string& key, const json& value) {
      OpenedModel file = whole;
      file.header["arrays"][a][key] = value;
      return file.sealed();
    };
    const std::string name = whole.header["arrays"][a]["name"];
    expect_refused(changed("name", "other"), "'" + name + "' is missing");
    expect_refused(changed("type", "i32"), "'" + name + "' cannot hold");
    const bool numbers = whole.header["arrays"][a]["type"] == "f64";
    expect_refused(changed("type", numbers ? "strings" : "f64"), numbers ? "has type 'strings'" : "cannot hold");
    expect_refused(changed("count", std::uint64_t{1} << 61), "cannot hold");
    expect_refused(changed("count", std::numeric_limits<std::uint64_t>::max()), "cannot hold");
    expect_refused(changed("bytes", std::uint64_t{1} << 62), "does not lie where it must");
    expect_refused(changed("bytes", std::numeric_limits<std::uint64_t>::max()), "does not lie where it must");
    expect_refused(changed("offset", std::uint64_t{1} << 63), "does not lie where it must");
    expect_refused(changed("offset", 1), "does not lie where it must");
    for (const char* key : {"name", "type", "count", "offset", "bytes"}) {
      expect_refused(changed(key, nullptr), "an entry of 'arrays'");
      expect_refused(changed(key, -1), "an entry of 'arrays'");
    }
    expect_refused(changed("extra", 1), "an entry of 'arrays'");
  }
}

TEST(ModelDefects, UnknownThingsAreNotIgnored) {
  OpenedModel file = test::open_model(test::sample_linear().to_bytes());
  file.header["fields"]["temperature"] = 2;
  expect_refused(file.sealed(), "unknown field 'temperature'");

  file = test::open_model(test::sample_linear().to_bytes());
  file.header["arrays"].push_back(
      {{"name", "more"}, {"type", "f64"}, {"count", 0}, {"offset", file.payload.size()}, {"bytes", 0}});
  expect_refused(file.sealed(), "unknown array 'more'");
  file.header["arrays"].back()["name"] = "cost";
  expect_refused(file.sealed(), "lists the array 'cost' twice");

  file = test::open_model(test::sample_linear().to_bytes());
  file.payload += std::string(8, '\0');
  expect_refused(file.sealed(), "its arrays end at byte");

  file = test::open_model(test::sample_linear().to_bytes());
  file.header["kind"] = "forest";
  expect_refused(
      file.sealed(),
      "kind 'forest', but this m4n knows the kinds 'linear', 'mapped', 'labels', 'chain', 'permutation' only: it "
      "was written by a newer m4n");
  file.header["kind"] = 3;
  expect_refused(file.sealed(), "its header must hold exactly");
}

TEST(ModelDefects, HeadersMustBeStrictJson) {
  const OpenedModel whole = test::open_model(test::sample_linear().to_bytes());
  const std::string text = whole.header.dump();
  const auto refused = [&](std::string header, const std::string& message) {
    header.resize((header.size() + 7) / 8 * 8, ' ');
    expect_refused(test::seal(header, whole.payload), message);
  };
  refused("", "not valid JSON");
  refused("{", "not valid JSON");
  refused("[]", "must hold exactly");
  refused("null", "must hold exactly");
  refused(text + "x", "not valid JSON");
  refused("{\"kind\":\"\xff\"}", "not valid JSON");
  refused("{\"kind\":1e999}", "not valid JSON");
  refused("{\"kind\":\"linear\"," + text.substr(1), "the key \"kind\" occurs twice");
  refused(std::string(100000, '['), "nested too deeply");
  std::string objects;
  for (int i = 0; i < 10000; ++i) objects += "{\"a\":";
  refused(objects, "nested too deeply");
}

TEST(ModelDefects, StringsStayInsideTheirArray) {
  const OpenedModel whole = test::open_model(test::sample_linear().to_bytes());
  const std::size_t at = whole.header["arrays"][0]["offset"];
  ASSERT_EQ(whole.header["arrays"][0]["name"], "classes");
  for (const auto& [size, message] : std::initializer_list<std::pair<std::uint64_t, const char*>>{
           {2, "shorter than the array"}, {4, "longer than the array"}, {~std::uint64_t{0}, "longer than the array"}}) {
    OpenedModel file = whole;
    std::string number;
    append_little_endian(&number, size);
    file.payload.replace(at, 8, number);
    expect_refused(file.sealed(), message);
  }
}

TEST(ModelDefects, TheBytesBetweenArraysAreZero) {
  OpenedModel file = test::open_model(test::sample_linear().to_bytes());
  const json& names = file.header["arrays"][1];
  const std::size_t end = names["offset"].get<std::size_t>() + names["bytes"].get<std::size_t>();
  ASSERT_NE(end % 8, 0U);
  file.payload[end] = 'x';
  expect_refused(file.sealed(), "are not zero");
}

TEST(ModelDefects, FieldsHaveRanges) {
  const auto refused = [](const char* field, const json& value, const std::string& message) {
    OpenedModel file = test::open_model(test::sample_linear().to_bytes());
    file.header["fields"][field] = value;
    expect_refused(file.sealed(), message);
  };
  refused("task", "sequence", "a model of the kind 'linear' cannot have the task sequence");
  refused("task", "dream", "expected one of: multiclass, ordinal, multilabel, sequence");
  refused("surrogate", "M4N", "expected one of: m4n, m3n, crf, qs");
  refused("decode", "auto", "decoder is still to be chosen");
  refused("binning", "", "expected one of: quantile, width");
  refused("loss", "hinge", "the loss is 'hinge'");
  refused("loss", "zero-one", "called zero-one but its costs are others");
  refused("k", 0, "a whole number from 2");
  refused("k", 1, "a whole number from 2");
  refused("k", 2, "'classes' has 3 entries; expected 2");
  refused("k", 4, "'classes' has 3 entries; expected 4");
  refused("k", std::uint64_t{1} << 62, "a whole number from 2");
  refused("d", 1, "'feature_names' has 2 entries; expected 1 or none");
  refused("d", std::uint64_t{1} << 63, "a whole number from 0");
  refused("bias", false, "'weights' has 9 entries; expected 6");
  refused("epochs", std::uint64_t{1} << 31, "a whole number from 0");
  refused("sparse", true, "never centred");
  refused("task", "multiclass", "cut points, but its task is not ordinal");
  refused("surrogate", "crf", "only the surrogate m4n can be smoothed");
  for (const char* field : {"smoothing", "lambda", "tol", "norm_squared"}) {
    refused(field, -0.5, std::string(field) + " is -0.5");
    refused(field, "inf", std::string(field) + " is inf");
  }
  refused("train_loss", "-inf", "train_loss is -inf");
  refused("primal", "nan", "expected a number");
}

TEST(ModelDefects, ModelsHaveInvariants) {
  const auto refused = [](const std::string& message, const std::function<void(FlatModel&)>& spoil) {
    FlatModel model = test::sample_linear();
    spoil(model);
    EXPECT_THAT([&] { model.to_bytes(); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  refused("the class 'low' occurs twice", [](FlatModel& m) { m.classes[2] = "low"; });
  refused("the feature name 'age' occurs twice", [](FlatModel& m) { m.feature_names[1] = "age"; });
  refused("feature_names has 1 entries; expected 2", [](FlatModel& m) { m.feature_names.pop_back(); });
  refused("it has 1 classes", [](FlatModel& m) { m.classes.resize(1); });
  refused("neither features nor a bias", [](FlatModel& m) { m.d = 0, m.bias = false, m.feature_names.clear(); });
  refused("weights has 8 entries; expected 9", [](FlatModel& m) { m.weights.pop_back(); });
  refused("weights holds inf at entry 4", [=](FlatModel& m) { m.weights[4] = inf; });
  refused("cost has 8 entries; expected 9", [](FlatModel& m) { m.cost.pop_back(); });
  refused("cost holds nan at entry 0", [=](FlatModel& m) { m.cost[0] = nan; });
  refused("cost[1][2] is not greater than cost[1][1]", [](FlatModel& m) { m.cost[5] = 0; });
  refused("called absolute but its costs are others", [](FlatModel& m) { m.cost[2] = 2.5; });
  refused("cuts has 1 entries; expected 2", [](FlatModel& m) { m.bins.cuts.pop_back(); });
  refused("cuts holds -inf at entry 0", [=](FlatModel& m) { m.bins.cuts[0] = -inf; });
  refused("cut points decrease", [](FlatModel& m) { m.bins.cuts = {2, 1}; });
  refused("mean has 1 entries", [](FlatModel& m) { m.standardizer.mean.pop_back(); });
  refused("mean holds nan", [=](FlatModel& m) { m.standardizer.mean[1] = nan; });
  refused("means but no scales", [](FlatModel& m) { m.standardizer.inverse_scale.clear(); });
  refused("inverse_scale has 3 entries", [](FlatModel& m) { m.standardizer.inverse_scale.push_back(1); });
  refused("inverse_scale holds inf", [=](FlatModel& m) { m.standardizer.inverse_scale[1] = inf; });
  refused("inverse_scale holds a negative number", [](FlatModel& m) { m.standardizer.inverse_scale[0] = -1; });
  refused("epochs is -1", [](FlatModel& m) { m.epochs = -1; });
  refused("certificate is not a number", [=](FlatModel& m) { m.certificate.dual = nan; });

  FlatModel equal_cuts = test::sample_linear();
  equal_cuts.bins.cuts = {1, 1};
  EXPECT_NO_THROW(FlatModel::from_bytes(equal_cuts.to_bytes(), "m.m4n"));
}

}  // namespace
}  // namespace m4n::detail

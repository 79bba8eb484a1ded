// What every kind of model file must stand: cuts, changed bytes behind a right checksum, and lists without one of their
// entries. A test brings its samples and what it means that a model works.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "m4n/error.h"
#include "m4n/model.h"
#include "support/flat_model.h"
#include "support/model_bytes.h"

namespace m4n::detail::test {

inline const std::string attacked_name = "m.m4n";

inline void expect_refused(const std::string& bytes, const std::string& message) {
  EXPECT_THAT([&] { FlatModel::from_bytes(bytes, attacked_name); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(testing::StartsWith(attacked_name + ": "), testing::HasSubstr(message))));
}

struct ModelAttacks {
  std::vector<Model> samples;
  std::function<void(const FlatModel&)> expect_works;  // predicts, unless it is too large for that

  // Whether the bytes give a model, which then must be written and read again and must work; all but an Error with the
  // name of the file is a failure.
  bool gives_model(const std::string& bytes) const {
    try {
      const FlatModel model = FlatModel::from_bytes(bytes, attacked_name);
      const std::string written = model.to_bytes();
      EXPECT_EQ(FlatModel::from_bytes(written, attacked_name).to_bytes(), written);
      expect_works(model);
      return true;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(attacked_name + ": "));
      return false;
    }
  }

  void every_truncation_is_refused() const {
    for (const Model& model : samples) {
      const std::string bytes = model.to_bytes();
      for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(gives_model(bytes.substr(0, size))) << size;
      // Also where the sizes and the checksum are right.
      for (std::size_t size = 40; size + 8 < bytes.size(); size += 8)
        EXPECT_FALSE(gives_model(resealed(bytes.substr(0, size)))) << size;
    }
  }

  void resealed_changes_are_refused_or_give_a_valid_model() const {
    std::mt19937 random(1);
    std::size_t accepted = 0, refused = 0;
    for (const Model& model : samples) {
      const std::string bytes = model.to_bytes();
      for (std::size_t i = 32; i + 8 < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(random());
        ++(gives_model(resealed(changed)) ? accepted : refused);
      }
    }
    EXPECT_GT(accepted, 100U);  // weights may have other values
    EXPECT_GT(refused, 1000U);
  }

  void every_field_and_every_array_is_needed() const {
    for (const Model& model : samples) {
      const OpenedModel whole = open_model(model.to_bytes());
      for (const auto& [field, value] : whole.header["fields"].items()) {
        OpenedModel file = whole;
        file.header["fields"].erase(field);
        expect_refused(file.sealed(), "the field '" + field + "' of its header is missing");
        file.header["fields"][field] = nlohmann::json::array();
        expect_refused(file.sealed(), "'" + field + "' of its header is []");
      }
      for (std::size_t a = 0; a < whole.header["arrays"].size(); ++a) {
        const std::string array = whole.header["arrays"][a]["name"];
        OpenedModel file = whole;
        file.header["arrays"][a]["name"] = "other";
        // The fold is there only where it was asked for.
        expect_refused(file.sealed(), array == "fold_column" ? "unknown array 'other'" : "'" + array + "' is missing");
      }
    }
  }
};

}  // namespace m4n::detail::test

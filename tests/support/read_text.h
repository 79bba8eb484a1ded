// Reading a table from a string, and what a refusal says.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "data/table.h"
#include "m4n/error.h"
#include "support/flat_model.h"

namespace m4n::detail {

inline const std::string byte_order_mark = "\xef\xbb\xbf";  // of UTF-8

inline RawTable read_text(std::string_view text, const ReadOptions& options = {}, Truth truth = Truth::required,
                          const test::FlatModel* model = nullptr) {
  Input input = Input::memory(text, "file");
  LineReader lines(input);
  if (model == nullptr) return read_table(lines, options, truth, nullptr);
  ExpectedColumns expected{model->feature_names,
                           model->d,
                           model->k(),
                           model->task == "ranking"      ? OutputColumns::ranks
                           : model->task == "multilabel" ? OutputColumns::marks
                                                         : OutputColumns::one,
                           {},
                           {},
                           model->target_column};
  for (const std::string* name :
       {&model->target_column, &model->weights_column, &model->id_column, &model->fold_column})
    if (!name->empty()) expected.no_features.push_back(*name);
  return read_table(lines, options, truth, &expected);
}

// Runs `call`, which must throw exactly an `E`, and returns its message.
template <class E = Error, class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

inline std::string refusal_of(std::string_view text, const ReadOptions& options = {}, Truth truth = Truth::required,
                              const test::FlatModel* model = nullptr) {
  return refusal([&] { read_text(text, options, truth, model); });
}

// All that `parts` say must be in the message.
inline void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_THAT(message, testing::HasSubstr(part));
}

inline const DenseMatrix& dense(const RawTable& table) { return std::get<DenseMatrix>(table.x); }
inline const SparseMatrix& sparse(const RawTable& table) { return std::get<SparseMatrix>(table.x); }

// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(testing::TempDir()) /
             (std::string("m4n_") + test->test_suite_name() + "_" + test->name() + "_" +
              std::to_string(reinterpret_cast<std::uintptr_t>(this))))
                .string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The folder of real data sets: $M4N_DATA, else shared/data beside the source tree; empty if there is none.
inline std::string data_folder() {
  const char* const given = std::getenv("M4N_DATA");
  const std::string folder = given != nullptr ? given : M4N_SOURCE_DIR "/../shared/data";
  return std::filesystem::exists(folder + "/abalone.csv") ? folder : "";
}

}  // namespace m4n::detail

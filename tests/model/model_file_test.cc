// Models come back from their bytes as they were; damaged bytes never give a model. Defects behind the checksum
// (model_defects_test.cc) are made by resealing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "m4n/error.h"
#include "m4n/model.h"
#include "support/expect_same_model.h"
#include "support/flat_model.h"
#include "support/model_bytes.h"
#include "support/sample_models.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

const std::string name = "some/model.m4n";

std::vector<Model> samples() {
  return {test::sample_linear(), test::sample_sparse(), test::sample_mapped(), test::sample_smallest()};
}

// True if the bytes give a model, false if they are refused with an Error that names the file; all else fails.
bool gives_model(std::string_view bytes) {
  try {
    FlatModel::from_bytes(bytes, name);
    return true;
  } catch (const Error& error) {
    if (!std::string_view(error.what()).starts_with(name + ": ")) ADD_FAILURE() << "no file named: " << error.what();
    return false;
  }
}

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string with_u64(std::string bytes, std::size_t offset, std::uint64_t value) {
  std::string number;
  append_little_endian(&number, value);
  return bytes.replace(offset, 8, number);
}

TEST(ModelFile, BytesGiveTheSameModelAndTheSameBytes) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    const FlatModel back = FlatModel::from_bytes(bytes, name);
    test::expect_same_model(model, back);
    EXPECT_EQ(back.to_bytes(), bytes);
    EXPECT_EQ(bytes.size() % 8, 0U);
  }
}

TEST(ModelFile, SavesAndLoads) {
  const test::TempDir dir;
  const std::string path = dir / "a.m4n";
  test::sample_smallest().save(path);
  test::sample_linear().save(path);
  test::expect_same_model(FlatModel::load(path), test::sample_linear());
  EXPECT_EQ(std::filesystem::file_size(path), test::sample_linear().to_bytes().size());
  EXPECT_EQ(dir.entries(), 1U);
}

TEST(ModelFile, LoadsFromAPipe) {
  const test::TempDir dir;
  const std::string path = dir / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  FlatModel model = test::sample_linear();
  model.d = 100000;
  model.feature_names.clear();
  model.standardizer = {};
  model.weights.assign((model.d + 1) * model.k(), 0.25);
  const std::string bytes = model.to_bytes();
  std::thread sender([&] { write(path, bytes); });
  const FlatModel back = FlatModel::load(path);
  sender.join();
  test::expect_same_model(back, model);

  std::thread interrupted([&] { write(path, std::string_view(bytes).substr(0, 50000)); });
  EXPECT_THAT([&] { FlatModel::load(path); }, ThrowsMessage<Error>(HasSubstr("truncated")));
  interrupted.join();
}

TEST(ModelFile, LoadNamesTheFileAndTheReason) {
  const test::TempDir dir;
  const std::string path = dir / "a.m4n";
  EXPECT_THAT([&] { FlatModel::load(path); },
              ThrowsMessage<Error>(AllOf(StartsWith(path), HasSubstr("No such file or directory"))));
  EXPECT_THAT([&] { FlatModel::load(dir.path()); },
              ThrowsMessage<Error>(AllOf(StartsWith(dir.path()), HasSubstr("Is a directory"))));
  EXPECT_THAT([&] { FlatModel::load("/dev/null"); }, ThrowsMessage<Error>(HasSubstr("is empty")));
  EXPECT_THAT([&] { FlatModel::load("/dev/zero"); }, ThrowsMessage<Error>(HasSubstr("not a model file")));
  write(path, "label,x\n1,2\n");
  EXPECT_THAT([&] { FlatModel::load(path); },
              ThrowsMessage<Error>(AllOf(StartsWith(path), HasSubstr("not a model file"))));
}

TEST(ModelFile, LoadComparesSizesBeforeItReads) {
  const test::TempDir dir;
  const std::string path = dir / "a.m4n", bytes = test::sample_linear().to_bytes();
  write(path, with_u64(bytes, 24, std::uint64_t{1} << 60));
  EXPECT_THAT([&] { FlatModel::load(path); }, ThrowsMessage<Error>(AllOf(StartsWith(path), HasSubstr("truncated"))));
  write(path, bytes.substr(0, bytes.size() - 8));
  EXPECT_THAT([&] { FlatModel::load(path); }, ThrowsMessage<Error>(HasSubstr("truncated")));
  write(path, bytes + "12345678");
  EXPECT_THAT([&] { FlatModel::load(path); }, ThrowsMessage<Error>(HasSubstr("damaged")));
}

TEST(ModelFile, SaveFailsWithPathAndReason) {
  const test::TempDir dir;
  const std::string path = dir / "none/a.m4n";
  EXPECT_THAT([&] { test::sample_linear().save(path); },
              ThrowsMessage<Error>(AllOf(StartsWith(path), HasSubstr("No such file or directory"))));
  EXPECT_THAT([] { test::sample_linear().save("/dev/full"); }, ThrowsMessage<Error>(HasSubstr("No space left")));
}

// The lanes beyond the last class hold -1e100: a class below them must not lose to one that is none.
TEST(ModelFile, ScoresBelowThoseOfThePaddingAreNotDecoded) {
  FlatModel model = test::sample_linear();
  const DenseMatrix x{1, model.d, std::vector<double>(model.d, 1.0)};
  ASSERT_TRUE(model.bias);
  for (std::size_t c = 0; c < model.k(); ++c) model.weights[model.width() * model.k() + c] = -1e200;
  EXPECT_THAT([&] { model.predict(x.view()); },
              ThrowsMessage<Error>(HasSubstr("row 1 (counted from 1) has scores beyond what can be computed with")));
}

TEST(ModelFile, AModelThatIsNotValidIsNotWritten) {
  const test::TempDir dir;
  const std::string path = dir / "a.m4n";
  test::sample_linear().save(path);
  FlatModel wrong = test::sample_linear();
  wrong.weights[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { wrong.save(path); },
              ThrowsMessage<Error>(AllOf(StartsWith(path), HasSubstr("weights holds nan at entry 1"))));
  wrong = test::sample_linear();
  wrong.solver = "\xff";
  EXPECT_THAT([&] { wrong.save(path); }, ThrowsMessage<Error>(HasSubstr("UTF-8")));
  test::expect_same_model(FlatModel::load(path), test::sample_linear());
}

TEST(ModelFile, EveryTruncationIsRefused) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(gives_model(std::string_view(bytes).substr(0, size))) << size;
    EXPECT_FALSE(gives_model(bytes + '\0'));
    EXPECT_FALSE(gives_model(bytes + bytes));
  }
}

TEST(ModelFile, EveryChangedByteIsRefused) {
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    std::string changed = bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        changed[i] = static_cast<char>(bytes[i] ^ flip);
        EXPECT_FALSE(gives_model(changed)) << "byte " << i << " flip " << flip;
      }
      changed[i] = bytes[i];
    }
  }
}

TEST(ModelFile, GarbageIsRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (round % 2 == 0) bytes.replace(0, std::min<std::size_t>(16, bytes.size()), test::seal("", ""), 0, 16);
    EXPECT_FALSE(gives_model(bytes));
  }
}

TEST(ModelFile, ImpossibleSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::string bytes = test::sample_linear().to_bytes();
  for (const std::size_t offset : {16U, 24U})
    for (const int bit : {3, 10, 31, 32, 40, 59, 60, 61, 62, 63})
      EXPECT_FALSE(gives_model(with_u64(bytes, offset, std::uint64_t{1} << bit))) << offset << ' ' << bit;
  for (const std::uint64_t size : {~std::uint64_t{0}, ~std::uint64_t{0} - 7, ~std::uint64_t{0} - 39})
    for (const std::size_t offset : {16U, 24U}) EXPECT_FALSE(gives_model(with_u64(bytes, offset, size)));
}

TEST(ModelFile, NewerVersionsAndOtherByteOrdersAreNamed) {
  std::string bytes = test::sample_linear().to_bytes();
  bytes[8] = 2;
  EXPECT_THAT([&] { FlatModel::from_bytes(bytes, name); },
              ThrowsMessage<Error>(AllOf(HasSubstr("format version 2"), HasSubstr("written by a newer m4n"))));
  bytes[8] = 0;
  EXPECT_THAT([&] { FlatModel::from_bytes(bytes, name); }, ThrowsMessage<Error>(HasSubstr("no format version 0")));
  bytes[8] = 1;
  std::swap(bytes[12], bytes[15]);
  EXPECT_THAT([&] { FlatModel::from_bytes(bytes, name); }, ThrowsMessage<Error>(HasSubstr("byte-order mark")));
}

// Whatever gets past the checksum is either refused or a model that can be written and read again.
TEST(ModelFile, ResealedDamageIsRefusedOrGivesAValidModel) {
  std::mt19937 random(3);
  int refused = 0, accepted = 0;
  for (const FlatModel model : samples()) {
    const std::string bytes = model.to_bytes();
    for (int round = 0; round < 1000; ++round) {
      std::string changed = bytes;
      const std::size_t changes = 1 + random() % 3;
      for (std::size_t c = 0; c < changes; ++c)
        changed[16 + random() % (bytes.size() - 24)] = static_cast<char>(random());
      const std::string sealed = test::resealed(changed);
      if (!gives_model(sealed)) {
        ++refused;
        continue;
      }
      ++accepted;
      const FlatModel read = FlatModel::from_bytes(sealed, name);
      test::expect_same_model(FlatModel::from_bytes(read.to_bytes(), name), read);
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(accepted, 10) << "nothing got past the checksum: this test tests nothing";
}

}  // namespace
}  // namespace m4n::detail

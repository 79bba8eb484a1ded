// Files written by earlier versions must be read for ever. linear_v1.m4n was written once by
// sample_linear().save(...); it is never written again.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "m4n/model.h"
#include "support/expect_same_model.h"
#include "support/sample_models.h"

namespace m4n {
namespace {

const std::string golden = M4N_SOURCE_DIR "/tests/golden/linear_v1.m4n";

TEST(ModelGolden, VersionOneIsReadAsItWasMeant) { test::expect_same_model(Model::load(golden), test::sample_linear()); }

TEST(ModelGolden, VersionOneIsWrittenWithTheSameBytes) {
  std::ifstream in(golden, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(test::sample_linear().to_bytes(), bytes);
  EXPECT_EQ(Model::load(golden).to_bytes(), bytes);
}

}  // namespace
}  // namespace m4n

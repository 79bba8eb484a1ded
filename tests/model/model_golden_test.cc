// Files written by earlier versions must be read for ever. linear_v1.m4n, mapped_v1.m4n, chain_v1.m4n,
// permutation_v1.m4n, labels_v1.m4n and labels_graph_v1.m4n were written once by sample_linear().save(...),
// sample_mapped().save(...), sample_chain().save(...), sample_ranking().save(...), sample_joined_labels().save(...) and
// sample_graphs().save(...); they are never written again.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "m4n/model.h"
#include "support/expect_same_model.h"
#include "support/flat_model.h"
#include "support/sample_chains.h"
#include "support/sample_labels.h"
#include "support/sample_models.h"
#include "support/sample_permutations.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

struct Golden {
  const char* kind;
  FlatModel (*sample)();
};

class ModelGolden : public ::testing::TestWithParam<Golden> {
 protected:
  std::string path() const { return std::string(M4N_SOURCE_DIR "/tests/golden/") + GetParam().kind + "_v1.m4n"; }
};

TEST_P(ModelGolden, IsReadAsItWasMeant) { test::expect_same_model(FlatModel::load(path()), GetParam().sample()); }

TEST_P(ModelGolden, IsWrittenWithTheSameBytes) {
  std::ifstream in(path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(GetParam().sample().to_bytes(), bytes);
  EXPECT_EQ(FlatModel::load(path()).to_bytes(), bytes);
}

INSTANTIATE_TEST_SUITE_P(VersionOne, ModelGolden,
                         ::testing::Values(Golden{"linear", test::sample_linear}, Golden{"mapped", test::sample_mapped},
                                           Golden{"chain", test::sample_chain},
                                           Golden{"permutation", test::sample_ranking},
                                           Golden{"labels", test::sample_joined_labels},
                                           Golden{"labels_graph", test::sample_graphs}),
                         [](const auto& p) { return p.param.kind; });

}  // namespace
}  // namespace m4n::detail

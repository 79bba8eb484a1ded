// The instruction sets that are found, beside those that Highway's own detection finds.
#include "m4n/simd.h"

#include <gtest/gtest.h>

#include "core/vector_targets.h"
// Highway wants its targets chosen first.
#include "hwy/highway.h"
#include "m4n/error.h"

namespace m4n {
namespace {

TEST(Simd, FindsWhatHighwayFinds) {
  const std::int64_t found = hwy::SupportedTargets() & HWY_TARGETS;
  std::vector<std::string> expected;
#if HWY_ARCH_X86
  if ((found & HWY_AVX3) != 0) expected.emplace_back("avx512");
  if ((found & HWY_AVX2) != 0) expected.emplace_back("avx2");
  if ((found & HWY_SSE4) != 0) expected.emplace_back("sse4");
#elif HWY_ARCH_ARM_A64
  if ((found & HWY_NEON) != 0) expected.emplace_back("neon");
#endif
  expected.emplace_back("scalar");
  EXPECT_EQ(simd_names(), expected);
}

TEST(Simd, TakesEverySetItNamesAndNoOther) {
  const std::string before = simd();
  for (const std::string& name : simd_names()) {
    set_simd(name);
    EXPECT_EQ(simd(), name);
  }
  EXPECT_THROW(set_simd("mmx"), UsageError);
  set_simd(before);
}

}  // namespace
}  // namespace m4n

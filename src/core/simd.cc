// The choice of the instruction set (m4n/simd.h), and the environment variable M4N_SIMD.
#include "m4n/simd.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "core/option_values.h"
#include "core/vector_targets.h"
// Highway wants its targets chosen first.
#include "hwy/highway.h"

namespace m4n {
namespace {

// The sets that this processor and its system support. What the compiler may use anyway is there. Of the others a few
// extensions tell: every processor with AVX2 has F16C and LZCNT too, which Highway asks for as well.
std::int64_t supported_targets() {
  std::int64_t out = HWY_BASELINE_TARGETS;
#if HWY_ARCH_X86
  __builtin_cpu_init();
  const bool sse4 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
                    __builtin_cpu_supports("aes") != 0;
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512cd") != 0;
  out |= (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx512 ? HWY_AVX3 : 0);
#endif
  return out & (HWY_TARGETS | HWY_SCALAR);
}

struct Target {
  std::string name;
  std::int64_t bit;
};

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> out;
    // The better a set, the lower its bit.
    for (std::int64_t left = supported_targets(); left != 0; left &= left - 1) {
      const std::int64_t bit = left & -left;
      std::string name = bit == HWY_SCALAR ? "SCALAR" : hwy::TargetName(bit);
      if (name == "AVX3") name = "AVX512";
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      out.push_back({std::move(name), bit});
    }
    return out;
  }();
  return all;
}

std::atomic<std::size_t> chosen{0};  // of targets()

}  // namespace

namespace detail {
constinit hwy::ChosenTarget chosen_target;
namespace {
[[maybe_unused]] const bool best_chosen = (chosen_target.Update(targets().front().bit), true);
}  // namespace
}  // namespace detail

std::vector<std::string> simd_names() {
  std::vector<std::string> out;
  for (const Target& target : targets()) out.push_back(target.name);
  return out;
}

std::string simd() { return targets()[chosen].name; }

void set_simd(std::string_view name) {
  const std::vector<Target>& all = targets();
  const auto found =
      name == "auto" ? all.begin()
                     : std::find_if(all.begin(), all.end(), [&](const Target& target) { return target.name == name; });
  if (found == all.end()) {
    std::vector<std::string> valid = simd_names();
    valid.emplace_back("auto");
    throw UsageError("M4N_SIMD: " + detail::unknown_word_message("instruction set", name, valid) +
                     " (what this build has and this machine supports)");
  }
  chosen = static_cast<std::size_t>(found - all.begin());
  detail::chosen_target.Update(found->bit);
}

void set_simd_from_environment() {
  const char* const asked = std::getenv("M4N_SIMD");  // NOLINT(concurrency-mt-unsafe): nobody sets variables meanwhile
  if (asked != nullptr && *asked != '\0') set_simd(asked);
}

}  // namespace m4n

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

struct Target {
  std::string name;
  std::int64_t bit;
};

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> out;
    // The better a set, the lower its bit. The fallback is not among those that Highway detects.
    for (std::int64_t left = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_SCALAR; left != 0; left &= left - 1) {
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
  // Highway's own switch cannot ask for SCALAR where the compiler may use vectors anyway, as on aarch64.
  hwy::GetChosenTarget().Update(found->bit);
}

void set_simd_from_environment() {
  const char* const asked = std::getenv("M4N_SIMD");  // NOLINT(concurrency-mt-unsafe): nobody sets variables meanwhile
  if (asked != nullptr && *asked != '\0') set_simd(asked);
}

}  // namespace m4n

// Comparing the settings of two runs (settings.h).
#include "core/settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace m4n::detail {

std::string difference(const Settings& now, const Settings& before) {
  for (const auto& [name, value] : now) {
    const auto found =
        std::find_if(before.begin(), before.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == before.end()) return fmt::format("{} is {} now, missing there", name, value);
    if (found->second != value) return fmt::format("{} is {} now, {} there", name, value, found->second);
  }
  return {};
}

}  // namespace m4n::detail

// Comparing the settings of two runs (settings.h).
#include "core/settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace m4n::detail {

std::string difference(const Settings& now, const Settings& before) {
  for (const auto& entry : now) {
    const auto found =
        std::find_if(before.begin(), before.end(), [&](const auto& other) { return other.first == entry.first; });
    if (found == before.end()) return fmt::format("{} is {} now, missing there", entry.first, entry.second);
    if (found->second != entry.second)
      return fmt::format("{} is {} now, {} there", entry.first, entry.second, found->second);
  }
  return {};
}

}  // namespace m4n::detail

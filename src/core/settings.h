// Names and values of everything that the digits of a run depend on: what is compared with an earlier run before its
// results are used. api/settings.h collects them.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace m4n::detail {

using Settings = std::vector<std::pair<std::string, std::string>>;

// "seed is 1 now, 0 there": the first that differs; empty: none.
std::string difference(const Settings& now, const Settings& before);

}  // namespace m4n::detail

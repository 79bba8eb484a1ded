// Numbers as tables and pictures show them (exhibit.h).
#include "core/exhibit.h"

#include <fmt/format.h>

#include <cmath>

namespace m4n::detail {

std::string shown_number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }

std::string shown_percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.3g}%", 100 * share); }

}  // namespace m4n::detail

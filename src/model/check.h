// For structures that check their models: conditions, and the Error of those that do not hold.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"

namespace m4n::detail {

inline constexpr int largest_degree = 20;  // of a polynomial kernel

// a * b, or the largest number where that does not fit: no array can have that length, so a comparison fails.
inline std::uint64_t product_or_largest(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > largest / b ? largest : a * b;
}

class ModelCheck {
 public:
  explicit ModelCheck(const std::string& name) : name_(name) {}

  void require(bool holds, const std::string& what) const {
    if (!holds) throw Error(say("{}: the model is not valid: {}", name_, what));
  }
  void require_length(const char* what, std::size_t found, std::uint64_t expected) const {
    if (found != expected) require(false, fmt::format("{} has {} entries; expected {}", what, found, expected));
  }
  template <class Real>
  void require_finite(const char* what, const std::vector<Real>& values) const {
    const auto defect = std::find_if_not(values.begin(), values.end(), [](Real x) { return std::isfinite(x); });
    if (defect != values.end())
      require(false, fmt::format("{} holds {} at entry {}", what, *defect, defect - values.begin()));
  }
  void require_distinct(const char* what, const std::vector<std::string>& names) const {
    std::set<std::string_view> seen;
    for (const std::string& entry : names)
      if (!seen.insert(entry).second) require(false, fmt::format("the {} '{}' occurs twice", what, entry));
  }
  void require_not_negative(const char* what, double value) const {
    require(std::isfinite(value) && value >= 0,
            fmt::format("{} is {}; expected a finite number that is not negative", what, value));
  }
  // What `make` throws is a defect of the model.
  template <class Make>
  auto require_made(Make&& make) const {
    try {
      return make();
    } catch (const Error& error) {
      throw Error(say("{}: the model is not valid: {}", name_, error.message()));
    }
  }
  const std::string& name() const { return name_; }

 private:
  const std::string& name_;
};

}  // namespace m4n::detail

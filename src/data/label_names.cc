#include "data/label_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/message.h"
#include "data/text.h"

namespace m4n::detail {

LabelNumbers::LabelNumbers(std::vector<std::string> known) : names_(std::move(known)) {
  for (std::size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], static_cast<std::int32_t>(i));
}

std::int32_t LabelNumbers::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  const auto next = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(name, next);
  return next;
}

std::vector<std::string> sort_classes(const LabelNumbers& labels, std::vector<std::int32_t>& label,
                                      const std::string& file) {
  const std::vector<std::string>& names = labels.names();
  if (names.size() < 2)
    throw Error(say("{}: {}; at least two labels are needed to learn anything", file,
                    names.empty() ? "no labels" : "only one label, " + shown(names[0])));
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool numbers =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return finite_number(name).has_value(); });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = numbers ? *finite_number(names[a]) : 0, y = numbers ? *finite_number(names[b]) : 0;
    return x != y ? x < y : names[a] < names[b];
  });
  for (std::size_t i = 1; numbers && i < order.size(); ++i)
    if (*finite_number(names[order[i - 1]]) == *finite_number(names[order[i]]))
      throw Error(say("{}: the labels {} and {} are the same number; spell it one way", file,
                      shown(names[order[i - 1]]), shown(names[order[i]])));
  std::vector<std::int32_t> rank(names.size());
  std::vector<std::string> sorted;
  for (const std::size_t i : order) {
    rank[i] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(names[i]);
  }
  for (std::int32_t& l : label) l = rank[static_cast<std::size_t>(l)];
  return sorted;
}

std::vector<std::int32_t> known_labels(const std::vector<std::int32_t>& truth, std::size_t classes) {
  std::vector<std::int32_t> label = truth;
  for (std::int32_t& l : label)
    if (l >= static_cast<std::int32_t>(classes)) l = unknown_label;
  return label;
}

}  // namespace m4n::detail

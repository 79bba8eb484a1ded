// Labels of tokens and nodes as numbers, with or without a list of labels that a model knows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail {

// Stands for a label that is not known. It is passed over where labels are not needed and refused where they are.
inline constexpr std::string_view unknown_label_name = "_";

// Distinct names to numbers, in order of appearance after those known from the start.
class LabelNumbers {
 public:
  explicit LabelNumbers(std::vector<std::string> known = {});
  std::int32_t number(std::string_view name);  // a new name gets the next number
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

// Training: sorts the names, as numbers where all are numbers and by bytes otherwise, and renumbers the labels with
// them. Throws Error with `file` if there are fewer than two.
std::vector<std::string> sort_classes(const LabelNumbers& labels, std::vector<std::int32_t>& label,
                                      const std::string& file);

// The truth with every label that is not below `classes` made unknown.
std::vector<std::int32_t> known_labels(const std::vector<std::int32_t>& truth, std::size_t classes);

}  // namespace m4n::detail

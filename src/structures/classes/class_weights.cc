// One weight a class: `balanced`, w_c = n / (k n_c), so that all classes weigh the same together; or a CSV file.
#include <fmt/format.h>

#include "core/message.h"
#include "data/table.h"
#include "structures/classes/labels.h"

namespace m4n::detail {
namespace {

std::vector<double> balanced(const Dataset& data) {
  const std::size_t k = data.class_names.size();
  std::vector<std::size_t> count(k);
  std::size_t n = 0;
  for (const std::int32_t label : data.label)
    if (label != unknown_label) {
      ++count[static_cast<std::size_t>(label)];
      ++n;
    }
  std::vector<double> weight(k, 1.0);  // of a class without examples: it weighs nothing in any sum
  for (std::size_t c = 0; c < k; ++c)
    if (count[c] > 0) weight[c] = static_cast<double>(n) / (static_cast<double>(k) * static_cast<double>(count[c]));
  return weight;
}

}  // namespace

std::vector<double> read_class_weights(const std::string& spec, const Dataset& data) {
  if (spec == "balanced") return balanced(data);
  Input input = Input::open(spec);
  LineReader lines(input);
  const ClassIndex index(data.class_names);
  std::vector<double> weight(data.class_names.size(), 0.0);  // 0: not read yet
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split_cells(line, input.name(), lines.line_number());
    const std::string where = fmt::format("{}: line {}", input.name(), lines.line_number());
    if (cells.size() != 2) throw Error(say("{}: found {} cells, expected two: class,weight", where, cells.size()));
    const bool header = first && cells[0] == "class" && cells[1] == "weight";
    first = false;
    if (header) continue;
    const auto c = index.find(cells[0]);
    if (!c)
      throw Error(say("{}: {} is no class of the data; the classes are {}", where, shown(cells[0]),
                      shown_list(data.class_names, 10)));
    const auto value = finite_number(cells[1]);
    if (!value || !is_weight(*value))
      throw Error(say("{}, column 2: found {}, expected a weight above 0, from {} to {}", where, shown(cells[1]),
                      smallest_weight, largest_weight));
    if (weight[*c] > 0) throw Error(say("{}: class {} stands here a second time", where, shown(cells[0])));
    weight[*c] = *value;
  }
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < weight.size(); ++c)
    if (weight[c] == 0) missing.push_back(data.class_names[c]);
  if (!missing.empty())
    throw Error(say("{}: no weight for {} of the {} classes: {}; add a line class,weight for each", input.name(),
                    missing.size(), weight.size(), shown_list(missing, 5)));
  return weight;
}

}  // namespace m4n::detail

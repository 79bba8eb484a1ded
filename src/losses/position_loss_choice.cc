#include "losses/position_loss_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/text.h"
#include "m4n/error.h"

namespace m4n {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 28;
constexpr double smallest_range = 1e-30;

// K of precision@K; 0 if it is no such number.
std::size_t cutoff(const std::string& name) {
  constexpr std::size_t most_digits = 9;
  const std::string digits = name.substr(std::string_view(PositionLossChoice::precision).size());
  if (digits.empty() || digits.size() > most_digits || digits.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  return std::stoul(digits);
}

struct Numbers {
  std::vector<double> values;
  std::size_t rows = 0;
};

// Rows of M numbers. A first row that is none must name the items in their order.
Numbers read_numbers(const std::string& path, const std::vector<std::string>& items) {
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_file);
  Input memory = Input::memory(text, input.name());
  LineReader lines(memory);
  Numbers out;
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split_cells(line, input.name(), lines.line_number());
    if (cells.size() != items.size())
      throw Error(fmt::format("{}: line {}: {} cells for {} items; expected {}", input.name(), lines.line_number(),
                              cells.size(), items.size(), items.size()));
    if (first && cells == items) {
      first = false;
      continue;
    }
    first = false;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto value = finite_number(cells[c]);
      if (!value)
        throw Error(fmt::format("{}: line {}, column {}: {} is no finite number; expected a weight or a cost",
                                input.name(), lines.line_number(), c + 1, shown(cells[c])));
      out.values.push_back(*value);
    }
    ++out.rows;
  }
  if (out.rows != 1 && out.rows != items.size())
    throw Error(
        fmt::format("{}: {} rows of numbers; expected one row with the weights of the {} items, or {} rows with "
                    "the costs cost[true position][predicted position]",
                    input.name(), out.rows, items.size(), items.size()));
  return out;
}

}  // namespace

const std::vector<std::string>& position_loss_names() {
  static const std::vector<std::string> names{"hamming", "footrule", "spearman", "dcg"};
  return names;
}

bool is_precision(const std::string& name) {
  return name.starts_with(PositionLossChoice::precision) && cutoff(name) > 0;
}

PositionLossChoice PositionLossChoice::parse(const std::string& spec, const std::vector<std::string>& items) {
  const std::vector<std::string>& names = position_loss_names();
  const bool named = std::find(names.begin(), names.end(), spec) != names.end() || is_precision(spec);
  if (items.empty()) {
    if (spec != "hamming")
      throw UsageError(
          fmt::format("--loss {}: the points of a matching have no order and their number varies, so that only hamming "
                      "has a meaning. Leave it out",
                      spec));
    return remembered(spec, {}, 0);
  }
  if (named) return remembered(spec, {}, items.size());
  std::error_code ignored;
  if (spec == "kendall")
    throw UsageError(
        "--loss kendall: Kendall's distance looks at pairs of items, and minimising it over permutations is NP-hard; "
        "it "
        "is among the metrics of eval. Train with footrule or spearman, which are close to it");
  if (!std::filesystem::exists(spec, ignored))
    throw UsageError(
        fmt::format("unknown loss {} of rankings, and there is no file of that name; expected {}|{}K|FILE.csv",
                    shown(spec), fmt::join(names, "|"), precision));
  return from_values(read_numbers(spec, items).values, items.size(), spec);
}

PositionLossChoice PositionLossChoice::from_values(const std::vector<double>& values, std::size_t items,
                                                   const std::string& origin) {
  if (values.size() != items && values.size() != items * items)
    throw Error(fmt::format("{}: {} numbers for {} items; expected {} weights or {} costs", origin, values.size(),
                            items, items, items * items));
  const char* const name = values.size() == items ? "weighted" : "matrix";
  try {
    return remembered(name, values, items);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", origin, error.what()));
  }
}

PositionLossChoice PositionLossChoice::remembered(const std::string& name, const std::vector<double>& values,
                                                  std::size_t items) {
  const std::vector<std::string>& names = position_loss_names();
  const bool numbers = name == "weighted" || name == "matrix";
  if (!numbers && !is_precision(name) && std::find(names.begin(), names.end(), name) == names.end())
    throw Error(fmt::format("unknown loss {} of permutations", shown(name)));
  if (values.size() != (name == "weighted" ? items : name == "matrix" ? items * items : 0))
    throw Error(fmt::format("the loss {} has {} numbers for {} items", name, values.size(), items));
  if (items > largest_ranking)
    throw Error(fmt::format("{} items to rank; expected at most {}", items, largest_ranking));
  PositionLossChoice out;
  out.name_ = name;
  out.values_ = values;
  if (items > 0) {
    const double range = out.make(items).range();  // refuses what has no meaning
    if (numbers && !(range >= smallest_range))
      throw Error(
          fmt::format("all permutations cost the same by these numbers (within {}), so that there is nothing to learn; "
                      "expected wrong ones to cost at least {} more",
                      range, smallest_range));
  }
  return out;
}

PositionLoss PositionLossChoice::make(std::size_t items) const {
  if (name_ == "hamming") return PositionLoss::hamming(items);
  if (name_ == "footrule") return PositionLoss::footrule(items);
  if (name_ == "spearman") return PositionLoss::squared(items);
  if (name_ == "weighted") return PositionLoss::weighted_hamming(values_);
  if (name_ == "matrix") return PositionLoss::matrix(values_, items);
  if (name_ == "dcg") {
    std::vector<double> gains(items);
    for (std::size_t j = 0; j < items; ++j) gains[j] = static_cast<double>(items - 1 - j);
    return PositionLoss::dcg(gains);
  }
  const std::size_t k = cutoff(name_);
  if (k >= items)
    throw UsageError(
        fmt::format("--loss {}: all {} items are among the first {}, so every ranking is right; expected "
                    "precision@1 to precision@{}",
                    name_, items, k, items - 1));
  return PositionLoss::precision_at(items, k);
}

}  // namespace m4n

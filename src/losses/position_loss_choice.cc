#include "losses/position_loss_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/message.h"
#include "data/text.h"
#include "losses/registry.h"

namespace m4n::detail {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 28;
constexpr double smallest_range = 1e-30;

// A named loss of rankings that can be learnt.
std::optional<LossChoice> ranking_loss(const std::string& name) {
  const auto found = find_loss(name);
  return found && found->loss->is_of(LossFamily::rankings) && found->loss->positions != nullptr ? found : std::nullopt;
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
      throw Error(say("{}: line {}: {} cells for {} items; expected {}", input.name(), lines.line_number(),
                      cells.size(), items.size(), items.size()));
    if (first && cells == items) {
      first = false;
      continue;
    }
    first = false;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto value = finite_number(cells[c]);
      if (!value)
        throw Error(say("{}: line {}, column {}: {} is no finite number; expected a weight or a cost", input.name(),
                        lines.line_number(), c + 1, shown(cells[c])));
      out.values.push_back(*value);
    }
    ++out.rows;
  }
  if (out.rows != 1 && out.rows != items.size())
    throw Error(
        say("{}: {} rows of numbers; expected one row with the weights of the {} items, or {} rows with "
            "the costs cost[true position][predicted position]",
            input.name(), out.rows, items.size(), items.size()));
  return out;
}

}  // namespace

PositionLossChoice PositionLossChoice::parse(const std::string& spec, const std::vector<std::string>& items) {
  if (items.empty()) {
    if (spec != "hamming")
      throw UsageError(
          say("--loss {}: the points of a matching have no order and their number varies, so that only hamming has a "
              "meaning. Leave it out",
              spec));
    return remembered(spec, {}, 0);
  }
  if (ranking_loss(spec)) return remembered(spec, {}, items.size());
  if (const auto found = find_loss(spec); found && found->loss->refusal != nullptr)
    throw UsageError(say("--loss {}: {}", spec, found->loss->refusal));
  std::error_code ignored;
  if (!std::filesystem::exists(spec, ignored))
    throw UsageError(say("unknown loss {} of rankings, and there is no file of that name; expected {}|FILE.csv",
                         shown(spec), fmt::join(loss_names(LossFamily::rankings), "|")));
  return from_values(read_numbers(spec, items).values, items.size(), spec);
}

PositionLossChoice PositionLossChoice::from_values(const std::vector<double>& values, std::size_t items,
                                                   const std::string& origin) {
  if (values.size() != items && values.size() != items * items)
    throw Error(say("{}: {} numbers for {} items; expected {} weights or {} costs", origin, values.size(), items, items,
                    items * items));
  const char* const name = values.size() == items ? "weighted" : "matrix";
  try {
    return remembered(name, values, items);
  } catch (const Error& error) {
    throw Error(say("{}: {}", origin, error.message()));
  }
}

PositionLossChoice PositionLossChoice::remembered(const std::string& name, const std::vector<double>& values,
                                                  std::size_t items) {
  const bool numbers = name == "weighted" || name == "matrix";
  if (!numbers && !ranking_loss(name)) throw Error(say("unknown loss {} of permutations", shown(name)));
  if (values.size() != (name == "weighted" ? items : name == "matrix" ? items * items : 0))
    throw Error(say("the loss {} has {} numbers for {} items", name, values.size(), items));
  if (items > largest_ranking) throw Error(say("{} items to rank; expected at most {}", items, largest_ranking));
  PositionLossChoice out;
  out.name_ = name;
  out.values_ = values;
  if (items > 0) {
    const double range = out.make(items).range();  // refuses what has no meaning
    if (numbers && !(range >= smallest_range))
      throw Error(
          say("all permutations cost the same by these numbers (within {}), so that there is nothing to learn; "
              "expected wrong ones to cost at least {} more",
              range, smallest_range));
  }
  return out;
}

PositionLoss PositionLossChoice::make(std::size_t items) const {
  if (name_ == "weighted") return PositionLoss::weighted_hamming(values_);
  if (name_ == "matrix") return PositionLoss::matrix(values_, items);
  const LossChoice choice = *ranking_loss(name_);
  if (choice.number >= items && choice.number > 0)
    throw UsageError(
        say("--loss {}: all {} items are among the first {}, so every ranking is right; expected {}1 to {}{}", name_,
            items, choice.number, choice.loss->name, choice.loss->name, items - 1));
  return choice.loss->positions(items, choice.number);
}

bool PositionLossChoice::scores_items(const std::string& name) {
  const auto found = find_loss(name);
  return found && found->loss->scores_items;
}

}  // namespace m4n::detail

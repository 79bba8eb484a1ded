// Costs of misses and false alarms: from a file, from a program, from a model file (label_costs.h).
#include "losses/label_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/message.h"
#include "data/input.h"
#include "data/text.h"

namespace m4n::detail {
namespace {

std::string label_name(const std::vector<std::string>& names, std::size_t j) {
  return j < names.size() ? shown(names[j]) : fmt::format("{}", j + 1);
}

void check(double cost, const char* what, std::size_t j, const std::vector<std::string>& names,
           const std::string& origin) {
  if (cost >= LabelCosts::smallest && cost <= LabelCosts::largest) return;
  throw Error(say("{}: {} of label {} costs {}; expected a number from {} to {}", origin, what, label_name(names, j),
                  cost, LabelCosts::smallest, LabelCosts::largest));
}

}  // namespace

LabelCosts::LabelCosts(std::vector<double> miss, std::vector<double> false_alarm, const std::string& origin,
                       const std::vector<std::string>& names, std::vector<double> unsure)
    : miss_(std::move(miss)), false_alarm_(std::move(false_alarm)), unsure_(std::move(unsure)) {
  if (miss_.empty() || miss_.size() != false_alarm_.size() || (!names.empty() && names.size() != miss_.size()) ||
      (!unsure_.empty() && unsure_.size() != miss_.size()))
    throw Error(say("{}: {} of misses and {} of false alarms for {}", origin, counted(miss_.size(), "cost"),
                    counted(false_alarm_.size(), "cost"), counted(names.size(), "label")));
  for (std::size_t j = 0; j < miss_.size(); ++j) {
    check(miss_[j], "a miss", j, names, origin);
    check(false_alarm_[j], "a false alarm", j, names, origin);
    if (has_unsure()) check(unsure_[j], "the answer unsure", j, names, origin);
  }
}

LabelCosts LabelCosts::with_unsure(double cost, const std::vector<std::string>& names) const {
  if (has_unsure())
    throw UsageError(say("--reject {}: the costs have the answer unsure already; => leave it out", cost));
  return {miss_, false_alarm_, fmt::format("--reject {}", cost), names, std::vector<double>(labels(), cost)};
}

LabelCosts LabelCosts::hamming(std::size_t labels) {
  const std::vector<double> ones(labels, 1.0);
  return {ones, ones, "hamming"};
}

LabelCosts LabelCosts::from_csv(std::string_view text, const std::vector<std::string>& names,
                                const std::string& origin) {
  const std::size_t labels = names.size();
  std::vector<double> miss(labels), false_alarm(labels), unsure;
  std::vector<std::size_t> line_of(labels, 0);
  const ClassIndex index(names);
  Input input = Input::memory(text, origin);
  LineReader lines(input);
  std::size_t rows = 0, width = 0;
  bool first = true, named = false;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::size_t at = lines.line_number();
    const std::vector<std::string> cells = split_cells(line, origin, at);
    const bool header = std::none_of(cells.begin(), cells.end(), [](const auto& c) { return finite_number(c); });
    if (std::exchange(first, false) && header) continue;
    if (cells.size() < 2 || cells.size() > 4)
      throw Error(
          say("{}: line {}: {}; expected the cost of a miss, that of a false alarm and perhaps that of the answer "
              "unsure, with the name of the label before them or not",
              origin, at, counted(cells.size(), "value")));
    if (width != 0 && cells.size() != width)
      throw Error(
          say("{}: line {}: {}, but the lines before have {}", origin, at, counted(cells.size(), "value"), width));
    // Three cells are a name and two costs, or three costs.
    if (width == 0)
      named = cells.size() == 4 || (cells.size() == 3 && (index.find(cells[0]) || !finite_number(cells[0])));
    width = cells.size();
    const std::size_t costs = width - (named ? 1 : 0);
    std::size_t label = rows;
    if (named) {
      const auto found = index.find(cells[0]);
      if (!found)
        throw Error(say("{}: line {}: {} is no label of the data; the labels are {}", origin, at, shown(cells[0]),
                        shown_list(names, 10)));
      label = *found;
    }
    if (label >= labels)
      throw Error(say("{}: line {}: more lines than the {} of the data", origin, at, counted(labels, "label")));
    if (line_of[label] != 0)
      throw Error(
          say("{}: line {}: label {} stood in line {} already", origin, at, shown(names[label]), line_of[label]));
    line_of[label] = at;
    unsure.resize(costs == 3 ? labels : 0);
    const std::pair<const char*, std::vector<double>*> kinds[] = {
        {"a miss", &miss}, {"a false alarm", &false_alarm}, {"the answer unsure", &unsure}};
    for (std::size_t c = 0; c < costs; ++c) {
      const std::string& cell = cells[width - costs + c];
      const std::optional<double> cost = finite_number(cell);
      if (!cost || !(*cost >= smallest && *cost <= largest))
        throw Error(say("{}: line {}: {} as the cost of {} of label {}; expected a number from {} to {}", origin, at,
                        shown(cell), kinds[c].first, shown(names[label]), smallest, largest));
      (*kinds[c].second)[label] = *cost;
    }
    ++rows;
  }
  if (rows != labels) {
    const auto missing = static_cast<std::size_t>(std::find(line_of.begin(), line_of.end(), 0U) - line_of.begin());
    throw Error(say("{}: {} of costs for {}; label {} has none", origin, counted(rows, "line"),
                    counted(labels, "label"), shown(names[missing])));
  }
  return {std::move(miss), std::move(false_alarm), origin, names, std::move(unsure)};
}

LabelCosts LabelCosts::read(const std::string& path, const std::vector<std::string>& names) {
  constexpr std::size_t largest_file = std::size_t{1} << 24;
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_file);
  return from_csv(text, names, input.name());
}

double LabelCosts::most() const {
  return std::max(*std::max_element(miss_.begin(), miss_.end()),
                  *std::max_element(false_alarm_.begin(), false_alarm_.end()));
}

double LabelCosts::mean() const {
  const double sum =
      std::accumulate(miss_.begin(), miss_.end(), 0.0) + std::accumulate(false_alarm_.begin(), false_alarm_.end(), 0.0);
  return sum / static_cast<double>(2 * miss_.size());
}

bool LabelCosts::hamming() const {
  return symmetric() && !has_unsure() && std::all_of(miss_.begin(), miss_.end(), [](double c) { return c == 1; });
}

CostMatrix LabelCosts::matrix(std::size_t j) const {
  if (has_unsure())
    return CostMatrix::from_values({0, false_alarm_[j], unsure_[j], miss_[j], 0, unsure_[j]}, 2, "matrix", {"0", "1"},
                                   "label costs", {"0", "1", answers[not_sure]});
  return CostMatrix::from_values({0, false_alarm_[j], miss_[j], 0}, 2, "matrix", {"0", "1"}, "label costs");
}

double mean_label_cost(const LabelCosts& costs, std::span<const std::int32_t> truth,
                       std::span<const std::int32_t> predicted, std::span<const double> weight) {
  const std::size_t labels = costs.labels(), n = truth.size() / labels;
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double own = 0;
    for (std::size_t j = 0; j < labels; ++j) own += costs.of(j, truth[i * labels + j], predicted[i * labels + j]);
    const double share = weight.empty() ? 1 : weight[i];
    sum += share * own / static_cast<double>(labels);
    total += share;
  }
  return sum / total;
}

std::vector<double> kept_costs(const LabelCosts& costs) {
  std::vector<double> out;
  if (costs.hamming()) return out;
  for (std::size_t j = 0; j < costs.labels(); ++j) out.push_back(costs.miss(j));
  for (std::size_t j = 0; j < costs.labels(); ++j) out.push_back(costs.false_alarm(j));
  for (std::size_t j = 0; costs.has_unsure() && j < costs.labels(); ++j) out.push_back(costs.unsure(j));
  return out;
}

LabelCosts remembered_costs(const std::vector<double>& kept, const std::vector<std::string>& labels) {
  if (kept.empty()) return LabelCosts::hamming(labels.size());
  if (kept.size() != 2 * labels.size() && kept.size() != 3 * labels.size())
    throw Error(
        say("{} costs for {} labels; expected the costs of missing each, then those of announcing each "
            "wrongly, then perhaps those of being unsure of each",
            kept.size(), labels.size()));
  const auto size = static_cast<std::ptrdiff_t>(labels.size());
  const auto first = kept.begin(), second = first + size, third = second + size;
  return {{first, second}, {second, third}, "the costs", labels, {third, kept.end()}};
}

}  // namespace m4n::detail

// Tables and pictures of rankings and matchings (report.h). One pass over the predictions each.
#include "structures/permutations/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/assignment.h"
#include "core/message.h"

namespace m4n::detail {

AnswerKinds position_kinds(const PositionLossChoice& choice, std::size_t items) {
  const PositionLoss loss = choice.make(items);
  if (loss.form() == PositionLoss::Form::rank_one || loss.constant() != 0) return {};
  for (std::size_t t = 0; t < items; ++t)
    for (std::size_t y = 0; y < items; ++y)
      if (loss.cost(t, y) < 0) return {};
  AnswerKinds out;
  for (std::size_t j = 0; j < items; ++j) out.truths.push_back(fmt::format("position {}", j + 1));
  out.answers = out.truths;
  out.declines.resize(items);
  return out;
}

void visit_positions(const PositionLossChoice& choice, const Examples& examples,
                     std::span<const std::int32_t> predicted, const AnswerVisitor& visit) {
  const Groups& groups = examples.data.labels;
  if (groups.count() == 0) return;
  const std::size_t items = groups.end(0);
  const PositionLoss loss = choice.make(items);
  for (std::size_t e = 0; e < predicted.size(); ++e) {
    const auto t = static_cast<std::size_t>(examples.data.label[e]), y = static_cast<std::size_t>(predicted[e]);
    visit(e / items, t, y, loss.weights()[e % items] * loss.cost(t, y));
  }
}

std::vector<std::int32_t> best_ranking(const PositionLossChoice& choice, std::size_t items, const Examples& examples) {
  const PositionLoss loss = choice.make(items);
  std::vector<double> mean(items * items), cost(items * items);  // how often item i is at position t
  for (std::size_t e = 0; e < examples.data.label.size(); ++e)
    mean[e % items * items + static_cast<std::size_t>(examples.data.label[e])] +=
        examples.data.weight.empty() ? 1 : examples.data.weight[e / items];
  loss.apply(mean, cost);
  for (double& c : cost) c = -c;
  Assignment assignment;
  assignment.solve(cost, items);
  const auto best = assignment.position();
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < examples.data.examples(); ++i) out.insert(out.end(), best.begin(), best.end());
  return out;
}

std::string ranking_text(const std::vector<std::string>& items, std::span<const std::int32_t> positions) {
  constexpr std::size_t most = 15;
  std::vector<std::string> order(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) order[static_cast<std::size_t>(positions[i])] = items[i];
  const bool cut = order.size() > most;
  if (cut) order.resize(most);
  return fmt::format("{}{}", fmt::join(order, ", "), cut ? ", .." : "");
}

std::string matching_text(std::span<const std::int32_t> partners, std::span<const std::int32_t> other) {
  constexpr std::size_t most = 12;
  std::string out;
  std::size_t found = 0;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] == other[i]) continue;
    if (++found <= most) out += fmt::format("{}{}-{}", out.empty() ? "" : ", ", i + 1, partners[i] + 1);
  }
  if (found > most) out += fmt::format(" and {} more", found - most);
  return out.empty() ? "all right" : out;
}

std::vector<Exhibit> ranking_exhibits(const Judged& judged) {
  constexpr std::size_t most_positions = 40;
  const std::size_t items = judged.model.k();
  if (items == 0 || items > most_positions) return {};
  HeatMap map{"Positions, true and predicted",
              "true position",
              "predicted position",
              {},
              {},
              std::vector<double>(items * items),
              "The share of the items at a true position that were given a predicted one: a row adds up to 1."};
  const double share = static_cast<double>(items) / static_cast<double>(judged.predicted.size());
  for (std::size_t e = 0; e < judged.predicted.size(); ++e)
    map.values[static_cast<std::size_t>(judged.examples.data.label[e]) * items +
               static_cast<std::size_t>(judged.predicted[e])] += share;
  for (std::size_t j = 0; j < items; ++j) map.rows.push_back(std::to_string(j + 1));
  map.columns = map.rows;
  return {std::move(map)};
}

std::vector<Exhibit> matching_exhibits(const Judged& judged) {
  struct OfSize {
    std::uint64_t matchings = 0, points = 0, right = 0, whole = 0;
  };
  std::map<std::size_t, OfSize> sizes;
  const Groups& groups = judged.examples.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::size_t size = groups.end(i) - groups.begin(i);
    OfSize& own = sizes[size];
    std::uint64_t right = 0;
    for (std::size_t p = groups.begin(i); p < groups.end(i); ++p)
      right += judged.predicted[p] == judged.examples.data.label[p];
    ++own.matchings;
    own.points += size;
    own.right += right;
    own.whole += right == size;
  }
  constexpr std::size_t most_sizes = 60;
  Table table{
      "Accuracy by size",
      {{"points", true}, {"matchings", true}, {"points matched rightly", true}, {"whole matchings right", true}},
      {},
      sizes.size() > most_sizes ? fmt::format("The {} smallest sizes of {}.", most_sizes, sizes.size()) : ""};
  for (const auto& [size, own] : sizes) {
    if (table.rows.size() == most_sizes) break;
    table.rows.push_back({std::to_string(size), std::to_string(own.matchings),
                          shown_percent(static_cast<double>(own.right) / static_cast<double>(own.points)),
                          shown_percent(static_cast<double>(own.whole) / static_cast<double>(own.matchings))});
  }
  return {std::move(table)};
}

}  // namespace m4n::detail

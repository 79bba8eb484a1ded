// Where the cost comes from: every pair of a truth and an answer, its share of the cost, and what another price of it
// would change (model_page.h). Two passes over the answers; memory grows with the pairs that occur.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/message.h"
#include "reports/model_page.h"
#include "reports/resample.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

constexpr std::size_t most_cells = 20, most_prices = 8, widest_map = 26;

struct AnswerCell {
  std::size_t truth = 0, answer = 0;
  std::uint64_t count = 0;
  double weight = 0, cost = 0;  // of all of them; costs count by the weights
};

}  // namespace

std::vector<Section> answer_sections(const Model& model, const Examples& examples,
                                     std::span<const std::int32_t> predicted, const PageRequest& request) {
  const Structure& structure = structure_of(model);
  const AnswerKinds kinds = structure.answer_kinds(model);
  if (kinds.answers.empty()) return {};
  const std::span<const double> weight = examples.data.weight;
  const std::size_t n = examples.data.examples(), answers = kinds.answers.size();
  std::unordered_map<std::size_t, AnswerCell> found;
  std::uint64_t all = 0, declined = 0;
  structure.each_answer(model, examples, predicted,
                        [&](std::size_t i, std::size_t truth, std::size_t answer, double cost) {
                          AnswerCell& cell = found[truth * answers + answer];
                          cell.truth = truth;
                          cell.answer = answer;
                          ++cell.count;
                          cell.weight += weight.empty() ? 1 : weight[i];
                          cell.cost += cost * (weight.empty() ? 1 : weight[i]);
                          ++all;
                          declined += kinds.declines[answer];
                        });
  std::vector<AnswerCell> cells;
  for (const auto& [key, cell] : found) cells.push_back(cell);
  std::sort(cells.begin(), cells.end(), [&](const AnswerCell& a, const AnswerCell& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.truth * answers + a.answer < b.truth * answers + b.answer;
  });
  const std::size_t with_cost =
      std::find_if(cells.begin(), cells.end(), [](const AnswerCell& c) { return c.cost <= 0; }) - cells.begin();
  const std::size_t shown_cells = std::min(with_cost, most_cells);

  // On resamples: column 1 is the whole cost, 2 the answers that decline, 3 all answers, then the cells that are shown.
  enum Sum : std::size_t { weights, whole, declining, answered, first_cell };
  std::unordered_map<std::size_t, std::size_t> column_of;
  for (std::size_t c = 0; c < shown_cells; ++c) column_of[cells[c].truth * answers + cells[c].answer] = first_cell + c;
  Resample sums(n, weight, first_cell + shown_cells, request.seed);
  structure.each_answer(model, examples, predicted,
                        [&](std::size_t i, std::size_t truth, std::size_t answer, double cost) {
                          if (kinds.declines[answer]) sums.add(i, declining, 1);
                          sums.add(i, answered, 1);
                          if (cost == 0) return;
                          sums.add(i, whole, cost);
                          if (const auto at = column_of.find(truth * answers + answer); at != column_of.end())
                            sums.add(i, at->second, cost);
                        });
  std::vector<std::pair<std::size_t, std::size_t>> ratios{{declining, answered}};
  for (std::size_t c = 0; c < shown_cells; ++c) ratios.emplace_back(first_cell + c, whole);
  const std::vector<Interval> intervals = sums.intervals(ratios);

  Section where{"Where the cost comes from", {}};
  if (with_cost == 0) where.exhibits.emplace_back(Words{"No answer cost anything."});
  if (shown_cells > 0) {
    Table table{
        "Shares of the total cost, the largest first",
        {{"truth"},
         {"prediction"},
         {"count", true},
         {"cost of one", true},
         {"share of the cost", true},
         {"95% interval", true}},
        {},
        fmt::format(
            "The share of a pair is its count times what one costs, of the cost of all.{}",
            with_cost > shown_cells ? fmt::format(" {} more pairs cost something.", with_cost - shown_cells) : "")};
    for (std::size_t c = 0; c < shown_cells; ++c) {
      const AnswerCell& cell = cells[c];
      table.rows.push_back({kinds.truths[cell.truth], kinds.answers[cell.answer], std::to_string(cell.count),
                            shown_number(cell.cost / cell.weight), shown_percent(cell.cost / sums.total(whole)),
                            intervals[c + 1].known() ? fmt::format("{} to {}", shown_percent(intervals[c + 1].low),
                                                                   shown_percent(intervals[c + 1].high))
                                                     : "-"});
    }
    where.exhibits.emplace_back(std::move(table));
  }
  if (std::find(kinds.declines.begin(), kinds.declines.end(), true) != kinds.declines.end())
    where.exhibits.emplace_back(Words{fmt::format(
        "{} of {} were declined (rejected, unsure or another action): {} {}.", declined, counted(all, "answer"),
        shown_percent(sums.ratio(declining, answered)), interval_text(intervals[0], shown_percent))});
  std::size_t truths = 0;  // that occur, the unseen among them
  for (const AnswerCell& cell : cells) truths = std::max(truths, cell.truth + 1);
  if (kinds.any_pair && with_cost > 0 && truths <= widest_map && answers <= widest_map) {
    HeatMap map{"Shares of the total cost in percent",
                "truth",
                "prediction",
                {kinds.truths.begin(), kinds.truths.begin() + static_cast<std::ptrdiff_t>(truths)},
                kinds.answers,
                std::vector<double>(truths * answers),
                {}};
    for (const AnswerCell& cell : cells)
      map.values[cell.truth * answers + cell.answer] = 100 * cell.cost / sums.total(whole);
    where.exhibits.emplace_back(std::move(map));
  }

  Section prices{"If one cost were another", {}};
  if (shown_cells > 0) {
    const double mean = sums.ratio(whole, weights);
    Table table{"The mean cost if one price were a tenth, or ten times as high",
                {{"truth"}, {"prediction"}, {"a tenth", true}, {"as it is", true}, {"ten times", true}},
                {},
                "The predictions are the same in all columns: this is what the costs that were stated are worth, not "
                "what a model trained for others would reach. Where a column changes much, that cost is worth a second "
                "look."};
    for (std::size_t c = 0; c < std::min(shown_cells, most_prices); ++c) {
      const double own = sums.ratio(first_cell + c, weights);
      table.rows.push_back({kinds.truths[cells[c].truth], kinds.answers[cells[c].answer],
                            shown_number(mean - 0.9 * own), shown_number(mean), shown_number(mean + 9 * own)});
    }
    prices.exhibits.emplace_back(std::move(table));
  }
  std::vector<Section> out{std::move(where)};
  if (!prices.exhibits.empty()) out.push_back(std::move(prices));
  return out;
}

}  // namespace m4n::detail

// Costs of single examples: found among the columns, checked, scaled (example_costs.h).
#include "losses/example_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/message.h"
#include "data/text.h"

namespace m4n::detail {
namespace {

// Below this share of the mean scale costs count as equal: such an example teaches nothing, and its weight stays apart
// from zero, by which solvers divide.
constexpr double least_scale = 1e-9;

}  // namespace

ExampleCosts::ExampleCosts(const CostMatrix& cost, const CostColumns& columns, std::size_t examples, const Where& where)
    : cost_(cost), columns_(columns), place_(cost.values().size(), -1), scale_(examples, 1.0) {
  if (!cost.varies()) return;
  const std::size_t width = cost.predictions();
  for (std::size_t entry = 0; entry < place_.size(); ++entry) {
    const std::string& name = cost.columns()[entry];
    if (name.empty()) continue;
    const auto found = std::find(columns.names.begin(), columns.names.end(), name);
    if (found == columns.names.end())
      throw Error(say("the costs name the column {}, which the examples do not have; => give it with the examples",
                      shown(name)));
    place_[entry] = static_cast<std::int32_t>(found - columns.names.begin());
  }
  if (columns.values.rows != examples || columns.values.values.size() != examples * columns.names.size())
    throw Error(say("{} rows of costs for {} examples", columns.values.rows, examples));
  right_.resize(cost.k());
  for (std::size_t p = 0; p < width; ++p)
    if (const auto c = cost.class_of(p)) right_[*c] = p;
  const double unit = cost.mean_off_diagonal();
  for (std::size_t i = 0; i < examples; ++i) {
    check(i, where);
    double excess = 0;
    for (std::size_t t = 0; t < cost.k(); ++t) {
      double best = (*this)(i, t, 0), sum = 0;
      for (std::size_t p = 0; p < width; ++p) {
        best = std::min(best, (*this)(i, t, p));
        sum += (*this)(i, t, p);
      }
      excess += sum - static_cast<double>(width) * best;
    }
    const double mistake = width >= 2 ? excess / (static_cast<double>(cost.k()) * static_cast<double>(width - 1)) : 0;
    if (unit > 0) scale_[i] = std::max(mistake / unit, least_scale);
  }
}

void ExampleCosts::check(std::size_t i, const Where& where) const {
  const auto place = [&] { return where ? where(i) : fmt::format("example {} (counted from 1)", i + 1); };
  for (std::size_t entry = 0; entry < place_.size(); ++entry) {
    if (place_[entry] < 0) continue;
    const double found = value(i, entry);
    if (!(found >= 0 && found <= largest_cost))
      throw Error(
          say("{}: {} in column {}, which the costs name; expected a cost from 0 to {}: only differences between the "
              "costs of a row matter, so add the same amount to all of them",
              place(), found, shown(cost_.columns()[entry]), largest_cost));
  }
  for (std::size_t t = 0; t < cost_.k(); ++t) {
    if (!right_[t]) continue;
    const double right = (*this)(i, t, *right_[t]);
    for (std::size_t p = 0; p < cost_.predictions(); ++p) {
      if (!cost_.class_of(p) || p == *right_[t] || (*this)(i, t, p) > right) continue;
      const std::string& column = cost_.columns()[t * cost_.predictions() + p];
      throw Error(
          say("{}: a mistake costs {}{}, no more than the right answer ({}); every mistake must cost more than the "
              "right answer: correct the value, or leave the example out",
              place(), (*this)(i, t, p), column.empty() ? std::string() : fmt::format(" (column {})", shown(column)),
              right));
    }
  }
}

double ExampleCosts::largest(std::size_t i) const {
  double out = (*this)(i, 0, 0);
  for (std::size_t t = 0; t < cost_.k(); ++t)
    for (std::size_t p = 0; p < cost_.predictions(); ++p) out = std::max(out, (*this)(i, t, p));
  return out;
}

void ExampleCosts::scaled(std::size_t i, std::span<double> out) const {
  const std::size_t width = cost_.predictions();
  for (std::size_t t = 0; t < cost_.k(); ++t) scaled_of_truth(i, t, out.subspan(t * width, width));
}

void ExampleCosts::scaled_of_truth(std::size_t i, std::size_t truth, std::span<double> out) const {
  for (std::size_t p = 0; p < cost_.predictions(); ++p) out[p] = (*this)(i, truth, p) / scale_[i];
}

ColumnMean column_means(const Dataset& data) {
  return [&data](const std::string& column) -> std::optional<double> {
    const CostColumns& costs = data.costs;
    const auto found = std::find(costs.names.begin(), costs.names.end(), column);
    if (found == costs.names.end() || costs.values.rows == 0) return {};
    const auto place = static_cast<std::size_t>(found - costs.names.begin());
    // Weights relative to the largest, so that no sum of them overflows.
    const double heaviest = data.weight.empty() ? 1 : *std::max_element(data.weight.begin(), data.weight.end());
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < costs.values.rows; ++i) {
      const double share = data.weight.empty() ? 1 : data.weight[i] / heaviest;
      sum += share * costs.values.values[i * costs.values.cols + place];
      total += share;
    }
    return sum / total;
  };
}

double mean_cost(const ExampleCosts& cost, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double share = weight.empty() ? 1.0 : weight[i];
    sum += share * cost(i, static_cast<std::size_t>(truth[i]), static_cast<std::size_t>(predicted[i]));
    total += share;
  }
  return sum / total;
}

}  // namespace m4n::detail

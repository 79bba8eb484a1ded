// Cost matrices: the named ones and those given as numbers (files: cost_file.cc). Everything derived (the transpose,
// whether it is symmetric, whether it is a multiple of zero-one or absolute) is found once here, in O(k^2).
#include "losses/cost_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/message.h"
#include "data/input.h"
#include "data/text.h"
#include "losses/registry.h"

namespace m4n::detail {
namespace {

std::string class_name(const std::vector<std::string>& classes, std::size_t c) {
  return c < classes.size() ? shown(classes[c]) : fmt::format("'{}'", c);
}

double distance(std::size_t a, std::size_t b) { return static_cast<double>(a > b ? a - b : b - a); }

// The c > 0 with cost[t][p] = c unit(t, p), or 0 if there is none. A few units in the last place are forgiven, because
// 0.3 is what people write for three times 0.1.
template <class Unit>
double multiple_of(const std::vector<double>& cost, std::size_t k, Unit unit) {
  const double c = k >= 2 ? cost[1] : 1;
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) {
      const double expected = c * unit(t, p);
      if (std::abs(cost[t * k + p] - expected) > 4 * std::numeric_limits<double>::epsilon() * expected) return 0;
    }
  return c > 0 && std::isfinite(c) ? c : 0;
}

double zero_one(std::size_t t, std::size_t p) { return t == p ? 0.0 : 1.0; }

// Far outside these the squares and quotients of the solvers leave the range of a double.

void check_range(const std::vector<double>& cost, std::size_t k, const std::vector<std::string>& classes,
                 const std::vector<std::string>& predictions, const std::string& origin) {
  const auto [low, high] = std::minmax_element(cost.begin(), cost.end());
  const std::size_t width = cost.size() / k;
  if (width < 2 || *high - *low >= smallest_range) return;
  const auto at = static_cast<std::size_t>(high - cost.begin());
  throw Error(
      say("{}: the largest cost, {} in row {} (truth), column {} (prediction), is only {} above the smallest; "
          "expected at least {}: multiply all costs by one number",
          origin, *high, class_name(classes, at / width), class_name(predictions, at % width), *high - *low,
          smallest_range));
}

}  // namespace

void CostMatrix::set_values(std::vector<double> cost) {
  by_truth_ = std::move(cost);
  width_ = by_truth_.size() / k_;
  by_prediction_.resize(by_truth_.size());
  find_pointless();
  derive();
}

// Whatever the truth, another prediction costs no more, and for some truth less. A class is never pointless: it is the
// cheapest for its own examples.
void CostMatrix::find_pointless() {
  pointless_.assign(width_, 0);
  if (!has_actions() || varies()) return;
  const auto beats = [&](std::size_t q, std::size_t p) {
    bool less = false;
    for (std::size_t t = 0; t < k_; ++t) {
      const double here = by_truth_[t * width_ + p], there = by_truth_[t * width_ + q];
      if (there > here) return false;
      less = less || there < here;
    }
    return less;
  };
  for (std::size_t p = 0; p < width_; ++p)
    for (std::size_t q = 0; q < width_ && class_of_[p] < 0 && pointless_[p] == 0; ++q)
      pointless_[p] = beats(q, p) ? 1 : 0;
}

void CostMatrix::replace(std::span<const double> cost) {
  std::copy(cost.begin(), cost.end(), by_truth_.begin());
  derive();
}

void CostMatrix::derive() {
  symmetric_ = !has_actions();
  largest_ = *std::max_element(by_truth_.begin(), by_truth_.end());
  smallest_ = *std::min_element(by_truth_.begin(), by_truth_.end());
  double excess = 0;
  for (std::size_t t = 0; t < k_; ++t) {
    const std::span<const double> row = of_truth(t);
    const double best = *std::min_element(row.begin(), row.end());
    for (std::size_t p = 0; p < width_; ++p) {
      by_prediction_[p * k_ + t] = row[p];
      symmetric_ = symmetric_ && row[p] == by_truth_[p * width_ + t] &&
                   (columns_.empty() || columns_[t * width_ + p] == columns_[p * width_ + t]);
      if (pointless_[p] == 0) excess += row[p] - best;
    }
  }
  const auto choices = width_ - static_cast<std::size_t>(std::count(pointless_.begin(), pointless_.end(), 1));
  mean_off_diagonal_ = choices >= 2 ? excess / (static_cast<double>(k_) * static_cast<double>(choices - 1)) : 0;
}

CostMatrix CostMatrix::named(const std::string& name, std::size_t k) {
  if (k == 0) throw Error(say("the loss {} needs at least one class", name));
  const auto found = find_loss(name);
  if (!found || found->loss->cost == nullptr)
    throw UsageError(say("unknown loss {}; expected {}", shown(name), fmt::join(loss_names(LossFamily::classes), "|")));
  CostMatrix result;
  result.k_ = k;
  result.name_ = name;
  std::vector<double> cost(k * k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p)
      cost[t * k + p] = found->loss->cost(static_cast<double>(t), static_cast<double>(p));
  // Of two classes every loss with costs of 1 is zero-one.
  result.kind_ = k <= 2 && found->loss->kind == LossKind::matrix ? LossKind::zero_one : found->loss->kind;
  result.set_values(std::move(cost));
  return result;
}

namespace {

// Names of predictions where only their number is known: the classes, then what is no class.
std::vector<std::string> usual_predictions(const std::vector<std::string>& classes, std::size_t k, std::size_t width) {
  std::vector<std::string> out(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(std::min(width, k)));
  for (std::size_t p = k; p < width; ++p) out.push_back(width == k + 1 ? "reject" : fmt::format("action{}", p - k + 1));
  return out;
}

// Where a class is among the predictions, it must be the cheapest class for its own examples. Entries that differ from
// example to example are for ExampleCosts to check.
void check_costs(const std::vector<double>& cost, std::size_t k, const std::vector<std::string>& classes,
                 const std::vector<std::string>& predictions, const std::vector<std::string>& columns,
                 const std::string& origin) {
  const std::size_t width = cost.size() / k;
  const auto varies = [&](std::size_t entry) { return !columns.empty() && !columns[entry].empty(); };
  const ClassIndex index(classes);
  // The column of every class, and the class of every column, where there is one.
  std::vector<std::optional<std::size_t>> column(k), of_column(width);
  for (std::size_t p = 0; p < width; ++p) {
    of_column[p] = predictions.empty() ? p : index.find(predictions[p]);
    if (of_column[p]) column[*of_column[p]] = p;
  }
  const std::vector<std::string>& names = predictions.empty() ? classes : predictions;
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < width; ++p) {
      const double here = cost[t * width + p];
      if (varies(t * width + p)) continue;
      if (!std::isfinite(here))
        throw Error(say("{}: cost of predicting {} when the truth is {} is {}; expected a finite number", origin,
                        class_name(names, p), class_name(classes, t), here));
      if (std::abs(here) > largest_cost)
        throw Error(
            say("{}: row {} (truth), column {} (prediction): the cost {} is beyond {}; divide all costs by "
                "one number",
                origin, class_name(classes, t), class_name(names, p), here, largest_cost));
      const double right = column[t] ? cost[t * width + *column[t]] : std::numeric_limits<double>::quiet_NaN();
      if (column[t] && varies(t * width + *column[t])) continue;
      if (of_column[p] && *of_column[p] != t && std::isfinite(right) && here <= right)
        throw Error(
            say("{}: row {} (truth), column {} (prediction): the wrong prediction costs {}, no more than the "
                "right one ({}); every mistake must cost more than the right answer of its row",
                origin, class_name(classes, t), class_name(names, p), here, right));
    }
  if (columns.empty()) check_range(cost, k, classes, names, origin);
}

}  // namespace

CostMatrix CostMatrix::from_values(std::vector<double> cost, std::size_t k, const std::string& name,
                                   const std::vector<std::string>& classes, const std::string& origin,
                                   std::vector<std::string> predictions, std::vector<std::string> columns) {
  const std::size_t width = k > 0 ? cost.size() / k : 0;
  if (k == 0 || cost.empty() || cost.size() % k != 0 || (width < k && predictions.empty()))
    throw Error(
        say("{}: {} costs for {} classes; expected a square matrix, one row and one column per class, or "
            "more columns: predictions that are no class",
            origin, cost.size(), k));
  if (predictions.empty() && width > k) predictions = usual_predictions(classes, k, width);
  if (predictions == classes) predictions.clear();
  if (!predictions.empty() && predictions.size() != width)
    throw Error(say("{}: {} predictions have names, but there are {} columns", origin, predictions.size(), width));
  const ClassIndex distinct(predictions);
  for (std::size_t p = 0; p < predictions.size(); ++p)
    if (distinct.find(predictions[p]) != p)
      throw Error(say("{}: the prediction {} stands there twice; => rename one", origin, shown(predictions[p])));
  if (std::all_of(columns.begin(), columns.end(), [](const std::string& column) { return column.empty(); }))
    columns.clear();
  if (!columns.empty() && columns.size() != cost.size())
    throw Error(say("{}: {} names of columns for {} costs", origin, columns.size(), cost.size()));
  check_costs(cost, k, classes, predictions, columns, origin);
  CostMatrix result;
  result.k_ = k;
  result.name_ = name;
  if (const ClassIndex index(classes); !predictions.empty())
    for (const std::string& prediction : predictions) {
      const auto c = index.find(prediction);
      result.class_of_.push_back(c ? static_cast<std::int32_t>(*c) : -1);
    }
  result.prediction_names_ = std::move(predictions);
  result.columns_ = std::move(columns);
  const auto set_multiple = [&](LossKind kind, double scale, auto unit) {
    result.kind_ = kind;
    result.scale_ = scale;
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p) cost[t * k + p] = scale * unit(t, p);
  };
  if (!result.has_actions() && !result.varies()) {
    if (const double c = multiple_of(cost, k, zero_one); c > 0)
      set_multiple(LossKind::zero_one, c, zero_one);
    else if (const double slope = multiple_of(cost, k, distance); slope > 0)
      set_multiple(LossKind::absolute, slope, distance);
  }
  result.set_values(std::move(cost));
  return result;
}

CostMatrix CostMatrix::with_reject(double cost, const std::vector<std::string>& classes) const {
  // Beside such a price the other costs are all alike to the arithmetic of the games.
  constexpr double dearest = 1e9;
  if (cost - largest_ > dearest * range())
    throw Error(
        say("--reject {} is more than {:g} times what a mistake costs, so nothing would ever be rejected; => leave it "
            "out, or give a price below {}",
            cost, dearest, largest_));
  std::vector<double> values;
  std::vector<std::string> columns;
  for (std::size_t t = 0; t < k_; ++t) {
    values.insert(values.end(), of_truth(t).begin(), of_truth(t).end());
    values.push_back(cost);
    if (!varies()) continue;
    const auto first = columns_.begin() + static_cast<std::ptrdiff_t>(t * width_);
    columns.insert(columns.end(), first, first + static_cast<std::ptrdiff_t>(width_));
    columns.emplace_back();
  }
  std::vector<std::string> names = has_actions() ? prediction_names_ : classes;
  names.emplace_back("reject");
  return from_values(std::move(values), k_, "matrix", classes, fmt::format("--reject {}", cost), std::move(names),
                     std::move(columns));
}

CostMatrix CostMatrix::squared() const {
  CostMatrix out;
  out.k_ = std::max(k_, width_);
  out.name_ = name_;
  out.set_values(std::vector<double>(out.k_ * out.k_));
  out.replace_by_square(*this);
  return out;
}

void CostMatrix::replace_by_square(const CostMatrix& other) {
  for (std::size_t t = 0; t < k_; ++t)
    for (std::size_t p = 0; p < k_; ++p) by_truth_[t * k_ + p] = other(t < other.k_ ? t : 0, p < other.width_ ? p : 0);
  derive();
}

double mean_cost(const CostMatrix& cost, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double share = weight.empty() ? 1.0 : weight[i];
    sum += share * cost(static_cast<std::size_t>(truth[i]), static_cast<std::size_t>(predicted[i]));
    total += share;
  }
  return sum / total;
}

double mean_sequence_cost(const CostMatrix& cost, const Groups& tokens, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted, std::span<const double> weight) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < tokens.count(); ++i) {
    const std::size_t first = tokens.begin(i), length = tokens.end(i) - first;
    const double share = weight.empty() ? 1.0 : weight[i];
    sum += share * mean_cost(cost, truth.subspan(first, length), predicted.subspan(first, length), {});
    total += share;
  }
  return sum / total;
}

}  // namespace m4n::detail

// Cost matrices: the named ones, those given as numbers, those in a file. Everything derived (the transpose, whether
// it is symmetric, whether it is a multiple of zero-one or absolute) is found once here, in O(k^2).
#include "losses/cost_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

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
                 const std::string& origin) {
  const auto [low, high] = std::minmax_element(cost.begin(), cost.end());
  if (k < 2 || *high - *low >= smallest_range) return;
  const auto at = static_cast<std::size_t>(high - cost.begin());
  throw Error(
      say("{}: the largest cost, {} in row {} (truth), column {} (prediction), is only {} above the smallest; "
          "expected at least {}: multiply all costs by one number",
          origin, *high, class_name(classes, at / k), class_name(classes, at % k), *high - *low, smallest_range));
}

// absolute and squared count steps between classes, which must have an order that everybody knows.
void require_grades(const std::string& loss, const std::vector<std::string>& classes) {
  for (const std::string& name : classes)
    if (!finite_number(name))
      throw Error(
          say("the loss {} counts steps between grades, but class {} is a word, and the order of words is not known; "
              "=> write grades as numbers, or give the costs in a file: --loss FILE.csv",
              loss, shown(name)));
}

struct TextGrid {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> line;  // of each row in the file
};

TextGrid split_rows(std::string_view text, const std::string& origin) {
  TextGrid grid;
  Input input = Input::memory(text, origin);
  LineReader lines(input);
  std::size_t blank = 0;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) {
      blank = lines.line_number();
      continue;
    }
    if (blank > 0 && !grid.cells.empty())
      throw Error(say("{}: line {}: blank line inside the cost matrix; => remove it", origin, blank));
    grid.cells.push_back(split_cells(line, origin, lines.line_number()));
    grid.line.push_back(lines.line_number());
  }
  return grid;
}

// order[i] = the class that the i-th row (or column) of the file is about.
class NamedOrder {
 public:
  NamedOrder(const std::vector<std::string>& classes, const std::string& origin)
      : classes_(classes), origin_(origin), index_(classes), seen_(classes.size()) {}

  void add(const std::string& name, std::size_t line, std::size_t column) {
    const auto c = index_.find(name);
    if (!c)
      throw Error(say("{}: line {}, column {}: {} is no class of the data; the classes are {}", origin_, line, column,
                      shown(name), shown_list(classes_, 10)));
    if (seen_[*c])
      throw Error(
          say("{}: line {}, column {}: class {} stands here a second time", origin_, line, column, shown(name)));
    seen_[*c] = true;
    order.push_back(*c);
  }

  std::vector<std::size_t> order;

 private:
  const std::vector<std::string>& classes_;
  const std::string& origin_;
  ClassIndex index_;
  std::vector<bool> seen_;
};

}  // namespace

void CostMatrix::set_values(std::vector<double> cost) {
  by_truth_ = std::move(cost);
  by_prediction_.resize(k_ * k_);
  symmetric_ = true;
  largest_ = smallest_ = k_ > 0 ? by_truth_[0] : 0;
  double excess = 0;
  for (std::size_t t = 0; t < k_; ++t)
    for (std::size_t p = 0; p < k_; ++p) {
      const double here = by_truth_[t * k_ + p];
      by_prediction_[p * k_ + t] = here;
      symmetric_ = symmetric_ && here == by_truth_[p * k_ + t];
      largest_ = std::max(largest_, here);
      smallest_ = std::min(smallest_, here);
      excess += here - by_truth_[t * k_ + t];
    }
  mean_off_diagonal_ = k_ >= 2 ? excess / (static_cast<double>(k_) * static_cast<double>(k_ - 1)) : 0;
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

CostMatrix CostMatrix::from_values(std::vector<double> cost, std::size_t k, const std::string& name,
                                   const std::vector<std::string>& classes, const std::string& origin) {
  if (k == 0 || cost.size() / k != k || cost.size() % k != 0)
    throw Error(say("{}: {} costs for {} classes; expected a square matrix, one row and one column per class", origin,
                    cost.size(), k));
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t p = 0; p < k; ++p) {
      const double here = cost[t * k + p], right = cost[t * k + t];
      if (!std::isfinite(here))
        throw Error(say("{}: cost of predicting {} when the truth is {} is {}; expected a finite number", origin,
                        class_name(classes, p), class_name(classes, t), here));
      if (std::abs(here) > largest_cost)
        throw Error(
            say("{}: row {} (truth), column {} (prediction): the cost {} is beyond {}; divide all costs by "
                "one number",
                origin, class_name(classes, t), class_name(classes, p), here, largest_cost));
      if (p != t && std::isfinite(right) && here <= right)
        throw Error(
            say("{}: row {} (truth), column {} (prediction): the wrong prediction costs {}, no more than the "
                "right one ({}); every mistake must cost more than the right answer of its row",
                origin, class_name(classes, t), class_name(classes, p), here, right));
    }
  check_range(cost, k, classes, origin);
  CostMatrix result;
  result.k_ = k;
  result.name_ = name;
  const auto set_multiple = [&](LossKind kind, double scale, auto unit) {
    result.kind_ = kind;
    result.scale_ = scale;
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p) cost[t * k + p] = scale * unit(t, p);
  };
  if (const double c = multiple_of(cost, k, zero_one); c > 0)
    set_multiple(LossKind::zero_one, c, zero_one);
  else if (const double slope = multiple_of(cost, k, distance); slope > 0)
    set_multiple(LossKind::absolute, slope, distance);
  result.set_values(std::move(cost));
  return result;
}

CostMatrix CostMatrix::from_csv(std::string_view text, const std::vector<std::string>& classes,
                                const std::string& origin) {
  const std::size_t k = classes.size();
  const TextGrid grid = split_rows(text, origin);
  const std::size_t rows = grid.cells.size();
  // The size alone says which names are there: one row more than classes is a header, one cell more is a class name.
  const std::size_t header = rows == k + 1 ? 1 : 0;
  if (k == 0 || (rows != k && rows != k + 1))
    throw Error(say("{}: {} rows for {} classes ({}); expected one row per class, and perhaps a header row", origin,
                    rows, k, shown_list(classes, 10)));
  const std::size_t width = grid.cells.back().size(), names = width == k + 1 ? 1 : 0;
  NamedOrder row_order(classes, origin), column_order(classes, origin);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t found = grid.cells[r].size();
    const bool corner_left_out = r < header && names == 1 && found == k;
    if (found != k + names && !corner_left_out)
      throw Error(say("{}: line {}: {} cells for {} classes; expected {} numbers{}", origin, grid.line[r], found, k, k,
                      names == 1 ? " after the class name" : ""));
    if (r < header) {
      const std::size_t first = found - k;
      for (std::size_t j = first; j < found; ++j) column_order.add(grid.cells[r][j], grid.line[r], j + 1);
    } else if (names == 1) {
      row_order.add(grid.cells[r][0], grid.line[r], 1);
    }
  }
  if (row_order.order.empty()) row_order.order = column_order.order;
  if (column_order.order.empty()) column_order.order = row_order.order;

  std::vector<double> cost(k * k);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      const std::string& cell = grid.cells[i + header][j + names];
      const auto value = finite_number(cell);
      if (!value)
        throw Error(say("{}: line {}, column {}: {} is no finite number; expected a cost", origin,
                        grid.line[i + header], j + names + 1, shown(cell)));
      const bool named = !row_order.order.empty();
      cost[(named ? row_order.order[i] : i) * k + (named ? column_order.order[j] : j)] = *value;
    }
  return from_values(std::move(cost), k, "matrix", classes, origin);
}

CostMatrix CostMatrix::read(const std::string& path, const std::vector<std::string>& classes) {
  constexpr std::size_t largest_file = std::size_t{1} << 30;
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_file);
  return from_csv(text, classes, input.name());
}

CostMatrix CostMatrix::parse(const std::string& spec, const std::vector<std::string>& classes) {
  if (const auto found = find_loss(spec); found && found->loss->cost != nullptr) {
    if (found->loss->counts_steps) require_grades(spec, classes);
    return named(spec, classes.size());
  }
  std::error_code ignored;
  if (!std::filesystem::exists(spec, ignored))
    throw UsageError(say("unknown loss {}, and there is no file of that name; expected {}|FILE.csv", shown(spec),
                         fmt::join(loss_names(LossFamily::classes), "|")));
  return read(spec, classes);
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
                          std::span<const std::int32_t> predicted) {
  double sum = 0;
  for (std::size_t i = 0; i < tokens.count(); ++i) {
    const std::size_t first = tokens.begin(i), length = tokens.end(i) - first;
    sum += mean_cost(cost, truth.subspan(first, length), predicted.subspan(first, length), {});
  }
  return sum / static_cast<double>(tokens.count());
}

}  // namespace m4n::detail

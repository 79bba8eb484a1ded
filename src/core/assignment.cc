// The search of assignment.h, compiled once for every vector width, and the class Assignment around it.
#include "core/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/message.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/assignment.cc"
// Vectors are members of a structure, which targets of unknown width do not allow.
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kernels::lane_block>;
constexpr D d{};
using V = hn::Vec<D>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t nobody = -1;

// The smallest of the values seen so far and where it is; of equal ones the first, whatever the width of vectors.
struct Least {
  V value, at, now;
  HWY_INLINE Least() {
    value = hn::Set(d, infinity);
    at = hn::Zero(d);
    now = hn::Iota(d, 0);
  }
  HWY_INLINE void see(V x) {
    const auto better = hn::Lt(x, value);
    value = hn::IfThenElse(better, x, value);
    at = hn::IfThenElse(better, now, at);
    now = hn::Add(now, hn::Set(d, static_cast<double>(hn::Lanes(d))));
  }
  HWY_INLINE double least() const { return hn::GetLane(hn::MinOfLanes(d, value)); }
  HWY_INLINE std::size_t where(double value_found) const {
    const auto here = hn::Eq(value, hn::Set(d, value_found));
    if (hn::CountTrue(d, here) == 1) {
      HWY_ALIGN double index[kernels::lane_block];
      hn::Store(at, d, index);
      return static_cast<std::size_t>(index[hn::FindFirstTrue(d, here)]);
    }
    return static_cast<std::size_t>(hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(here, at, hn::Set(d, 1e9)))));
  }
};

double LoadScores(const double* scores, AssignmentTable& t) {
  for (std::size_t i = 0; i < t.size; ++i) {
    double* row = t.scores.data() + i * t.stride;
    const double* from = scores + i * t.size;
    std::size_t j = 0;
    for (; j + hn::Lanes(d) <= t.size; j += hn::Lanes(d)) hn::Store(hn::LoadU(d, from + j), d, row + j);
    for (; j < t.size; ++j) row[j] = from[j];
  }
  V sum = hn::Zero(d);
  const std::size_t entries = t.size * t.size;
  std::size_t e = 0;
  for (; e + hn::Lanes(d) <= entries; e += hn::Lanes(d)) sum = hn::Add(sum, hn::Abs(hn::LoadU(d, scores + e)));
  double total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; e < entries; ++e) total += std::abs(scores[e]);
  return total;
}

void ReduceColumns(AssignmentTable& t) {
  for (std::size_t j = 0; j < t.stride; j += hn::Lanes(d)) {
    V most = hn::Load(d, t.scores.data() + j);
    for (std::size_t i = 1; i < t.size; ++i) most = hn::Max(most, hn::Load(d, t.scores.data() + i * t.stride + j));
    hn::Store(most, d, t.price.data() + j);
  }
  std::fill(t.price.begin() + static_cast<std::ptrdiff_t>(t.size), t.price.end(), 0.0);
}

// The reduced cost of the item's row, lane by lane.
HWY_INLINE V cost(const double* price, const double* row, std::size_t j) {
  return hn::Sub(hn::Load(d, price + j), hn::Load(d, row + j));
}

HWY_INLINE void place(AssignmentTable& t, std::int32_t i, std::size_t j) {
  t.item[j] = i;
  t.position[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(j);
}

// Every item takes the position it likes best, raises its price until the second best is as good, and displaces the
// item that had it, which is next. The number of steps is limited, for prices may rise by next to nothing. Items that
// find their favourites taken at prices that cannot rise are left to the search; returns how many.
std::size_t ReduceRows(AssignmentTable& t) {
  std::size_t waiting = 0, steps = t.size + 16;
  for (std::size_t next = 0; next < t.size; ++next) {
    auto i = static_cast<std::int32_t>(next);
    while (i != nobody) {
      const double* row = t.scores.data() + static_cast<std::size_t>(i) * t.stride;
      Least least;
      V second = hn::Set(d, infinity);
      for (std::size_t j = 0; j < t.stride; j += hn::Lanes(d)) {
        const V x = cost(t.price.data(), row, j);
        second = hn::Min(second, hn::Max(x, least.value));
        least.see(x);
      }
      const double value = least.least();
      const auto here = hn::Eq(least.value, hn::Set(d, value));
      const double other = hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(here, second, least.value)));
      std::size_t j = least.where(value);
      const double raised = t.price[j] + (other - value);
      const bool rises = hn::CountTrue(d, here) == 1 && raised > t.price[j] && steps > 0 && t.size > 1;
      if (rises) {
        --steps;
        t.price[j] = raised;
      } else {  // any other position that is liked as much will do, if nobody has it
        while (j < t.size && (t.item[j] != nobody || t.price[j] - row[j] != value)) ++j;
        if (j == t.size) {
          t.free[waiting++] = i;
          break;
        }
      }
      const std::int32_t turned_out = t.item[j];
      place(t, i, j);
      if (turned_out != nobody) t.position[static_cast<std::size_t>(turned_out)] = nobody;
      i = turned_out;
    }
  }
  return waiting;
}

// The shortest path, in reduced costs, from an item to a position without one (Dijkstra); items move along it, and the
// prices of the positions it settled rise by what they were nearer than the end.
void Augment(AssignmentTable& t, std::int32_t start) {
  const double* row = t.scores.data() + static_cast<std::size_t>(start) * t.stride;
  Least nearest;
  for (std::size_t j = 0; j < t.stride; j += hn::Lanes(d)) {
    const V price = hn::Load(d, t.price.data() + j), x = hn::Sub(price, hn::Load(d, row + j));
    hn::Store(price, d, t.open_price.data() + j);
    hn::Store(x, d, t.distance.data() + j);
    hn::Store(hn::Set(d, static_cast<double>(start)), d, t.parent.data() + j);
    nearest.see(x);
  }
  std::size_t count = 0, end = 0;
  double least = 0;
  for (;;) {
    least = nearest.least();
    end = nearest.where(least);
    const std::int32_t i = t.item[end];
    if (i == nobody) break;
    t.settled[count] = static_cast<std::int32_t>(end);
    t.settled_at[count++] = least;
    t.open_price[end] = t.distance[end] = infinity;
    row = t.scores.data() + static_cast<std::size_t>(i) * t.stride;
    const V offset = hn::Set(d, least - (t.price[end] - row[end])), from = hn::Set(d, static_cast<double>(i));
    nearest = Least();
    for (std::size_t j = 0; j < t.stride; j += hn::Lanes(d)) {
      const V x = hn::Add(offset, cost(t.open_price.data(), row, j)), old = hn::Load(d, t.distance.data() + j);
      const auto nearer = hn::Lt(x, old);
      const V now = hn::IfThenElse(nearer, x, old);
      hn::Store(now, d, t.distance.data() + j);
      hn::Store(hn::IfThenElse(nearer, from, hn::Load(d, t.parent.data() + j)), d, t.parent.data() + j);
      nearest.see(now);
    }
  }
  for (std::size_t k = 0; k < count; ++k)
    t.price[static_cast<std::size_t>(t.settled[k])] += std::max(least - t.settled_at[k], 0.0);
  for (std::int32_t i = nobody; i != start;) {
    i = static_cast<std::int32_t>(t.parent[end]);
    const std::int32_t before = t.position[static_cast<std::size_t>(i)];
    place(t, i, end);
    end = static_cast<std::size_t>(before);
  }
}

void SearchAssignment(AssignmentTable& t) {
  std::fill_n(t.position.begin(), t.size, nobody);
  std::fill_n(t.item.begin(), t.size, nobody);
  const std::size_t waiting = ReduceRows(t);
  for (std::size_t k = 0; k < waiting; ++k) Augment(t, t.free[k]);
}

double DualValue(const AssignmentTable& t) {
  double total = 0;
  for (std::size_t i = 0; i < t.size; ++i) {
    V least = hn::Set(d, infinity);
    for (std::size_t j = 0; j < t.stride; j += hn::Lanes(d))
      least = hn::Min(least, cost(t.price.data(), t.scores.data() + i * t.stride, j));
    total += t.price[i] - hn::GetLane(hn::MinOfLanes(d, least));
  }
  return total;
}

}  // namespace m4n::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail {

M4N_KERNEL(LoadScores);
M4N_KERNEL(ReduceColumns);
M4N_KERNEL(SearchAssignment);
M4N_KERNEL(DualValue);

double load_scores(const double* scores, std::size_t size, AssignmentTable& table) {
  if (size == table.size) return M4N_DISPATCH(LoadScores)(scores, table);
  table.size = size;
  table.stride = kernels::padded(size);
  table.scores.assign(size * table.stride, -std::numeric_limits<double>::infinity());
  for (auto* values : {&table.price, &table.open_price, &table.distance, &table.parent, &table.settled_at})
    values->resize(table.stride);
  for (auto* indices : {&table.settled, &table.free, &table.position, &table.item}) indices->resize(table.stride);
  return M4N_DISPATCH(LoadScores)(scores, table);
}
void reduce_columns(AssignmentTable& table) { M4N_DISPATCH(ReduceColumns)(table); }
void search_assignment(AssignmentTable& table) { M4N_DISPATCH(SearchAssignment)(table); }
double dual_value(const AssignmentTable& table) { return M4N_DISPATCH(DualValue)(table); }

void Assignment::load(std::span<const double> scores, std::size_t size) {
  row_dual_.resize(size);
  // The sum of the absolute values is not a number, or too large, as soon as one of them is: only then a closer look.
  if (load_scores(scores.data(), size, table_) <= largest_score) return;
  for (std::size_t e = 0; e < size * size; ++e)
    if (!(std::abs(scores[e]) <= largest_score))
      throw Error(
          say("the score of item {} at position {} is {}; expected a number between -{} and {}; look for "
              "features or weights that are not finite or far too large (--standardize yes scales features)",
              e / size, e % size, scores[e], largest_score, largest_score));
}

double Assignment::solve(std::span<const double> scores, std::size_t size) {
  load(scores, size);
  reduce_columns(table_);
  return search();
}

double Assignment::solve(std::span<const double> scores, std::size_t size, std::span<const double> column_duals) {
  // Read before the table changes its size: they may lie in it.
  const double* dual = column_duals.data();
  const std::size_t given = column_duals.size();
  const bool own = dual == table_.price.data();
  load(scores, size);
  if (own) dual = table_.price.data();
  for (std::size_t j = 0; j < table_.stride; ++j)
    table_.price[j] = j < size && j < given && std::abs(dual[j]) <= largest_score ? dual[j] : 0;
  return search();
}

double Assignment::search() {
  search_assignment(table_);
  double value = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto j = static_cast<std::size_t>(table_.position[i]);
    const double score = table_.scores[i * table_.stride + j];
    value += score;
    row_dual_[i] = score - table_.price[j];
  }
  return value;
}

}  // namespace m4n::detail
#endif

// Simplex steps of a game whose players learn new moves (growing_game.h), compiled once for every vector width.
#include "games/growing_game.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "games/growing_game.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

// line -= scale * pivot, for whole padded lines.
void Eliminate(double* table, std::size_t stride, std::size_t lines, std::size_t objective, std::size_t skip,
               std::size_t column) {
  const hn::CappedTag<double, kernels::lane_block> d;
  const double* pivot = table + skip * stride;
  const double inverse = pivot[column];
  for (std::size_t l = 0; l <= lines; ++l) {
    if (l == skip) continue;
    double* line = table + (l == lines ? objective : l) * stride;
    const double factor = line[column];
    if (factor == 0) continue;
    const auto scale = hn::Set(d, factor);
    for (std::size_t j = 0; j < stride; j += hn::Lanes(d))
      hn::Store(hn::NegMulAdd(scale, hn::Load(d, pivot + j), hn::Load(d, line + j)), d, line + j);
    line[column] = -factor * inverse;
  }
}

}  // namespace m4n::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail {
namespace {

M4N_KERNEL(Eliminate);

// Payoffs are of the order of 1.
constexpr double zero = 1e-11;
constexpr double least_pivot = 1e-9;

// Cuts off what is below zero, and divides by the sum. What cannot be divided becomes the first move alone.
void make_distribution(std::span<double> weights) {
  double total = 0;
  for (double& w : weights) total += w = std::max(w, 0.0);
  if (!(total > 0 && std::isfinite(total))) {
    std::fill(weights.begin(), weights.end(), 0.0);
    weights[0] = total = 1;
  }
  for (double& w : weights) w /= total;
}

}  // namespace

void GrowingGame::clear(std::size_t room) {
  room_ = room;
  stride_ = kernels::padded(room + 1);
  rows_ = columns_ = 0;
  table_.assign((room + 1) * stride_, 0.0);
  for (auto* indices : {&basic_, &nonbasic_}) indices->resize(room);
  where_.resize(2 * room);
}

// z_c = 1 - sum_r K[r][c] x_r, with what is basic of the x put in.
void GrowingGame::add_column(std::span<const double> payoff) {
  double* fresh = line(columns_);
  std::fill_n(fresh, stride_, 0.0);
  fresh[stride_ - 1] = 1;
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::int32_t at = where_[r];
    if (at < 0) {
      fresh[~at] += payoff[r];
      continue;
    }
    const double* old = line(static_cast<std::size_t>(at));
    for (std::size_t j = 0; j < stride_; ++j) fresh[j] -= payoff[r] * old[j];
  }
  basic_[columns_] = static_cast<std::int32_t>(room_ + columns_);
  where_[room_ + columns_] = static_cast<std::int32_t>(columns_);
  ++columns_;
}

// x_r takes K[r][c] from the right-hand side of every constraint c, as z_c does at the rate 1.
void GrowingGame::add_row(std::span<const double> payoff) {
  const std::size_t place = rows_;
  double* objective = line(room_);
  objective[place] = -1;
  for (std::size_t b = 0; b < columns_; ++b) line(b)[place] = 0;
  for (std::size_t c = 0; c < columns_; ++c) {
    const std::int32_t at = where_[room_ + c];
    if (at >= 0) {
      line(static_cast<std::size_t>(at))[place] += payoff[c];
      continue;
    }
    for (std::size_t b = 0; b < columns_; ++b) line(b)[place] += payoff[c] * line(b)[~at];
    objective[place] += payoff[c] * objective[~at];
  }
  nonbasic_[place] = static_cast<std::int32_t>(rows_);
  where_[rows_] = ~static_cast<std::int32_t>(place);
  ++rows_;
}

void GrowingGame::pivot(std::size_t basic, std::size_t entering) {
  double* row = line(basic);
  const double inverse = 1 / row[entering];
  for (std::size_t j = 0; j < stride_; ++j) row[j] *= inverse;
  row[entering] = inverse;
  M4N_DISPATCH(Eliminate)(table_.data(), stride_, columns_, room_, basic, entering);
  std::swap(basic_[basic], nonbasic_[entering]);
  where_[static_cast<std::size_t>(basic_[basic])] = static_cast<std::int32_t>(basic);
  where_[static_cast<std::size_t>(nonbasic_[entering])] = ~static_cast<std::int32_t>(entering);
}

// The variable that gains most enters; false if nothing limits it, which only rounding can bring about.
bool GrowingGame::primal_step(bool& moved) {
  const double* objective = line(room_);
  const auto entering = static_cast<std::size_t>(std::min_element(objective, objective + rows_) - objective);
  moved = rows_ > 0 && objective[entering] < -zero;
  if (!moved) return true;
  std::size_t leaving = columns_;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < columns_; ++b) {
    const double rate = line(b)[entering];
    if (rate <= least_pivot) continue;
    const double ratio = std::max(line(b)[stride_ - 1], 0.0) / rate;
    if (ratio < least || (ratio == least && rate > line(leaving)[entering])) {
      least = ratio;
      leaving = b;
    }
  }
  if (leaving == columns_) return false;
  pivot(leaving, entering);
  return true;
}

// The variable furthest below zero leaves.
bool GrowingGame::dual_step(bool& moved) {
  std::size_t leaving = columns_;
  double lowest = -zero;
  for (std::size_t b = 0; b < columns_; ++b) {
    if (line(b)[stride_ - 1] < lowest) {
      lowest = line(b)[stride_ - 1];
      leaving = b;
    }
  }
  moved = leaving < columns_;
  if (!moved) return true;
  const double *row = line(leaving), *objective = line(room_);
  std::size_t entering = rows_;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < rows_; ++n) {
    if (row[n] >= -least_pivot) continue;
    const double ratio = std::max(objective[n], 0.0) / -row[n];
    if (ratio < least || (ratio == least && row[n] < row[entering])) {
      least = ratio;
      entering = n;
    }
  }
  if (entering == rows_) return false;
  pivot(leaving, entering);
  return true;
}

bool GrowingGame::solve() {
  std::size_t left = 50 + 8 * (rows_ + columns_);
  for (bool moved = true; moved; --left)
    if (left == 0 || !dual_step(moved)) return false;
  for (bool moved = true; moved; --left)
    if (left == 0 || !primal_step(moved)) return false;
  return true;
}

void GrowingGame::row_weights(std::span<double> out) const {
  for (std::size_t r = 0; r < rows_; ++r)
    out[r] = where_[r] < 0 ? 0 : line(static_cast<std::size_t>(where_[r]))[stride_ - 1];
  make_distribution(out.first(rows_));
}

void GrowingGame::column_weights(std::span<double> out) const {
  for (std::size_t c = 0; c < columns_; ++c) {
    const std::int32_t at = where_[room_ + c];
    out[c] = at >= 0 ? 0 : line(room_)[~at];
  }
  make_distribution(out.first(columns_));
}

}  // namespace m4n::detail
#endif

// Sinkhorn sweeps with Newton steps, and rounding into the polytope (sinkhorn.h).
#include "structures/permutations/sinkhorn.h"

#include <algorithm>
#include <cmath>

namespace m4n::detail {
namespace {

void column_sums(std::span<const double> p, std::size_t size, std::span<double> sums) {
  std::fill_n(sums.begin(), size, 0.0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) sums[j] += p[i * size + j];
}

double sum_of(std::span<const double> values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum;
}

}  // namespace

double sinkhorn_sweep(std::span<double> p, std::size_t size, std::span<double> sums) {
  double error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    const double sum = sum_of(row), scale = 1 / sum;
    error = std::max(error, std::abs(sum - 1));
    for (double& x : row) x *= scale;
  }
  column_sums(p, size, sums);
  for (std::size_t j = 0; j < size; ++j) sums[j] = 1 / sums[j];
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) p[i * size + j] *= sums[j];
  return error;
}

void round_to_birkhoff(std::span<double> p, std::size_t size, std::span<double> rows, std::span<double> columns) {
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    const double scale = 1 / std::max(sum_of(row), 1.0);
    for (double& x : row) x *= scale;
  }
  column_sums(p, size, columns);
  for (std::size_t j = 0; j < size; ++j) columns[j] = 1 / std::max(columns[j], 1.0);
  double missing = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = p.subspan(i * size, size);
    for (std::size_t j = 0; j < size; ++j) row[j] *= columns[j];
    rows[i] = std::max(1 - sum_of(row), 0.0);
    missing += rows[i];
  }
  if (!(missing > 0)) return;
  column_sums(p, size, columns);
  for (std::size_t j = 0; j < size; ++j) columns[j] = std::max(1 - columns[j], 0.0) / missing;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) p[i * size + j] += rows[i] * columns[j];
}

// P with exact rows, and the column sums; returns their largest error.
double SinkhornScaling::scale_rows(std::span<const double> scores, double factor, std::span<double> p) {
  for (std::size_t i = 0; i < size_; ++i) {
    const auto row = p.subspan(i * size_, size_);
    for (std::size_t j = 0; j < size_; ++j) row[j] = factor * scores[i * size_ + j] + g_[j];
    const double top = *std::max_element(row.begin(), row.end());
    for (double& x : row) x = std::exp(x - top);
    const double scale = 1 / sum_of(row);
    for (double& x : row) x *= scale;
  }
  column_sums(p, size_, column_);
  double error = 0;
  for (const double sum : column_) error = std::max(error, std::abs(sum - 1));
  return error;
}

// Solves (diag(W 1) - W + ridge) d = 1 - c, moves g and returns the range of d. The ridge is of the size of the error
// of a sum: links that are weaker carry no digit of it.
double SinkhornScaling::newton_step(std::span<const double> p) {
  constexpr double ridge = 1e-14;
  for (std::size_t j = 0; j < size_; ++j) step_[j] = 1 - column_[j];
  std::fill(link_.begin(), link_.end(), 0.0);
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t j = 0; j < size_; ++j) {
      const double x = p[i * size_ + j];
      if (x > 0)
        for (std::size_t k = j + 1; k < size_; ++k) link_[j * size_ + k] += x * p[i * size_ + k];
    }
  // Node j is taken out, its links are shared out among those behind it. Every node keeps its own link to the ground.
  std::fill(ground_.begin(), ground_.end(), ridge);
  for (std::size_t j = 0; j + 1 < size_; ++j) {
    const double* const own = link_.data() + j * size_;
    double total = ground_[j];
    for (std::size_t k = j + 1; k < size_; ++k) total += own[k];
    for (std::size_t k = j + 1; k < size_; ++k) {
      const double share = own[k] / total;
      if (share == 0) continue;
      step_[k] += share * step_[j];
      ground_[k] += share * ground_[j];
      for (std::size_t l = k + 1; l < size_; ++l) link_[k * size_ + l] += share * own[l];
    }
    total_[j] = total;
  }
  total_[size_ - 1] = ground_[size_ - 1];
  for (std::size_t j = size_; j-- > 0;) {
    for (std::size_t k = j + 1; k < size_; ++k) step_[j] += link_[j * size_ + k] * step_[k];
    step_[j] /= total_[j];
  }
  const auto [least, most] = std::minmax_element(step_.begin(), step_.end());
  const double range = *most - *least, length = range > 0 ? std::log1p(range) / range : 1;
  for (std::size_t j = 0; j < size_; ++j) g_[j] += length * (step_[j] - *least);
  return range;
}

double SinkhornScaling::solve(std::span<const double> scores, std::size_t size, double tol, int most_steps,
                              std::span<double> p) {
  constexpr double small_range = 8;    // of scores that any start will do for
  constexpr double good_enough = 0.1;  // error of a sum before scores are doubled
  constexpr double near = 0.5;         // range of steps whose squares are the next ones
  size_ = size;
  for (std::vector<double>* v : {&g_, &column_, &step_, &ground_, &total_}) v->assign(size, 0.0);
  link_.assign(size * size, 0.0);
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  int power = std::max(0, std::ilogb(std::max(0.5 * *most - 0.5 * *least, 1.0)) + 1 - std::ilogb(small_range));
  int steps = 0;
  for (; power > 0; --power) {
    const double factor = std::ldexp(1.0, -power);
    while (scale_rows(scores, factor, p) > good_enough && steps < most_steps) ++steps, newton_step(p);
    for (double& g : g_) g *= 2;
  }
  double error = scale_rows(scores, 1, p), range = 1;
  while (error > tol && steps < most_steps) {
    ++steps;
    range = newton_step(p);
    error = scale_rows(scores, 1, p);
  }
  if (error > 0 && range <= near) {  // one step more costs little and doubles the digits
    newton_step(p);
    error = scale_rows(scores, 1, p);
  }
  return error;
}

}  // namespace m4n::detail

// Means and standard deviations of columns, dense and sparse, and how they are applied (standardize.h).
#include "features/standardize.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace m4n::detail {
namespace {

double weight_of(std::span<const double> weight, std::size_t i) { return weight.empty() ? 1.0 : weight[i]; }

double total_weight(std::span<const double> weight, std::size_t rows) {
  double total = 0;
  for (std::size_t i = 0; i < rows; ++i) total += weight_of(weight, i);
  return total;
}

// Spread below this, relative to the size of the values, is the rounding of a constant. Such a column is divided by its
// size if that is large: what rounding leaves of it beside the mean must stay small beside other features.
constexpr double rounding = 1e-12;

// `variance` is that of the values divided by `size`, the largest of them: huge columns do not overflow.
double inverse(double variance, double size) {
  const double deviation = std::sqrt(variance), out = 1 / deviation / size;
  return deviation > rounding && std::isfinite(out) ? out : 1 / std::max(size, 1.0);
}

ColumnMoments moments(const DenseView& x, std::span<const double> weight) {
  const std::vector<double> zero(x.cols, 0.0);
  ColumnMoments out{total_weight(weight, x.rows), zero, zero, zero, true};
  std::vector<double>&size = out.size, &mean = out.mean, &variance = out.variance;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const double share = weight_of(weight, i) / out.weight;
    const auto row = x.row(i);
    for (std::size_t j = 0; j < x.cols; ++j) {
      mean[j] += share * row[j];
      size[j] = std::max(size[j], std::abs(row[j]));
    }
  }
  for (std::size_t i = 0; i < x.rows; ++i) {
    const double share = weight_of(weight, i) / out.weight;
    const auto row = x.row(i);
    for (std::size_t j = 0; j < x.cols; ++j) {
      const double deviation = size[j] > 0 ? (row[j] - mean[j]) / size[j] : 0.0;
      variance[j] += share * deviation * deviation;
    }
  }
  return out;
}

ColumnMoments moments(const SparseView& x, std::span<const double> weight) {
  const std::vector<double> zero(x.cols, 0.0);
  ColumnMoments out{total_weight(weight, x.rows), zero, zero, zero, false};
  std::vector<double>&size = out.size, &mean = out.mean, &variance = out.variance, present = zero;
  std::vector<std::size_t> entries(x.cols, 0);
  for (std::size_t e = 0; e < x.column.size(); ++e)
    size[x.column[e]] = std::max(size[x.column[e]], std::abs(x.value[e]));
  const auto for_each_entry = [&](auto&& body) {
    for (std::size_t i = 0; i < x.rows; ++i) {
      const double share = weight_of(weight, i) / out.weight;
      const SparseRow row = x.row(i);
      for (std::size_t e = 0; e < row.column.size(); ++e)
        if (size[row.column[e]] > 0) body(row.column[e], row.value[e] / size[row.column[e]], share);
    }
  };
  for_each_entry([&](std::size_t j, double value, double share) {
    mean[j] += share * value;
    present[j] += share;
    ++entries[j];
  });
  for_each_entry(
      [&](std::size_t j, double value, double share) { variance[j] += share * (value - mean[j]) * (value - mean[j]); });
  for (std::size_t j = 0; j < x.cols; ++j) {
    // Rows without an entry are zeros. Where there are none, 1 - present is not zero but its rounding.
    if (entries[j] < x.rows) variance[j] += std::max(1 - present[j], 0.0) * mean[j] * mean[j];
    mean[j] *= size[j];
  }
  return out;
}

}  // namespace

ColumnMoments column_moments(const FeaturesView& x, std::span<const double> weight) {
  return std::visit([&](const auto& m) { return moments(m, weight); }, x);
}

ColumnMoments merged(std::span<const ColumnMoments> parts) {
  const std::vector<double> zero(parts[0].size.size(), 0.0);
  ColumnMoments out{0, zero, zero, zero, parts[0].dense};
  for (const ColumnMoments& part : parts) {
    out.weight += part.weight;
    for (std::size_t j = 0; j < zero.size(); ++j) out.size[j] = std::max(out.size[j], part.size[j]);
  }
  for (const ColumnMoments& part : parts)
    for (std::size_t j = 0; j < zero.size(); ++j) out.mean[j] += part.weight / out.weight * part.mean[j];
  for (const ColumnMoments& part : parts)
    for (std::size_t j = 0; j < zero.size(); ++j) {
      if (out.size[j] == 0) continue;
      const double unit = part.size[j] / out.size[j], apart = (part.mean[j] - out.mean[j]) / out.size[j];
      out.variance[j] += part.weight / out.weight * (part.variance[j] * unit * unit + apart * apart);
    }
  return out;
}

Standardizer standardizer_of(ColumnMoments moments) {
  Standardizer out;
  out.inverse_scale.resize(moments.size.size());
  for (std::size_t j = 0; j < moments.size.size(); ++j)
    out.inverse_scale[j] = inverse(moments.variance[j], moments.size[j]);
  if (moments.dense) out.mean = std::move(moments.mean);
  return out;
}

Standardizer fit_standardizer(const FeaturesView& x, std::span<const double> weight) {
  return standardizer_of(column_moments(x, weight));
}

void standardize_row(const Standardizer& s, std::span<const double> row, std::span<double> out) {
  if (s.inverse_scale.empty()) {
    std::copy(row.begin(), row.end(), out.begin());
  } else if (s.mean.empty()) {
    for (std::size_t j = 0; j < row.size(); ++j) out[j] = row[j] * s.inverse_scale[j];
  } else {
    for (std::size_t j = 0; j < row.size(); ++j) out[j] = (row[j] - s.mean[j]) * s.inverse_scale[j];
  }
}

void standardize_row(const Standardizer& s, SparseRow row, std::span<double> out) {
  for (std::size_t e = 0; e < row.column.size(); ++e)
    out[e] = s.inverse_scale.empty() ? row.value[e] : row.value[e] * s.inverse_scale[row.column[e]];
}

void apply_in_place(const Standardizer& s, Features& x) {
  if (auto* dense = std::get_if<DenseMatrix>(&x)) {
    for (std::size_t i = 0; i < dense->rows; ++i) {
      const std::span<double> row = std::span(dense->values).subspan(i * dense->cols, dense->cols);
      standardize_row(s, std::span<const double>(row), row);
    }
    return;
  }
  auto& sparse = std::get<SparseMatrix>(x);
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    const std::size_t first = sparse.row_start[i];
    standardize_row(s, sparse.view().row(i), std::span(sparse.value).subspan(first, sparse.row_start[i + 1] - first));
  }
}

void fold_standardizer(const Standardizer& standardizer, std::span<double> weights, std::size_t outputs,
                       std::span<double> constant) {
  if (standardizer.inverse_scale.empty()) return;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    weights[e] *= standardizer.inverse_scale[e / outputs];
    if (!standardizer.mean.empty()) constant[e % outputs] -= weights[e] * standardizer.mean[e / outputs];
  }
}

}  // namespace m4n::detail

// Fitting and applying the maps of feature_map.h: the choice of gamma, centres, landmarks and frequencies.
#include "features/feature_map.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "features/standardize.h"

namespace m4n::detail {
namespace {

// Streams of the seed, so that no two choices share random numbers.
enum Stream : std::uint64_t { pairs_stream = 101, points_stream = 102, frequency_stream = 103 };
double squared_distance(std::span<const double> a, std::span<const double> b) {
  double out = 0;
  for (std::size_t j = 0; j < a.size(); ++j) out += (a[j] - b[j]) * (a[j] - b[j]);
  return out;
}

double l1_distance(std::span<const double> a, std::span<const double> b) {
  double out = 0;
  for (std::size_t j = 0; j < a.size(); ++j) out += std::abs(a[j] - b[j]);
  return out;
}

// The median distance of 1000 random pairs of different rows; 1 where all rows are alike.
template <class Distance>
double median_distance(const DenseView& x, std::uint64_t seed, Distance distance) {
  constexpr std::size_t pairs = 1000;
  Rng rng(seed, pairs_stream);
  std::vector<double> found;
  for (std::size_t p = 0; p < pairs && x.rows > 1; ++p) {
    const std::size_t a = rng.below(x.rows), b = (a + 1 + rng.below(x.rows - 1)) % x.rows;
    found.push_back(distance(x.row(a), x.row(b)));
  }
  if (found.empty()) return 1;
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
  std::nth_element(found.begin(), middle, found.end());
  return *middle > 0 ? *middle : 1;
}

std::size_t component_count(const TrainOptions& o, std::size_t usual) {
  return o.components > 0 ? static_cast<std::size_t>(o.components) : usual;
}

std::vector<std::size_t> uniform_rows(const DenseView& x, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(x.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(seed, points_stream);
  rng.shuffle(std::span(order));
  order.resize(std::min(count, x.rows));
  return order;
}

// k-means++ seeding: each next row is drawn with probability proportional to its squared distance from those chosen.
std::vector<std::size_t> spread_rows(const DenseView& x, std::size_t count, std::uint64_t seed) {
  Rng rng(seed, points_stream);
  std::vector<std::size_t> chosen{rng.below(x.rows)};
  std::vector<double> distance(x.rows, 1e300);
  while (chosen.size() < std::min(count, x.rows)) {
    double total = 0;
    for (std::size_t i = 0; i < x.rows; ++i)
      total += distance[i] = std::min(distance[i], squared_distance(x.row(i), x.row(chosen.back())));
    if (total <= 0) break;  // every row is one of the chosen
    double left = rng.uniform() * total;
    std::size_t next = x.rows;
    for (std::size_t i = 0; i < x.rows; ++i) {
      if (distance[i] <= 0) continue;
      next = i;
      if ((left -= distance[i]) < 0) break;
    }
    chosen.push_back(next);
  }
  return chosen;
}

DenseMatrix take_rows(const DenseView& x, const std::vector<std::size_t>& index) {
  DenseMatrix out{index.size(), x.cols, {}};
  for (const std::size_t i : index) {
    const auto row = x.row(i);
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  return out;
}

DenseMatrix raw_features(const FeatureMap& map, const DenseView& x, unsigned threads) {
  const MapEvaluator evaluator(map);
  DenseMatrix out{x.rows, evaluator.width(), {}};
  out.values.resize(out.rows * out.cols);
  parallel_chunks(x.rows, rows_mapped_at_once, threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    for (std::size_t i = first; i < last; ++i)
                      evaluator.evaluate(x.row(i), std::span(out.values).subspan(i * out.cols, out.cols));
                  });
  return out;
}

void require_gamma(double gamma) {
  if (!(gamma > 0 && std::isfinite(gamma)))
    throw Error(
        say("gamma, found from the distances of the training examples, is {}: they leave the range of double "
            "precision; => use --standardize yes, or set --gamma",
            gamma));
}

FittedMap fit_centers(const TrainOptions& o, const DenseView& x) {
  FittedMap out;
  out.map.kind = o.features;
  const Standardizer columns = fit_standardizer(x, {});
  double deviations = 0;
  for (const double inverse : columns.inverse_scale) deviations += 1 / inverse;
  out.map.kernel = {KernelKind::rbf, o.gamma.value_or(1 / (2 * std::max(deviations, 1e-300))), o.degree};
  require_gamma(out.map.kernel.gamma);
  out.map.points = take_rows(x, uniform_rows(x, component_count(o, 200), o.seed));
  const Standardizer s = fit_standardizer(raw_features(out.map, x, 0).view(), {});
  out.mean = s.mean;
  out.columns = out.map.points.rows;
  out.scale = s.inverse_scale;
  return out;
}

FittedMap fit_nystrom(const TrainOptions& o, const DenseView& x) {
  FittedMap out;
  out.map.kind = o.features;
  out.map.kernel = choose_kernel(o, x);
  const std::size_t count = component_count(o, 500);
  out.map.points =
      take_rows(x, o.landmarks == Landmarks::kmeans ? spread_rows(x, count, o.seed) : uniform_rows(x, count, o.seed));
  const std::size_t m = out.map.points.rows;
  const DenseMatrix gram = raw_features(out.map, out.map.points.view(), 0);
  const auto size = static_cast<Eigen::Index>(m);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      Eigen::Map<const Eigen::MatrixXd>(gram.values.data(), size, size));
  const double floor = 1e-10 * eigen.eigenvalues()(size - 1);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index e = 0; e < size; ++e)
    if (eigen.eigenvalues()(e) > floor) kept.push_back(e);
  out.columns = kept.size();
  out.linear.resize(m * out.columns);
  for (std::size_t c = 0; c < kept.size(); ++c)
    for (std::size_t j = 0; j < m; ++j)
      out.linear[j * out.columns + c] =
          eigen.eigenvectors()(static_cast<Eigen::Index>(j), kept[c]) / std::sqrt(eigen.eigenvalues()(kept[c]));
  return out;
}

FittedMap fit_fourier(const TrainOptions& o, const DenseView& x) {
  FittedMap out;
  out.map.kind = o.features;
  out.map.kernel = choose_kernel(o, x);
  const std::size_t m = component_count(o, 500);
  Rng rng(o.seed, frequency_stream);
  out.map.points = {m, x.cols, std::vector<double>(m * x.cols)};
  for (double& w : out.map.points.values) w = std::sqrt(2 * out.map.kernel.gamma) * rng.normal();
  for (std::size_t j = 0; j < m; ++j) out.map.phase.push_back(rng.uniform(0, 2 * std::numbers::pi));
  out.columns = m;
  out.scale.assign(m, std::sqrt(2 / static_cast<double>(m)));
  return out;
}

}  // namespace

Kernel choose_kernel(const TrainOptions& o, const DenseView& x) {
  Kernel out;
  out.degree = o.degree;
  switch (o.features) {
    case FeatureKind::laplacian:
      out.kind = KernelKind::laplacian;
      out.gamma = o.gamma ? *o.gamma : 1 / median_distance(x, o.seed, l1_distance);
      break;
    case FeatureKind::poly:
      out.kind = KernelKind::poly;
      out.gamma = o.gamma.value_or(1 / static_cast<double>(std::max<std::size_t>(x.cols, 1)));
      break;
    default:
      out.gamma = o.gamma ? *o.gamma : 1 / (2 * median_distance(x, o.seed, squared_distance));
  }
  require_gamma(out.gamma);
  return out;
}

FittedMap fit_map(const TrainOptions& o, const DenseView& x) {
  if (o.features == FeatureKind::rbf_centers) return fit_centers(o, x);
  return o.features == FeatureKind::nystrom ? fit_nystrom(o, x) : fit_fourier(o, x);
}

DenseMatrix apply(const FittedMap& fitted, const DenseView& x, unsigned threads) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const MapEvaluator evaluator(fitted.map);
  const std::size_t m = evaluator.width();
  DenseMatrix out{x.rows, fitted.columns, std::vector<double>(x.rows * fitted.columns)};
  parallel_chunks(x.rows, rows_mapped_at_once, threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    Rows raw(static_cast<Eigen::Index>(last - first), static_cast<Eigen::Index>(m));
                    for (std::size_t i = first; i < last; ++i) {
                      const std::span<double> row(raw.data() + (i - first) * m, m);
                      evaluator.evaluate(x.row(i), row);
                      for (std::size_t j = 0; j < fitted.mean.size(); ++j) row[j] -= fitted.mean[j];
                      for (std::size_t j = 0; j < fitted.scale.size(); ++j) row[j] *= fitted.scale[j];
                    }
                    double* place = out.values.data() + first * fitted.columns;
                    if (fitted.linear.empty()) {
                      std::copy_n(raw.data(), raw.size(), place);
                      return;
                    }
                    const Eigen::Map<const Rows> linear(fitted.linear.data(), static_cast<Eigen::Index>(m),
                                                        static_cast<Eigen::Index>(fitted.columns));
                    Eigen::Map<Rows>(place, raw.rows(), linear.cols()).noalias() = raw * linear;
                  });
  return out;
}

std::vector<double> raw_weights(const FittedMap& fitted, std::span<const double> weights, std::size_t k, bool bias) {
  const std::size_t m = fitted.map.points.rows;
  std::vector<double> out((m + (bias ? 1 : 0)) * k, 0.0);
  const auto add = [&](std::size_t raw, std::size_t column, double factor) {
    for (std::size_t y = 0; y < k; ++y) out[raw * k + y] += factor * weights[column * k + y];
  };
  for (std::size_t j = 0; j < m; ++j) {
    if (fitted.linear.empty()) add(j, j, fitted.scale[j]);
    for (std::size_t c = 0; c < fitted.columns && !fitted.linear.empty(); ++c)
      add(j, c, fitted.linear[j * fitted.columns + c]);
  }
  for (std::size_t y = 0; bias && y < k; ++y) {
    double& own = out[m * k + y] = weights[fitted.columns * k + y];
    for (std::size_t j = 0; j < fitted.mean.size(); ++j) own -= fitted.mean[j] * out[j * k + y];
  }
  return out;
}

MapEvaluator::MapEvaluator(const FeatureMap& map) : map_(&map) {
  if (map.kind != FeatureKind::fourier) kernel_.emplace(map.kernel, map.points.view());
}

void MapEvaluator::evaluate(std::span<const double> x, std::span<double> out) const {
  if (kernel_) return kernel_->evaluate(x, out);
  const DenseView frequencies = map_->points.view();
  for (std::size_t j = 0; j < frequencies.rows; ++j)
    out[j] = std::cos(kernels::dot(frequencies.row(j), x) + map_->phase[j]);
}

}  // namespace m4n::detail

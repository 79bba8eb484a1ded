// Preparing training data, with a check of the memory that it needs (prepared.h), and exact kernels as rows of
// features.
#include "features/prepared.h"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <algorithm>
#include <fstream>
#include <string>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "features/point_kernel.h"
#include "features/standardize.h"

namespace m4n::detail {

namespace {

constexpr double giga = 1e9;

void guard_memory(double need, const std::string& what, const std::string& remedy) {
  const double free = available_memory();
  if (need > 0.9 * free)
    throw Error(say("{} needs {:.1f} GB, {:.1f} GB are free: {}", what, need / giga, free / giga, remedy));
}

// Distances need every coordinate.
DenseMatrix to_dense(Features x) {
  if (auto* dense = std::get_if<DenseMatrix>(&x)) return std::move(*dense);
  const auto& sparse = std::get<SparseMatrix>(x);
  guard_memory(8.0 * static_cast<double>(sparse.rows) * static_cast<double>(sparse.cols),
               fmt::format("{} sparse columns filled up for these features", sparse.cols), "use --features linear");
  DenseMatrix out{sparse.rows, sparse.cols, std::vector<double>(sparse.rows * sparse.cols, 0.0)};
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    const SparseRow row = sparse.view().row(i);
    for (std::size_t e = 0; e < row.column.size(); ++e) out.values[i * sparse.cols + row.column[e]] = row.value[e];
  }
  return out;
}

// Block by block of PointKernel's tiles; what is above the diagonal is a copy of what is below.
GramMatrix all_pairs(const Kernel& kernel, const DenseView& x, bool bias, unsigned threads) {
  constexpr std::size_t tile = PointKernel::tile;
  require_memory_for_pairs(FeatureKind::rbf, x.rows);
  GramMatrix out(x.rows);
  const PointKernel points(kernel, x);
  parallel_chunks(x.rows, tile, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    std::vector<float> values(tile * tile);
    for (std::size_t other = 0; other <= first; other += tile) {
      const std::size_t count = std::min(tile, x.rows - other);
      for (std::size_t i = first; i < last; ++i) {
        float* row = values.data() + (i - first) * tile;
        points.evaluate_tile(x.row(i), other / tile, bias ? 1.0F : 0.0F, row);
        std::copy_n(row, count, out.row(i) + other);
      }
      for (std::size_t j = 0; j < count; ++j)
        for (std::size_t i = std::max(first, other + j + 1); i < last; ++i)
          out.row(other + j)[i] = values[(i - first) * tile + j];
    }
  });
  return out;
}

}  // namespace

double pair_bytes(FeatureKind kind, std::size_t examples) { return is_kernel(kind) ? GramMatrix::bytes(examples) : 0; }

void require_memory_for_pairs(FeatureKind kind, std::size_t examples) {
  guard_memory(pair_bytes(kind, examples), "the kernel matrix", "use --features nystrom");
}

bool is_kernel(FeatureKind kind) {
  return kind == FeatureKind::rbf || kind == FeatureKind::laplacian || kind == FeatureKind::poly;
}

double available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  for (double value = 0; info >> key >> value; info.ignore(1000, '\n'))
    if (key == "MemAvailable:") return value * 1024;
  return 1e300;
}

PreparedFeatures prepare(Features x, std::span<const double> weight, const TrainOptions& o, const Context& context,
                         KernelForm form) {
  PreparedFeatures out;
  out.kind = o.features;
  out.d = cols(x);
  out.sparse = std::holds_alternative<SparseMatrix>(x);
  if (o.standardize.value_or(!out.sparse)) {
    out.standardizer = fit_standardizer(view(x), weight);
    apply_in_place(out.standardizer, x);
  }
  if (o.features == FeatureKind::linear) {
    out.x = std::move(x);
    return out;
  }
  DenseMatrix dense = to_dense(std::move(x));
  if (is_kernel(o.features) && form == KernelForm::rows) {
    guard_memory(kernel_feature_bytes(dense.rows), "the kernel matrix and its factors", "use --features nystrom");
    KernelFeatures made = kernel_features(o, dense.view(), context);
    out.fitted = std::move(made.map);
    out.x = std::move(made.rows);
  } else if (is_kernel(o.features)) {
    out.kernel = choose_kernel(o, dense.view());
    out.gram = all_pairs(*out.kernel, dense.view(), o.bias, context.threads);
    out.x = std::move(dense);
  } else {
    out.fitted = fit_map(o, dense.view());
    guard_memory(8.0 * static_cast<double>(dense.rows) * static_cast<double>(out.fitted->columns), "the feature matrix",
                 "use fewer --components");
    out.x = apply(*out.fitted, dense.view(), context.threads);
  }
  return out;
}

RowWeights finished_weights(const PreparedFeatures& prepared, std::vector<double> weights, std::size_t outputs,
                            bool with_bias) {
  RowWeights out;
  out.bias = with_bias;
  out.standardizer = prepared.standardizer;
  if (prepared.fitted) {
    out.map = prepared.fitted->map;
    out.weights = raw_weights(*prepared.fitted, weights, outputs, with_bias);
    return out;
  }
  if (!prepared.kernel) {
    out.weights = std::move(weights);
    return out;
  }
  // K + 1 gives every example's coefficients to the bias too.
  out.map.kind = prepared.kind;
  out.map.kernel = *prepared.kernel;
  const DenseView x = std::get<DenseMatrix>(prepared.x).view();
  std::vector<double> bias(outputs, 0.0);
  out.map.points = {0, x.cols, {}};
  for (std::size_t i = 0; i < x.rows; ++i) {
    const std::span<const double> own = std::span(weights).subspan(i * outputs, outputs);
    if (std::all_of(own.begin(), own.end(), [](double a) { return a == 0; })) continue;
    for (std::size_t j = 0; j < outputs; ++j) bias[j] += own[j];
    const auto row = x.row(i);
    out.map.points.values.insert(out.map.points.values.end(), row.begin(), row.end());
    out.weights.insert(out.weights.end(), own.begin(), own.end());
    ++out.map.points.rows;
  }
  if (with_bias) out.weights.insert(out.weights.end(), bias.begin(), bias.end());
  return out;
}

std::vector<double> training_scores(const PreparedFeatures& prepared, const std::vector<double>& weights,
                                    std::size_t outputs, bool bias, const Context& context) {
  if (prepared.fitted && is_kernel(prepared.fitted->map.kind)) {
    RowWeights finished = finished_weights(prepared, weights, outputs, bias);
    finished.standardizer = {};
    return row_scores(finished, prepared.d, outputs, prepared.fitted->map.points.view(), context);
  }
  if (prepared.kernel) {
    const std::size_t n = prepared.gram.n(), stride = kernels::padded(outputs);
    AlignedVector<double> a(n * stride, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(i * outputs), outputs,
                  a.begin() + static_cast<std::ptrdiff_t>(i * stride));
    const AlignedVector<double> v = times(prepared.gram, a, stride, context.threads);
    std::vector<double> out;
    out.reserve(weights.size());
    for (std::size_t i = 0; i < n; ++i)
      out.insert(out.end(), v.begin() + static_cast<std::ptrdiff_t>(i * stride),
                 v.begin() + static_cast<std::ptrdiff_t>(i * stride + outputs));
    return out;
  }
  const RowWeights plain{{}, {}, bias, weights};
  return row_scores(plain, cols(prepared.x), outputs, view(prepared.x), context);
}

RowMap::RowMap(const PreparedFeatures& prepared, bool bias) : prepared_(&prepared), bias_(bias) {
  if (prepared.kernel) kernel_.emplace(*prepared.kernel, std::get<DenseMatrix>(prepared.x).view());
}

std::size_t RowMap::width() const { return kernel_ ? rows(prepared_->x) : cols(prepared_->x); }

Features RowMap::apply(Features rows) const {
  if (!prepared_->standardizer.inverse_scale.empty()) apply_in_place(prepared_->standardizer, rows);
  if (prepared_->fitted) return detail::apply(*prepared_->fitted, to_dense(std::move(rows)).view(), 1);
  if (!kernel_) return rows;
  const DenseMatrix x = to_dense(std::move(rows));
  DenseMatrix out{x.rows, width(), std::vector<double>(x.rows * width())};
  for (std::size_t i = 0; i < x.rows; ++i) {
    const std::span<double> row = std::span(out.values).subspan(i * out.cols, out.cols);
    kernel_->evaluate(x.view().row(i), row);
    for (double& value : row) value += bias_ ? 1 : 0;
  }
  return out;
}

namespace {

constexpr double relative_shift = 1e-10;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

double kernel_feature_bytes(std::size_t rows) {
  return 3 * 8.0 * static_cast<double>(rows) * static_cast<double>(rows);
}

KernelFeatures kernel_features(const TrainOptions& options, const DenseView& x, const Context& context) {
  const std::size_t n = x.rows;
  const auto size = static_cast<Eigen::Index>(n);
  KernelFeatures out;
  FittedMap& fitted = out.map;
  fitted.map.kind = options.features;
  fitted.map.kernel = choose_kernel(options, x);
  fitted.map.points = {n, x.cols, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = x.row(i);
    fitted.map.points.values.insert(fitted.map.points.values.end(), row.begin(), row.end());
  }
  const PointKernel kernel(fitted.map.kernel, fitted.map.points.view());
  Rows pairs(size, size);
  parallel_chunks(n, rows_mapped_at_once, context.threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    for (std::size_t i = first; i < last; ++i) kernel.evaluate(x.row(i), {pairs.data() + i * n, n});
                  });
  pairs.diagonal().array() += relative_shift * pairs.diagonal().mean();
  const Eigen::LLT<Eigen::Ref<Rows>> cholesky(pairs);  // in place
  if (cholesky.info() != Eigen::Success)
    throw Error(
        say("the kernel matrix of the training examples is not positive definite; => use another --gamma, or "
            "--features nystrom"));
  pairs.triangularView<Eigen::StrictlyUpper>().setZero();

  fitted.columns = n;
  fitted.linear.resize(n * n);
  Eigen::Map<Rows> inverse(fitted.linear.data(), size, size);
  inverse.setIdentity();
  pairs.triangularView<Eigen::Lower>().transpose().solveInPlace(inverse);
  out.rows = {n, n, std::vector<double>(pairs.data(), pairs.data() + pairs.size())};
  return out;
}

}  // namespace m4n::detail

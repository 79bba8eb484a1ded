#include "features/kernel_features.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "core/message.h"
#include "core/parallel.h"
#include "features/point_kernel.h"

namespace m4n::detail {
namespace {

constexpr double relative_shift = 1e-10;
constexpr std::size_t chunk = 64;
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
  parallel_chunks(n, chunk, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    for (std::size_t i = first; i < last; ++i) kernel.evaluate(x.row(i), {pairs.data() + i * n, n});
  });
  pairs.diagonal().array() += relative_shift * pairs.diagonal().mean();
  const Eigen::LLT<Eigen::Ref<Rows>> cholesky(pairs);  // in place
  if (cholesky.info() != Eigen::Success)
    throw Error(
        say("the kernel matrix of the training examples is not positive definite; use another --gamma, or "
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

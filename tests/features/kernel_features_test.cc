// Exact kernels as rows: their inner products are the kernel, new rows too; and learning from them reaches the
// objective of the solver of classes that works on the kernel matrix itself.
#include "features/prepared.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "m4n/fit.h"

namespace m4n::detail {
namespace {

double direct(const Kernel& kernel, std::span<const double> x, std::span<const double> y) {
  double squared = 0, absolute = 0, product = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    squared += (x[j] - y[j]) * (x[j] - y[j]);
    absolute += std::abs(x[j] - y[j]);
    product += x[j] * y[j];
  }
  if (kernel.kind == KernelKind::rbf) return std::exp(-kernel.gamma * squared);
  if (kernel.kind == KernelKind::laplacian) return std::exp(-kernel.gamma * absolute);
  return std::pow(kernel.gamma * product + 1, kernel.degree);
}

double inner(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

DenseMatrix random_rows(std::size_t n, std::size_t d, Rng& rng) {
  DenseMatrix x{n, d, {}};
  for (std::size_t e = 0; e < n * d; ++e) x.values.push_back(rng.normal());
  return x;
}

constexpr FeatureKind kinds[] = {FeatureKind::rbf, FeatureKind::laplacian, FeatureKind::poly};

RC_GTEST_PROP(KernelFeatures, InnerProductsAreTheKernel, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint32_t>(), 1);
  const std::size_t n = 1 + rng.below(80), d = 1 + rng.below(4);
  const DenseMatrix x = random_rows(n, d, rng);
  for (const FeatureKind kind : kinds) {
    TrainOptions options;
    options.features = kind;
    if (rng.below(2) == 0) options.gamma = rng.uniform(0.1, 1);
    options.degree = 2;
    const KernelFeatures made = kernel_features(options, x.view(), {2, {}, {}});
    const Kernel& kernel = made.map.map.kernel;
    RC_ASSERT(made.rows.rows == n && made.rows.cols == n && made.map.columns == n);
    double scale = 0;
    for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, direct(kernel, x.view().row(i), x.view().row(i)));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        RC_ASSERT(std::abs(inner(made.rows.view().row(i), made.rows.view().row(j)) -
                           direct(kernel, x.view().row(i), x.view().row(j))) <= 1e-9 * scale);
    // A new row z has the kernel's inner products with those of training.
    const DenseMatrix more = random_rows(3, d, rng), z = apply(made.map, more.view(), 1);
    RC_ASSERT(z.rows == 3 && z.cols == n);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < n; ++j)
        RC_ASSERT(std::abs(inner(z.view().row(i), made.rows.view().row(j)) -
                           direct(kernel, more.view().row(i), x.view().row(j))) <= 1e-9 * (scale + 100));
  }
}

TEST(KernelFeatures, RowsMayOccurTwiceAndAllBeEqual) {
  for (const FeatureKind kind : kinds) {
    TrainOptions options;
    options.features = kind;
    options.gamma = 0.5;
    const DenseMatrix x{6, 2, {1, 2, 1, 2, 0, 0, 1, 2, 0, 0, 1e6, -1e6}};
    const KernelFeatures made = kernel_features(options, x.view(), {});
    for (const double value : made.rows.values) EXPECT_TRUE(std::isfinite(value));
    EXPECT_NO_THROW(kernel_features(options, DenseMatrix{5, 1, std::vector<double>(5)}.view(), {}));
  }
}

// Two items with the Hamming loss: lambda is twice that of two classes, as |v|^2 = |u|^2 / 2 for u = v11 + v22.
TEST(KernelFeatures, TwoItemsReachTheObjectiveOfTwoClasses) {
  Rng rng(5, 1);
  constexpr std::size_t n = 50;
  Dataset classes, ranking;
  const DenseMatrix x = random_rows(n, 2, rng);
  classes.x = ranking.x = x;
  classes.class_names = {"a", "b"};
  ranking.class_names = {"r1", "r2"};
  classes.feature_rows = classes.labels = ranking.feature_rows = Groups(n, 1);
  ranking.labels = Groups(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const bool first = inner(x.view().row(i), x.view().row(i)) + rng.normal() > 2;
    classes.label.push_back(first ? 0 : 1);
    ranking.label.insert(ranking.label.end(), {first ? 0 : 1, first ? 1 : 0});
  }
  const DenseMatrix more = random_rows(20, 2, rng);
  for (const FeatureKind kind : kinds)
    for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n}) {
      TrainOptions options;
      options.features = kind;
      options.surrogate = surrogate;
      options.tol = 1e-7;
      options.epochs = 20000;
      options.task = "multiclass";
      options.lambda = 0.01;
      const FitResult one = fit(classes, options);
      options.task = "ranking";
      options.lambda = 0.02;
      const FitResult two = fit(ranking, options);
      // The kernel matrix of classes is in single precision.
      EXPECT_NEAR(one.report.certificate.primal, two.report.certificate.primal, 1e-5 * one.report.certificate.primal);
      EXPECT_NEAR(one.report.norm_squared, 2 * two.report.norm_squared, 2e-3 * one.report.norm_squared);
      const std::vector<double> u = one.model.scores(more.view()), v = two.model.scores(more.view());
      for (std::size_t i = 0; i < more.rows; ++i)
        EXPECT_NEAR(u[2 * i] - u[2 * i + 1], v[4 * i] + v[4 * i + 3] - v[4 * i + 1] - v[4 * i + 2], 0.02);
    }
}

}  // namespace
}  // namespace m4n::detail

// Kernels and feature maps against each other: the same problem written twice must have the same optimum.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "features/feature_map.h"
#include "features/point_kernel.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "support/flat_model.h"
#include "support/judge.h"
#include "support/random_dataset.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::evaluate;

using test::FlatModel;
namespace {

constexpr FeatureKind all_maps[] = {FeatureKind::rbf,         FeatureKind::laplacian, FeatureKind::poly,
                                    FeatureKind::rbf_centers, FeatureKind::nystrom,   FeatureKind::fourier};

TrainOptions options_of(SurrogateKind surrogate, FeatureKind features, double tol = 1e-7) {
  TrainOptions o;
  o.surrogate = surrogate;
  o.features = features;
  o.lambda = 0.01;
  o.tol = tol;
  o.epochs = 100'000;
  return o;
}

// Features whose inner products are K: the rows of U sqrt(S) for K = U S U^T.
// With `as_stored` K is the matrix training sees: K + 1 rounded to float, less the 1 that the bias of a linear fit
// adds.
Dataset with_explicit_features(const Dataset& data, const Kernel& kernel, bool as_stored = false) {
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  const auto n = static_cast<Eigen::Index>(x.rows);
  Eigen::MatrixXd gram(n, n);
  const PointKernel points(kernel, x);
  std::vector<double> row(x.rows);
  float rounded[PointKernel::tile];
  for (Eigen::Index i = 0; i < n; ++i) {
    points.evaluate(x.row(static_cast<std::size_t>(i)), row);
    for (std::size_t j = 0; j < x.rows && as_stored; ++j) {
      if (j % PointKernel::tile == 0)
        points.evaluate_tile(x.row(static_cast<std::size_t>(i)), j / PointKernel::tile, 1, rounded);
      row[j] = static_cast<double>(rounded[j % PointKernel::tile]) - 1;
    }
    for (Eigen::Index j = 0; j < n; ++j) gram(i, j) = row[static_cast<std::size_t>(j)];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
  Dataset out = data;
  DenseMatrix z{x.rows, x.rows, std::vector<double>(x.rows * x.rows)};
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      z.values[static_cast<std::size_t>(i * n + j)] =
          eigen.eigenvectors()(i, j) * std::sqrt(std::max(eigen.eigenvalues()(j), 0.0));
  out.x = std::move(z);
  out.feature_names.clear();
  return out;
}

TEST(PointKernels, AreTheirFormulas) {
  Rng rng(1);
  const Dataset data = test::random_dataset(rng, 150, 5, 2);
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  std::vector<double> out(x.rows);
  float rounded[PointKernel::tile];
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::poly}) {
    const Kernel kernel{kind, 0.3, 2};
    const PointKernel points(kernel, x);
    for (std::size_t i = 0; i < 10; ++i) {
      points.evaluate(x.row(i), out);
      for (std::size_t j = 0; j < x.rows; ++j) {
        double squared = 0, l1 = 0, dot = 0;
        for (std::size_t t = 0; t < x.cols; ++t) {
          const double difference = x.row(i)[t] - x.row(j)[t];
          squared += difference * difference;
          l1 += std::abs(difference);
          dot += x.row(i)[t] * x.row(j)[t];
        }
        const double expected = kind == KernelKind::rbf         ? std::exp(-0.3 * squared)
                                : kind == KernelKind::laplacian ? std::exp(-0.3 * l1)
                                                                : (0.3 * dot + 1) * (0.3 * dot + 1);
        EXPECT_NEAR(out[j], expected, 1e-12 * std::max(1.0, expected));
        if (j % PointKernel::tile == 0) points.evaluate_tile(x.row(i), j / PointKernel::tile, 1, rounded);
        EXPECT_NEAR(rounded[j % PointKernel::tile], expected + 1, 3e-7 * (expected + 1));
      }
    }
  }
}

class Features : public ::testing::TestWithParam<SurrogateKind> {};

TEST_P(Features, AnExactKernelIsItsExplicitFeatures) {
  Rng rng(2);
  const Dataset data = test::random_dataset(rng, 80, 4, 3);
  for (const FeatureKind kind : {FeatureKind::rbf, FeatureKind::laplacian, FeatureKind::poly}) {
    TrainOptions o = options_of(GetParam(), kind);
    o.standardize = false;
    o.gamma = 0.5;
    if (kind == FeatureKind::poly) o.degree = 2;
    const FitResult kernel = fit(data, o);
    const Dataset same = with_explicit_features(data, FlatModel(kernel.model).map.kernel);
    o.features = FeatureKind::linear;
    o.gamma.reset();
    o.degree = TrainOptions{}.degree;
    const FitResult linear = fit(same, o);
    EXPECT_TRUE(kernel.report.certificate.converged);
    EXPECT_NEAR(kernel.report.certificate.primal, linear.report.certificate.primal,
                1e-6 * linear.report.certificate.primal)
        << to_string(kind);
  }
}

// Scores between certificates are rounded to float; certificates are not, and small gaps are still reached. (gamma is
// so large that K stays positive definite when it is rounded.)
TEST_P(Features, ASmallGapOfAnExactKernelIsTrue) {
  Rng rng(9);
  const Dataset data = test::random_dataset(rng, 150, 4, 5);
  TrainOptions o = options_of(GetParam(), FeatureKind::rbf, 1e-8);
  o.standardize = false;
  for (const double lambda : {0.1, 0.001}) {
    o.features = FeatureKind::rbf;
    o.gamma = 2;
    o.lambda = lambda;
    const FitResult kernel = fit(data, o);
    EXPECT_TRUE(kernel.report.certificate.converged);
    const Dataset same = with_explicit_features(data, FlatModel(kernel.model).map.kernel, true);
    o.features = FeatureKind::linear;
    o.gamma.reset();
    const Certificate linear = fit(same, o).report.certificate, own = kernel.report.certificate;
    // The two brackets hold the same optimum.
    const double rounding = 1e-10 * linear.primal;
    EXPECT_LE(own.dual, linear.primal + rounding);
    EXPECT_LE(linear.dual, own.primal + rounding);
  }
}

TEST_P(Features, NystromWithAllPointsIsTheExactKernel) {
  Rng rng(3);
  const Dataset data = test::random_dataset(rng, 80, 4, 3);
  for (const Landmarks landmarks : {Landmarks::kmeans, Landmarks::uniform}) {
    TrainOptions o = options_of(GetParam(), FeatureKind::rbf);
    const FitResult exact = fit(data, o);
    o.features = FeatureKind::nystrom;
    o.components = 80;
    o.landmarks = landmarks;
    const FitResult nystrom = fit(data, o);
    EXPECT_NEAR(exact.report.certificate.primal, nystrom.report.certificate.primal,
                1e-6 * exact.report.certificate.primal);
    const std::vector<double> a = exact.model.scores(view(data.x)), b = nystrom.model.scores(view(data.x));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-2);
  }
}

// Every map: the model, after folding and dropping what has no weight, predicts what training saw, saved or not.
TEST_P(Features, ModelsPredictWhatTrainingSaw) {
  Rng rng(4);
  const Dataset data = test::random_dataset(rng, 90, 4, 3);
  const test::TempDir dir;
  for (const FeatureKind kind : all_maps) {
    const FitResult r = fit(data, options_of(GetParam(), kind, 1e-4));
    EXPECT_TRUE(r.report.certificate.converged) << to_string(kind);
    const std::vector<std::int32_t> predicted = r.model.predict(view(data.x));
    EXPECT_NEAR(evaluate(r.model, data.label, predicted).loss, r.report.train_loss, 1e-12) << to_string(kind);
    r.model.save(dir / "m.m4n");
    const FlatModel loaded = FlatModel::load(dir / "m.m4n");
    EXPECT_EQ(r.model.scores(view(data.x)), loaded.scores(view(data.x)));
    EXPECT_EQ(r.model.to_bytes(), loaded.to_bytes());
    const std::vector<double> sparse = loaded.scores(test::to_sparse(std::get<DenseMatrix>(data.x)).view());
    EXPECT_EQ(sparse, loaded.scores(view(data.x)));
  }
}

TEST_P(Features, APathFindsTheColdSolutions) {
  Rng rng(5);
  const Dataset data = test::random_dataset(rng, 70, 4, 3);
  const double lambdas[] = {0.5, 0.1, 0.02};
  for (const FeatureKind kind : {FeatureKind::linear, FeatureKind::rbf}) {
    TrainOptions o = options_of(GetParam(), kind, 1e-6);
    const std::vector<FitResult> path = fit_path(data, o, lambdas);
    ASSERT_EQ(path.size(), 3U);
    for (std::size_t s = 0; s < 3; ++s) {
      o.lambda = lambdas[s];
      const Certificate cold = fit(data, o).report.certificate, warm = path[s].report.certificate;
      EXPECT_TRUE(warm.converged);
      EXPECT_LE(warm.dual, cold.primal + 1e-12);
      EXPECT_GE(warm.primal, cold.dual - 1e-12);
      EXPECT_EQ(FlatModel(path[s].model).lambda, lambdas[s]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Surrogates, Features,
                         ::testing::Values(SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf,
                                           SurrogateKind::qs),
                         [](const auto& p) { return to_string(p.param); });

TEST(FeatureMaps, FourierApproachesTheKernel) {
  Rng rng(6);
  const Dataset data = test::random_dataset(rng, 40, 3, 2);
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  TrainOptions o = options_of(SurrogateKind::m4n, FeatureKind::fourier);
  o.gamma = 0.4;
  double last = 1e300;
  for (const int components : {50, 1000, 20'000}) {
    o.components = components;
    const DenseMatrix z = apply(fit_map(o, x), x, 1);
    const PointKernel exact({KernelKind::rbf, 0.4, 1}, x);
    std::vector<double> row(x.rows);
    double worst = 0;
    for (std::size_t i = 0; i < x.rows; ++i) {
      exact.evaluate(x.row(i), row);
      for (std::size_t j = 0; j < x.rows; ++j) {
        double dot = 0;
        for (std::size_t c = 0; c < z.cols; ++c) dot += z.values[i * z.cols + c] * z.values[j * z.cols + c];
        worst = std::max(worst, std::abs(dot - row[j]));
      }
    }
    EXPECT_LT(worst, 0.6 * last);
    last = worst;
  }
  EXPECT_LT(last, 0.05);
}

TEST(FeatureMaps, KernelModelsKeepOnlyExamplesWithWeight) {
  Rng rng(7);
  const Dataset data = test::random_dataset(rng, 200, 3, 2, 0.0);
  const FlatModel model = fit(data, options_of(SurrogateKind::m3n, FeatureKind::rbf, 1e-4)).model;
  EXPECT_LT(model.map.points.rows, 200U);
  EXPECT_EQ(model.weights.size(), (model.map.points.rows + 1) * 2);
}

TEST(FeatureMaps, DegenerateRows) {
  Rng rng(8);
  Dataset data = test::random_dataset(rng, 12, 2, 2);
  std::get<DenseMatrix>(data.x).values.assign(24, 3.0);  // all rows alike: no distance to take a median of
  for (const FeatureKind kind : all_maps) {
    const FitResult r = fit(data, options_of(SurrogateKind::m4n, kind, 1e-3));
    EXPECT_TRUE(r.report.certificate.converged) << to_string(kind);
    for (const double w : FlatModel(r.model).weights) EXPECT_TRUE(std::isfinite(w));
  }
}

}  // namespace
}  // namespace m4n::detail

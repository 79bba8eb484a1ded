// fit() as a whole: invariances that any correct learner has, on random data, for every surrogate.
#include "m4n/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "m4n/error.h"
#include "support/flat_model.h"
#include "support/random_dataset.h"
#include "support/temp_dir.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using test::random_dataset;

struct Setting {
  SurrogateKind surrogate;
  const char* loss;
  double smoothing;
};

const Setting settings[] = {
    {SurrogateKind::m4n, "zero-one", 0}, {SurrogateKind::m4n, "absolute", 0}, {SurrogateKind::m4n, "squared", 0},
    {SurrogateKind::m4n, "squared", 1},  {SurrogateKind::m4n, "zero-one", 1}, {SurrogateKind::m3n, "absolute", 0},
    {SurrogateKind::crf, "zero-one", 0}, {SurrogateKind::qs, "absolute", 0},
};

TrainOptions options_of(const Setting& s, double lambda, double tol = 1e-6) {
  TrainOptions o;
  o.surrogate = s.surrogate;
  o.loss = s.loss;
  o.smoothing = s.smoothing;
  o.lambda = lambda;
  o.tol = tol;
  o.epochs = 100'000;
  return o;
}

class Fit : public ::testing::TestWithParam<Setting> {
 protected:
  Rng rng_{11};
};

// Both brackets hold the optimum of the same problem.
void expect_same_optimum(const Certificate& a, const Certificate& b, double scale = 1) {
  EXPECT_TRUE(a.converged);
  EXPECT_TRUE(b.converged);
  EXPECT_LE(scale * a.dual, b.primal + 1e-9);
  EXPECT_GE(scale * a.primal, b.dual - 1e-9);
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double eps, double scale = 1) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(scale * a[j], b[j], eps * scale) << "entry " << j;
}

TEST_P(Fit, DenseEqualsSparse) {
  Dataset dense = random_dataset(rng_, 60, 4, 3), sparse = dense;
  sparse.x = test::to_sparse(std::get<DenseMatrix>(dense.x));
  TrainOptions o = options_of(GetParam(), 0.05);
  o.standardize = false;
  const FitResult a = fit(dense, o), b = fit(sparse, o);
  expect_same_optimum(a.report.certificate, b.report.certificate);
  expect_near(FlatModel(a.model).weights, FlatModel(b.model).weights, 1e-2);
  EXPECT_EQ(a.model.predict(view(dense.x)), a.model.predict(view(sparse.x)));
  // Scaling by the standard deviation leaves zeros alone, so it is the one transform sparse data get.
  o.standardize = true;
  EXPECT_TRUE(FlatModel(fit(sparse, o).model).standardizer.mean.empty());
}

TEST_P(Fit, WeightsAreRepeatedRows) {
  Dataset data = random_dataset(rng_, 40, 3, 3);
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < 40; ++i) {
    data.weight.push_back(static_cast<double>(1 + i % 3));
    for (std::size_t r = 0; r <= i % 3; ++r) index.push_back(i);
  }
  Dataset repeated = subset(data, index);
  repeated.weight.clear();
  const TrainOptions o = options_of(GetParam(), 0.05);
  const FitResult a = fit(data, o), b = fit(repeated, o);
  expect_same_optimum(a.report.certificate, b.report.certificate);
  expect_near(FlatModel(a.model).standardizer.mean, FlatModel(b.model).standardizer.mean, 1e-12);
  expect_near(FlatModel(a.model).weights, FlatModel(b.model).weights, 1e-2);
  EXPECT_NEAR(a.report.train_loss, b.report.train_loss, 1e-12);
}

TEST_P(Fit, TheSameDataTwiceIsTheSameProblem) {
  const Dataset data = random_dataset(rng_, 30, 3, 4);
  std::vector<std::size_t> index(60);
  for (std::size_t i = 0; i < 60; ++i) index[i] = i % 30;
  const TrainOptions o = options_of(GetParam(), 0.05);
  const FitResult a = fit(data, o), b = fit(subset(data, index), o);
  expect_same_optimum(a.report.certificate, b.report.certificate);
  expect_near(FlatModel(a.model).weights, FlatModel(b.model).weights, 1e-2);
}

// M4N, M3N: L -> s L with lambda -> lambda / s turns S(v) into s S(v / s), so weights and objective grow by s. QS
// regresses onto targets s times as large: weights grow by s, the objective by s^2. CRF does not know the loss.
TEST_P(Fit, ScalingTheLossScalesTheWeights) {
  const Setting setting = GetParam();
  const Dataset data = random_dataset(rng_, 50, 3, 3);
  const double s = 7;
  const bool crf = setting.surrogate == SurrogateKind::crf, qs = setting.surrogate == SurrogateKind::qs;
  TrainOptions o = options_of(setting, 0.05);
  const FitResult a = fit(data, o);
  o.loss.clear();
  o.cost = FlatModel(a.model).cost;
  for (double& c : o.cost) c *= s;
  if (!crf && !qs) o.lambda = *o.lambda / s;
  const FitResult b = fit(data, o);
  expect_same_optimum(a.report.certificate, b.report.certificate, crf ? 1 : qs ? s * s : s);
  expect_near(FlatModel(a.model).weights, FlatModel(b.model).weights, 1e-2, crf ? 1 : s);
}

void expect_same_bytes_for_any_number_of_threads(const Dataset& data, const TrainOptions& o) {
  const std::string one = fit(data, o, Context{1, {}, {}}).model.to_bytes();
  EXPECT_EQ(one, fit(data, o, Context{1, {}, {}}).model.to_bytes());
  EXPECT_EQ(one, fit(data, o, Context{2, {}, {}}).model.to_bytes());
  EXPECT_EQ(one, fit(data, o, Context{5, {}, {}}).model.to_bytes());
}

// 1500 examples are several chunks of every loop that runs in threads.
TEST_P(Fit, SameSeedSameBytesForAnyNumberOfThreads) {
  expect_same_bytes_for_any_number_of_threads(random_dataset(rng_, 1500, 3, 3), options_of(GetParam(), 0.05, 1e-4));
}

TEST_P(Fit, SavedAndLoadedPredictsTheSameBits) {
  const Dataset data = random_dataset(rng_, 80, 3, 4);
  const FlatModel model = fit(data, options_of(GetParam(), 0.05, 1e-3)).model;
  const test::TempDir dir;
  model.save(dir / "a.m4n");
  const FlatModel loaded = FlatModel::load(dir / "a.m4n");
  EXPECT_EQ(model.scores(view(data.x)), loaded.scores(view(data.x)));
  EXPECT_EQ(model.predict(view(data.x)), loaded.predict(view(data.x)));
}

TEST_P(Fit, DegenerateData) {
  TrainOptions o = options_of(GetParam(), 0.05, 1e-3);
  for (const double size : {1e-150, 1e-8, 1.0, 1e8, 1e150}) {
    Dataset data = random_dataset(rng_, 20, 3, 3);
    for (double& x : std::get<DenseMatrix>(data.x).values) x *= size;
    for (std::size_t i = 0; i < 20; ++i) std::get<DenseMatrix>(data.x).values[i * 3 + 1] = size;  // constant column
    const FitResult r = fit(data, o);
    EXPECT_TRUE(r.report.certificate.converged) << size;
    for (const double w : FlatModel(r.model).weights) EXPECT_TRUE(std::isfinite(w)) << size;
  }
  // One example of each of two classes, and k = 2; then all features zero without a bias.
  Dataset two = random_dataset(rng_, 2, 2, 2);
  EXPECT_TRUE(fit(two, o).report.certificate.converged);
  std::get<DenseMatrix>(two.x).values.assign(4, 0.0);
  o.bias = false;
  const FitResult nothing = fit(two, o);
  EXPECT_TRUE(nothing.report.certificate.converged);
  EXPECT_EQ(nothing.report.norm_squared, 0);
}

// Stopping early is a status, not an error, and the certificate still brackets the optimum.
TEST_P(Fit, StopsWhenAskedTo) {
  const Dataset data = random_dataset(rng_, 300, 5, 4);
  TrainOptions o = options_of(GetParam(), 1e-4, 1e-5);
  const Certificate best = fit(data, o).report.certificate;
  std::atomic<int> questions{0};
  Context context{1, {}, [&] { return ++questions > 0; }};
  o.tol = 1e-15;
  const FitResult r = fit(data, o, context);
  EXPECT_LE(r.report.certificate.dual, best.primal + 1e-9);
  EXPECT_GE(r.report.certificate.primal, best.dual - 1e-9);
  EXPECT_TRUE(r.report.interrupted);
}

std::string name_of(const ::testing::TestParamInfo<Setting>& info) {
  std::string name = std::string(to_string(info.param.surrogate)) + "_" + info.param.loss;
  if (info.param.smoothing > 0) name += "_smoothed";
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Settings, Fit, ::testing::ValuesIn(settings), name_of);

// The paper's solver keeps pairs of distributions as its warm starts, and asymmetric costs keep bases.
TEST(FitSolvers, ThreadsDoNotShowInThePapersSolverNorWithAsymmetricCosts) {
  Rng rng(8);
  const Dataset data = random_dataset(rng, 1600, 3, 4);
  TrainOptions o = options_of({SurrogateKind::m4n, "", 0}, 0.05, 1e-3);
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t p = 0; p < 4; ++p) o.cost.push_back(t == p ? 0 : rng.uniform(0.2, 3));
  expect_same_bytes_for_any_number_of_threads(data, o);
  o.smoothing = 0.5;
  expect_same_bytes_for_any_number_of_threads(data, o);
  o.smoothing = 0;
  o.solver = SolverKind::gbcfw;
  o.oracle = OracleKind::spmp;
  o.epochs = 12;
  expect_same_bytes_for_any_number_of_threads(data, o);
  o.average = false;
  expect_same_bytes_for_any_number_of_threads(data, o);
}

// Certificates come more and more rarely; a fit that is stopped between two of them gets one where it stands.
TEST(FitSolvers, AStoppedFitIsCertifiedWhereItStands) {
  Rng rng(9);
  const Dataset data = random_dataset(rng, 300, 20, 6, 0.5);
  TrainOptions o = options_of({SurrogateKind::m3n, "zero-one", 0}, 1e-6, 1e-15);
  o.solver = SolverKind::prox;
  int questions = 0, certified = 0;
  Context context{1, [&](const Progress& progress) { certified = progress.epoch; }, [&] { return ++questions > 30; }};
  const FitResult found = fit(data, o, context);
  EXPECT_TRUE(found.report.interrupted);
  EXPECT_GT(certified, 30);
  EXPECT_EQ(found.model.common().epochs, certified);
}

TEST(FitSolvers, CrfByBlocksEqualsCrfByLbfgs) {
  Rng rng(5);
  for (const double lambda : {1.0, 1e-2, 1e-5}) {
    const Dataset data = random_dataset(rng, 100, 4, 3);
    TrainOptions o = options_of({SurrogateKind::crf, "zero-one", 0}, lambda, 1e-7);
    o.solver = SolverKind::lbfgs;
    const FitResult a = fit(data, o);
    o.solver = SolverKind::automatic;
    const FitResult b = fit(data, o);
    expect_same_optimum(a.report.certificate, b.report.certificate);
    o.solver = SolverKind::gbcfw;
    o.tol = 1e-3;
    if (lambda > 0.1) expect_same_optimum(fit(data, o).report.certificate, b.report.certificate);
  }
}

// Wide data go through conjugate gradients, narrow data through Cholesky; padding with zero columns changes nothing
// else.
TEST(FitSolvers, QuadraticByCgEqualsQuadraticByCholesky) {
  Rng rng(6);
  Dataset narrow = random_dataset(rng, 60, 5, 3), wide = narrow;
  SparseMatrix x = test::to_sparse(std::get<DenseMatrix>(narrow.x));
  x.cols = 3000;
  wide.x = x;
  wide.feature_names.clear();
  TrainOptions o = options_of({SurrogateKind::qs, "squared", 0}, 0.01, 1e-10);
  o.standardize = false;
  const FitResult a = fit(narrow, o), b = fit(wide, o);
  EXPECT_EQ(a.report.solver, "cholesky");
  EXPECT_EQ(b.report.solver, "cg");
  expect_same_optimum(a.report.certificate, b.report.certificate);
  EXPECT_NEAR(a.report.certificate.primal, b.report.certificate.primal, 1e-9);
}

TEST(FitChecks, BadDataAreRefused) {
  Rng rng(7);
  const TrainOptions o;
  Dataset data = random_dataset(rng, 10, 2, 2);
  data.label[4] = unknown_label;
  EXPECT_THROW(fit(data, o), Error);
  data = random_dataset(rng, 10, 2, 2);
  data.class_names.resize(1);
  EXPECT_THROW(fit(data, o), Error);
  data = random_dataset(rng, 10, 2, 2);
  data.weight.assign(10, 1.0);
  data.weight[3] = 0;
  EXPECT_THROW(fit(data, o), Error);
  data = random_dataset(rng, 10, 2, 2);
  data.label.pop_back();
  EXPECT_THROW(fit(data, o), Error);
}

}  // namespace
}  // namespace m4n::detail

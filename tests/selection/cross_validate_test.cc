// Cross-validation against the same thing done by hand: parts taken, models fitted and applied one by one.
#include "m4n/cross_validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "m4n/error.h"
#include "m4n/fit.h"
#include "selection/cv_choice.h"
#include "support/flat_model.h"
#include "support/random_dataset.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

CvOptions small_options() {
  CvOptions o;
  o.train.task = "multiclass";
  o.lambdas = {0.1, 0.01};
  o.extend = false;
  o.plan.splits = 3;
  return o;
}

double mean_loss(const FlatModel& model, const Dataset& part) {
  const std::vector<std::int32_t> predicted = model.predict(view(part.x));
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    sum += model.cost[static_cast<std::size_t>(part.label[i]) * model.k() + static_cast<std::size_t>(predicted[i])];
  return sum / static_cast<double>(predicted.size());
}

void expect_same_cells(const std::vector<CvCell>& a, const std::vector<CvCell>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].split, b[i].split);
    EXPECT_EQ(a[i].candidate, b[i].candidate);
    EXPECT_EQ(a[i].gamma, b[i].gamma);
    EXPECT_EQ(a[i].lambda, b[i].lambda);
    EXPECT_EQ(a[i].validation, b[i].validation);
    EXPECT_EQ(a[i].test, b[i].test);
    EXPECT_EQ(a[i].relative_gap, b[i].relative_gap);
  }
}

TEST(Splits, CutTheExamplesIntoDisjointParts) {
  for (const std::size_t n : {5U, 10U, 101U}) {
    SplitPlan plan;
    plan.splits = 4;
    const std::vector<Split> splits = make_splits(n, plan, 7);
    ASSERT_EQ(splits.size(), 4U);
    for (const Split& s : splits) {
      std::set<std::size_t> all(s.train.begin(), s.train.end());
      all.insert(s.validation.begin(), s.validation.end());
      all.insert(s.test.begin(), s.test.end());
      EXPECT_EQ(all.size(), n);
      EXPECT_EQ(s.train.size() + s.validation.size() + s.test.size(), n);
      EXPECT_EQ(s.train.size(), static_cast<std::size_t>(std::lround(0.6 * static_cast<double>(n))));
    }
    EXPECT_EQ(splits[2].train, make_splits(n, plan, 7)[2].train);
    if (n < 100) continue;  // of few examples two splits may happen to be the same
    EXPECT_NE(splits[0].train, splits[1].train);
    EXPECT_NE(splits[0].train, make_splits(n, plan, 8)[0].train);
  }
}

TEST(Splits, FoldsTestEveryExampleOnceAndValidateOnTheNextFold) {
  SplitPlan plan;
  plan.folds = 4;
  const std::vector<Split> splits = make_splits(23, plan, 1);
  ASSERT_EQ(splits.size(), 4U);
  std::vector<int> tested(23);
  for (std::size_t f = 0; f < 4; ++f) {
    for (const std::size_t i : splits[f].test) ++tested[i];
    EXPECT_EQ(splits[f].validation, splits[(f + 1) % 4].test);
    EXPECT_GE(splits[f].test.size(), 5U);
  }
  EXPECT_EQ(tested, std::vector<int>(23, 1));
  plan.fold_of = {0, 1, 2, 2, 1, 0};
  EXPECT_EQ(make_splits(6, plan, 1)[1].test, (std::vector<std::size_t>{1, 4}));
}

// Every part has its share of every class, as nearly as whole examples allow.
TEST(Splits, ClassesAreAsFrequentInEveryPart) {
  Rng rng(3);
  for (const std::size_t n : {30UL, 101UL, 1000UL}) {
    Strata strata{{}, Groups(n)};
    for (std::size_t i = 0; i < n; ++i)
      strata.tag.push_back(static_cast<std::int32_t>(rng.below(7) * rng.below(3) / 4));
    SplitPlan plan;
    plan.splits = 5;
    const auto count = [&](const std::vector<std::size_t>& part, std::int32_t tag) {
      return static_cast<double>(
          std::count_if(part.begin(), part.end(), [&](std::size_t i) { return strata.tag[i] == tag; }));
    };
    for (const Split& s : make_splits(n, plan, 5, strata)) {
      EXPECT_EQ(s.train.size() + s.validation.size() + s.test.size(), n);
      for (std::int32_t tag = 0; tag < 4; ++tag) {
        const double all = count(s.train, tag) + count(s.validation, tag) + count(s.test, tag);
        EXPECT_NEAR(count(s.train, tag), 0.6 * all, 2);
        EXPECT_NEAR(count(s.validation, tag), 0.2 * all, 2);
      }
    }
    plan.folds = 5;
    for (const Split& s : make_splits(n, plan, 5, strata))
      for (std::int32_t tag = 0; tag < 4; ++tag)
        EXPECT_NEAR(count(s.test, tag), static_cast<double>(std::count(strata.tag.begin(), strata.tag.end(), tag)) / 5,
                    2);
    EXPECT_NE(random_folds(n, 3, 1, strata), random_folds(n, 3, 2, strata));
    EXPECT_EQ(random_folds(n, 3, 1, strata), random_folds(n, 3, 1, strata));
  }
}

// Label sets: a label of few examples is in every fold, which random folds miss one time in three.
TEST(Splits, RareLabelsAreInEveryFold) {
  Rng rng(4);
  constexpr std::size_t n = 200;
  Strata strata;
  std::vector<std::size_t> ends{0};
  for (std::size_t i = 0; i < n; ++i) {
    if (i < 5) strata.tag.push_back(0);
    for (std::int32_t tag = 1; tag < 4; ++tag)
      if (rng.uniform() < 0.3) strata.tag.push_back(tag);
    ends.push_back(strata.tag.size());
  }
  strata.tags = Groups(std::move(ends));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<std::int32_t> fold = random_folds(n, 5, seed, strata);
    std::vector<int> rare(5), size(5);
    for (std::size_t i = 0; i < n; ++i) {
      ++size[static_cast<std::size_t>(fold[i])];
      if (i < 5) ++rare[static_cast<std::size_t>(fold[i])];
    }
    EXPECT_EQ(rare, std::vector<int>(5, 1));
    EXPECT_EQ(size, std::vector<int>(5, 40));
  }
  Strata few{{0, 1}, Groups(2)};
  EXPECT_THROW(make_splits(3, {}, 0, few), Error);
}

TEST(Splits, GivenOnesAreTakenAsTheyAre) {
  SplitPlan plan;
  plan.given = {{{0, 2, 4}, {1, 3}, {1, 3}}, {{1, 3}, {0, 4}, {2}}};
  const std::vector<Split> splits = make_splits(5, plan, 0);
  ASSERT_EQ(splits.size(), 2U);
  EXPECT_EQ(splits[0].train, plan.given[0].train);
  EXPECT_EQ(splits[1].test, plan.given[1].test);
  EXPECT_THROW(make_splits(4, plan, 0), Error);  // there is no example 4
  plan.given[1].test.clear();                    // a program may test elsewhere
  EXPECT_NO_THROW(make_splits(5, plan, 0));
  plan.given[1].validation.clear();
  EXPECT_THROW(make_splits(5, plan, 0), Error);
  plan.given[1] = {{}, {0}, {1}};
  EXPECT_THROW(make_splits(5, plan, 0), Error);
}

TEST(Splits, RefusesWhatCannotBeCut) {
  SplitPlan plan;
  plan.splits = 11;
  EXPECT_THROW(make_splits(10, plan, 0), Error);
  plan.splits = 1;
  EXPECT_THROW(make_splits(2, plan, 0), Error);
  plan.ratio = {60, 0, 20};
  EXPECT_THROW(make_splits(10, plan, 0), UsageError);
  plan.folds = 11;
  EXPECT_THROW(make_splits(10, plan, 0), Error);
  plan.folds = 2;
  EXPECT_THROW(make_splits(10, plan, 0), Error);
  plan.fold_of = {0, 1, 3, 0};  // no example in fold 2
  EXPECT_THROW(make_splits(4, plan, 0), Error);
  plan.fold_of = {0, 1, 2, -1};
  EXPECT_THROW(make_splits(4, plan, 0), Error);
  plan = {};
  plan.folds = 100'000;
  EXPECT_THROW(make_splits(100'000, plan, 0), Error);  // 80 GB of indices
}

class EveryFeature : public testing::TestWithParam<FeatureKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryFeature,
                         testing::Values(FeatureKind::linear, FeatureKind::rbf, FeatureKind::laplacian,
                                         FeatureKind::poly, FeatureKind::rbf_centers, FeatureKind::nystrom,
                                         FeatureKind::fourier));

TEST_P(EveryFeature, CellsAreTheLossesOfModelsFittedByHand) {
  Rng rng(3);
  const Dataset data = test::random_dataset(rng, 90, 4, 3);
  CvOptions o = small_options();
  o.train.features = GetParam();
  o.train.tol = 1e-6;
  if (GetParam() == FeatureKind::rbf_centers || GetParam() == FeatureKind::nystrom) o.train.components = 20;
  o.candidates = {{SurrogateKind::m4n, 0, Decoder::argmax}, {SurrogateKind::crf, 0, Decoder::expected}};
  o.train.cost = {0, 1, 4, 2, 0, 1, 1, 3, 0};
  const CvResult result = cross_validate(data, {}, o);
  ASSERT_EQ(result.cells.size(), 3U * 2 * 2);
  const std::vector<Split> splits = make_splits(data.examples(), o.plan, o.train.seed, strata_of(o.train.task, data));
  for (const CvCell& cell : result.cells) {
    TrainOptions train = o.train;
    train.surrogate = o.candidates[cell.candidate].surrogate;
    train.decode = o.candidates[cell.candidate].decode;
    const auto path = fit_path(subset(data, splits[cell.split].train), train, o.lambdas);
    const FlatModel& model = path[cell.lambda == o.lambdas[0] ? 0 : 1].model;
    EXPECT_NEAR(cell.validation, mean_loss(model, subset(data, splits[cell.split].validation)), 1e-12);
    EXPECT_NEAR(cell.test, mean_loss(model, subset(data, splits[cell.split].test)), 1e-12);
    EXPECT_EQ(cell.relative_gap, path[cell.lambda == o.lambdas[0] ? 0 : 1].report.certificate.relative_gap());
  }
}

// What is learnt from a training part must not know the other parts: a validation example that is changed beyond
// recognition changes no fit and no test loss of the splits it validates.
TEST_P(EveryFeature, LearnsNothingFromAPoisonedValidationExample) {
  Rng rng(4);
  Dataset data = test::random_dataset(rng, 60, 3, 3);
  CvOptions o = small_options();
  o.train.features = GetParam();
  if (GetParam() == FeatureKind::rbf_centers || GetParam() == FeatureKind::nystrom) o.train.components = 15;
  o.plan.splits = 6;
  o.train.task = "ordinal";
  o.train.bins = 3;
  std::vector<double> raw;
  for (std::size_t i = 0; i < data.examples(); ++i) raw.push_back(data.label[i] + 0.3 * rng.normal());
  const CvResult clean = cross_validate(data, raw, o);
  const std::vector<Split> splits = make_splits(data.examples(), o.plan, o.train.seed, strata_of(o.train.task, data));
  const std::size_t poisoned = splits[0].validation[0];
  auto& x = std::get<DenseMatrix>(data.x);
  for (std::size_t j = 0; j < x.cols; ++j) x.values[poisoned * x.cols + j] = 50 + static_cast<double>(j);
  raw[poisoned] = 1e6;
  const CvResult dirty = cross_validate(data, raw, o);
  std::size_t untouched = 0, touched = 0;
  for (std::size_t c = 0; c < clean.cells.size(); ++c) {
    const Split& split = splits[clean.cells[c].split];
    const auto holds = [&](const std::vector<std::size_t>& part) {
      return std::binary_search(part.begin(), part.end(), poisoned);
    };
    if (holds(split.validation)) {
      ++untouched;
      EXPECT_EQ(clean.cells[c].relative_gap, dirty.cells[c].relative_gap);
      EXPECT_EQ(clean.cells[c].test, dirty.cells[c].test);
    } else if (holds(split.train) && clean.cells[c].relative_gap != dirty.cells[c].relative_gap) {
      ++touched;
    }
  }
  EXPECT_GT(untouched, 0U);
  EXPECT_GT(touched, 0U);  // the poison is strong enough to be seen where it may be
}

TEST(CrossValidate, SparseFeaturesGiveTheLossesOfDenseOnes) {
  Rng rng(5);
  Dataset dense = test::random_dataset(rng, 80, 5, 3), sparse = dense;
  sparse.x = test::to_sparse(std::get<DenseMatrix>(dense.x));
  CvOptions o = small_options();
  o.train.standardize = false;
  o.train.tol = 1e-8;
  const CvResult a = cross_validate(dense, {}, o), b = cross_validate(sparse, {}, o);
  for (std::size_t c = 0; c < a.cells.size(); ++c) {
    EXPECT_NEAR(a.cells[c].validation, b.cells[c].validation, 1e-12);
    EXPECT_NEAR(a.cells[c].test, b.cells[c].test, 1e-12);
  }
}

TEST(CrossValidate, DoesNotDependOnTheNumberOfThreads) {
  Rng rng(6);
  const Dataset data = test::random_dataset(rng, 70, 4, 3);
  CvOptions o = small_options();
  o.train.features = FeatureKind::rbf;
  o.gammas = {std::nullopt, 0.5};
  o.candidates = automatic_candidates(o.train, data);
  o.candidates.push_back({SurrogateKind::m4n, 0, Decoder::adversary});
  o.extend = true;
  Context one, four;
  one.threads = 1;
  four.threads = 4;
  const CvResult a = cross_validate(data, {}, o, one), b = cross_validate(data, {}, o, four);
  expect_same_cells(a.cells, b.cells);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.overall.test.mean, b.overall.test.mean);
  EXPECT_EQ(a.best.lambda, b.best.lambda);
}

TEST(CrossValidate, DoesNotComputeKnownCellsAgain) {
  Rng rng(7);
  const Dataset data = test::random_dataset(rng, 60, 3, 3);
  CvOptions o = small_options();
  o.candidates = {{SurrogateKind::m4n, 0, Decoder::argmax}, {SurrogateKind::m3n, 0, Decoder::argmax}};
  std::vector<CvCell> kept;
  std::size_t calls = 0;
  o.finished = [&](std::span<const CvCell> cells) {
    kept.insert(kept.end(), cells.begin(), cells.end());
    ++calls;
  };
  const CvResult all = cross_validate(data, {}, o);
  EXPECT_EQ(calls, 3U * 2);
  EXPECT_EQ(kept.size(), all.cells.size());
  // A path of which one cell is missing is computed whole; the others are not.
  o.known = kept;
  o.known.pop_back();
  calls = 0;
  expect_same_cells(cross_validate(data, {}, o).cells, all.cells);
  EXPECT_EQ(calls, 1U);
}

TEST(CrossValidate, ExtendsTheGridWhereTheBestLambdaIsAtItsEdge) {
  Rng rng(8);
  const Dataset data = test::random_dataset(rng, 600, 8, 6, 0.0);
  CvOptions o = small_options();
  o.lambdas = {1, 0.5, 0.25};  // too large for these data
  const CvResult stuck = cross_validate(data, {}, o);
  EXPECT_EQ(stuck.cells.size(), 3U * 3);
  EXPECT_TRUE(stuck.notes.empty());
  ASSERT_EQ(stuck.warnings.size(), 1U);
  EXPECT_NE(stuck.warnings[0].text().find("edge"), std::string::npos);
  o.extend = true;
  const CvResult extended = cross_validate(data, {}, o);
  EXPECT_GT(extended.cells.size(), stuck.cells.size());
  ASSERT_EQ(extended.notes.size(), 1U);
  EXPECT_NE(extended.notes[0].find("extended down to"), std::string::npos);
  EXPECT_LT(extended.best.validation_mean, stuck.best.validation_mean);
  EXPECT_LT(extended.best.lambda, 0.25);
  for (std::size_t l = 1; l < extended.curve.size(); ++l)
    EXPECT_DOUBLE_EQ(extended.curve[l].lambda, extended.curve[l - 1].lambda / 2);
}

// Labels that have nothing to do with the features and one class in ten: the constant is best, whatever lambda. The
// grid is extended before it is said.
TEST(CrossValidate, SaysWhenThePathIsFlatAndTheChoiceConstant) {
  Rng rng(21);
  Dataset data = test::random_dataset(rng, 100, 1, 2);
  for (std::size_t i = 0; i < 100; ++i) data.label[i] = i % 10 == 0 ? 1 : 0;
  std::get<DenseMatrix>(data.x).values.assign(100, 1.0);
  CvOptions o = small_options();
  o.lambdas = {1, 0.5};
  o.extend = true;
  const CvResult result = cross_validate(data, {}, o);
  EXPECT_GT(result.curve.size(), 2U);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("equally good; extended down to"), std::string::npos) << result.notes[0];
  ASSERT_EQ(result.warnings.size(), 2U);
  EXPECT_NE(result.warnings[0].text().find("the same for every lambda"), std::string::npos);
  EXPECT_NE(result.warnings[1].text().find("predicts the same for every example"), std::string::npos);
  for (const CvCell& cell : result.cells) EXPECT_TRUE(cell.constant);
}

TEST(CrossValidate, ReportsAClassAbsentFromATrainingPart) {
  Rng rng(9);
  Dataset data = test::random_dataset(rng, 40, 3, 3);
  for (std::int32_t& label : data.label) label = std::min(label, 1);
  data.label[0] = 2;  // the only one
  CvOptions o = small_options();
  o.plan.splits = 10;
  o.plan.stratify = false;  // else it is in the training part always
  o.candidates = {{SurrogateKind::m4n}, {SurrogateKind::m3n}, {SurrogateKind::crf}, {SurrogateKind::qs}};
  const CvResult result = cross_validate(data, {}, o);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_NE(result.warnings[0].text().find("class '2' has no example in the training part"), std::string::npos);
  for (const CvCell& cell : result.cells) EXPECT_TRUE(std::isfinite(cell.test));
}

TEST(CrossValidate, ChoosesOnValidationAndReportsTestLosses) {
  Rng rng(10);
  const Dataset data = test::random_dataset(rng, 80, 4, 3);
  CvOptions o = small_options();
  o.lambdas = {1, 0.1, 0.01, 0.001};
  o.candidates = {{SurrogateKind::m4n}, {SurrogateKind::crf}};
  const CvResult result = cross_validate(data, {}, o);
  double sum = 0;
  for (std::size_t s = 0; s < result.splits; ++s) {
    const CvCell& chosen = result.overall.chosen[s];
    int larger = 0, smaller = 0;  // lambdas of the same candidate that are as good
    for (const CvCell& cell : result.cells) {
      if (cell.split != s || cell.candidate != chosen.candidate) continue;
      EXPECT_GE(cell.validation, chosen.validation);
      if (cell.validation > chosen.validation) continue;
      larger += cell.lambda > chosen.lambda ? 1 : 0;
      smaller += cell.lambda < chosen.lambda ? 1 : 0;
    }
    EXPECT_TRUE(smaller == larger || smaller == larger + 1) << smaller << " " << larger;
    EXPECT_LE(chosen.validation, result.by_candidate[1].chosen[s].validation);  // crf, or better than it
    sum += chosen.test;
  }
  EXPECT_NEAR(result.overall.test.mean, sum / static_cast<double>(result.splits), 1e-15);
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_NEAR(result.comparisons[0].difference.mean,
              result.by_candidate[0].test.mean - result.by_candidate[1].test.mean, 1e-15);
  const CvPoint least =
      *std::min_element(result.curve.begin(), result.curve.end(),
                        [](const CvPoint& a, const CvPoint& b) { return a.validation_mean < b.validation_mean; });
  EXPECT_LE(result.best.validation_mean, least.validation_mean + least.validation_std);  // about as good
}

// Crf is kept unless another is better by 1.5 standard errors of the paired differences, as computed here by hand.
TEST(CrossValidate, OneHasToWinToBeChosenOverCrf) {
  Rng rng(22);
  std::size_t kept = 0, beaten = 0;
  for (int trial = 0; trial < 40; ++trial) {
    CvResult result;
    result.splits = 5;
    result.candidates = {{SurrogateKind::m4n}, {SurrogateKind::crf}, {SurrogateKind::m3n}};
    const double shift = trial % 2 == 0 ? 0 : 0.3;
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t s = 0; s < 5; ++s)
        for (const double lambda : {0.1, 0.01}) {
          CvCell cell;
          cell.candidate = c;
          cell.split = s;
          cell.lambda = lambda;
          cell.validation = cell.test = 1 + 0.2 * rng.normal() - (c == 0 ? shift : 0);
          result.cells.push_back(cell);
        }
    detail::choose(result);
    std::vector<std::size_t> better;
    for (const std::size_t c : {0UL, 2UL}) {
      std::vector<double> difference(5);
      for (const CvCell& cell : result.cells) {
        if (cell.candidate == c && cell.lambda == result.best_by_candidate[c].lambda)
          difference[cell.split] += cell.validation;
        if (cell.candidate == 1 && cell.lambda == result.best_by_candidate[1].lambda)
          difference[cell.split] -= cell.validation;
      }
      double mean = 0, squares = 0;
      for (const double d : difference) mean += d / 5;
      for (const double d : difference) squares += (d - mean) * (d - mean);
      if (mean < -1.5 * std::sqrt(squares / 4 / 5)) better.push_back(c);
    }
    const std::size_t best = result.best.candidate;
    EXPECT_EQ(best == 1, better.empty());
    if (best != 1) {
      EXPECT_NE(std::find(better.begin(), better.end(), best), better.end());
    }
    ++(best == 1 ? kept : beaten);
  }
  EXPECT_GT(kept, 5U);
  EXPECT_GT(beaten, 5U);
}

// Candidates that are not better than crf on the first split, or the first two, are left there.
TEST(CrossValidate, ARaceDropsThoseThatAreNotBetter) {
  std::size_t dropped = 0, stayed = 0;
  for (const std::uint64_t seed : {31, 32, 33, 34, 35, 36}) {
    Rng rng(seed);
    const Dataset data = test::random_dataset(rng, 120, 4, 3);
    CvOptions o = small_options();
    o.plan.splits = 6;
    o.candidates = {{SurrogateKind::m4n}, {SurrogateKind::m3n}, {SurrogateKind::crf}, {SurrogateKind::qs}};
    o.train.tol = 0.02;  // to which the others are fitted in a race
    const CvResult all = cross_validate(data, {}, o);
    o.race = true;
    const CvResult raced = cross_validate(data, {}, o, {3, {}, {}});
    const auto loss = [&](std::size_t candidate, std::size_t heats) {
      double least = 1e300;
      for (const double lambda : o.lambdas) {
        double sum = 0;
        for (const CvCell& cell : all.cells)
          if (cell.candidate == candidate && cell.split < heats && cell.lambda == lambda) sum += cell.validation;
        least = std::min(least, sum);
      }
      return least;
    };
    EXPECT_FALSE(raced.dropped[2]);
    for (const std::size_t c : {0UL, 1UL, 3UL}) {
      const std::size_t heats = loss(c, 1) < loss(2, 1) ? 2 : 1;  // it was in, as far as they decide
      EXPECT_EQ(raced.dropped[c], !(loss(c, heats) < loss(2, heats)));
      ++(raced.dropped[c] ? dropped : stayed);
      const auto cells = std::count_if(raced.cells.begin(), raced.cells.end(),
                                       [&](const CvCell& cell) { return cell.candidate == c; });
      EXPECT_EQ(static_cast<std::size_t>(cells), o.lambdas.size() * (raced.dropped[c] ? heats : 6));
      if (raced.dropped[c]) {
        EXPECT_TRUE(std::isnan(raced.by_candidate[c].test.mean));
      } else {
        EXPECT_EQ(raced.by_candidate[c].test.mean, all.by_candidate[c].test.mean);
      }
    }
    EXPECT_EQ(raced.by_candidate[2].test.mean, all.by_candidate[2].test.mean);
    if (!raced.dropped[all.best.candidate]) {
      EXPECT_EQ(raced.best.candidate, all.best.candidate);
      EXPECT_EQ(raced.best.lambda, all.best.lambda);
    }
  }
  EXPECT_GT(dropped, 0U);
  EXPECT_GT(stayed, 0U);
}

// Without lambdas of their own, challengers start at the incumbent's and at four times that, in their own units, and go
// beyond once in each direction.
TEST(CrossValidate, ChallengersStartAtTheIncumbentsLambda) {
  std::size_t extended = 0;
  for (const std::uint64_t seed : {41, 42, 43, 44, 45, 46}) {
    Rng rng(seed);
    const Dataset data = test::random_dataset(rng, 120, 4, 3);
    CvOptions o = small_options();
    o.lambdas.clear();
    o.plan.splits = 5;
    o.extend = true;
    o.candidates = {{SurrogateKind::m3n}, {SurrogateKind::crf}};
    o.race = true;
    const CvResult raced = cross_validate(data, {}, o);
    std::set<double> tried;
    for (const CvCell& cell : raced.cells)
      if (cell.candidate == 0) tried.insert(cell.lambda);
    TrainOptions own = o.train, crf = o.train;
    own.surrogate = SurrogateKind::m3n;
    crf.surrogate = SurrogateKind::crf;
    const double start = raced.best_by_candidate[1].lambda / lambda_unit(crf, data) * lambda_unit(own, data);
    EXPECT_EQ(tried.count(start), 1U);
    EXPECT_EQ(tried.count(4 * start), 1U);
    EXPECT_LE(tried.size(), 6U);
    if (raced.dropped[0]) {
      EXPECT_EQ(tried.size(), 2U);
    }
    extended += tried.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(extended, 0U);
}

// Where the unit of lambda is at the end of its range, challengers have a lambda all the same.
TEST(CrossValidate, ARaceTakesHugeAndTinyCosts) {
  Rng rng(47);
  const Dataset data = test::random_dataset(rng, 60, 3, 3);
  for (const double cost : {1e30, 1e-30}) {
    CvOptions o = small_options();
    o.lambdas.clear();
    o.train.cost = {0, cost, cost, cost, 0, cost, cost, cost, 0};
    o.candidates = automatic_candidates(o.train, data);
    o.race = true;
    const CvResult raced = cross_validate(data, {}, o);
    for (const CvCell& cell : raced.cells) {
      EXPECT_GE(cell.lambda, smallest_lambda);
      EXPECT_LE(cell.lambda, largest_lambda);
    }
    EXPECT_EQ(raced.best_by_candidate.size(), o.candidates.size());
  }
}

CvCell cell_of(std::size_t split, double lambda, double validation) {
  CvCell out;
  out.split = split;
  out.lambda = lambda;
  out.validation = validation;
  return out;
}

// Losses by split of lambdas 1, 1/2, 1/4, ..
double settled_lambda(const std::vector<std::vector<double>>& losses) {
  std::vector<CvCell> cells;
  for (std::size_t l = 0; l < losses.size(); ++l)
    for (std::size_t s = 0; s < losses[l].size(); ++s)
      cells.push_back(cell_of(s, std::ldexp(1.0, -static_cast<int>(l)), losses[l][s]));
  return detail::settled_point(cells, losses[0].size()).lambda;
}

TEST(SettledPoint, IsTypicalOfTheLambdasThatDoAsWellAsTheBest) {
  // Clearly best: itself, whatever is around it.
  EXPECT_EQ(settled_lambda({{3, 3.1}, {2, 2.1}, {1, 1.1}, {2, 2.1}}), 0.25);
  // Equal ones: the middle of them; of two the larger.
  EXPECT_EQ(settled_lambda({{3, 3}, {1, 1}, {1, 1}, {1, 1}, {3, 3}}), 0.25);
  EXPECT_EQ(settled_lambda({{1, 1}, {1, 1}}), 1);
  // The last is best by luck, by less than a third of a standard error: one between it and the others as good.
  EXPECT_EQ(settled_lambda({{5, 5, 5}, {1, 2, 3}, {3, 1, 2}, {2, 3, 1}, {2.5, 1, 2.3}}), 0.125);
  // Good at both ends: nothing between them that is not as good.
  EXPECT_NE(settled_lambda({{1, 1.1}, {3, 3.2}, {1, 1.1}}), 0.5);
  // One split has no errors: the least.
  EXPECT_EQ(settled_lambda({{3}, {1}, {1.01}}), 0.5);
  EXPECT_EQ(settled_lambda({{1}}), 1);
}

TEST(CrossValidate, AColdPathFindsTheSameAsAWarmOne) {
  Rng rng(12);
  const Dataset data = test::random_dataset(rng, 60, 3, 3);
  CvOptions o = small_options();
  o.train.tol = 1e-9;
  o.train.epochs = 100'000;
  const CvResult warm = cross_validate(data, {}, o);
  o.warm_path = false;
  const CvResult cold = cross_validate(data, {}, o);
  for (std::size_t c = 0; c < warm.cells.size(); ++c) EXPECT_NEAR(warm.cells[c].test, cold.cells[c].test, 1e-9);
}

TEST(CrossValidate, RefusesGridsThatMakeNoSense) {
  Rng rng(13);
  const Dataset data = test::random_dataset(rng, 60, 3, 3);
  const auto refused = [&](const std::function<void(CvOptions&)>& change) {
    CvOptions o = small_options();
    change(o);
    EXPECT_THROW(cross_validate(data, {}, o), UsageError);
  };
  refused([](CvOptions& o) { o.lambdas = {0.1, 1}; });
  refused([](CvOptions& o) { o.lambdas = {1, 0}; });
  refused([](CvOptions& o) { o.candidates = {}; });
  refused([](CvOptions& o) { o.gammas = {1.0}; });                            // linear features have none
  refused([](CvOptions& o) { o.train.bins = 3, o.train.task = "ordinal"; });  // without raw targets
}

// A lambda at the end of the range is not extended beyond it.
TEST(CrossValidate, ExtensionsStayWithinTheRangeOfLambda) {
  Rng rng(14);
  const Dataset data = test::random_dataset(rng, 80, 3, 3);
  CvOptions o = small_options();
  o.extend = true;
  o.lambdas = {1e30, 1e-3};
  for (const CvCell& cell : cross_validate(data, {}, o).cells) {
    EXPECT_LE(cell.lambda, largest_lambda);
    EXPECT_GE(cell.lambda, smallest_lambda);
  }
}

TEST(CrossValidate, StopsWhenAskedTo) {
  Rng rng(11);
  const Dataset data = test::random_dataset(rng, 60, 3, 3);
  Context context;
  context.cancelled = [] { return true; };
  const CvResult result = cross_validate(data, {}, small_options(), context);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.cells.empty());
}

}  // namespace
}  // namespace m4n::detail

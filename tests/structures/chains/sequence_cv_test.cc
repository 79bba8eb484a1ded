// Cross-validation on sequences against models fitted by hand, and what must not change its results.
#include <gtest/gtest.h>

#include <algorithm>

#include "m4n/cross_validate.h"
#include "m4n/fit.h"
#include "support/flat_model.h"
#include "support/random_sequences.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

CvOptions small_options() {
  CvOptions o;
  o.train.task = "sequence";
  o.lambdas = {0.3, 0.05};
  o.extend = false;
  o.plan.splits = 3;
  o.candidates = {{SurrogateKind::m4n, 0, Decoder::viterbi},
                  {SurrogateKind::m3n, 0, Decoder::viterbi},
                  {SurrogateKind::crf, 0, Decoder::expected}};
  return o;
}

// Mean over sentences of the mean cost of their tokens.
double mean_loss(const FlatModel& model, const Dataset& part) {
  const std::vector<std::int32_t> y = model.predict(view(part.x), part.feature_rows);
  double sum = 0;
  for (std::size_t i = 0; i < part.examples(); ++i) {
    const auto length = static_cast<double>(part.labels.end(i) - part.labels.begin(i));
    for (std::size_t t = part.labels.begin(i); t < part.labels.end(i); ++t)
      sum += model.cost[static_cast<std::size_t>(part.label[t]) * model.k() + static_cast<std::size_t>(y[t])] / length;
  }
  return sum / static_cast<double>(part.examples());
}

void expect_cells_of_hand(const Dataset& data, const CvOptions& o) {
  const CvResult result = cross_validate(data, {}, o);
  const std::vector<Split> splits = make_splits(data.examples(), o.plan, o.train.seed);
  ASSERT_EQ(result.cells.size(), splits.size() * o.lambdas.size() * o.candidates.size());
  for (const CvCell& cell : result.cells) {
    TrainOptions train = o.train;
    train.surrogate = o.candidates[cell.candidate].surrogate;
    train.decode = o.candidates[cell.candidate].decode;
    const auto path = fit_path(subset(data, splits[cell.split].train), train, o.lambdas);
    const FitResult& own = path[cell.lambda == o.lambdas[0] ? 0 : 1];
    EXPECT_NEAR(cell.validation, mean_loss(own.model, subset(data, splits[cell.split].validation)), 1e-12);
    EXPECT_NEAR(cell.test, mean_loss(own.model, subset(data, splits[cell.split].test)), 1e-12);
    EXPECT_EQ(cell.relative_gap, own.report.certificate.relative_gap());
  }
}

TEST(SequenceCv, CellsAreTheLossesOfModelsFittedByHand) {
  Rng rng(1);
  const Dataset data = test::random_sequences(rng, 40, 4, 3, 5);
  CvOptions o = small_options();
  o.train.cost = {0, 1, 4, 2, 0, 1, 1, 3, 0};
  o.train.standardize = true;
  expect_cells_of_hand(data, o);
  o.plan.fold_of.resize(data.examples());
  for (std::size_t i = 0; i < data.examples(); ++i) o.plan.fold_of[i] = static_cast<std::int32_t>(i % 4);
  expect_cells_of_hand(data, o);
}

// Columns that are rare in a training part count for nothing there.
TEST(SequenceCv, RareAttributesAreCountedInTheTrainingPart) {
  Rng rng(2);
  Dataset data = test::random_sequences(rng, 30, 3, 3, 5);
  SparseMatrix x{rows(data.x), 40, {0}, {}, {}};
  for (std::size_t i = 0; i < x.rows; ++i) {
    // A common column that tells the label now and then, and a rare one.
    const std::size_t common = rng.uniform() < 0.7 ? static_cast<std::size_t>(data.label[i]) : rng.below(3);
    x.column.push_back(static_cast<std::uint32_t>(common));
    x.column.push_back(static_cast<std::uint32_t>(3 + rng.below(37)));
    x.row_start.push_back(x.column.size());
  }
  data.x = x;
  CvOptions o = small_options();
  o.train.min_count = 3;
  expect_cells_of_hand(data, o);

  const std::vector<Split> splits = make_splits(data.examples(), o.plan, o.train.seed);
  const Dataset part = subset(data, splits[0].train);
  const FlatModel model = fit(part,
                              [&] {
                                TrainOptions t = o.train;
                                t.surrogate = SurrogateKind::crf;
                                return t;
                              }())
                              .model;
  std::vector<int> count(40);
  for (const std::uint32_t c : std::get<SparseMatrix>(part.x).column) ++count[c];
  std::size_t dropped = 0;
  std::visit(
      [&](const auto& w) {
        for (std::size_t c = 0; c < 40; ++c)
          for (std::size_t label = 0; label < 3; ++label) {
            if (count[c] >= 3) continue;
            EXPECT_EQ(w[c * 3 + label], 0);
            ++dropped;
          }
      },
      model.chain.features);
  EXPECT_GT(dropped, 0U);
}

// What is learnt from a training part must not know the other parts.
TEST(SequenceCv, LearnsNothingFromAPoisonedValidationSentence) {
  Rng rng(3);
  Dataset data = test::random_sequences(rng, 36, 3, 3, 5);
  CvOptions o = small_options();
  o.train.standardize = true;
  o.plan.splits = 6;
  const CvResult clean = cross_validate(data, {}, o);
  const std::size_t poisoned = 17;
  auto& x = std::get<DenseMatrix>(data.x);
  for (std::size_t t = data.labels.begin(poisoned); t < data.labels.end(poisoned); ++t) {
    for (std::size_t j = 0; j < x.cols; ++j) x.values[t * x.cols + j] = 50 + static_cast<double>(j);
    data.label[t] = (data.label[t] + 1) % 3;
  }
  const CvResult dirty = cross_validate(data, {}, o);
  const std::vector<Split> splits = make_splits(data.examples(), o.plan, o.train.seed);
  std::size_t untouched = 0, touched = 0;
  ASSERT_EQ(clean.cells.size(), dirty.cells.size());
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

TEST(SequenceCv, DoesNotDependOnTheNumberOfThreads) {
  Rng rng(4);
  const Dataset data = test::random_sequences(rng, 40, 3, 3, 5);
  CvOptions o = small_options();
  o.extend = true;
  Context one, four;
  one.threads = 1;
  four.threads = 4;
  const CvResult a = cross_validate(data, {}, o, one), b = cross_validate(data, {}, o, four);
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t c = 0; c < a.cells.size(); ++c) {
    EXPECT_EQ(a.cells[c].lambda, b.cells[c].lambda);
    EXPECT_EQ(a.cells[c].validation, b.cells[c].validation);
    EXPECT_EQ(a.cells[c].test, b.cells[c].test);
    EXPECT_EQ(a.cells[c].relative_gap, b.cells[c].relative_gap);
  }
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.overall.test.mean, b.overall.test.mean);
}

}  // namespace
}  // namespace m4n::detail

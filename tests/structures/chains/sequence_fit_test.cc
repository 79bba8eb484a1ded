// Models of sequences: length 1 against the multi-class fit, predictions against all labellings and against Clp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "m4n/error.h"
#include "m4n/fit.h"
#include "support/clp_reply.h"
#include "support/flat_model.h"
#include "support/random_chain.h"
#include "support/random_dataset.h"
#include "support/random_sequences.h"

namespace m4n::detail {

using test::FlatModel;
namespace {

using Labels = std::vector<std::int32_t>;
const std::vector<double> costs_of_three{0, 1, 4, 2, 0, 1, 1, 3, 0};

class EverySurrogate : public testing::TestWithParam<SurrogateKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EverySurrogate,
                         testing::Values(SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf),
                         [](const auto& p) { return to_string(p.param); });

// A chain of length 1 has three constants (the bias, the start, the end), each with its weights: a multi-class problem
// with two more columns of ones beside its bias.
TEST_P(EverySurrogate, SequencesOfLengthOneAreMulticlass) {
  for (const bool bias : {true, false})
    for (const double lambda : {0.3, 0.01}) {
      Rng rng(5);
      Dataset chain = test::random_dataset(rng, 80, 4, 3), classes = chain;
      chain.feature_names.clear();
      const auto& narrow = std::get<DenseMatrix>(chain.x);
      DenseMatrix wide{narrow.rows, narrow.cols + 2, {}};
      for (std::size_t i = 0; i < narrow.rows; ++i) {
        const auto row = narrow.view().row(i);
        wide.values.insert(wide.values.end(), row.begin(), row.end());
        wide.values.insert(wide.values.end(), {1.0, 1.0});
      }
      classes.x = std::move(wide);
      classes.feature_names.clear();

      TrainOptions o;
      o.surrogate = GetParam();
      o.lambda = lambda;
      o.tol = 2e-7;
      o.epochs = 100000;
      o.bias = bias;
      o.standardize = false;
      o.cost = costs_of_three;
      o.task = "sequence";
      const FitResult a = fit(chain, o);
      o.task = "multiclass";
      const FitResult b = fit(classes, o);
      ASSERT_TRUE(a.report.certificate.converged && b.report.certificate.converged);
      const Certificate &p = a.report.certificate, &q = b.report.certificate;
      EXPECT_NEAR(p.primal, q.primal, 1e-6 * q.primal);
      EXPECT_LE(std::max(p.dual, q.dual), std::min(p.primal, q.primal) * (1 + 1e-12));
      EXPECT_NEAR(a.report.norm_squared, b.report.norm_squared, 0.01 * b.report.norm_squared);
      EXPECT_EQ(a.report.parts, a.report.n);
    }
}

// The model that fit() returns has the training loss it says, whatever the standardisation it undid.
TEST_P(EverySurrogate, TheModelPredictsAsItSays) {
  Rng rng(6);
  const Dataset data = test::random_sequences(rng, 40, 5, 3, 6);
  for (const bool standardize : {false, true})
    for (const bool bias : {false, true}) {
      TrainOptions o;
      o.task = "sequence";
      o.surrogate = GetParam();
      o.standardize = standardize;
      o.bias = bias;
      const FitResult result = fit(data, o);
      const Labels y = result.model.predict(data);
      double loss = 0;
      for (std::size_t i = 0; i < data.examples(); ++i) {
        double wrong = 0;
        for (std::size_t t = data.labels.begin(i); t < data.labels.end(i); ++t) wrong += y[t] != data.label[t] ? 1 : 0;
        loss += wrong / static_cast<double>(data.labels.end(i) - data.labels.begin(i));
      }
      EXPECT_NEAR(result.report.train_loss, loss / static_cast<double>(data.examples()), 1e-12);
      EXPECT_LT(result.report.train_loss, 0.5);
      Context one, four;
      one.threads = 1;
      four.threads = 4;
      EXPECT_EQ(fit(data, o, one).model.to_bytes(), fit(data, o, four).model.to_bytes());
    }
}

FlatModel random_chain_model(Rng& rng, std::size_t d, std::size_t k, double scale, SurrogateKind surrogate,
                             Decoder decode) {
  FlatModel model;
  model.task = "sequence";
  model.surrogate = surrogate;
  model.decode = decode;
  model.loss_name = "matrix";
  for (std::size_t t = 0; t < k; ++t) {
    model.classes.push_back(std::to_string(t));
    for (std::size_t p = 0; p < k; ++p) model.cost.push_back(t == p ? 0 : 0.5 + 2 * rng.uniform());
  }
  model.d = d;
  const auto draw = [&](std::size_t count) {
    std::vector<double> w(count);
    for (double& x : w) x = scale * rng.normal();
    return w;
  };
  model.chain = {draw(d * k), draw(k), draw(k * k), draw(k), draw(k)};
  return model;
}

// All labellings of the tokens with their scores, from the definition.
std::vector<std::pair<Labels, double>> all_labellings(const FlatModel& model, const DenseMatrix& x, std::size_t first,
                                                      std::size_t length) {
  const std::size_t k = model.k();
  std::vector<double> w;
  std::visit([&](const auto& features) { w.assign(features.begin(), features.end()); }, model.chain.features);
  std::vector<std::pair<Labels, double>> out;
  test::for_labellings(length, k, [&](const Labels& y) {
    const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
    double score = model.chain.start[at(0)] + model.chain.end[at(length - 1)];
    for (std::size_t m = 0; m < length; ++m) {
      if (m > 0) score += model.chain.transitions[at(m - 1) * k + at(m)];
      if (!model.chain.bias.empty()) score += model.chain.bias[at(m)];
      for (std::size_t j = 0; j < x.cols; ++j) score += x.values[(first + m) * x.cols + j] * w[j * k + at(m)];
    }
    out.emplace_back(y, score);
  });
  return out;
}

class PredictsAsAllLabellings : public testing::TestWithParam<Decoder> {};
INSTANTIATE_TEST_SUITE_P(Decoders, PredictsAsAllLabellings,
                         testing::Values(Decoder::viterbi, Decoder::expected, Decoder::adversary),
                         [](const auto& p) { return to_string(p.param); });

TEST_P(PredictsAsAllLabellings, OfSmallSentences) {
  const Decoder decode = GetParam();
  const SurrogateKind surrogate = decode == Decoder::expected ? SurrogateKind::crf : SurrogateKind::m4n;
  Rng rng(7);
  std::size_t told_apart = 0;  // answers that another label would not have given
  for (const double scale : {1e-3, 0.3, 1.0, 30.0})
    for (const std::size_t k : {2U, 3U, 4U})
      for (const bool narrow : {false, true}) {
        FlatModel model = random_chain_model(rng, 3, k, scale, surrogate, decode);
        const Dataset data = test::random_sequences(rng, 8, 3, k, 4);
        const auto& x = std::get<DenseMatrix>(data.x);
        const SparseMatrix sparse = test::to_sparse(x);
        if (narrow) {
          const auto& w = std::get<std::vector<double>>(model.chain.features);
          model.sparse = true;
          model.chain.features = std::vector<float>(w.begin(), w.end());
        }
        const Labels y =
            model.predict(narrow ? FeaturesView(sparse.view()) : FeaturesView(x.view()), data.feature_rows);
        ASSERT_EQ(y.size(), x.rows);
        for (std::size_t i = 0; i < data.examples(); ++i) {
          const std::size_t first = data.labels.begin(i), length = data.labels.end(i) - first;
          const Labels own(y.begin() + static_cast<std::ptrdiff_t>(first),
                           y.begin() + static_cast<std::ptrdiff_t>(first + length));
          const auto all = all_labellings(model, x, first, length);
          double top = -1e300, mass = 0;
          for (const auto& [labels, score] : all) top = std::max(top, score);
          if (decode == Decoder::adversary) {
            const double range = *std::max_element(model.cost.begin(), model.cost.end());
            const double value = test::clp_reply_value(model.cost, k, length, all, nullptr);
            const double bound = value + 2e-6 * range + 1e-9 * std::abs(top);
            EXPECT_LE(test::clp_reply_value(model.cost, k, length, all, &own), bound);
            Labels other = own;
            other[0] = static_cast<std::int32_t>((static_cast<std::size_t>(own[0]) + 1) % k);
            if (test::clp_reply_value(model.cost, k, length, all, &other) > bound) ++told_apart;
            continue;
          }
          std::vector<double> marginal(length * k);
          for (const auto& [labels, score] : all) {
            mass += std::exp(score - top);
            for (std::size_t m = 0; m < length; ++m)
              marginal[m * k + static_cast<std::size_t>(labels[m])] += std::exp(score - top);
            if (decode == Decoder::viterbi && labels == own) {
              EXPECT_NEAR(score, top, 1e-5 * (1 + std::abs(top)) * (narrow ? 1 : 1e-6));
              ++told_apart;
            }
          }
          for (std::size_t m = 0; decode == Decoder::expected && m < length; ++m) {
            std::vector<double> expected(k);
            for (std::size_t p = 0; p < k; ++p)
              for (std::size_t t = 0; t < k; ++t) expected[p] += model.cost[t * k + p] * marginal[m * k + t] / mass;
            const double least = *std::min_element(expected.begin(), expected.end());
            EXPECT_NEAR(expected[static_cast<std::size_t>(own[m])], least, narrow ? 1e-5 : 1e-10);
            ++told_apart;
          }
        }
      }
  EXPECT_GT(told_apart, 80U);
}

// On single tokens the decoders are those of the multi-class model with the same scores.
TEST(SequencePredict, OfOneTokenIsAsOfClasses) {
  Rng rng(8);
  for (const auto& [surrogate, decode] : {std::pair{SurrogateKind::m4n, Decoder::adversary},
                                          {SurrogateKind::crf, Decoder::expected},
                                          {SurrogateKind::m3n, Decoder::viterbi}}) {
    const Dataset data = test::random_dataset(rng, 200, 3, 4);
    const FlatModel chain = random_chain_model(rng, 3, 4, 0.7, surrogate, decode);
    FlatModel classes = chain;
    classes.task = "multiclass";
    classes.decode = decode == Decoder::viterbi ? Decoder::argmax : decode;
    classes.weights = std::get<std::vector<double>>(chain.chain.features);
    for (std::size_t c = 0; c < 4; ++c)
      classes.weights.push_back(chain.chain.bias[c] + chain.chain.start[c] + chain.chain.end[c]);
    classes.chain = {};
    EXPECT_EQ(chain.predict(view(data.x), data.feature_rows), classes.predict(view(data.x)));
  }
}

TEST(SequencePredict, RefusesWhatDoesNotFit) {
  Rng rng(9);
  const Dataset data = test::random_sequences(rng, 5, 3, 3, 4);
  const FlatModel model = random_chain_model(rng, 3, 3, 1, SurrogateKind::m3n, Decoder::viterbi);
  const Dataset wide = test::random_sequences(rng, 5, 4, 3, 4);
  EXPECT_THROW(model.predict(view(wide.x), wide.feature_rows), Error);
  const std::size_t tokens = rows(data.x);
  ASSERT_GT(tokens, 4U);
  EXPECT_THROW(model.predict(view(data.x), Groups(tokens + 1)), Error);
  EXPECT_THROW(model.predict(view(data.x), Groups(tokens - 1)), Error);
  for (const std::vector<std::size_t>& offsets : {std::vector<std::size_t>{0, 0, tokens},
                                                  {1, tokens},
                                                  {0, 4, 2, tokens},
                                                  {0, tokens + 5},
                                                  {0, tokens + 5, tokens}})
    EXPECT_THROW(model.predict(view(data.x), Groups(offsets)), Error);
  EXPECT_NO_THROW(model.predict(view(data.x), Groups(std::vector<std::size_t>{0, 3, tokens})));
  EXPECT_THROW(model.predict(view(data.x)), Error);
  EXPECT_THROW(model.scores(view(data.x)), Error);
  TrainOptions o;
  o.task = "multiclass";
  const Dataset rows_alone = test::random_dataset(rng, 20, 3, 3);
  EXPECT_THROW(fit(rows_alone, o).model.predict(data), Error);
  Dataset huge = data;
  std::get<DenseMatrix>(huge.x).values.assign(rows(data.x) * 3, 1e308);
  FlatModel steep = model;
  for (double& w : std::get<std::vector<double>>(steep.chain.features)) w *= 1e10;
  EXPECT_THROW(steep.predict(view(huge.x), huge.feature_rows), Error);
}

TEST(SequenceFit, RefusesDataThatCannotBeLearntFrom) {
  Rng rng(10);
  const Dataset good = test::random_sequences(rng, 6, 3, 3, 4);
  TrainOptions o;
  o.task = "sequence";
  const auto refused = [&](auto&& spoil) {
    Dataset data = good;
    spoil(data);
    EXPECT_THROW(fit(std::move(data), o), Error);
  };
  EXPECT_NO_THROW(fit(good, o));
  refused([](Dataset& d) { d.label[2] = unknown_label; });
  refused([](Dataset& d) { d.label[2] = 3; });
  refused([](Dataset& d) { d.label.pop_back(); });
  refused([](Dataset& d) { d.class_names.resize(1), std::fill(d.label.begin(), d.label.end(), 0); });
  refused([](Dataset& d) { d.weight.assign(d.examples(), -1); });
  refused([](Dataset& d) { d.labels = d.feature_rows = Groups(std::size_t{0}); });
  refused([](Dataset& d) {
    const std::size_t tokens = d.label.size();
    d.labels = d.feature_rows = Groups(std::vector<std::size_t>{0, 0, tokens});
  });
}

}  // namespace
}  // namespace m4n::detail

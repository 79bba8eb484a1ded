// Labels that may be answered by unsure: formulas against those of classes with three predictions, thresholds against
// expected costs, models with and without edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "structures/classes/decoder.h"
#include "structures/classes/surrogates.h"
#include "structures/label_sets/surrogates.h"
#include "structures/label_sets/training.h"
#include "structures/structure.h"
#include "support/generated_file.h"

namespace m4n::detail {
namespace {

// Costs of three labels; of some the third answer never pays.
LabelCosts random_costs(Rng& rng) {
  std::vector<double> miss, alarm, unsure;
  for (int j = 0; j < 3; ++j) {
    miss.push_back(std::exp(rng.normal()));
    alarm.push_back(std::exp(rng.normal()));
    unsure.push_back(miss.back() * alarm.back() / (miss.back() + alarm.back()) * rng.uniform(0.1, 1.4));
  }
  return {miss, alarm, "test", {}, unsure};
}

// The game of one label as classes play it: scores (-s, s), costs divided by the number of labels.
CostMatrix one_label(const LabelCosts& costs, std::size_t j) {
  std::vector<double> values = costs.matrix(j).values();
  for (double& value : values) value /= static_cast<double>(costs.labels());
  return CostMatrix::from_values(values, 2, "matrix", {"0", "1"}, "test", {"0", "1", "unsure"});
}

TEST(Unsure, FormulasAreThoseOfThreePredictions) {
  Rng rng(1, 0);
  for (int round = 0; round < 300; ++round) {
    const LabelCosts costs = random_costs(rng);
    const OnOffMaxMin labels(costs);
    OnOffMaxMin::Workspace none;
    AlignedVector<double> s(kernels::padded(3)), m(s.size());
    const double c = std::exp(2 * rng.normal());
    for (std::size_t j = 0; j < 3; ++j) {
      s[j] = rng.below(5) == 0 ? 0 : 0.5 * rng.normal();
      m[j] = rng.below(4) == 0 ? (rng.below(2) == 0 ? -1.0 : 1.0) : rng.uniform(-1, 1);
    }
    double value = 0, risk = 0;
    AlignedVector<double> moved = m;
    std::vector<std::uint8_t> state;
    labels.prox(s, c, {}, moved, state, none);
    for (std::size_t j = 0; j < 3; ++j) {
      const CostMatrix cost = one_label(costs, j);
      const MatrixMaxMin game(cost, MatrixMaxMin::all_solves);
      auto workspace = game.workspace();
      std::vector<std::uint8_t> own(game.state_size());
      AlignedVector<double> v(kernels::padded(2), kernels::padding_score), mu(v.size());
      v[0] = -s[j];
      v[1] = s[j];
      mu[0] = (1 - m[j]) / 2;
      mu[1] = (1 + m[j]) / 2;
      value += game.conjugate(v, {}, own, workspace);
      risk += game.neg_omega(mu, {}, workspace);
      // (c/2)|m' - m|^2 is (c' / 2)|mu' - mu|^2 with |mu' - mu|^2 = |m' - m|^2 / 2.
      game.prox(v, 2 * c, {}, mu, own, workspace);
      EXPECT_NEAR(moved[j], mu[1] - mu[0], 1e-7);
    }
    EXPECT_NEAR(labels.conjugate(s, {}, state, none), value, 1e-9);
    EXPECT_NEAR(labels.neg_omega(m, {}, none), risk, 1e-9);
    AlignedVector<double> best(s.size());
    labels.argmax(s, {}, best, state, none);
    double attained = labels.neg_omega(best, {}, none);
    for (std::size_t j = 0; j < 3; ++j) attained += s[j] * best[j];
    EXPECT_NEAR(attained, value, 1e-9);
  }
}

TEST(Unsure, ThresholdsAreThoseOfTheDecoders) {
  Rng rng(2, 0);
  for (int round = 0; round < 200; ++round) {
    const LabelCosts costs = random_costs(rng);
    for (const auto& [surrogate, decode] : {std::pair{SurrogateKind::m4n, Decoder::adversary},
                                            {SurrogateKind::crf, Decoder::expected},
                                            {SurrogateKind::qs, Decoder::argmax}}) {
      const std::vector<LabelThreshold> threshold = label_thresholds(surrogate, decode, costs);
      for (std::size_t j = 0; j < 3; ++j) {
        const double s = rng.normal();
        if (std::abs(s - threshold[j].low) < 1e-6 || std::abs(s - threshold[j].high) < 1e-6) continue;
        std::int32_t expected = 0;
        if (surrogate == SurrogateKind::qs) {
          const double miss = costs.miss(j), alarm = costs.false_alarm(j), p = (2 * s + alarm) / (miss + alarm);
          const double risk[] = {p * miss, (1 - p) * alarm, costs.unsure(j)};
          expected = static_cast<std::int32_t>(std::min_element(risk, risk + 3) - risk);
          if (p < 0 || p > 1) continue;
        } else {
          AlignedVector<double> v(kernels::padded(2), kernels::padding_score);
          v[0] = -s;
          v[1] = s;
          const CostMatrix cost = one_label(costs, j);
          expected = make_decoder({surrogate, decode, 0, &cost})->decode(v, 0);
        }
        EXPECT_EQ(threshold[j].decide(s), expected) << to_string(surrogate) << " " << s;
      }
    }
  }
}

TEST(Unsure, ModelsAreCertifiedSavedAndJudged) {
  const test::GeneratedFile file("multilabel", 150, 1);
  const std::size_t k = file.data.class_names.size();
  for (const char* edges : {"none", "tree"})
    for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::crf, SurrogateKind::qs}) {
      if (surrogate == SurrogateKind::qs && std::string(edges) == "tree") continue;
      TrainOptions options = file.options;
      options.surrogate = surrogate;
      options.edges = edges;
      options.reject = 0.3;
      const FitResult found = fit(file.data, options);
      EXPECT_TRUE(found.report.certificate.converged);
      const Model back = Model::from_bytes(found.model.to_bytes(), "memory");
      const std::vector<std::int32_t> marks = back.predict(file.data);
      EXPECT_EQ(marks, found.model.predict(file.data));
      double sum = 0, wrong = 0, unsure = 0;
      for (std::size_t e = 0; e < marks.size(); ++e) {
        const bool third = marks[e] == LabelCosts::not_sure;
        unsure += third ? 1 : 0;
        wrong += !third && marks[e] != file.data.label[e] ? 1 : 0;
      }
      const auto all = static_cast<double>(marks.size());
      sum = (wrong + 0.3 * unsure) / all;
      EXPECT_GT(unsure, 0);
      EXPECT_LT(unsure, all);
      EXPECT_NEAR(found.report.train_loss, sum, 1e-9);
      const Evaluation judged = evaluate(back, file.data, marks);
      EXPECT_NEAR(judged.loss, sum, 1e-9);
      for (const auto& [name, value] : judged.metrics) {
        if (name == "rejected") {
          EXPECT_NEAR(value, unsure / all, 1e-12);
        }
        if (name == "error_of_rest") {
          EXPECT_NEAR(value, wrong / (all - unsure), 1e-12);
        }
      }
      if (surrogate != SurrogateKind::crf) continue;
      const std::vector<double> p = back.marginals(file.data);
      for (std::size_t e = 0; e < marks.size(); ++e)
        if (std::abs(std::min(p[e], 1 - p[e]) - 0.3) > 1e-9) {
          EXPECT_EQ(marks[e] == LabelCosts::not_sure, std::min(p[e], 1 - p[e]) > 0.3);
        }
    }
  EXPECT_EQ(k, file.data.class_names.size());
  TrainOptions margin = file.options;
  margin.surrogate = SurrogateKind::m3n;
  margin.reject = 0.3;
  EXPECT_THROW(fit(file.data, margin), UsageError);
}

TEST(Unsure, FilesHaveAThirdCost) {
  const std::vector<std::string> names{"y1", "y2"};
  const LabelCosts plain = LabelCosts::from_csv("1,2,0.3\n3,4,0.5\n", names, "file");
  EXPECT_EQ(plain.unsure(1), 0.5);
  EXPECT_EQ(plain.false_alarm(0), 2);
  const LabelCosts named =
      LabelCosts::from_csv("label,miss,false_alarm,unsure\ny2,3,4,0.5\ny1,1,2,0.3\n", names, "file");
  EXPECT_EQ(kept_costs(named), kept_costs(plain));
  EXPECT_FALSE(LabelCosts::from_csv("y1,1,2\ny2,3,4\n", names, "file").has_unsure());
  EXPECT_THROW(LabelCosts::from_csv("1,2,0.3\n3,4\n", names, "file"), Error);
  EXPECT_THROW(LabelCosts::from_csv("1,2,-1\n3,4,1\n", names, "file"), Error);
  EXPECT_THROW(plain.with_unsure(1, names), UsageError);
}

}  // namespace
}  // namespace m4n::detail

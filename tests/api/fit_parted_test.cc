// Fits in parts beside fits in memory: one optimum whatever the parts, one certificate over all of them, sums that do
// not depend on who computed what before, and what is refused.
#include "api/fit_parted.h"

#include <gtest/gtest.h>

#include <cmath>

#include "m4n/error.h"
#include "m4n/fit.h"
#include "structures/structure.h"
#include "support/random_dataset.h"

namespace m4n::detail {
namespace {

// Rows cut at multiples of a third, the last part with one row.
struct Cut {
  std::vector<Part> parts;
  std::vector<PartCentres> centres;
};

Cut cut(const DenseView& x, const std::vector<std::int32_t>& label, const std::vector<double>& weight) {
  Cut out;
  const std::size_t n = x.rows;
  const std::size_t ends[] = {0, n / 3, 2 * n / 3, n - 1, n};
  for (std::size_t c = 0; c + 1 < std::size(ends); ++c) {
    const std::size_t first = ends[c], count = ends[c + 1] - first;
    out.parts.push_back({DenseView{x.data + first * x.stride, count, x.cols, x.stride},
                         std::span(label).subspan(first, count), std::span(weight).subspan(first, count)});
  }
  out.centres.resize(out.parts.size());
  return out;
}

RoundSums all(const PartedTraining& training, Cut& cut, std::span<const double> w, std::optional<double> moving,
              double smoothing) {
  RoundSums out;
  out.gradient.assign(w.size(), 0.0);
  for (std::size_t c = 0; c < cut.parts.size(); ++c) {
    const RoundSums part = training.round(cut.parts[c], w, moving, smoothing, cut.centres[c], 1);
    for (std::size_t j = 0; j < part.values.size(); ++j) out.values[j] += part.values[j];
    for (std::size_t e = 0; e < w.size(); ++e) out.gradient[e] += part.gradient[e];
  }
  return out;
}

Dataset names_of(const Dataset& data) {
  Dataset out;
  out.class_names = data.class_names;
  return out;
}

TEST(FitParted, FindsTheOptimumOfAFitInMemory) {
  Rng rng(1);
  for (const char* task : {"multiclass", "ordinal"})
    for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
      for (const double smoothing : {0.0, 0.5}) {
        if (smoothing > 0 && surrogate != SurrogateKind::m4n) continue;
        SCOPED_TRACE(::testing::Message() << task << ' ' << to_string(surrogate) << " smoothing " << smoothing);
        const Dataset data = test::random_dataset(rng, 80, 3, 4);
        TrainOptions o;
        o.task = task;
        o.surrogate = surrogate;
        o.smoothing = smoothing;
        o.lambda = 0.02;
        o.tol = 1e-5;
        o.epochs = 20'000;
        for (std::size_t t = 0; t < 4 && surrogate == SurrogateKind::m4n; ++t)
          for (std::size_t p = 0; p < 4; ++p) o.cost.push_back(t == p ? 0 : rng.uniform(0.5, 3));

        const Standardizer standardizer = fit_standardizer(view(data.x), {});
        Features x = data.x;
        apply_in_place(standardizer, x);
        const std::vector<double> weight(80, 1.0 / 80);
        Cut parts = cut(std::get<DenseMatrix>(x).view(), data.label, weight);
        const auto training = parted_training(o, names_of(data));
        double judged = -1;
        const Model model = fit_parted(
            o, names_of(data), {80, 80, 3, false, standardizer},
            [&](std::span<const double> w, std::optional<double> moving, double g) {
              return all(*training, parts, w, moving, g);
            },
            [&](const Model& found) {
              Dataset examples = data;
              examples.x = x;
              return judged = evaluate(found, examples, found.predict(examples)).loss;
            },
            {});

        const FitResult memory = fit(data, o);
        const Certificate &a = model.certificate(), &b = memory.report.certificate;
        EXPECT_TRUE(a.converged) << a.relative_gap();
        EXPECT_LE(a.dual, b.primal * (1 + 1e-10));
        EXPECT_LE(b.dual, a.primal * (1 + 1e-10));
        EXPECT_NEAR(a.primal, b.primal, 3 * o.tol * b.primal);
        EXPECT_EQ(model.decode(), memory.model.decode());
        EXPECT_EQ(model.cost(), memory.model.cost());
        EXPECT_EQ(model.common().train_loss, judged);
        EXPECT_EQ(evaluate(model, data, model.predict(data)).loss, judged);
        EXPECT_NEAR(model.common().norm_squared, memory.report.norm_squared, 0.05 * memory.report.norm_squared);
        EXPECT_EQ(Model::from_bytes(model.to_bytes(), "test").to_bytes(), model.to_bytes());
      }
}

// A round says the same whatever was asked before, and leaves the centres alone unless they are to move.
TEST(FitParted, RoundsAreFunctionsOfTheirArguments) {
  Rng rng(2);
  const Dataset data = test::random_dataset(rng, 40, 3, 5);
  TrainOptions o;
  o.task = "multiclass";
  for (std::size_t e = 0; e < 25; ++e) o.cost.push_back(e % 6 == 0 ? 0 : rng.uniform(0.5, 3));
  const auto training = parted_training(o, names_of(data));
  const std::vector<double> weight(40, 1.0 / 40);
  const Part part{view(data.x), data.label, weight};
  std::vector<double> w(4 * 5), other(4 * 5);
  for (double& value : w) value = rng.normal();
  for (double& value : other) value = 3 * rng.normal();

  PartCentres centres;
  training->round(part, w, 0.5, 0.25, centres, 1);
  EXPECT_EQ(centres.mu.size(), 40U * 5);
  const PartCentres before = centres;
  const RoundSums first = training->round(part, w, {}, 0.25, centres, 1);
  training->round(part, other, {}, 0.1, centres, 1);
  const RoundSums again = parted_training(o, names_of(data))->round(part, w, {}, 0.25, centres, 2);
  EXPECT_EQ(first.values, again.values);
  EXPECT_EQ(first.gradient, again.gradient);
  EXPECT_EQ(centres.mu, before.mu);
  EXPECT_EQ(centres.state, before.state);
  PartCentres moved = before, moved_again = before;
  training->round(part, other, 0.25, 0.1, moved, 1);
  training->round(part, other, 0.25, 0.1, moved_again, 1);
  EXPECT_NE(moved.mu, before.mu);
  EXPECT_EQ(moved.mu, moved_again.mu);
}

TEST(FitParted, RefusesWhatItCannotDo) {
  Dataset names;
  names.class_names = {"a", "b", "c"};
  const auto refused = [&](auto&& change) {
    TrainOptions o;
    o.task = "multiclass";
    change(o);
    EXPECT_THROW(parted_training(o, names), UsageError);
  };
  refused([](TrainOptions& o) { o.surrogate = SurrogateKind::qs; });
  refused([](TrainOptions& o) { o.features = FeatureKind::rbf; });
  refused([](TrainOptions& o) {
    o.surrogate = SurrogateKind::m3n;
    o.decode = Decoder::adversary;
  });
  for (const Structure* structure : structures())
    if (structure->name() != "multiclass" && structure->name() != "ordinal")
      refused([&](TrainOptions& o) { o.task = structure->name(); });
}

TEST(FitParted, RefusesPartsThatDoNotFit) {
  Dataset names;
  names.class_names = {"a", "b"};
  TrainOptions o;
  o.task = "multiclass";
  const auto training = parted_training(o, names);
  const DenseMatrix x{2, 1, {1, 2}};
  const std::vector<double> weight{0.5, 0.5}, w(4, 0.0);
  PartCentres none, wrong{{1}, {}};
  const std::vector<std::int32_t> label{0, 1}, unknown{0, 2}, one{0};
  EXPECT_NO_THROW(training->round({x.view(), label, weight}, w, {}, 1, none, 1));
  EXPECT_THROW(training->round({x.view(), unknown, weight}, w, {}, 1, none, 1), Error);
  EXPECT_THROW(training->round({x.view(), one, weight}, w, {}, 1, none, 1), Error);
  EXPECT_THROW(training->round({x.view(), label, weight}, std::span(w).first(2), {}, 1, none, 1), Error);
  EXPECT_THROW(training->round({x.view(), label, weight}, w, {}, 1, wrong, 1), Error);
}

}  // namespace
}  // namespace m4n::detail

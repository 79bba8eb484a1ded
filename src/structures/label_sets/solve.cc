#include "structures/label_sets/solve.h"

#include <fmt/format.h>

#include <cmath>

#include "core/message.h"
#include "core/wording.h"
#include "solvers/crf_path.h"
#include "solvers/quadratic.h"
#include "solvers/quadratic_kernel.h"
#include "structures/label_sets/surrogates.h"
#include "structures/label_sets/thresholds.h"

namespace m4n::detail {
namespace {

void check(const MultilabelRequest& request) {
  const std::size_t labels = request.costs->labels(), n = request.weight.size();
  const std::size_t rows =
      request.gram != nullptr ? request.gram->n() : std::visit([](const auto& x) { return x.rows; }, request.x);
  if (n == 0) throw Error("no example to learn labels from");
  if (rows != n || request.label.size() != n * labels)
    throw Error(say("{} of features and {} for {} with {} each", counted(rows, "row"),
                    counted(request.label.size(), "label"), counted(n, "example"), counted(labels, "label")));
  for (std::size_t e = 0; e < request.label.size(); ++e)
    if (request.label[e] != 0 && request.label[e] != 1)
      throw Error(say("example {}: label {} is {}; expected 0 or 1", e / labels + 1, e % labels + 1, request.label[e]));
}

// S(s, y) = sum_j (s_j - t_j)^2 and its slope; without a target, its curvature.
struct LabelRegression {
  const LabelCosts* costs;
  bool homogeneous = false;

  double target(std::size_t j, LabelView y) const {
    return 0.5 * (y[j] == 1 ? costs->miss(j) : -costs->false_alarm(j));
  }
  double operator()(std::span<const double> s, LabelView y, std::span<double> slope) const {
    std::fill(slope.begin(), slope.end(), 0.0);
    double value = 0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double residual = s[j] - (homogeneous ? 0 : target(j, y));
      value += residual * residual;
      slope[j] = 2 * residual;
    }
    return value;
  }
};

// What a label's score is regressed onto, for every example, padded.
AlignedVector<double> regression_targets(const Problem<KernelScorer>& problem, const LabelCosts& costs) {
  const std::size_t stride = kernels::padded(costs.labels());
  AlignedVector<double> out(problem.examples() * stride, 0.0);
  const LabelRegression regression{&costs};
  for (std::size_t i = 0; i < problem.examples(); ++i)
    for (std::size_t j = 0; j < costs.labels(); ++j) out[i * stride + j] = regression.target(j, problem.y(i));
  return out;
}

template <class Scorer, class View>
void solve(const Problem<Scorer>& problem, const View& x, const MultilabelRequest& request, const PathRequest& path,
           const EmitResult& emit) {
  const LabelCosts& costs = *request.costs;
  switch (path.options->surrogate) {
    case SurrogateKind::m4n:
      return block_dual(problem, OnOffMaxMin(costs), path, emit);
    case SurrogateKind::m3n:
      return block_dual(problem, OnOffMargin(costs), path, emit);
    case SurrogateKind::crf:
      return crf_path(problem, OnOffCrf(costs.labels()), path, emit);
    case SurrogateKind::qs:
      if constexpr (std::is_same_v<Scorer, KernelScorer>) {
        const AlignedVector<double> targets = regression_targets(problem, costs);
        const std::size_t stride = kernels::padded(costs.labels());
        quadratic_kernel_path(
            problem, *request.gram, costs.labels(), [&](std::size_t i) { return targets.data() + i * stride; }, path,
            emit);
      } else {
        quadratic_path(problem, x, request.bias, LabelRegression{&costs}, LabelRegression{&costs, true}, path, emit);
      }
  }
}

template <class Scorer>
std::vector<std::int32_t> predict(const Scorer& scorer, std::span<const double> threshold, unsigned threads) {
  constexpr std::size_t chunk = 512;
  const std::size_t labels = threshold.size();
  std::vector<std::int32_t> out(scorer.examples() * labels);
  parallel_chunks(scorer.examples(), chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    AlignedVector<double> s(scorer.largest_padded_parts());
    for (std::size_t i = first; i < last; ++i) {
      scorer.scores(i, s);
      for (std::size_t j = 0; j < labels; ++j) out[i * labels + j] = s[j] > threshold[j] ? 1 : 0;
    }
  });
  return out;
}

}  // namespace

// lambda/2 |w|^2 is lambda |W|^2 of the scorer's weights W.
void solve_multilabel(const MultilabelRequest& request,
                      const std::function<void(std::unique_ptr<MultilabelSolution>)>& emit) {
  check(request);
  const TrainOptions& o = *request.options;
  const LabelCosts& costs = *request.costs;
  if (o.oracle == OracleKind::spmp)
    throw UsageError(
        say("--oracle spmp is not for multi-label problems, whose max-min oracle is a formula; leave it out"));
  std::vector<double> thresholds;
  if (request.decode != Decoder::automatic) thresholds = label_thresholds(o.surrogate, request.decode, costs);
  std::vector<double> doubled(request.lambdas.begin(), request.lambdas.end());
  for (double& lambda : doubled) lambda *= 2;
  const PathRequest path{doubled, request.options, request.context};
  const auto run = [&](auto scorer, const auto& x) {
    using Scorer = decltype(scorer);
    const Problem<Scorer> problem{&scorer, request.label, Groups(request.weight.size(), costs.labels()), request.weight,
                                  0};
    solve(problem, x, request, path, [&](const SolveResult& result) {
      auto out = std::make_unique<MultilabelSolution>();
      out->result = result;
      out->weights = scorer.weights();
      out->norm_squared = 2 * scorer.norm_squared();
      if (!thresholds.empty()) out->predicted = predict(scorer, thresholds, request.context->threads);
      emit(std::move(out));
    });
  };
  std::visit(
      [&](const auto& x) {
        using View = std::remove_cvref_t<decltype(x)>;
        if (request.gram == nullptr) {
          run(LinearScorer<View>(x, costs.labels(), request.bias), x);
        } else if constexpr (std::is_same_v<View, DenseView>) {
          run(KernelScorer(*request.gram, costs.labels()), x);
        }
      },
      request.x);
}

}  // namespace m4n::detail

#include "structures/label_sets/solve.h"

#include <fmt/format.h>

#include <cmath>

#include "core/wording.h"
#include "m4n/error.h"
#include "solvers/crf_path.h"
#include "solvers/quadratic.h"
#include "solvers/quadratic_kernel.h"
#include "structures/label_sets/surrogates.h"

namespace m4n {
namespace {

void check(const MultilabelRequest& request) {
  const std::size_t labels = request.costs->labels(), n = request.weight.size();
  const std::size_t rows =
      request.gram != nullptr ? request.gram->n() : std::visit([](const auto& x) { return x.rows; }, request.x);
  if (n == 0) throw Error("no example to learn labels from");
  if (rows != n || request.label.size() != n * labels)
    throw Error(fmt::format("{} of features and {} for {} with {} each", counted(rows, "row"),
                            counted(request.label.size(), "label"), counted(n, "example"), counted(labels, "label")));
  for (std::size_t e = 0; e < request.label.size(); ++e)
    if (request.label[e] != 0 && request.label[e] != 1)
      throw Error(
          fmt::format("example {}: label {} is {}; expected 0 or 1", e / labels + 1, e % labels + 1, request.label[e]));
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

template <class Scorer, class View>
void quadratic(Problem<Scorer> problem, const View& x, const LabelCosts& costs, const SolveRequest& request,
               const Emit& emit) {
  const SolverOptions options = solver_options(*request.options);
  const bool direct = x.cols + (request.bias ? 1 : 0) <= largest_factorised;
  const Eigen::MatrixXd moments = direct ? second_moments(x, request.bias, request.weight) : Eigen::MatrixXd();
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss loss(problem, LabelRegression{&costs});
    PrimalLoss curvature(problem, LabelRegression{&costs, true});
    std::optional<SolveResult> result;
    if (direct) result = quadratic_direct(problem, loss, moments, options, *request.context);
    emit(result ? *result : quadratic_cg(problem, loss, curvature, options, *request.context));
  }
}

void quadratic(Problem<KernelScorer> problem, const LabelCosts& costs, const SolveRequest& request, const Emit& emit) {
  const std::size_t labels = costs.labels(), stride = kernels::padded(labels), n = problem.examples();
  AlignedVector<double> targets(n * stride, 0.0), a(n * stride, 0.0);
  const LabelRegression regression{&costs};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < labels; ++j) targets[i * stride + j] = regression.target(j, problem.y(i));
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolveResult result = quadratic_kernel(
        problem, *request.gram, labels, [&](std::size_t i) { return targets.data() + i * stride; }, a,
        solver_options(*request.options), *request.context);
    problem.scorer->set_coefficients(a, request.context->threads);
    emit(result);
  }
}

template <class Scorer, class View>
void solve(const Problem<Scorer>& problem, const View& x, const LabelCosts& costs, const SolveRequest& request,
           const Emit& emit) {
  switch (request.options->surrogate) {
    case SurrogateKind::m4n:
      if (request.options->oracle == OracleKind::spmp)
        throw UsageError(
            "--oracle spmp is not for multi-label problems, whose max-min oracle is a formula; leave it "
            "out");
      return block_dual(problem, OnOffMaxMin(costs), request, emit);
    case SurrogateKind::m3n:
      return block_dual(problem, OnOffMargin(costs), request, emit);
    case SurrogateKind::crf:
      return crf_path(problem, OnOffCrf(costs.labels()), request, emit);
    case SurrogateKind::qs:
      if constexpr (std::is_same_v<Scorer, KernelScorer>) {
        return quadratic(problem, costs, request, emit);
      } else {
        return quadratic(problem, x, costs, request, emit);
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

void solve_multilabel(const MultilabelRequest& request, const std::function<void(MultilabelSolution)>& emit) {
  check(request);
  const TrainOptions& o = *request.options;
  const LabelCosts& costs = *request.costs;
  std::vector<double> thresholds;
  if (request.decode != Decoder::automatic) thresholds = label_thresholds(o.surrogate, request.decode, costs);
  std::vector<double> doubled(request.lambdas.begin(), request.lambdas.end());
  for (double& lambda : doubled) lambda *= 2;
  const SolveRequest inner{request.x, request.gram, request.bias,       request.label,   request.weight,
                           nullptr,   doubled,      Decoder::automatic, request.options, request.context};
  const auto run = [&](auto scorer, const auto& x) {
    using Scorer = decltype(scorer);
    const Problem<Scorer> problem{&scorer, request.label, Groups(request.weight.size(), costs.labels()), request.weight,
                                  0};
    solve(problem, x, costs, inner, [&](const SolveResult& result) {
      MultilabelSolution out{result, scorer.weights(), 2 * scorer.norm_squared(), {}};
      if (!thresholds.empty()) out.predicted = predict(scorer, thresholds, request.context->threads);
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

}  // namespace m4n

#include "structures/chains/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/message.h"
#include "solvers/block_dual.h"
#include "solvers/lbfgs.h"
#include "structures/chains/ascent.h"
#include "structures/chains/crf.h"
#include "structures/chains/paper.h"
#include "structures/chains/scorer.h"

namespace m4n::detail {
namespace {

// Features are kept in float where they are sparse, so many that memory matters, and the tolerance does not ask for
// more than float has.
constexpr std::size_t many_weights = std::size_t{1} << 20;
constexpr double fine_tolerance = 1e-5;
// Dense features with at most this share of non-zeros are treated as sparse ones.
constexpr double thin = 0.4;
// The exponentiated gradient may need at most that many more epochs; then L-BFGS takes over.
constexpr double patient_epochs = 300;

template <class Scorer, class Oracle>
void by_atoms(Problem<Scorer> problem, const Oracle& oracle, const ChainRequest& request, const EmitResult& emit) {
  const SentenceGram<Scorer> gram(*problem.scorer);
  ChainDual<Oracle> dual(problem, *request.cost);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    emit(ChainAscent(problem, oracle, gram, dual, solver_options(*request.options), *request.context).run());
  }
}

// L-BFGS from the weights that the scorer holds, told as the continuation of `before`.
template <class Scorer>
SolveResult by_lbfgs(const Problem<Scorer>& problem, const ChainRequest& request, const SolveResult& before) {
  const std::size_t labels = problem.scorer->labels(), stride = problem.scorer->stride();
  ChainGibbs gibbs;
  PrimalLoss loss(problem, [&](std::span<const double> v, LabelView y, std::span<double> slope) {
    double value = gibbs.marginals(v, y.size(), labels, slope);
    for (std::size_t m = 0; m < y.size(); ++m) {
      const std::size_t unary = m * stride + static_cast<std::size_t>(y[m]);
      value -= v[unary];
      slope[unary] -= 1;
      if (m == 0) continue;
      const std::size_t edge =
          (y.size() + static_cast<std::size_t>(y[m - 1])) * stride + static_cast<std::size_t>(y[m]);
      value -= v[edge];
      slope[edge] -= 1;
    }
    return value;
  });
  SolverOptions options = solver_options(*request.options);
  const double known = before.epochs > 0 ? before.certificate.dual : -std::numeric_limits<double>::infinity();
  options.epochs -= before.epochs;
  if (options.time_limit > 0) options.time_limit = std::max(1e-9, options.time_limit - before.seconds);
  Context context = *request.context;
  if (context.observe)
    context.observe = [&](Progress p) {
      p.epoch += before.epochs;
      p.epochs += before.epochs;
      p.seconds += before.seconds;
      p.dual = std::max(p.dual, known);
      p.relative_gap = Certificate{p.primal, p.dual, false}.relative_gap();
      request.context->observe(p);
    };
  SolveResult result = lbfgs(problem, loss, options, context);
  result.certificate.dual = std::max(result.certificate.dual, known);
  result.certificate = judged(result.certificate, options.tol);
  result.epochs += before.epochs;
  result.oracle_calls += before.oracle_calls;
  result.seconds += before.seconds;
  return result;
}

template <class Scorer>
void crf(Problem<Scorer> problem, const ChainRequest& request, const EmitResult& emit) {
  constexpr bool has_weights = requires(Scorer & s) { s.raw(); };
  const TrainOptions& o = *request.options;
  const SentenceGram<Scorer> gram(*problem.scorer);
  GibbsDual dual(problem);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    SolveResult result;
    if (o.solver != SolverKind::lbfgs) {
      const bool may_change = has_weights && o.solver == SolverKind::automatic;
      result = ChainGradient(problem, gram, dual, solver_options(o), *request.context)
                   .run(may_change ? patient_epochs : std::numeric_limits<double>::infinity());
    }
    if constexpr (has_weights) {
      const bool finished =
          result.epochs > 0 && (result.certificate.converged || result.interrupted || result.epochs >= o.epochs ||
                                (o.time_limit && result.seconds >= *o.time_limit));
      if (o.solver == SolverKind::lbfgs || (o.solver == SolverKind::automatic && !finished)) {
        result = by_lbfgs(problem, request, result);
        adopt_scores(problem, dual);
      }
    }
    emit(result);
  }
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const ChainRequest& request, const EmitResult& emit) {
  const TrainOptions& o = *request.options;
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      if (o.solver == SolverKind::gbcfw && o.oracle == OracleKind::spmp) {
        const std::size_t mean_length = request.label.size() / problem.examples();
        const ChainPaper paper(*request.cost, o.oracle_iterations, o.iterations_per_part, mean_length);
        return block_dual(problem, paper, request.path(), emit);
      }
      return by_atoms(problem, ChainMaxMin(*request.cost), request, emit);
    case SurrogateKind::m3n:
      return by_atoms(problem, ChainRival(*request.cost), request, emit);
    case SurrogateKind::crf:
      return crf(problem, request, emit);
    case SurrogateKind::qs:
      break;  // refused by validate()
  }
  throw UsageError(say("--surrogate {} cannot be trained on sequences", to_string(o.surrogate)));
}

using EmitSolution = std::function<void(std::unique_ptr<ChainSolution>)>;

template <class Scorer>
void run(Scorer scorer, const ChainRequest& request, const EmitSolution& emit) {
  const std::size_t labels = scorer.labels();
  const Problem<Scorer> problem{&scorer, request.label, *request.tokens, request.weight, 0};
  solve(problem, request, [&](const SolveResult& result) {
    const std::vector<double> tail = scorer.tail_weights();
    const auto start = tail.begin() + static_cast<std::ptrdiff_t>(labels * labels),
               end = start + static_cast<std::ptrdiff_t>(labels);
    auto out = std::make_unique<ChainSolution>();
    out->result = result;
    out->weights = {
        scorer.feature_weights(), scorer.bias_weights(), {tail.begin(), start}, {start, end}, {end, tail.end()}};
    out->norm_squared = scorer.norm_squared();
    emit(std::move(out));
  });
}

// Nothing if more than the share `thin` of the entries is there.
std::optional<SparseMatrix> thinned(const DenseView& x) {
  const auto entries = static_cast<double>(x.rows * x.cols);
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.rows; ++i)
    count += static_cast<std::size_t>(std::count_if(x.row(i).begin(), x.row(i).end(), [](double e) { return e != 0; }));
  if (static_cast<double>(count) > thin * entries) return std::nullopt;
  SparseMatrix out;
  out.rows = x.rows;
  out.cols = x.cols;
  out.column.reserve(count);
  out.value.reserve(count);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < x.cols; ++j) {
      if (x.row(i)[j] == 0) continue;
      out.column.push_back(static_cast<std::uint32_t>(j));
      out.value.push_back(x.row(i)[j]);
    }
    out.row_start.push_back(out.column.size());
  }
  return out;
}

}  // namespace

void solve_chains(const ChainRequest& request, const EmitSolution& emit) {
  const std::size_t labels = request.cost->k();
  const TrainOptions& o = *request.options;
  if (const auto* x = std::get_if<SparseView>(&request.x)) {
    if (x->cols * labels > many_weights && o.tol >= fine_tolerance && o.solver == SolverKind::automatic)
      return run(ChainScorer<SparseView, float>(*x, *request.tokens, labels, request.bias), request, emit);
    return run(ChainScorer<SparseView>(*x, *request.tokens, labels, request.bias), request, emit);
  }
  const auto& x = std::get<DenseView>(request.x);
  if (const std::optional<SparseMatrix> few = thinned(x))
    return run(ChainScorer<SparseView>(few->view(), *request.tokens, labels, request.bias), request, emit);
  run(ChainScorer<DenseView>(x, *request.tokens, labels, request.bias), request, emit);
}

}  // namespace m4n::detail

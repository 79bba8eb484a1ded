#include "solver/solve_chains.h"

#include <algorithm>
#include <functional>

#include "m4n/error.h"
#include "scorer/chain.h"
#include "solver/chain_ascent.h"
#include "solver/solve.h"

namespace m4n {
namespace {

template <class Scorer, class Oracle>
void by_atoms(Problem<Scorer> problem, const Oracle& oracle, const ChainRequest& request, const Emit& emit) {
  const SentenceGram<Scorer> gram(*problem.scorer);
  ChainDual<Oracle> dual(problem, *request.cost);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    emit(ChainAscent(problem, oracle, gram, dual, solver_options(*request.options), *request.context).run());
  }
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const ChainRequest& request, const Emit& emit) {
  const TrainOptions& o = *request.options;
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      return by_atoms(problem, ChainMaxMin(*request.cost), request, emit);
    case SurrogateKind::m3n:
      return by_atoms(problem, ChainRival(*request.cost), request, emit);
    default:
      throw UsageError("not yet");
  }
}

template <class Scorer>
std::vector<ChainSolution> run(Scorer scorer, const ChainRequest& request) {
  const std::size_t labels = scorer.labels();
  std::vector<ChainSolution> out;
  const Problem<Scorer> problem{&scorer, request.label, *request.tokens, request.weight, 0};
  solve(problem, request, [&](const SolveResult& result) {
    const std::vector<double> tail = scorer.tail_weights();
    const auto start = tail.begin() + static_cast<std::ptrdiff_t>(labels * labels),
               end = start + static_cast<std::ptrdiff_t>(labels);
    out.push_back(
        {result,
         {scorer.feature_weights(), scorer.bias_weights(), {tail.begin(), start}, {start, end}, {end, tail.end()}},
         scorer.norm_squared()});
  });
  return out;
}

}  // namespace

std::vector<ChainSolution> solve_chains(const ChainRequest& request) {
  const std::size_t labels = request.cost->k();
  return std::visit(
      [&](const auto& x) {
        return run(ChainScorer<std::remove_cvref_t<decltype(x)>>(x, *request.tokens, labels, request.bias), request);
      },
      request.x);
}

}  // namespace m4n

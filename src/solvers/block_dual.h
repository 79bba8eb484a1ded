// The choice between the block-dual solvers for a given surrogate, along a path of lambdas.
#pragma once
#include "solvers/gbcfw.h"
#include "solvers/prox_ascent.h"
#include "solvers/warm_start.h"

namespace m4n::detail {

inline GbcfwOptions gbcfw_options(const TrainOptions& o) {
  const bool paper = o.step == StepRule::paper || (o.step == StepRule::automatic && o.oracle == OracleKind::spmp);
  return {!paper, o.average.value_or(paper)};
}

template <class Scorer, Surrogate S>
void block_dual(Problem<Scorer> problem, const S& surrogate, const PathRequest& request, const EmitResult& emit) {
  DualPoint<S> dual(problem, surrogate);
  if (const auto* earlier = earlier_point<DualPoint<S>>(*request.context)) dual.adopt(*earlier);
  const SolverOptions options = solver_options(*request.options);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    if constexpr (ProxSurrogate<S>) {
      if (request.options->solver != SolverKind::gbcfw) {
        emit(prox_ascent(problem, surrogate, dual, options, *request.context));
        continue;
      }
    }
    // The paper's step starts at 1, which forgets any start; so every lambda starts afresh.
    const GbcfwOptions rule = gbcfw_options(*request.options);
    if (!rule.line_search) dual = DualPoint<S>(problem, surrogate);
    rebuild_weights(problem, surrogate, dual, request.context->threads);
    emit(gbcfw(problem, surrogate, dual, options, rule, *request.context));
  }
  leave_point(std::move(dual), *request.context);
}

}  // namespace m4n::detail

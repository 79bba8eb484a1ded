// The choice between the block-dual solvers for a given surrogate.
#pragma once
#include "solver/gbcfw.h"
#include "solver/prox_ascent.h"
#include "solver/solve.h"

namespace m4n {

inline GbcfwOptions gbcfw_options(const TrainOptions& o) {
  const bool paper = o.step == StepRule::paper || (o.step == StepRule::automatic && o.oracle == OracleKind::spmp);
  return {!paper, o.average.value_or(paper)};
}

template <class Scorer, Surrogate S>
SolveResult block_dual(const Problem<Scorer>& problem, const S& surrogate, const SolveRequest& request) {
  DualPoint<S> dual(problem, surrogate);
  const SolverOptions options = solver_options(*request.options);
  if constexpr (ProxSurrogate<S>) {
    if (request.options->solver != SolverKind::gbcfw)
      return prox_ascent(problem, surrogate, dual, options, *request.context);
  }
  return gbcfw(problem, surrogate, dual, options, gbcfw_options(*request.options), *request.context);
}

}  // namespace m4n

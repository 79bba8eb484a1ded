#include "solver/block_dual.h"
#include "solver/solve.h"
#include "surrogate/margin.h"

namespace m4n {

Solution solve_m3n(const SolveRequest& request) {
  return with_problem(
      request, [&](const auto& problem, const auto&) { return block_dual(problem, Margin(*request.cost), request); });
}

}  // namespace m4n

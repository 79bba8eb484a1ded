#include "solvers/block_dual.h"
#include "structures/classes/solve.h"
#include "structures/classes/margin.h"

namespace m4n {

std::vector<Solution> solve_m3n(const SolveRequest& request) {
  return with_problem(request, [&](const auto& problem, const auto&, const Emit& emit) {
    block_dual(problem, Margin(*request.cost), request, emit);
  });
}

}  // namespace m4n

#include "solvers/block_dual.h"
#include "structures/classes/margin.h"
#include "structures/classes/solve.h"

namespace m4n::detail {

void solve_m3n(const ClassRequest& request, const EmitClasses& emit_solution) {
  with_problem(request, emit_solution, [&](const auto& problem, const auto&, const EmitResult& emit) {
    block_dual(problem, Margin(*request.cost), request.path(), emit);
  });
}

}  // namespace m4n::detail

#include "solvers/crf_path.h"
#include "structures/classes/crf.h"
#include "structures/classes/solve.h"

namespace m4n::detail {

void solve_crf(const ClassRequest& request, const EmitClasses& emit_solution) {
  const Crf crf(request.cost->k());
  with_problem(request, emit_solution, [&](const auto& problem, const auto&, const EmitResult& emit) {
    crf_path(problem, crf, request.path(), emit);
  });
}

}  // namespace m4n::detail

#include "solvers/crf_path.h"
#include "structures/classes/crf.h"

namespace m4n {

std::vector<Solution> solve_crf(const SolveRequest& request) {
  const Crf crf(request.cost->k());
  return with_problem(
      request, [&](const auto& problem, const auto&, const Emit& emit) { crf_path(problem, crf, request, emit); });
}

}  // namespace m4n

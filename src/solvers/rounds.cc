// L-BFGS over rounds (rounds.h).
#include "solvers/rounds.h"

#include <algorithm>

#include "m4n/error.h"

namespace m4n::detail {

bool RoundPass::sum(const Watch* watch, std::optional<double> moving, double smoothing, SmoothSums& sums,
                    AlignedVector<double>& gradient) {
  if (watch != nullptr && watch->expired()) return false;
  const RoundSums found = (*round_)(w_, moving, smoothing);
  if (found.gradient.size() != w_.size()) throw Error("a round has sums of another length than the weights");
  sums = found.values;
  gradient.assign(found.gradient.begin(), found.gradient.end());
  return true;
}

SolveResult smooth_in_rounds(RoundPass& pass, std::size_t examples, double lambda, double smoothing,
                             const SolverOptions& options, const Context& context) {
  SmoothLoss loss(pass, lambda, smoothing);
  SolveResult result = lbfgs(examples, loss, options, context);
  result.solver = smoothing > 0 ? "smooth" : "lbfgs";
  return result;
}

}  // namespace m4n::detail

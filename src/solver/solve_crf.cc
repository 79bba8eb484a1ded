// CRF: block ascent (SDCA) first; where lambda is so small that it would need many passes, L-BFGS takes over from the
// weights reached (linear scores only). Both give lower bounds of the same optimum, so the certificate keeps the better
// one.
#include <algorithm>
#include <cmath>

#include "solver/block_dual.h"
#include "solver/lbfgs.h"
#include "solver/solve.h"
#include "surrogate/crf.h"

namespace m4n {
namespace {

constexpr int stage_epochs = 30;        // between two judgements of the pace
constexpr double patient_epochs = 150;  // block ascent may need at most that many more

// Solvers that move w itself need a w to move.
template <class Scorer>
concept HasWeights = requires(Scorer& s) {
  s.raw();
};

// mu_i = softmax(v_i): the dual point that goes with the weights L-BFGS found.
template <class Scorer>
void adopt_marginals(const Problem<Scorer>& problem, const Crf& crf, DualPoint<Crf>& dual) {
  AlignedVector<double> v(problem.scorer->largest_padded_parts()), mu(v.size());
  for (std::size_t i = 0; i < problem.examples(); ++i) {
    problem.scorer->scores(i, v);
    crf.space().marginals(v, mu);
    dual.store(i, mu);
  }
}

template <class Scorer>
SolveResult with_fallback(const Problem<Scorer>& problem, const Crf& crf, DualPoint<Crf>& dual,
                          const SolveRequest& request) {
  const TrainOptions& o = *request.options;
  SolverOptions options = solver_options(o);
  SolveResult total;
  const auto add = [&](SolveResult part) {
    part.epochs += total.epochs;
    part.oracle_calls += total.oracle_calls;
    part.seconds += total.seconds;
    if (total.epochs > 0 && total.certificate.dual > part.certificate.dual) {
      part.certificate.dual = total.certificate.dual;
      part.certificate.converged = part.certificate.relative_gap() <= options.tol;
    }
    total = part;
    if (o.time_limit) options.time_limit = std::max(1e-9, *o.time_limit - total.seconds);
  };
  const auto finished = [&] {
    return total.certificate.converged || total.interrupted || total.epochs >= o.epochs ||
           (o.time_limit && total.seconds >= *o.time_limit);
  };

  if (o.solver != SolverKind::lbfgs) {
    for (double gap = 1; !finished();) {
      if (o.solver == SolverKind::automatic && HasWeights<Scorer>)
        options.epochs = std::min(stage_epochs, o.epochs - total.epochs);
      options.seed = o.seed + static_cast<std::uint64_t>(total.epochs);
      add(prox_ascent(problem, crf, dual, options, *request.context));
      const double now = total.certificate.relative_gap(), rate = std::log(gap / now) / stage_epochs;
      if (!(rate > 0) || std::log(now / o.tol) / rate > patient_epochs) break;
      gap = now;
    }
  }
  if constexpr (HasWeights<Scorer>) {
    if (o.solver == SolverKind::prox || finished()) return total;
    options.epochs = o.epochs - total.epochs;
    const std::size_t k = request.cost->k();
    PrimalLoss loss(problem, [&, k](std::span<const double> v, LabelView y, std::span<double> slope) {
      const double value = crf.space().marginals(v, slope);
      slope[static_cast<std::size_t>(y[0])] -= 1;
      return value - v.first(k)[static_cast<std::size_t>(y[0])];
    });
    add(lbfgs(problem, loss, options, *request.context));
    adopt_marginals(problem, crf, dual);
  }
  return total;
}

}  // namespace

std::vector<Solution> solve_crf(const SolveRequest& request) {
  const Crf crf(request.cost->k());
  return with_problem(request, [&](auto problem, const auto&, const Emit& emit) {
    if (request.options->solver == SolverKind::gbcfw) return block_dual(problem, crf, request, emit);
    DualPoint<Crf> dual(problem, crf);
    for (const double lambda : request.lambdas) {
      problem.lambda = lambda;
      rebuild_weights(problem, crf, dual);
      emit(with_fallback(problem, crf, dual, request));
    }
  });
}

}  // namespace m4n

// CRF: block ascent (SDCA) first; where lambda is so small that it would need many passes, L-BFGS takes over from the
// weights reached (linear scores only). Both give lower bounds of the same optimum, so the certificate keeps the better
// one.
#pragma once
#include <algorithm>
#include <cmath>

#include "solvers/block_dual.h"
#include "solvers/lbfgs.h"

namespace m4n::detail {
namespace crf_path_parts {

inline constexpr int stage_epochs = 30;        // between two judgements of the pace
inline constexpr double patient_epochs = 150;  // block ascent may need at most that many more

// Solvers that move w itself need a w to move.
template <class Scorer>
concept HasWeights = requires(Scorer& s) {
  s.raw();
};

// mu_i = the marginals at v_i: the dual point that goes with the weights L-BFGS found.
template <class Scorer, class Crf>
void adopt_marginals(const Problem<Scorer>& problem, const Crf& crf, DualPoint<Crf>& dual) {
  AlignedVector<double> v(problem.scorer->largest_padded_parts()), mu(v.size());
  for (std::size_t i = 0; i < problem.examples(); ++i) {
    problem.scorer->scores(i, v);
    crf.space().marginals(v, mu);
    dual.store(i, mu);
  }
}

// Several solvers in a row, reported as one: epochs and seconds go on, and the best dual bound stays.
class Relay {
 public:
  explicit Relay(const PathRequest& request)
      : o_(*request.options), outer_(*request.context), options_(solver_options(o_)) {
    inner_ = outer_;
    if (outer_.observe)
      inner_.observe = [this](Progress p) {
        p.epoch += total_.epochs;
        p.epochs = o_.epochs;
        p.seconds += total_.seconds;
        const Certificate c = joined({p.primal, p.dual, false});
        p.dual = c.dual;
        p.relative_gap = c.relative_gap();
        outer_.observe(p);
      };
  }
  bool finished() const {
    return total_.certificate.converged || total_.interrupted || total_.epochs >= o_.epochs ||
           (o_.time_limit && total_.seconds >= *o_.time_limit);
  }
  // What the next solver may use, at most `epochs`.
  SolverOptions options(int epochs) const {
    SolverOptions out = options_;
    out.epochs = std::min(epochs, o_.epochs - total_.epochs);
    out.seed = o_.seed + static_cast<std::uint64_t>(total_.epochs);
    if (o_.time_limit) out.time_limit = std::max(1e-9, *o_.time_limit - total_.seconds);
    return out;
  }
  const Context& context() const { return inner_; }
  void add(SolveResult part) {
    part.epochs += total_.epochs;
    part.oracle_calls += total_.oracle_calls;
    part.seconds += total_.seconds;
    part.certificate = with_verdict(joined(part.certificate), o_.tol);
    total_ = part;
  }
  const SolveResult& total() const { return total_; }

 private:
  Certificate joined(Certificate c) const {
    if (total_.epochs > 0) c.dual = std::max(c.dual, total_.certificate.dual);
    return c;
  }
  const TrainOptions& o_;
  const Context& outer_;
  SolverOptions options_;
  Context inner_;
  SolveResult total_;
};

template <class Scorer, class Crf>
SolveResult with_fallback(const Problem<Scorer>& problem, const Crf& crf, DualPoint<Crf>& dual,
                          const PathRequest& request) {
  const TrainOptions& o = *request.options;
  Relay relay(request);
  if (o.solver != SolverKind::lbfgs) {
    const int stage = o.solver == SolverKind::automatic && HasWeights<Scorer> ? stage_epochs : o.epochs;
    for (double gap = 1; !relay.finished();) {
      relay.add(prox_ascent(problem, crf, dual, relay.options(stage), relay.context()));
      const double now = relay.total().certificate.relative_gap(), rate = std::log(gap / now) / stage;
      if (!(rate > 0) || std::log(now / o.tol) / rate > patient_epochs) break;
      gap = now;
    }
  }
  if constexpr (HasWeights<Scorer>) {
    if (o.solver == SolverKind::prox || relay.finished()) return relay.total();
    PrimalLoss loss(problem, [&](std::span<const double> v, LabelView y, std::span<double> slope) {
      return crf.slope(v, y, slope);
    });
    relay.add(lbfgs(problem, loss, relay.options(o.epochs), relay.context()));
    adopt_marginals(problem, crf, dual);
  }
  return relay.total();
}

}  // namespace crf_path_parts

// Crf: a surrogate with a proximal step whose slope(v, y, gradient) is S(v, y), and whose space has marginals. The
// lambdas are those of the problem that the scorer sees.
template <class Scorer, class Crf>
void crf_path(Problem<Scorer> problem, const Crf& crf, const PathRequest& request, const EmitResult& emit) {
  if (request.options->solver == SolverKind::gbcfw) return block_dual(problem, crf, request, emit);
  DualPoint<Crf> dual(problem, crf);
  if (const auto* earlier = earlier_point<DualPoint<Crf>>(*request.context)) dual.adopt(*earlier);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    rebuild_weights(problem, crf, dual, request.context->threads);
    emit(crf_path_parts::with_fallback(problem, crf, dual, request));
  }
  leave_point(std::move(dual), *request.context);
}

}  // namespace m4n::detail

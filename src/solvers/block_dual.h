// The path of a surrogate whose blocks are solved one at a time: each lambda starts from the dual point of the one
// before.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "solvers/gbcfw.h"
#include "solvers/newton.h"
#include "solvers/prox_ascent.h"
#include "solvers/relay.h"
#include "solvers/smooth.h"
#include "solvers/warm_start.h"

namespace m4n::detail {

inline GbcfwOptions gbcfw_options(const TrainOptions& o) {
  const bool paper = o.step == StepRule::paper || (o.step == StepRule::automatic && o.oracle == OracleKind::spmp);
  return {!paper, o.average.value_or(paper)};
}

// Solvers that move w itself need a w to move, or the coefficients of a kernel.
template <class Scorer>
concept HasWeights = HasCoefficients<Scorer> || requires(Scorer& s) {
  s.raw();
};

// Which of two solvers goes faster depends on the data, so both are tried, and their paces compared. Paces are of work
// and not of seconds: results must not depend on the machine. Both move the same dual point.
//
//   first     where block ascent will need more than a few passes (large curvatures c_i), a few passes of the smooth
//             solver; where the features are hardly correlated and the labels noisy it is nearly done by then,
//             elsewhere far from it, and block ascent starts;
//   later     where block ascent promises to need many more passes, the smooth solver for a part of that work; the
//             faster of the two goes on. Once the smooth solver has won it also solves the smaller lambdas of a path.
//
// Where the smooth solver takes Newton's steps (newton.h) its work is known beforehand: it takes over where block
// ascent promises to need more.
//
// The numbers below are from bench/solvers.py; docs/performance.md has its tables.
template <class Scorer, ProxSurrogate S>
class AscentOrSmooth {
 public:
  AscentOrSmooth(const S& surrogate, const PathRequest& request)
      : surrogate_(&surrogate), request_(&request), smoothing_(first_smoothing * surrogate.scale()) {
    const SolverKind solver = request.options->solver;
    undecided_ = HasWeights<Scorer> && solver == SolverKind::automatic;
    starts_near_ = undecided_ && earlier_point<DualPoint<S>>(*request.context) != nullptr;
    smooth_ = HasWeights<Scorer> && (solver == SolverKind::smooth || solver == SolverKind::lbfgs);
  }

  SolveResult solve(const Problem<Scorer>& problem, DualPoint<S>& dual) {
    Relay relay(*request_);
    const auto own = [&](auto& a) { a(smoothing_); };
    const CheckpointScope scope(*request_->context, own);
    smoothing_ = std::min(first_smoothing * surrogate_->scale(), 8 * smoothing_);
    // From the dual point of an earlier fit block ascent has little to do; Newton's method would start over.
    newton_ = std::exchange(starts_near_, false) ? 0 : newton_epochs(problem);
    if (undecided_ && !smooth_ && newton_ == 0) probe(problem, dual, relay);
    if (!smooth_) ascend(problem, dual, relay);
    if (smooth_ && !relay.finished()) by_smooth(problem, dual, relay, {});
    // L-BFGS ends where rounding leaves it no way down; block ascent goes on.
    if (!relay.finished())
      relay.add(prox_ascent(problem, *surrogate_, dual, relay.options(request_->options->epochs), relay.context()));
    return relay.total();
  }

 private:
  static constexpr bool falls_apart = SurrogateOfOutputs<S> && std::is_same_v<Scorer, LinearScorer>;

  void by_smooth(const Problem<Scorer>& problem, DualPoint<S>& dual, Relay& relay, const GiveUp& give_up) {
    const TrainOptions& o = *request_->options;
    if constexpr (falls_apart)
      if (newton_ > 0) return relay.add(newton(problem, *surrogate_, dual, relay.options(o.epochs), relay.context()));
    if constexpr (HasWeights<Scorer>) {
      SolveResult result =
          smooth(problem, *surrogate_, dual, smoothing_, relay.options(o.epochs), relay.context(), give_up);
      if (o.solver == SolverKind::smooth) result.solver = "smooth";  // CRF's goes by two names
      relay.add(result);
    }
  }

  // Multiply-adds of an epoch of block ascent, and of a pass of the smooth solver.
  std::pair<double, double> work(const Problem<Scorer>& problem) const {
    constexpr double vector_work = 80;  // L-BFGS, per weight and pass
    const auto n = static_cast<double>(problem.examples());
    double scores = 0;
    for (std::size_t i = 0; i < problem.examples(); ++i) scores += static_cast<double>(problem.scorer->work(i));
    const double own = static_cast<double>(surrogate_->work()) * n;
    double weights = 2 * n * static_cast<double>(problem.scorer->largest_padded_parts());  // a kernel's coefficients
    if constexpr (requires { problem.scorer->raw(); }) weights = static_cast<double>(problem.scorer->raw().size());
    // Measured: a pass of L-BFGS takes no steps in blocks, which are dear for CRF; the games of general costs take more
    // pivots where all scores change at once.
    const double pass = IsSmooth<S> ? 0.3 : surrogate_->state_size() > 0 ? 1.5 : 0.8;
    const double epoch = 2 * scores + own;
    return {epoch, pass * epoch + vector_work * weights};
  }

  // What Newton's method costs, in epochs of block ascent; 0 where it is not for this problem.
  double newton_epochs(const Problem<Scorer>& problem) const {
    if constexpr (falls_apart) {
      const NewtonCost cost = newton_cost(*problem.scorer);
      if (cost.fits && surrogate_->scale() > 0) return std::max(1.0, cost.work / work(problem).first);
    }
    return 0;
  }

  // Whether the smooth solver has a chance: its passes must not be dearer. Exact kernels were always faster by block
  // ascent.
  bool worth_trying(const Problem<Scorer>& problem) const {
    if constexpr (requires { problem.scorer->raw(); }) {
      const auto [epoch, pass] = work(problem);
      return pass <= 2 * epoch;
    }
    return false;
  }
  // Whether it may win from the start: with many examples per weight, or for CRF.
  bool may_win_early(const Problem<Scorer>& problem) const {
    constexpr std::size_t examples_per_weight = 20;
    if constexpr (requires { problem.scorer->raw(); }) {
      const std::size_t weights =
          problem.scorer->raw().size() / problem.scorer->largest_padded_parts() * problem.scorer->parts(0);
      return IsSmooth<S> || problem.examples() >= examples_per_weight * weights;
    }
    return false;
  }

  void probe(const Problem<Scorer>& problem, DualPoint<S>& dual, Relay& relay) {
    constexpr double few_passes = 2.5;   // mean curvature in units of the costs, up to which block ascent takes few
    constexpr double hard = 30;          // where the smooth solver, too, needs some passes before it shows
    constexpr double hard_for_crf = 10;  // where L-BFGS always won
    if constexpr (requires { problem.scorer->raw(); }) {
      double curvature = 0;
      for (std::size_t i = 0; i < problem.examples(); ++i) curvature += problem.weight[i] * problem.curvature(i);
      if (!IsSmooth<S>) curvature /= surrogate_->scale();
      if (!worth_trying(problem) || !may_win_early(problem) || (!IsSmooth<S> && curvature < few_passes)) return;
      const int passes = IsSmooth<S> ? 5 : curvature < hard ? 6 : 12;
      const double nearly_done = IsSmooth<S> ? 0.1 : curvature < hard ? 0.7 : 0.2;  // relative gap
      const auto hopeless = [&](int done, double gap) { return IsSmooth<S> && done >= 2 && !(gap < 1); };
      if (IsSmooth<S> && curvature >= hard_for_crf) smooth_ = true;
      if (smooth_) return;
      DualPoint<S> start = dual;
      AlignedVector<double> weights = problem.scorer->raw();
      double smoothing = smoothing_;
      const auto before = [&](auto& a) { a(start, weights, smoothing); };
      const CheckpointScope scope(*request_->context, before);
      by_smooth(problem, dual, relay,
                [&](int done, double gap) { return hopeless(done, gap) || (done >= passes && !(gap < nearly_done)); });
      smooth_ = relay.finished() || relay.total().certificate.relative_gap() < nearly_done;
      if (smooth_) return;
      dual = start;
      problem.scorer->raw() = weights;
      smoothing_ = smoothing;
    }
  }

  void ascend(const Problem<Scorer>& problem, DualPoint<S>& dual, Relay& relay) {
    constexpr double share_to_try = 0.4;    // of what block ascent would need
    constexpr double share_to_wait = 0.25;  // of the epochs that Newton's method is worth
    const bool early = may_win_early(problem);
    undecided_ = undecided_ && (newton_ > 0 || worth_trying(problem));
    // Epochs between two judgements of the pace, and how many more block ascent may need.
    const int stage = newton_ > 0   ? 2 + static_cast<int>(std::min(share_to_wait * newton_, 1e6))
                      : IsSmooth<S> ? 10
                      : early       ? 30
                                    : 300;
    const double patience = newton_ > 0 ? newton_ : IsSmooth<S> ? 15 : early ? 60 : 300;
    const TrainOptions& o = *request_->options;
    for (double gap = 1; !relay.finished();) {
      relay.add(prox_ascent(problem, *surrogate_, dual, relay.options(undecided_ ? stage : o.epochs), relay.context()));
      const double now = relay.total().certificate.relative_gap(), pace = std::log(gap / now) / stage;
      gap = now;
      if (relay.finished() || !undecided_ || std::log(now / o.tol) <= pace * patience) continue;
      undecided_ = false;
      if (newton_ > 0) {
        smooth_ = true;
        return;
      }
      const auto [epoch, pass] = work(problem);
      const double epochs = pace > 0 ? std::log(now / o.tol) / pace : std::numeric_limits<double>::infinity();
      const double passes = epochs * epoch / pass;  // of the smooth solver for the same work
      DualPoint<S> start = dual;
      bool decided = false;
      const auto meanwhile = [&](auto& a) { a(start, decided); };
      const CheckpointScope scope(*request_->context, meanwhile);
      by_smooth(problem, dual, relay, [&](int done, double reached) {
        if (IsSmooth<S> || decided || done < share_to_try * passes) return false;
        decided = true;
        const double own_pace = std::log(now / reached) / done;
        return !(std::log(reached / o.tol) <= own_pace * passes);
      });
      smooth_ = !relay.total().given_up;
      if (!smooth_) dual = start;
    }
  }

  const S* surrogate_;
  const PathRequest* request_;
  double smoothing_, newton_ = 0;
  bool undecided_, smooth_, starts_near_;
};

template <class Scorer, Surrogate S>
void block_dual(Problem<Scorer> problem, const S& surrogate, const PathRequest& request, const EmitResult& emit) {
  DualPoint<S> dual(problem, surrogate);
  const CheckpointScope scope(*request.context, dual);
  if (const auto earlier = earlier_point<DualPoint<S>>(*request.context)) {
    dual.adopt(*earlier);
    problem.lambda = request.lambdas[0];
    rebuild_weights(problem, surrogate, dual, request.context->threads);
  }
  if constexpr (ProxSurrogate<S>)
    if (request.options->solver != SolverKind::gbcfw) {
      AscentOrSmooth<Scorer, S> solver(surrogate, request);
      for (const double lambda : request.lambdas) {
        problem.lambda = lambda;
        emit(solver.solve(problem, dual));
      }
      return leave_point(std::move(dual), *request.context);
    }
  const GbcfwOptions rule = gbcfw_options(*request.options);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    // The paper's step starts at 1, which forgets any start; so every lambda starts afresh.
    if (!rule.line_search) dual = DualPoint<S>(problem, surrogate);
    rebuild_weights(problem, surrogate, dual, request.context->threads);
    emit(gbcfw(problem, surrogate, dual, solver_options(*request.options), rule, *request.context));
  }
  leave_point(std::move(dual), *request.context);
}

}  // namespace m4n::detail

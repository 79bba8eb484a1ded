// Limited-memory BFGS in the primal, for smooth losses (CRF) and those that are smoothed less and less (smooth.h).
// Block ascent needs many passes when lambda is tiny; this does not care, and its passes run on all threads. The
// two-loop recursion; a step must satisfy the Armijo and the weak Wolfe condition, found by bisection. One evaluation
// costs about two epochs of scores. Cost O(n d k + memory d k) per iteration.
//
// What a loss has:
//   point(), settle()               the vector that is moved; hands it over to the scorer at the end
//   inner(a, b)                     of two such vectors
//   evaluate(gradient, watch)       value and gradient at the point; nothing where the watch says stop
//   certificate(value, gradient)    of the point that was evaluated last
//   at_zero()                       optional: the certificate of the point 0, or nothing; without an evaluation
//   sharpen(value, gradient)        whether the loss has become another, sharper one, to be evaluated anew
//   archive(a), remember(), take_back()     what it knows beside the point; back to what it knew then
#pragma once
#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/primal_loss.h"
#include "solvers/warm_start.h"

namespace m4n::detail {

// The last steps and the changes of the gradient along them. Floats do: they only bend the direction.
template <class Loss>
class LbfgsMemory {
 public:
  explicit LbfgsMemory(const Loss& loss) : loss_(&loss) {}

  bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }
  // Whether it is of points of that size.
  bool fits(std::size_t size) const {
    return pairs_.size() <= memory && std::all_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
             return pair.step.size() == size && pair.change.size() == size;
           });
  }
  template <class Archive>
  void archive(Archive& a) {
    a(pairs_, scale_);
  }
  // step = now - before, both of the point and of the gradient.
  // The vectors of the last point are used as scratch.
  void add(const AlignedVector<double>& point, AlignedVector<double>& last_point, const AlignedVector<double>& gradient,
           AlignedVector<double>& last_gradient) {
    Pair pair;
    if (pairs_.size() == memory) {
      pair = std::move(pairs_.front());
      pairs_.pop_front();
    }
    difference(gradient, last_gradient, pair.change);
    const double squared_change = loss_->inner(pair.change, last_gradient);
    difference(point, last_point, pair.step);
    pair.inner = loss_->inner(pair.change, last_point);
    if (!(pair.inner > 0 && squared_change > 0)) return;
    scale_ = pair.inner / squared_change;
    pairs_.push_back(std::move(pair));
  }
  // direction <- (inverse of the Hessian, as far as it is known) direction
  void bend(AlignedVector<double>& direction) {
    std::vector<double> alpha(pairs_.size());
    for (std::size_t p = pairs_.size(); p-- > 0;) {
      alpha[p] = loss_->inner(pairs_[p].step, direction) / pairs_[p].inner;
      add_scaled(-alpha[p], pairs_[p].change, direction);
    }
    for (double& x : direction) x *= scale_;
    for (std::size_t p = 0; p < pairs_.size(); ++p)
      add_scaled(alpha[p] - loss_->inner(pairs_[p].change, direction) / pairs_[p].inner, pairs_[p].step, direction);
  }

 private:
  static constexpr std::size_t memory = 16;
  using Floats = AlignedVector<float>;
  struct Pair {
    Floats step, change;
    double inner = 0;
    template <class Archive>
    void archive(Archive& a) {
      a(step, change, inner);
    }
  };
  // before <- now - before, and the same in floats
  static void difference(const AlignedVector<double>& now, AlignedVector<double>& before, Floats& out) {
    out.resize(now.size());
    for (std::size_t j = 0; j < now.size(); ++j) out[j] = static_cast<float>(before[j] = now[j] - before[j]);
  }
  static void add_scaled(double scale, const Floats& x, AlignedVector<double>& out) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += scale * static_cast<double>(x[j]);
  }
  const Loss* loss_;
  std::deque<Pair> pairs_;
  double scale_ = 1;
};

// Asked after every step, with the passes so far and the relative gap: whether another solver should go on.
using GiveUp = std::function<bool(int passes, double relative_gap)>;

template <class Loss>
SolveResult lbfgs(std::size_t examples, Loss& loss, const SolverOptions& options, const Context& context,
                  const GiveUp& give_up = {}) {
  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  SolveResult result;
  result.solver = "lbfgs";
  AlignedVector<double>& w = loss.point();
  AlignedVector<double> gradient, direction, start, last_gradient;
  double value = 0;
  bool stopped = false;
  BestPoint<AlignedVector<double>> best;
  const auto evaluate = [&] {
    const std::optional<double> found = loss.evaluate(gradient, &watch);
    stopped = !found || watch.expired();
    if (found) value = *found;
    return found.has_value();
  };
  const auto look = [&] {
    best.offer(loss.certificate(value, gradient), w);
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
  };
  if (!evaluate()) {  // a certificate there must be
    std::optional<Certificate> zero;
    if constexpr (requires { loss.at_zero(); })
      if (!stage.saves_at_end()) zero = loss.at_zero();
    if (zero) {
      std::fill(w.begin(), w.end(), 0.0);
      best.offer(*zero, w);
      result.certificate = best.certificate(options.tol);
      watch.report(result.epochs, result.certificate);
    } else {
      value = *loss.evaluate(gradient, nullptr);
    }
  }
  if (!best.known()) look();
  LbfgsMemory memory(loss);
  bool no_way_down = false;  // even the gradient leads nowhere: the limit of double precision
  bool out_of_epochs = false;
  SolveResult before;  // of this step
  const auto state = [&](auto& a) {
    a.fixed(w, gradient);
    a(watch, result, value, memory, no_way_down, loss);
    a.expect(memory.fits(w.size()));
    best.archive(a, w);
  };
  // As it was before a step that could not be finished.
  const auto take_back = [&] {
    result = before;
    if (stage.saves_at_end()) loss.take_back();
  };
  stage.begin(state);
  const auto is_over = [&] {
    return result.certificate.converged || result.given_up || no_way_down || result.epochs >= options.epochs;
  };
  while (!stopped && !is_over()) {
    stage.pause(state);
    before = result;
    if (stage.saves_at_end()) loss.remember();
    result.given_up = give_up && give_up(result.epochs, result.certificate.relative_gap());
    if (result.given_up) break;
    if (loss.sharpen(value, gradient)) {
      ++result.epochs;
      result.oracle_calls += examples;
      std::swap(last_gradient, gradient);
      if (!evaluate()) {
        std::swap(last_gradient, gradient);
        take_back();
        break;
      }
      look();
      continue;
    }
    direction = gradient;
    if (memory.empty()) {
      const double scale = 1 / std::max(1.0, std::sqrt(loss.inner(gradient, gradient)));
      for (double& x : direction) x *= scale;
    } else {
      memory.bend(direction);
    }
    double slope = -loss.inner(direction, gradient);
    if (slope >= 0) {  // rounding has spoilt the memory: start again downhill
      memory.clear();
      direction = gradient;
      slope = -loss.inner(gradient, gradient);
    }

    start = w;
    std::swap(last_gradient, gradient);
    const double start_value = value;
    double t = 1, low = 0, high = 0;
    bool accepted = false, known = false;
    for (int trial = 0; trial < 40; ++trial) {
      for (std::size_t j = 0; j < w.size(); ++j) w[j] = start[j] - t * direction[j];
      ++result.epochs;
      result.oracle_calls += examples;
      if (!(known = evaluate())) break;
      const double rounding = 1e-15 * std::abs(start_value);
      if (!(value <= start_value + 1e-4 * t * slope + rounding)) {
        high = t;
      } else if (-loss.inner(direction, gradient) < 0.9 * slope) {
        low = t;
      } else {
        accepted = true;
        break;
      }
      if (stopped || result.epochs == options.epochs) break;
      t = high > 0 ? 0.5 * (low + high) : 2 * t;
    }
    // A search for a step that the limit of passes ends is taken up again by a run that is resumed with more of them.
    out_of_epochs = known && !accepted && !stopped && result.epochs == options.epochs;
    if (!known || (!accepted && (stopped || out_of_epochs || !(value <= start_value)))) {
      w = start;
      std::swap(gradient, last_gradient);
      value = start_value;
      if (!known || stopped || out_of_epochs) {
        take_back();
        break;
      }
    } else {
      look();
    }
    if (accepted) {
      memory.add(w, start, gradient, last_gradient);
    } else {
      no_way_down = memory.empty();
      memory.clear();
    }
  }
  stage.pause_at_end(state);
  if (out_of_epochs) result.epochs = options.epochs;
  best.restore(w);
  loss.settle();
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  return stage.finish(result);
}

// What a fit in the primal leaves for the next one.
struct WeightPoint {
  AlignedVector<double> numbers;
  template <class Archive>
  void archive(Archive& a) {
    a(numbers);
  }
};

// The lambdas in turn, each from the weights of the one before, the first from those of an earlier fit if there is one.
// `slope` is what PrimalLoss takes.
template <class Scorer, class Slope>
void lbfgs_path(Problem<Scorer> problem, const Slope& slope, const PathRequest& request, const EmitResult& emit) {
  Scorer& scorer = *problem.scorer;
  const auto point = [&](auto& a) {
    WeightPoint now{weight_vector(scorer)};
    a(now);
  };
  const CheckpointScope scope(*request.context, point);
  if (const auto earlier = earlier_point<WeightPoint>(*request.context);
      earlier && earlier->numbers.size() == weight_vector(scorer).size())
    set_weight_vector(scorer, earlier->numbers, request.context->threads);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    PrimalLoss loss(problem, slope, request.context->threads);
    emit(lbfgs(problem.examples(), loss, solver_options(*request.options), *request.context));
  }
  leave_point(WeightPoint{weight_vector(scorer)}, *request.context);
}

}  // namespace m4n::detail

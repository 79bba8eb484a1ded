// Block ascent on the dual with atoms, whatever the structure: the loop that chains, graphs and permutations share.
//
//   full visit     ask the oracle of example i; append its answer if it is better than the atoms there are; re-optimise
//                  their weights; move w along
//   cached visit   the same without the oracle
//   pass           all examples, in a fresh random order
//
// After a full pass, cached passes follow as long as the dual gains at least as much per counted operation as in that
// full pass. Operations, not seconds: the result does not depend on the machine or on what else it does. The weights
// of about the last passes are averaged (solvers/recent_mean.h); the certificate looks at that mean where there is one,
// and its dual value is that of the atoms, with w rebuilt from them. A run that is stopped before the first certificate
// gets one all the same: the exact one if it takes no longer than a moment; otherwise one of hasty upper bounds, those
// that oracles have after their first step, and after another moment those that ask no oracle.
//
// Derived gives what depends on the structure:
//   patience                          without a sign that the tolerance is reached, certificates wait for this share of
//                                     all full passes so far
//   visit(i, full, total)             one visit; adds to `total` what it gained and what it cost; false if it was
//                                     told to stop: then nothing has changed but `total`
//   fits()                            whether the atoms, which may come from a file, can be those of the examples
//   rebuild()                         w := w(mu) afresh, and value_, the dual value of the atoms
//   Worker, worker(weights)           the memory of a thread; the weights are made ready for all threads
//   upper(i, weights, worker)         from above, S(v_i, y_i) at other weights; its oracle asks give_up_
//   upper_at_once(i, weights, worker) the same without an oracle, in the time of the scores
#pragma once
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"
#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/recent_mean.h"

namespace m4n::detail {

// Operations that are not vectorised, in multiply-adds of those that are.
inline constexpr double scalar_work = 8;

template <class Derived, class Scorer>
class AtomAscent {
 public:
  SolveResult run() {
    constexpr int most_cached = 30;
    SolverStage stage(*context_);
    if (const SolveResult* over = stage.over()) return *over;
    derived().rebuild();
    double certified_at = -1;
    int next = 10;  // full passes, after which a certificate is taken anyway
    enum class Phase { full, certificate, cached } phase = Phase::full;
    Pass full;
    int cached = 0;  // passes after the full one
    const auto state = [&](auto& a) {
      a(watch_, result_, *problem_.scorer, value_, rng_, mean_, now_, place_, followed_, certified_at, next, phase,
        full, cached);
      a.fixed(order_);
      if constexpr (std::remove_reference_t<decltype(a)>::loading)
        a.expect(all_below(order_.size(), order_) && followed_ <= place_ && place_ <= order_.size() &&
                 derived().fits());
      best_.archive(a, *problem_.scorer);
    };
    stage.begin(state);
    const auto pause = [&] { stage.pause(state); };
    bool ended = false;
    while (!result_.certificate.converged && !ended && (phase != Phase::full || result_.epochs < options_.epochs)) {
      if (phase == Phase::full) {
        ended = !pass(true, pause);
        if (ended) break;
        full = std::exchange(now_, {});
        ++result_.epochs;
        const double target = options_.tol * (value_ + full.gap);
        phase = full.gap <= likely * target || result_.epochs >= next ? Phase::certificate : Phase::cached;
        cached = 0;
      } else if (phase == Phase::certificate) {
        ended = !certify([this] { return watch_.expired(); }, Bounds::asked_for);
        if (ended) break;
        certified_at = result_.epochs;
        next = result_.epochs + 1 + static_cast<int>(Derived::patience * result_.epochs);
        phase = Phase::cached;
      } else if (cached == most_cached) {
        phase = Phase::full;
      } else {
        ended = !pass(false, pause);
        if (ended) break;
        ++cached;
        certified_at = -1;
        const Pass last = std::exchange(now_, {});
        if (!(last.gain * full.work >= full.gain * last.work)) phase = Phase::full;
      }
      ended = watch_.stopped(0);
    }
    stage.pause_at_end(state);
    if (place_ > 0 && phase == Phase::full) ++result_.epochs;
    if (place_ > 0) certified_at = -1;
    if (certified_at != result_.epochs && !(ended && best_.known())) {
      const double until = ended ? watch_.seconds() + moment : std::numeric_limits<double>::infinity();
      certify([&] { return watch_.seconds() > until; }, Bounds::any);
      hasty_ = !best_.known();
      hasty_until_ = watch_.seconds() + moment;
      if (hasty_) certify([] { return true; }, Bounds::any);
    }
    best_.restore(*problem_.scorer);
    result_.seconds = watch_.seconds();
    result_.interrupted = watch_.interrupted();
    result_.solver = "atoms";
    return stage.finish(result_);
  }

 protected:
  struct Pass {
    double gain = 0, gap = 0, work = 0;
  };
  // How far above the gap at the end of a pass the sum of the gaps met during it lies, about.
  static constexpr double likely = 1.7;
  // The mean follows the weights of about that many of the last passes.
  static constexpr double passes_of_mean = 3;
  // Seconds.
  static constexpr double moment = 0.08;
  // Atoms without weight are kept for that many visits: scores come back to them.
  static constexpr unsigned memory = 12;

  AtomAscent(const Problem<Scorer>& problem, const SolverOptions& options, const Context& context,
             bool mean_whatever_it_costs)
      : problem_(problem),
        options_(options),
        context_(&context),
        watch_(context, options_),
        mean_(problem, mean_whatever_it_costs),
        order_(problem.examples()),
        rng_(options.seed, 1) {
    std::iota(order_.begin(), order_.end(), 0U);
    rng_.shuffle(std::span(order_));
  }

  // A gap of a block, this share of what would keep the whole from its tolerance.
  double negligible(double share) const { return std::max(1e-12, share * options_.tol * std::abs(value_)); }

  Problem<Scorer> problem_;
  SolverOptions options_;
  const Context* context_;
  Watch watch_;
  SolveResult result_;
  double value_ = 0;        // the dual, as the gains of the visits sum up
  bool hasty_ = false;      // certificates are finished although oracles give up at once
  double hasty_until_ = 0;  // seconds of the watch; later none is asked
  // For long calls of an oracle; once it has said stop, their answers are not used.
  const std::function<bool()> stop_ = [this] { return told_to_stop_ = watch_.expired(); };
  bool told_to_stop_ = false;
  const bool keeps_state_ = saves_at_end(*context_);  // what a visit changed must be taken back then
  std::function<bool()> give_up_;                     // for long certificates

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  // Goes on with the pass that is being made; false where it was told to stop before the end.
  template <class Pause>
  bool pass(bool full, const Pause& pause) {
    const std::size_t n = order_.size(), slice = std::max<std::size_t>(1, n / 16);
    while (place_ < n) {
      const Pass before = now_;
      if (!derived().visit(order_[place_], full, now_)) {
        now_ = before;
        return false;
      }
      ++place_;
      const bool stopped = watch_.stopped(static_cast<std::size_t>(now_.work - before.work));
      if (place_ - followed_ == slice || place_ == n) {
        mean_.follow(static_cast<double>(place_ - followed_) / (passes_of_mean * static_cast<double>(n)));
        followed_ = place_;
      }
      if (stopped && place_ < n) return false;
      pause();
    }
    place_ = followed_ = 0;
    rng_.shuffle(std::span(order_));  // for the next pass, whose first visit may be told to stop
    value_ += now_.gain;
    return true;
  }

  // What a certificate is made of: bounds as good as were asked for, or those of oracles that gave up as well.
  enum class Bounds { asked_for, any };

  // P from above at the mean weights; nothing is certified, and it says so, if `give_up` says so first.
  bool certify(const std::function<bool()>& give_up, Bounds bounds) {
    derived().rebuild();
    const Scorer& weights = mean_.weights(context_->threads);
    std::atomic<bool> gave_up{false};
    give_up_ = [&] {
      if (!give_up()) return false;
      return gave_up = true;
    };
    const std::optional<double> loss = upper_loss(weights);
    if (!loss || (gave_up && bounds == Bounds::asked_for)) return false;
    best_.offer({*loss + 0.5 * problem_.lambda * weights.norm_squared(), value_, false}, weights);
    result_.certificate = best_.certificate(options_.tol);
    watch_.report(result_.epochs, result_.certificate);
    return true;
  }

  // sum_i p_i S(v_i, y_i), from above.
  std::optional<double> upper_loss(const Scorer& weights) {
    constexpr std::size_t chunk = 64;
    const std::size_t n = problem_.examples();
    std::vector<double> sums((n + chunk - 1) / chunk);
    std::vector<typename Derived::Worker> workers;
    while (workers.size() < std::min<std::size_t>(thread_count(context_->threads), sums.size()))
      workers.push_back(derived().worker(weights));
    std::atomic<bool> given_up{false};
    parallel_chunks(n, chunk, static_cast<unsigned>(workers.size()),
                    [&](std::size_t at, std::size_t first, std::size_t last, unsigned worker) {
                      double sum = 0;
                      for (std::size_t i = first; i < last && !given_up; ++i) {
                        if (!hasty_ && give_up_()) given_up = true;
                        const bool late = given_up || (hasty_ && watch_.seconds() > hasty_until_);
                        sum += problem_.weight[i] * (late ? derived().upper_at_once(i, weights, workers[worker])
                                                          : derived().upper(i, weights, workers[worker]));
                      }
                      sums[at] = sum;
                    });
    if (given_up) return std::nullopt;
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  RecentMean<Scorer> mean_;
  BestPoint<Scorer> best_;
  std::vector<std::uint32_t> order_;
  Rng rng_;
  Pass now_;                              // the pass that is being made
  std::size_t place_ = 0, followed_ = 0;  // its visits so far, and those the mean has followed
};

}  // namespace m4n::detail

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
// gets one all the same: the exact one if it takes no longer than a moment, otherwise one of hasty upper bounds.
//
// Derived gives what depends on the structure:
//   patience                          without a sign that the tolerance is reached, certificates wait for this share of
//                                     all full passes so far
//   visit(i, full, total)             one visit; adds to `total` what it gained and what it cost
//   rebuild()                         w := w(mu) afresh, and value_, the dual value of the atoms
//   Worker, worker(weights)           the memory of a thread; the weights are made ready for all threads
//   upper(i, weights, worker)         from above, S(v_i, y_i) at other weights; fast where hasty_ is set
#pragma once
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "core/parallel.h"
#include "core/rng.h"
#include "solvers/certificate.h"
#include "solvers/recent_mean.h"

namespace m4n::detail {

// Operations that are not vectorised, in multiply-adds of those that are.
inline constexpr double scalar_work = 8;

template <class Derived, class Scorer>
class AtomAscent {
 public:
  SolveResult run() {
    constexpr int most_cached = 30;
    derived().rebuild();
    double certified_at = -1;
    bool ended = false;
    int next = 10;
    while (!result_.certificate.converged && !ended && result_.epochs < options_.epochs) {
      const Pass full = pass(true);
      ++result_.epochs;
      ended = watch_.stopped(0);
      const double target = options_.tol * (value_ + full.gap);
      if (!ended && (full.gap <= likely * target || result_.epochs >= next)) {
        certify([this] { return watch_.expired(); });
        certified_at = result_.epochs;
        next = result_.epochs + 1 + static_cast<int>(Derived::patience * result_.epochs);
        ended = watch_.stopped(0);
      }
      for (int c = 0; c < most_cached && !ended && !result_.certificate.converged; ++c) {
        const Pass cached = pass(false);
        ended = watch_.stopped(0);
        certified_at = -1;
        if (!(cached.gain * full.work >= full.gain * cached.work)) break;
      }
    }
    if (certified_at != result_.epochs && !(ended && best_.known())) {
      const double until = ended ? watch_.seconds() + moment : std::numeric_limits<double>::infinity();
      certify([&] { return watch_.seconds() > until; });
      hasty_ = !best_.known();
      if (hasty_) certify([] { return false; });  // every call of an oracle gives up at once
    }
    best_.restore(*problem_.scorer);
    result_.seconds = watch_.seconds();
    result_.interrupted = watch_.interrupted();
    result_.solver = "atoms";
    return result_;
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
  static constexpr double moment = 2;
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
  }

  // A gap of a block, this share of what would keep the whole from its tolerance.
  double negligible(double share) const { return std::max(1e-12, share * options_.tol * std::abs(value_)); }

  Problem<Scorer> problem_;
  SolverOptions options_;
  const Context* context_;
  Watch watch_;
  SolveResult result_;
  double value_ = 0;  // the dual, as the gains of the visits sum up
  bool hasty_ = false;
  const std::function<bool()> stop_ = [this] { return watch_.expired(); };  // for long calls of an oracle
  std::function<bool()> give_up_;                                           // for long certificates

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  Pass pass(bool full) {
    rng_.shuffle(std::span(order_));
    const std::size_t n = order_.size(), slice = std::max<std::size_t>(1, n / 16);
    Pass total;
    std::size_t followed = 0;
    for (std::size_t place = 0; place < n; ++place) {
      const double before = total.work;
      derived().visit(order_[place], full, total);
      if (watch_.stopped(static_cast<std::size_t>(total.work - before))) break;
      if (place + 1 - followed == slice || place + 1 == n) {
        mean_.follow(static_cast<double>(place + 1 - followed) / (passes_of_mean * static_cast<double>(n)));
        followed = place + 1;
      }
    }
    value_ += total.gain;
    return total;
  }

  // P from above at the mean weights; nothing changes if `give_up` says so first.
  void certify(const std::function<bool()>& give_up) {
    derived().rebuild();
    const Scorer& weights = mean_.weights(context_->threads);
    give_up_ = give_up;
    if (hasty_) give_up_ = [] { return true; };
    const std::optional<double> loss = upper_loss(weights, give_up);
    if (!loss) return;
    best_.offer({*loss + 0.5 * problem_.lambda * weights.norm_squared(), value_, false}, weights);
    result_.certificate = best_.certificate(options_.tol);
    watch_.report(result_.epochs, result_.certificate);
  }

  // sum_i p_i S(v_i, y_i), from above.
  std::optional<double> upper_loss(const Scorer& weights, const std::function<bool()>& give_up) {
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
                        if (give_up()) given_up = true;
                        sum += problem_.weight[i] * derived().upper(i, weights, workers[worker]);
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
};

}  // namespace m4n::detail

// The default solver: exact proximal block ascent on the dual (docs/algorithms.md).
//
//   repeat, in a fresh random order every sweep:
//     mu_i <- argmax over M of  v_i.mu - Omega(mu) - (c_i/2)|mu - mu_i|^2       (surrogate.prox)
//     w    <- w + (p_i/lambda) Phi(x_i) (old mu_i - new mu_i)^T
//
// Each visit maximises the dual over its block: no step size, and the dual never falls. Blocks that were nearly
// right, so that the step hardly changed their scores, are left out of the next 1, 2, 4 sweeps, those that did not move
// at all of up to 64; the certificate, which ends the loop, always looks at all of them. An epoch is n visits, however
// many sweeps they take. A visit costs one score, one proximal step and, if the block moved, one update. Where
// rebuilding the weights costs more than a look at all examples (HasCoefficients), the solver first looks at the
// weights as they are, and rebuilds and certifies once that look says that it is worth it. There an update costs a row
// of K, far more than the steps of a group of examples among themselves: after the first epochs, which settle what all
// examples share, groups are near neighbours and stay open until their large steps are taken.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "solvers/certificate.h"
#include "solvers/checkpoint.h"
#include "solvers/frank_wolfe_step.h"
#include "solvers/recent_mean.h"

namespace m4n::detail {

// Which blocks a solver visits in which of the coming sweeps: a linked list per sweep, so that a sweep costs what it
// visits and not n.

class Agenda {
 public:
  static constexpr std::size_t longest_rest = 64;

  // All blocks are due in the first sweep.
  explicit Agenda(std::size_t blocks) : next_(blocks), first_(longest_rest + 1, none) {
    for (std::size_t i = blocks; i-- > 0;) add(i, 0);
  }
  // Block i is left out of the next `rest` <= longest_rest sweeps, and visited in the one after.
  void add(std::size_t i, std::size_t rest) {
    std::uint32_t& first = first_[(next_sweep_ + rest) % first_.size()];
    next_[i] = first;
    first = static_cast<std::uint32_t>(i);
  }
  // Begins the next sweep: the blocks that are due in it, in any order.
  void begin_sweep(std::vector<std::uint32_t>& due) {
    due.clear();
    std::uint32_t& first = first_[next_sweep_++ % first_.size()];
    for (std::uint32_t i = first; i != none; i = next_[i]) due.push_back(i);
    first = none;
  }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(next_, first_);
    a(next_sweep_);
  }
  // Whether every block is there at most once: in one of the lists, or among those that are `due` now.
  bool fits(std::span<const std::uint32_t> due) const {
    std::vector<std::uint8_t> seen(next_.size());
    const auto is_new = [&](std::uint32_t i) { return i < seen.size() && std::exchange(seen[i], 1) == 0; };
    for (const std::uint32_t first : first_)
      for (std::uint32_t i = first; i != none; i = next_[i])
        if (!is_new(i)) return false;
    return std::all_of(due.begin(), due.end(), is_new);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> next_, first_;
  std::size_t next_sweep_ = 0;
};

template <class Scorer, ProxSurrogate S>
SolveResult prox_ascent(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual,
                        const SolverOptions& options, const Context& context) {
  constexpr double still = 1e-12;  // a block that moves less than this share of a full step has not moved
  constexpr double little = 0.03;  // of the mean squared shift in the last sweep
  // The r-th rest in a row takes 2^(r-1) sweeps.
  constexpr unsigned short_rests = 3, long_rests = 1 + std::countr_zero(Agenda::longest_rest);
  constexpr std::size_t ahead = 4;  // visits between asking for an example's memory and reading it
  constexpr double flat = 1e-10;    // curvature, relative to the costs, below which a block is linear
  // Relative gap below which the rounding of a kernel's scores could matter.
  [[maybe_unused]] constexpr double worth_rebuilding = 1e-4;
  [[maybe_unused]] constexpr double trusted_epochs = 20;  // between two rebuilds
  // Epochs in which groups are random and visited once, and further visits of a group's blocks after that.
  [[maybe_unused]] constexpr int alone = 3, most_rounds = 11;

  SolverStage stage(context);
  if (const SolveResult* over = stage.over()) return *over;
  Watch watch(context, options);
  SolveResult result;
  rebuild_weights(problem, surrogate, dual, context.threads);  // whatever the scorer holds: scores must belong to mu
  const std::size_t n = problem.examples(), length = problem.scorer->largest_padded_parts();
  AlignedVector<double> v_all(length), old_all(length), new_all(length), step_all(length);
  auto workspace = surrogate.workspace();
  std::vector<double> curvature(n);
  for (std::size_t i = 0; i < n; ++i) curvature[i] = problem.curvature(i);
  std::vector<std::uint32_t> awake, moving;
  awake.reserve(n);
  Agenda agenda(n);
  std::vector<std::uint8_t> rests(n);                 // in a row
  double squared_shifts = 0, mean_squared_shift = 0;  // by how much steps change their own blocks' scores
  Rng rng(options.seed, 1);
  CertificateSchedule schedule(n, options.tol, HasCoefficients<Scorer> ? 1 : 2);
  double visits = 0;
  // A full step of a block has the size of the costs over its curvature.
  const double size_of_costs = surrogate.scale() > 0 ? surrogate.scale() : 1;

  // The step of a block.
  struct Step {
    double shift;  // by how much it changes the block's own scores
    bool moved;
  };
  const auto ascend = [&](std::size_t i) -> Step {
    const std::size_t size = problem.scorer->padded_parts(i);
    const std::span<double> v = std::span(v_all).first(size), old = std::span(old_all).first(size),
                            now = std::span(new_all).first(size), step = std::span(step_all).first(size);
    problem.scorer->scores(i, v);
    dual.load(i, old);
    std::copy(old.begin(), old.end(), now.begin());
    if (curvature[i] > flat * surrogate.scale()) {
      surrogate.prox(v, curvature[i], problem.y(i), now, dual.state_of(i), workspace);
    } else {
      frank_wolfe_step(surrogate, v, curvature[i], problem.y(i), now, step, dual.state_of(i), workspace);
    }
    ++result.oracle_calls;
    const double largest = kernels::difference(old, now, step);
    const Step out{curvature[i] * largest, largest * std::max(1.0, curvature[i] / size_of_costs) > still};
    if (out.moved) {
      dual.store(i, now);
      problem.scorer->update(i, step, problem.weight[i] / problem.lambda);
    }
    return out;
  };
  const auto is_large = [&](const Step& step) {
    return step.moved && step.shift * step.shift >= little * mean_squared_shift;
  };
  // Whether the block is visited again in the next sweep.
  const auto visit = [&](std::size_t i) {
    const Step step = ascend(i);
    ++visits;
    squared_shifts += step.shift * step.shift;
    if (is_large(step)) {
      rests[i] = 0;
      agenda.add(i, 0);
    } else {
      rests[i] = static_cast<std::uint8_t>(std::min(rests[i] + 1U, step.moved ? short_rests : long_rests));
      agenda.add(i, std::size_t{1} << (rests[i] - 1));
    }
    return rests[i] == 0;
  };
  BestPoint<Scorer> best;
  RecentMean<Scorer> mean(problem);
  double certified_at = -1;
  // False where it was told to stop.
  const auto look = [&](const Watch* patience) {
    rebuild_weights(problem, surrogate, dual, context.threads);
    const std::optional<Certificate> found =
        certify(problem, surrogate, dual, context.threads, patience, &mean.weights());
    if (!found) return false;
    certified_at = visits;
    best.offer(*found, mean.weights());
    result.certificate = best.certificate(options.tol);
    watch.report(result.epochs, result.certificate);
    schedule.seen(visits, result.certificate.relative_gap());
    return true;
  };
  // Whether the weights as they are, rounded by all their updates, are still too far from a certificate; they are not
  // trusted with that for more than a few epochs in a row. Nothing where it was told to stop.
  double rebuilt_at = 0;
  const auto far_off = [&]() -> std::optional<bool> {
    if (visits - rebuilt_at >= trusted_epochs * static_cast<double>(n)) return false;
    const std::optional<Certificate> found = certify(problem, surrogate, dual, context.threads, &watch);
    if (!found) return std::nullopt;
    if (!(found->relative_gap() > std::max(options.tol, worth_rebuilding))) return false;
    schedule.seen(visits, found->relative_gap());
    return true;
  };

  std::size_t place = 0;  // blocks awake[0] to awake[place - 1] of this sweep were visited
  bool looking = false;   // a sweep is over, and a certificate is due
  const auto state = [&](auto& a) {
    a(watch, result, *problem.scorer, agenda, awake, place, looking, squared_shifts, mean_squared_shift, rng, mean,
      schedule, visits, certified_at, rebuilt_at);
    a.fixed(rests);
    if constexpr (std::remove_reference_t<decltype(a)>::loading)
      a.expect(place <= awake.size() && agenda.fits(std::span(awake).subspan(place == 0 ? awake.size() : place)) &&
               visits >= 0 && visits / static_cast<double>(n) <= std::numeric_limits<int>::max());
    best.archive(a, *problem.scorer);
  };
  stage.begin(state);
  bool stopped = false;
  const auto sweep = [&] {
    if (place == 0) {
      agenda.begin_sweep(awake);
      rng.shuffle(std::span(awake));
      if constexpr (HasCoefficients<Scorer>)
        if (result.epochs >= alone) problem.scorer->arrange(awake, rng);
    }
    if constexpr (HasCoefficients<Scorer>) {
      const bool together = result.epochs >= alone;
      const auto group_from = [&](std::size_t first) {
        first = std::min(first, awake.size());
        return std::span(awake).subspan(first, std::min(Scorer::group, awake.size() - first));
      };
      while (place < awake.size() && !stopped) {
        const auto own = group_from(place), next = group_from(place + Scorer::group);
        problem.scorer->open(own);
        moving.clear();
        for (std::size_t p = 0; p < own.size(); ++p) {
          problem.scorer->prefetch(next, p);
          if (visit(own[p])) moving.push_back(own[p]);
        }
        for (int round = 0; together && round < most_rounds && moving.size() > 1; ++round)
          std::erase_if(moving, [&](std::uint32_t i) { return !is_large(ascend(i)); });
        problem.scorer->close();
        place += own.size();
        stopped = watch.stopped(own.size() * (problem.scorer->work(own[0]) + surrogate.work()));
        stage.pause(state);
      }
    } else {
      while (place < awake.size() && !stopped) {
        if (place + ahead < awake.size()) {
          problem.scorer->prefetch(awake[place + ahead]);
          kernels::prefetch(dual.of(awake[place + ahead]));
        }
        const std::size_t i = awake[place++];
        visit(i);
        stopped = watch.stopped(problem.scorer->work(i) + surrogate.work());
        stage.pause(state);
      }
    }
    if (place < awake.size()) return;
    place = 0;
    mean_squared_shift = squared_shifts / static_cast<double>(std::max<std::size_t>(awake.size(), 1));
    squared_shifts = 0;
    mean.follow(static_cast<double>(awake.size()) / static_cast<double>(n));
    result.epochs = static_cast<int>(std::ceil(visits / static_cast<double>(n)));
    looking = schedule.due(visits);
  };
  while (!result.certificate.converged && !stopped && result.epochs < options.epochs) {
    if (!looking) sweep();
    if (!looking || stopped) continue;
    if constexpr (HasCoefficients<Scorer>) {
      const std::optional<bool> far = far_off();
      stopped = !far;
      looking = !far || !*far;
      if (!looking || stopped) continue;
    }
    stopped = !look(&watch);
    looking = stopped;
    if (!stopped) rebuilt_at = visits;
  }
  stage.pause_at_end(state);
  result.epochs = static_cast<int>(std::ceil(visits / static_cast<double>(n)));
  // A caller who stops the solver gets the best certified weights at once, if there are any: those of now where a
  // certificate takes but a moment.
  if (certified_at != visits) {
    const bool hurried = stopped && best.known();
    const std::size_t pass = n * problem.scorer->work(0);
    if (!hurried || pass <= Watch::question_interval) {
      look(nullptr);
    } else if (!HasCoefficients<Scorer> && pass <= 100 * Watch::question_interval) {
      watch.grace(0.1);
      look(&watch);
    }
  }
  best.restore(*problem.scorer);
  result.seconds = watch.seconds();
  result.interrupted = watch.interrupted();
  result.solver = "prox";
  return stage.finish(result);
}

}  // namespace m4n::detail

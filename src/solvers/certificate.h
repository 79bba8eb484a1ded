// The certificate: P from above, at any weights, and D(mu) at the weights w = w(mu) that the scorer holds. It costs one
// pass of scores and oracles. Sums run over fixed chunks in a fixed order, so that the digits do not depend on the
// number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "solvers/problem.h"

namespace m4n::detail {

// Scorers whose scores come from one row of coefficients per example take all of them at once.
template <class Scorer>
concept HasCoefficients = requires(Scorer& s) {
  s.set_coefficients(AlignedVector<double>(), 1U);
};

// The numbers that make a scorer's weights: w itself, or the coefficients of a kernel.
template <class Scorer>
const AlignedVector<double>& weight_vector(const Scorer& scorer) {
  if constexpr (HasCoefficients<Scorer>) {
    return scorer.coefficients();
  } else {
    return scorer.raw();
  }
}
template <class Scorer>
void set_weight_vector(Scorer& scorer, AlignedVector<double> numbers, unsigned threads) {
  if constexpr (HasCoefficients<Scorer>) {
    scorer.set_coefficients(std::move(numbers), threads);
  } else {
    scorer.raw() = std::move(numbers);
  }
}

// w := w(mu), afresh: removes the rounding that many small updates leave behind.
template <class Scorer, Surrogate S>
void rebuild_weights(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual, unsigned threads = 1) {
  const std::size_t largest = problem.scorer->largest_padded_parts();
  AlignedVector<double> mu(largest), step(largest), coefficients;
  if constexpr (HasCoefficients<Scorer>) {
    coefficients.assign(problem.examples() * largest, 0.0);
  } else {
    problem.scorer->reset();
  }
  for (std::size_t i = 0; i < problem.examples(); ++i) {
    const std::size_t length = problem.scorer->padded_parts(i);
    const std::span<double> own = std::span(mu).first(length), delta = std::span(step).first(length);
    dual.load(i, own);
    surrogate.space().embed(problem.y(i), delta);
    if (!(kernels::difference(delta, own, delta) > 0)) continue;
    const double scale = problem.weight[i] / problem.lambda;
    if constexpr (HasCoefficients<Scorer>) {
      for (std::size_t c = 0; c < length; ++c) coefficients[i * largest + c] = scale * delta[c];
    } else {
      problem.scorer->update(i, delta, scale);
    }
  }
  if constexpr (HasCoefficients<Scorer>) problem.scorer->set_coefficients(std::move(coefficients), threads);
}

// For surrogates whose oracles can take long: they ask `stop`, which must outlive the workspace's use.
template <class Workspace>
void ask_to_stop(Workspace& workspace, const std::function<bool()>& stop) {
  if constexpr (requires { workspace.stop = &stop; }) workspace.stop = &stop;
}

// P is that of `primal`, or of w(mu) where that is null. Nothing if the watch says stop first: a certificate can take
// long, and a user who wants to stop gets the last one. `hasty`: oracles that can be told to stop give up at once.
template <class Scorer, Surrogate S>
std::optional<Certificate> certify(const Problem<Scorer>& problem, const S& surrogate, DualPoint<S>& dual,
                                   unsigned threads, const Watch* watch = nullptr, Scorer* primal = nullptr,
                                   bool hasty = false) {
  Scorer& weights = primal != nullptr ? *primal : *problem.scorer;
  constexpr std::size_t chunk = 256;
  const std::size_t n = problem.examples();
  struct Sums {
    double primal = 0, dual = 0;
  };
  std::vector<Sums> sums((n + chunk - 1) / chunk);
  struct Worker {
    typename S::Workspace workspace;
    AlignedVector<double> v, mu;
  };
  const std::size_t length = problem.scorer->largest_padded_parts();
  const unsigned workers = thread_count(threads);
  std::vector<Worker> scratch;  // workspaces need not be copyable
  for (std::size_t w = 0; w < std::min<std::size_t>(workers, sums.size()); ++w)
    scratch.push_back({surrogate.workspace(), AlignedVector<double>(length), AlignedVector<double>(length)});
  const std::function<bool()> stop = [&] { return hasty || (watch != nullptr && watch->expired()); };
  for (Worker& worker : scratch) ask_to_stop(worker.workspace, stop);
  std::atomic<bool> given_up{false};
  parallel_chunks(n, chunk, workers, [&](std::size_t c, std::size_t first, std::size_t last, unsigned worker) {
    auto& [workspace, v_all, mu_all] = scratch[worker];
    Sums local;
    Patience patience(watch);
    for (std::size_t i = first; i < last && !given_up; ++i) {
      if (patience.over()) given_up = true;
      const std::span<double> v = std::span(v_all).first(problem.scorer->padded_parts(i));
      const std::span<double> mu = std::span(mu_all).first(v.size());
      weights.scores(i, v);
      dual.load(i, mu);
      const LabelView y = problem.y(i);
      local.primal +=
          problem.weight[i] * (surrogate.conjugate(v, y, dual.state_of(i), workspace) - surrogate.space().score(v, y));
      local.dual += problem.weight[i] * surrogate.neg_omega(mu, y, workspace);
    }
    sums[c] = local;
  });
  if (given_up) return std::nullopt;
  Certificate out;
  for (const Sums& s : sums) {
    out.primal += s.primal;
    out.dual += s.dual;
  }
  const double own = 0.5 * problem.lambda * problem.scorer->norm_squared();
  out.primal += &weights == problem.scorer ? own : 0.5 * problem.lambda * weights.norm_squared();
  out.dual -= own;
  return out;
}

// Says whether it converged. A gap below zero by rounding counts as zero; anything else that is no gap never counts as
// converged.
Certificate with_verdict(Certificate certificate, double tol);

// The best that was certified so far: the weights with the least primal, and the largest dual of all. The primal of an
// ascent in the dual is not monotone, so the last weights need not be the best ones.
template <class Scorer>
class BestPoint {
 public:
  void offer(const Certificate& found, const Scorer& scorer) {
    const bool better = !point_ || found.primal < certificate_.primal;
    if (better) point_.emplace(scorer);
    certificate_ = {better ? found.primal : certificate_.primal,
                    known_ ? std::max(certificate_.dual, found.dual) : found.dual, false};
    known_ = true;
  }
  // `like`: any scorer of these data.
  template <class Archive>
  void archive(Archive& a, const Scorer& like) {
    a(known_, certificate_);
    if (known_ && !point_) point_.emplace(like);
    if (known_) a.fixed(*point_);
  }
  bool known() const { return known_; }
  Certificate certificate(double tol) const { return with_verdict(certificate_, tol); }
  void restore(Scorer& scorer) const { scorer = *point_; }

 private:
  bool known_ = false;
  Certificate certificate_;
  std::optional<Scorer> point_;
};

// When to look: a certificate costs about as much as an epoch, so the next one waits until the gap is expected to be
// small enough, by the decay seen between the last two, at least `least_epochs` and a tenth of all visits so far.
// Everything is counted in visits, not in seconds, so that results repeat.
class CertificateSchedule {
 public:
  CertificateSchedule(std::size_t examples, double tol, double least_epochs = 2)
      : n_(static_cast<double>(examples)), tol_(tol), least_(least_epochs * n_), next_(least_) {}
  bool due(double visits) const { return visits >= next_; }
  void seen(double visits, double relative_gap);

 private:
  double n_, tol_, least_, next_;
  double last_visits_ = 0, last_gap_ = 1;
};

}  // namespace m4n::detail

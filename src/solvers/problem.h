// The problem every solver is given, the dual point it moves, and what it returns.
//
//   primal  P(w)  = sum_i p_i S(v_i, y_i) + lambda/2 |w|^2,        v_i = w^T Phi(x_i),  sum p_i = 1
//   dual    D(mu) = sum_i p_i (-Omega_i(mu_i)) - lambda/2 |w(mu)|^2
//   link    w(mu) = 1/lambda * sum_i p_i Phi(x_i) (phi(y_i) - mu_i)^T
//
// The sign of the link is that of the authors' code; the paper prints the opposite. Along a step of block i the dual
// changes by p_i [ -Omega(mu + delta) + Omega(mu) + v.delta - (c_i/2) |delta|^2 ],  c_i = p_i |Phi(x_i)|^2 / lambda.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/archive.h"
#include "core/views.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

template <class Scorer>
struct Problem {
  Scorer* scorer;                       // holds w
  std::span<const std::int32_t> label;  // of all examples, cut by `labels`
  Groups labels;
  std::span<const double> weight;  // p_i
  double lambda;

  std::size_t examples() const { return scorer->examples(); }
  LabelView y(std::size_t i) const { return label.subspan(labels.begin(i), labels.end(i) - labels.begin(i)); }
  double curvature(std::size_t i) const { return weight[i] * scorer->squared_norm(i) / lambda; }
};

// Which parts belong to whom; examples may differ in size.
template <class Scorer>
Groups part_groups(const Scorer& scorer) {
  const std::size_t n = scorer.examples(), first = scorer.parts(0);
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < n; ++i)
    if (scorer.parts(i) != first) {
      for (std::size_t e = 0; e < n; ++e) offsets.push_back(offsets.back() + scorer.parts(e));
      return Groups(std::move(offsets));
    }
  return Groups(n, first);
}

// mu_i for every example, without padding, and what the surrogate keeps for it.
template <class Surrogate>
struct DualPoint {
  Groups parts;
  std::vector<double> mu;
  std::vector<typename Surrogate::StateUnit> state;
  std::size_t state_size = 0;

  DualPoint() = default;
  // Starts at mu_i = phi(y_i), where w = 0.
  template <class Scorer>
  DualPoint(const Problem<Scorer>& problem, const Surrogate& surrogate)
      : parts(part_groups(*problem.scorer)),
        mu(parts.end(problem.examples() - 1), 0.0),
        state(surrogate.state_size() * problem.examples()),
        state_size(surrogate.state_size()) {
    for (std::size_t i = 0; i < problem.examples(); ++i)
      surrogate.space().embed(problem.y(i), std::span(mu).subspan(parts.begin(i), parts.end(i) - parts.begin(i)));
  }
  // Takes over what an earlier point has of the examples in the same places: any mu will do for any label.
  void adopt(const DualPoint& earlier) {
    const std::size_t count = std::min(parts.count(), earlier.parts.count());
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> own =
          std::span(earlier.mu).subspan(earlier.parts.begin(i), earlier.parts.end(i) - earlier.parts.begin(i));
      if (own.size() != of(i).size()) continue;
      std::copy(own.begin(), own.end(), of(i).begin());
      if (state_size == earlier.state_size)
        std::copy_n(earlier.state.begin() + static_cast<std::ptrdiff_t>(i * state_size), state_size,
                    state_of(i).begin());
    }
  }
  template <class Archive>
  void archive(Archive& a) {
    std::vector<std::size_t> offsets = parts.offsets();
    const auto shape = [&] { return std::make_pair(offsets, state_size); };
    const auto before = shape();
    const bool made = parts.count() > 0;
    a(offsets, mu, state, state_size);
    a.expect(!made || shape() == before);
    a.expect(!offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
             offsets.back() == mu.size() && state_size <= state.size() &&
             state.size() == state_size * (offsets.size() - 1));
    if constexpr (Archive::loading) parts = Groups(std::move(offsets));
  }
  std::span<double> of(std::size_t i) { return std::span(mu).subspan(parts.begin(i), parts.end(i) - parts.begin(i)); }
  std::span<typename Surrogate::StateUnit> state_of(std::size_t i) {
    return std::span(state).subspan(i * state_size, state_size);
  }
  // mu_i into a padded vector, and back.
  void load(std::size_t i, std::span<double> padded) {
    const auto own = of(i);
    std::copy(own.begin(), own.end(), padded.begin());
    std::fill(padded.begin() + static_cast<std::ptrdiff_t>(own.size()), padded.end(), 0.0);
  }
  void store(std::size_t i, std::span<const double> padded) {
    const auto own = of(i);
    std::copy_n(padded.begin(), own.size(), own.begin());
  }
};

struct SolverOptions {
  double tol = 1e-3;
  int epochs = 1000;
  double time_limit = 0;  // seconds; 0: none
  std::uint64_t seed = 0;
};

inline SolverOptions solver_options(const TrainOptions& o) {
  return {o.tol, o.epochs, o.time_limit.value_or(0), o.seed};
}

struct SolveResult {
  Certificate certificate;
  int epochs = 0;
  std::uint64_t oracle_calls = 0;
  double seconds = 0;
  // Mean over the last of all the epochs allowed of Omega*(v) - [v.mu - Omega(mu)], where argmax is approximate.
  std::optional<double> oracle_error;
  bool interrupted = false;
  bool given_up = false;  // another solver may be faster from here on
  std::string solver;

  template <class Archive>
  void archive(Archive& a) {
    a(certificate, epochs, oracle_calls, seconds, oracle_error, interrupted, given_up, solver);
  }
};

// A path: lambdas in turn, every one started from the solution of the one before.
struct PathRequest {
  std::span<const double> lambdas;
  const TrainOptions* options;
  const Context* context;
};

// What a path hands over at every lambda; the scorer holds the weights then.
using EmitResult = std::function<void(const SolveResult&)>;

// Time, interruption and reports, the same for every solver. `stopped` is cheap enough to be asked at every visit.
class Watch {
 public:
  static constexpr std::size_t question_interval = 1'000'000;  // multiply-adds: about a millisecond

  Watch(const Context& context, const SolverOptions& options)
      : context_(&context), options_(&options), start_(std::chrono::steady_clock::now()) {}

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  // `work`: the arithmetic since the last question, in multiply-adds.
  bool stopped(std::size_t work) {
    if (stopped_ || (pending_ += work) < question_interval) return stopped_;
    pending_ = 0;
    return stopped_ = expired();
  }
  // The question itself; may be asked from several threads.
  bool expired() const {
    if (grace_ends_ > 0) return seconds() > grace_ends_;
    return cancelled() || (options_->time_limit > 0 && seconds() > options_->time_limit);
  }
  // From now on only the clock counts: so many seconds are left.
  void grace(double left) { grace_ends_ = seconds() + left; }
  bool interrupted() const { return cancelled(); }
  // The seconds so far go on.
  template <class Archive>
  void archive(Archive& a) {
    double passed = seconds();
    a(passed, pending_);
    a.expect(passed >= 0 && passed <= longest);
    if constexpr (Archive::loading)
      start_ = std::chrono::steady_clock::now() -
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(passed));
  }
  void report(int epoch, const Certificate& certificate) const {
    if (!context_->observe) return;
    context_->observe({epoch, options_->epochs, seconds(), certificate.primal, certificate.dual,
                       certificate.relative_gap(), options_->tol});
  }

 private:
  bool cancelled() const { return context_->cancelled && context_->cancelled(); }

  static constexpr double longest = 1e9;  // seconds; the clock counts in 64 bits

  const Context* context_;
  const SolverOptions* options_;
  std::chrono::steady_clock::time_point start_;
  std::size_t pending_ = 0;
  bool stopped_ = false;
  double grace_ends_ = 0;  // 0: none was given
};

// Asks a watch, if there is one, every few milliseconds: for loops whose steps may be short or long. One for each
// thread.
class Patience {
 public:
  explicit Patience(const Watch* watch) : watch_(watch) {}
  bool over() {
    if (watch_ == nullptr) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::milliseconds(5);
    return watch_->expired();
  }

 private:
  const Watch* watch_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace m4n::detail

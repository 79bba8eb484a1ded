// How a computation runs: passed as a value, so there is no state outside the objects. Results depend on the seed,
// never on the number of threads.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <string>

#include "m4n/error.h"
#include "m4n/visibility.h"

namespace m4n {

namespace detail {
class Checkpoint;
}

// P(w) - D(mu) at the weights that are returned: `primal` is evaluated exactly or from above, `dual` from below, so
// the best possible objective lies in [dual, primal] whatever the solver did (docs/math.md, "certificate").
struct Certificate {
  double primal = 0, dual = 0;
  bool converged = false;  // relative_gap() was at most the tolerance
  double gap() const { return primal - dual; }
  // (P - D) / max(|P|, 1e-12). The floor keeps an objective of zero from dividing by zero.
  M4N_API double relative_gap() const;
};

struct Progress {
  int epoch = 0, epochs = 0;                               // done, at most
  double seconds = 0;                                      // of solving
  double primal = 0, dual = 0, relative_gap = 0, tol = 0;  // at the last certificate
};

// What a fit leaves for the next one: the dual variables of its examples. A fit by the same structure, surrogate, costs
// and classes, of data that differ in some examples, then takes a fraction of the passes. Examples are known by their
// place; those that are new start afresh, and for m4n and m3n the sequences, rankings, matchings and graphs whose
// outputs or edges changed.
struct WarmStart {
  std::any point;
  std::string kind;  // of which structure, surrogate, costs and classes
};

struct Context {
  unsigned threads = 0;  // 0: all
  // Called after every certificate with where the solver stands.
  std::function<void(const Progress&)> observe;
  // Asked at least every few milliseconds of work, perhaps from several threads at once; true stops the solver, which
  // then returns its best certified weights.
  std::function<bool()> cancelled;
  // Where a fit starts and leaves its end; null: it starts afresh.
  std::shared_ptr<WarmStart> start{};
  // fit() makes it where TrainOptions::checkpoint or resume ask for it.
  std::shared_ptr<detail::Checkpoint> checkpoint{};
  // Called where something failed that a fit can do without, as a checkpoint on a disk that is full; null: such a
  // failure ends the fit.
  std::function<void(const Message&)> warn{};
};

}  // namespace m4n

// What a fit has to say for itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace m4n {

// P(w) - D(mu) at the weights that are returned: `primal` is evaluated exactly or from above, `dual` from below, so
// the best possible objective lies in [dual, primal] whatever the solver did (docs/math.md, "certificate").
struct Certificate {
  double primal = 0, dual = 0;
  bool converged = false;
  double gap() const { return primal - dual; }
  double relative_gap() const;
};

struct TrainReport {
  std::string task, surrogate, loss, features, solver, decode;
  std::size_t n = 0, tokens = 0, d = 0, k = 0;  // tokens: labels in all, where they differ from n
  double lambda = 0, smoothing = 0;
  int epochs = 0;
  std::uint64_t oracle_calls = 0, seed = 0;
  double seconds = 0, seconds_total = 0;  // solving only; everything in fit
  Certificate certificate;
  double train_loss = 0, norm_squared = 0;
  bool interrupted = false;
};

}  // namespace m4n

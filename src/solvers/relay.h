// Several solvers in a row, reported as one: epochs and seconds go on, and the best dual bound stays.
#pragma once
#include <algorithm>

#include "solvers/certificate.h"
#include "solvers/problem.h"

namespace m4n::detail {

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

}  // namespace m4n::detail

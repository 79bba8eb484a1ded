// The smooth solver (smooth.h) where no machine has all the examples. A pass is then a round: who holds the examples in
// parts is told the point, sums over each part, and adds the sums up in the order of the parts.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "solvers/problem.h"
#include "solvers/smooth.h"

namespace m4n::detail {

// What the examples of a part add.
struct RoundSums {
  SmoothSums values{};
  std::vector<double> gradient;  // its data part, as long as w
};

// The sums over all parts at w; `moving` as in SmoothPass::sum.
using Round = std::function<RoundSums(std::span<const double> w, std::optional<double> moving, double smoothing)>;

// Examples in parts elsewhere, as SmoothLoss wants them.
class RoundPass {
 public:
  RoundPass(std::size_t weights, const Round& round) : round_(&round), w_(weights, 0.0) {}

  AlignedVector<double>& point() { return w_; }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    return kernels::dot(std::span<const Number>(a), b);
  }
  void add_point(double lambda, AlignedVector<double>& gradient) const {
    for (std::size_t j = 0; j < w_.size(); ++j) gradient[j] += lambda * w_[j];
  }
  void settle() {}
  bool sum(const Watch* watch, std::optional<double> moving, double smoothing, SmoothSums& sums,
           AlignedVector<double>& gradient);
  // A fit in rounds has no checkpoints.
  void remember() {}
  void take_back() {}

 private:
  const Round* round_;
  AlignedVector<double> w_;
};

// From w = 0, which the first round evaluates; leaves the best weights in pass.point(). `smoothing`: to begin with, 0
// of a surrogate that is smooth itself.
SolveResult smooth_in_rounds(RoundPass& pass, std::size_t examples, double lambda, double smoothing,
                             const SolverOptions& options, const Context& context);

}  // namespace m4n::detail

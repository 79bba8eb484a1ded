// M4N on permutations as the paper trains it, for solvers/gbcfw.h: argmax is K iterations of saddle-point mirror prox
// with Sinkhorn projections, from the uniform matrices. What is reported stays exact: -Omega is h(mu), Omega* the upper
// bound of the exact oracle. `Exact` is PermutationMaxMin or RankOneMaxMin of oracles.h.
#pragma once
#include "structures/permutations/birkhoff_mirror_prox.h"
#include "structures/permutations/oracles.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

template <class Exact>
class PermutationPaper {
 public:
  using StateUnit = std::uint8_t;
  static constexpr bool approximate = true;
  struct Workspace {
    typename Exact::Workspace exact;
    BirkhoffMirrorProx mirror;
    AlignedVector<double> cells;
  };

  PermutationPaper(const PositionLosses& losses, const PermutationParts& parts, int iterations, std::size_t largest)
      : losses_(&losses), exact_(losses), parts_(parts), iterations_(iterations), largest_(largest) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const PermutationParts& space() const { return parts_; }
  double scale() const { return losses_->of(largest_).range(); }
  // Four scalings of M x M exponentials per iteration.
  std::size_t work() const { return 64 * static_cast<std::size_t>(iterations_) * largest_ * largest_; }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    return exact_.risk(mu.first(parts_.count(y.size())), y, ws.exact);
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    constexpr double gap = 1e-9;
    typename Exact::Seeds cold;
    return exact_.answer(v.first(parts_.count(y.size())), y, gap, cold, ws.exact).upper;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    const std::size_t size = y.size();
    ws.cells.resize(size * size);
    parts_.cells(v, size, ws.cells);
    const BirkhoffLimits limits{.gap = 0, .rounds = iterations_};
    std::fill(mu.begin(), mu.end(), 0.0);
    parts_.gather(ws.mirror.solve(ws.cells, losses_->of(size), limits).p, size, mu);
  }

 private:
  const PositionLosses* losses_;
  Exact exact_;
  PermutationParts parts_;
  int iterations_;
  std::size_t largest_;
};

}  // namespace m4n::detail

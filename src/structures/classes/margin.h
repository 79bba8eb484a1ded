// M3N, the structural SVM: Omega_y*(v) = max_j cost[y][j] + v_j, so -Omega_y(mu) = cost[y].mu is linear and the
// proximal step is a projection onto the simplex.
#pragma once
#include <algorithm>

#include "core/aligned.h"
#include "losses/simplex_loss.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

class Margin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {
    AlignedVector<double> scratch;
  };
  explicit Margin(const CostMatrix& cost) : space_(cost.k()), loss_(cost) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {AlignedVector<double>(space_.padded_parts())}; }
  const Simplex& space() const { return space_; }
  double scale() const { return loss_.cost().range(); }
  std::size_t work() const { return 16 * space_.padded_parts(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace&) const { return kernels::dot(mu, cost(y)); }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    augment(v, y, ws);
    return *std::max_element(ws.scratch.begin(), ws.scratch.end());
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    augment(v, y, ws);
    const std::int32_t best = space_.decode(ws.scratch);
    space_.embed({&best, 1}, mu);
  }
  void prox(ScoreView v, double c, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    kernels::prox_linear(v, cost(y), 1 / c, mu, ws.scratch);
  }

 private:
  std::span<const double> cost(LabelView y) const { return loss_.of_truth(static_cast<std::size_t>(y[0])); }
  void augment(ScoreView v, LabelView y, Workspace& ws) const {
    const std::span<const double> row = cost(y);
    for (std::size_t j = 0; j < v.size(); ++j) ws.scratch[j] = v[j] + row[j];
  }

  Simplex space_;
  SimplexLoss loss_;
};

}  // namespace m4n::detail

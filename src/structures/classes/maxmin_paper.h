// M4N as the paper trains it: argmax is K iterations of mirror prox, warm-started for every example with the pair it
// returned last time, or from the uniform distributions. The steps are multiplicative, so a label whose probability has
// gone would take long to come back: a warm start keeps a hundredth of the uniform distribution. (Without it the error
// of the oracle was two to seven times larger after 100 passes, and larger than from cold starts for K >= 30.) What is
// reported stays exact: -Omega and Omega* come from the exact surrogate, since the value of an approximate maximiser is
// only a lower bound and no certificate.
#pragma once
#include "games/mirror_prox.h"
#include "structures/classes/maxmin.h"

namespace m4n::detail {

template <class MaxMin>
class PaperMaxMin {
 public:
  using StateUnit = double;  // the pair (mu, nu)
  static constexpr bool approximate = true;
  struct Workspace {
    typename MaxMin::Workspace exact;
    MirrorProx<Simplex, SimplexLoss>::Workspace mirror;
    AlignedVector<double> nu;
    std::vector<std::uint8_t> cold;
  };
  PaperMaxMin(MaxMin exact, const SimplexLoss& loss, int iterations, bool warm_start)
      : exact_(std::move(exact)),
        mirror_(exact_.space(), loss, loss.cost().range(), iterations),
        warm_start_(warm_start) {}
  PaperMaxMin(const PaperMaxMin&) = delete;  // mirror_ points into exact_
  PaperMaxMin& operator=(const PaperMaxMin&) = delete;
  ~PaperMaxMin() = default;

  std::size_t state_size() const { return warm_start_ ? 2 * space().parts() : 0; }
  Workspace workspace() const {
    return {exact_.workspace(), mirror_.workspace(), AlignedVector<double>(space().padded_parts()),
            std::vector<std::uint8_t>(exact_.state_size())};
  }
  const Simplex& space() const { return exact_.space(); }
  double scale() const { return exact_.scale(); }
  std::size_t work() const { return mirror_.work(); }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const { return exact_.neg_omega(mu, y, ws.exact); }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    std::fill(ws.cold.begin(), ws.cold.end(), std::uint8_t{0});
    return exact_.conjugate(v, y, ws.cold, ws.exact);
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const std::size_t k = space().parts();
    std::fill(mu.begin(), mu.end(), 0.0);
    std::fill(ws.nu.begin(), ws.nu.end(), 0.0);
    const bool warm = std::any_of(state.begin(), state.end(), [](double x) { return x > 0; });
    const double uniform = 1 / static_cast<double>(k);
    for (std::size_t j = 0; j < k; ++j) {
      mu[j] = warm ? (1 - renewed) * state[j] + renewed * uniform : uniform;
      ws.nu[j] = warm ? (1 - renewed) * state[k + j] + renewed * uniform : uniform;
    }
    mirror_.solve(v, mu, ws.nu, ws.mirror);
    if (state.empty()) return;
    std::copy_n(mu.begin(), k, state.begin());
    std::copy_n(ws.nu.begin(), k, state.begin() + static_cast<std::ptrdiff_t>(k));
  }

 private:
  static constexpr double renewed = 0.01;  // share of the uniform distribution in a warm start

  MaxMin exact_;
  MirrorProx<Simplex, SimplexLoss> mirror_;
  bool warm_start_;
};

}  // namespace m4n::detail

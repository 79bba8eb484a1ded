// M4N on chains as the paper trains it, for solvers/gbcfw.h: argmax is saddle-point mirror prox over the marginal
// polytope, K iterations or K times the length, started at the uniform distribution. What is reported stays exact:
// -Omega is h(mu), Omega* the upper bound of the exact game. Part vectors have the flat layout of ChainSpace.
#pragma once
#include <algorithm>
#include <limits>
#include <map>

#include "games/mirror_prox.h"
#include "structures/chains/flat_space.h"
#include "structures/chains/game.h"
#include "structures/chains/loss.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

// Chains of several lengths as one output space: the length is that of the labels, or follows from the size.
class ChainSpaces {
 public:
  explicit ChainSpaces(std::size_t labels) : labels_(labels) {}
  std::size_t parts() const { return of(1).parts(); }
  std::size_t padded_parts() const { return parts(); }
  void embed(LabelView y, std::span<double> mu) const { of(y.size()).embed(y, mu); }
  double score(std::span<const double> v, LabelView y) const { return of(y.size()).score(v, y); }
  double marginals(std::span<const double> theta, std::span<double> mu) const {
    return of(length_of(theta.size())).marginals(theta, mu);
  }
  ChainSpace of(std::size_t length) const { return {length, labels_}; }
  std::size_t length_of(std::size_t parts) const { return parts / row_stride<double>(labels_) - labels_; }

 private:
  std::size_t labels_;
};

class ChainPaper {
 public:
  using StateUnit = std::uint8_t;
  static constexpr bool approximate = true;
  // Everything that depends on the length of the chain.
  struct Sized {
    Sized(std::size_t length, const SimplexLoss& simplex, int iterations)
        : space(length, simplex.k()),
          loss(simplex, space),
          mirror(space, loss, simplex.cost().range() / static_cast<double>(length), iterations),
          scratch(mirror.workspace()),
          nu(space.parts()),
          risk(space.parts()) {}
    Sized(const Sized&) = delete;
    Sized& operator=(const Sized&) = delete;
    ChainSpace space;
    ChainLoss loss;
    MirrorProx<ChainSpace, ChainLoss> mirror;
    MirrorProx<ChainSpace, ChainLoss>::Workspace scratch;
    AlignedVector<double> nu, risk;
  };
  // Copies start empty: what is in it is made when it is needed.
  struct Workspace {
    Workspace() = default;
    Workspace(const Workspace&) {}
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace() = default;
    std::map<std::size_t, Sized> sized;
    ChainGame::Workspace game;
    Transitions transitions;
  };

  ChainPaper(const CostMatrix& cost, int iterations, bool per_position, std::size_t mean_length)
      : loss_(cost),
        game_(cost),
        space_(cost.k()),
        iterations_(iterations),
        per_position_(per_position),
        mean_length_(mean_length) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const ChainSpaces& space() const { return space_; }
  double scale() const { return loss_.cost().range(); }
  // Four sum-products an iteration.
  std::size_t work() const {
    return 16 * static_cast<std::size_t>(iterations(mean_length_)) * mean_length_ * loss_.k() * loss_.k();
  }

  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const {
    Sized& sized = of(y.size(), ws);
    return sized.loss.bayes_risk(mu, sized.risk);
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    const Sized& sized = of(y.size(), ws);
    ws.transitions.prepare(sized.space.transitions(v), {}, {});
    ChainSeeds cold;
    return game_.solve({sized.space.unary(v), &ws.transitions}, {}, cold, ws.game).bounds.upper;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    Sized& sized = of(y.size(), ws);
    sized.space.uniform(mu);
    sized.space.uniform(sized.nu);
    sized.mirror.solve(v, mu, sized.nu, sized.scratch);
  }

 private:
  int iterations(std::size_t length) const {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    return per_position_ ? static_cast<int>(std::min(most, static_cast<std::size_t>(iterations_) * length))
                         : iterations_;
  }
  Sized& of(std::size_t length, Workspace& ws) const {
    return ws.sized.try_emplace(length, length, loss_, iterations(length)).first->second;
  }

  SimplexLoss loss_;
  ChainGame game_;
  ChainSpaces space_;
  int iterations_;
  bool per_position_;
  std::size_t mean_length_;
};

}  // namespace m4n::detail

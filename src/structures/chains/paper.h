// What the paper's solver needs of chains: the output space (ChainSpace), its loss (ChainLoss), and the surrogate that
// plays mirror prox (ChainPaper).
//
// A chain of M positions as an output space over flat vectors of parts, for solvers that know nothing of chains: the
// unary parts, M padded rows of R, then the transitions, R padded rows of R. Start and end scores belong to the unary
// parts of the first and the last position.
//
// The padding may hold anything finite in scores; it is 0 in marginals. Methods share scratch: one object per thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>

#include "core/views.h"
#include "games/mirror_prox.h"
#include "losses/cost_matrix.h"
#include "structures/chains/oracles.h"
#include "structures/chains/space.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

class ChainSpace {
 public:
  ChainSpace(std::size_t length, std::size_t labels) : length_(length), labels_(labels) {}
  std::size_t length() const { return length_; }
  std::size_t labels() const { return labels_; }
  std::size_t parts() const { return (length_ + labels_) * row_stride<double>(labels_); }
  std::size_t padded_parts() const { return parts(); }

  // The two kinds of parts of a flat vector.
  template <class Real>
  PaddedRows<Real> unary(std::span<Real> flat) const {
    return {flat.data(), length_, labels_};
  }
  template <class Real>
  PaddedRows<Real> transitions(std::span<Real> flat) const {
    return {flat.data() + length_ * row_stride<double>(labels_), labels_, labels_};
  }

  // v as a flat vector.
  void flatten(const ChainScores& v, std::span<double> flat) const {
    std::fill(flat.begin(), flat.end(), 0.0);
    for (std::size_t m = 0; m < length_; ++m) std::copy_n(v.unary.row(m), labels_, unary(flat).row(m));
    for (std::size_t k = 0; k < labels_; ++k) {
      unary(flat)(0, k) += v.transitions->start(k);
      unary(flat)(length_ - 1, k) += v.transitions->end(k);
      std::copy_n(v.transitions->rows().from_to.row(k), labels_, transitions(flat).row(k));
    }
  }
  // mu = phi(y)
  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t m = 0; m < length_; ++m) unary(mu)(m, label(y, m)) = 1;
    for (std::size_t m = 1; m < length_; ++m) transitions(mu)(label(y, m - 1), label(y, m)) += 1;
  }
  // v . phi(y)
  double score(std::span<const double> v, LabelView y) const {
    double sum = 0;
    for (std::size_t m = 0; m < length_; ++m) sum += unary(v)(m, label(y, m));
    for (std::size_t m = 1; m < length_; ++m) sum += transitions(v)(label(y, m - 1), label(y, m));
    return sum;
  }
  // mu = gradient of log sum_y exp(theta . phi(y)); returns that logarithm.
  double marginals(std::span<const double> theta, std::span<double> mu) const {
    scores_.prepare(transitions(theta), {}, {});
    exp_.prepare(scores_);
    const ChainScores v{unary(theta), &scores_};
    const double log_partition = sum_product_.solve(v, exp_);
    const PaddedRows<const double> found = sum_product_.marginals();
    std::copy_n(found.data(), length_ * found.stride(), mu.data());
    sum_product_.transition_counts(v, exp_, transitions(mu));
    return log_partition;
  }
  // The marginals of the uniform distribution: where mirror prox starts.
  void uniform(std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    const double share = 1 / static_cast<double>(labels_);
    for (std::size_t m = 0; m < length_; ++m) std::fill_n(unary(mu).row(m), labels_, share);
    for (std::size_t j = 0; j < labels_; ++j)
      std::fill_n(transitions(mu).row(j), labels_, static_cast<double>(length_ - 1) * share * share);
  }

 private:
  static std::size_t label(LabelView y, std::size_t m) { return static_cast<std::size_t>(y[m]); }

  std::size_t length_, labels_;
  mutable Transitions scores_;
  mutable ExpTransitions exp_;
  mutable SumProduct sum_product_;
};

// The loss of a chain over the flat parts of ChainSpace: the average over the positions of a cost matrix; transitions
// cost nothing.
//   apply            (1/M) A mu_m     at every position     O(M R^2)
//   apply_transposed (1/M) A^T nu_m   at every position     O(M R^2)

class ChainLoss {
 public:
  ChainLoss(const SimplexLoss& loss, const ChainSpace& space) : loss_(&loss), space_(&space) {}

  void apply(std::span<const double> mu, std::span<double> out) const {
    each_position(mu, out, [&](auto in, auto result) { loss_->apply(in, result); });
  }
  void apply_transposed(std::span<const double> nu, std::span<double> out) const {
    each_position(nu, out, [&](auto in, auto result) { loss_->apply_transposed(in, result); });
  }
  // h(mu) = (1/M) sum_m min_y (A mu_m)_y; `scratch` receives A mu.
  double bayes_risk(std::span<const double> mu, std::span<double> scratch) const {
    apply(mu, scratch);
    double sum = 0;
    for (std::size_t m = 0; m < space_->length(); ++m) {
      const double* risk = space_->unary(scratch).row(m);
      sum += *std::min_element(risk, risk + space_->labels());
    }
    return sum;
  }

 private:
  template <class Product>
  void each_position(std::span<const double> in, std::span<double> out, Product&& product) const {
    std::fill(out.begin(), out.end(), 0.0);
    const double share = 1 / static_cast<double>(space_->length());
    for (std::size_t m = 0; m < space_->length(); ++m) {
      const std::span<double> row = space_->unary(out).padded_row(m);
      product(space_->unary(in).padded_row(m), row);
      for (double& x : row) x *= share;
    }
  }
  const SimplexLoss* loss_;
  const ChainSpace* space_;
};

// M4N on chains as the paper trains it, for solvers/gbcfw.h: argmax is saddle-point mirror prox over the marginal
// polytope, K iterations or K times the length, started at the uniform distribution. What is reported stays exact:
// -Omega is h(mu), Omega* the upper bound of the exact game. Part vectors have the flat layout of ChainSpace.

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
    const std::function<bool()>* stop = nullptr;  // asked by conjugate
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
  // Four sum-products per iteration.
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
    GameSeeds cold;
    return game_.solve({sized.space.unary(v), &ws.transitions}, {.stop = ws.stop}, cold, ws.game).bounds.upper;
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

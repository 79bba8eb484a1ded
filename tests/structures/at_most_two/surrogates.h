// Labels of which at most two are on: what is to be solved for one example. Part m of an output says whether label m is
// on, phi(y) = y, so that a label scores v_m when it is on and nothing when it is off.
//
// All that is known of these outputs is a decoder. Max-margin asks it for the best labelling with costs added; the
// labelling game (games/labelling_game.h) makes the exact max-min oracle of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "games/labelling_game.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

inline constexpr std::size_t most_on = 2;

// The decoder: of the labels that gain by being on, the two that gain most. Returns what they gain.
template <class Gain>
double decode_at_most_two(std::size_t labels, Gain gain, std::span<std::int32_t> y) {
  std::fill(y.begin(), y.end(), 0);
  double sum = 0;
  for (std::size_t on = 0; on < most_on; ++on) {
    std::size_t best = labels;
    for (std::size_t m = 0; m < labels; ++m)
      if (y[m] == 0 && gain(m) > (best < labels ? gain(best) : 0.0)) best = m;
    if (best == labels) break;
    y[best] = 1;
    sum += gain(best);
  }
  return sum;
}

// The same as the game asks for it: a row of two scores by label, off and on.
struct AtMostTwoScores {
  PaddedRows<const double> unary;
  std::size_t length() const { return unary.rows(); }
};
inline double score(const AtMostTwoScores& v, LabelView y) {
  double sum = 0;
  for (std::size_t m = 0; m < v.length(); ++m) sum += v.unary(m, static_cast<std::size_t>(y[m]));
  return sum;
}
struct AtMostTwoProblem {
  using Scores = AtMostTwoScores;
  struct Decoder {};
  static constexpr bool one_cost = true;
  static const std::uint32_t* kinds(const Scores&, const std::vector<UnitCosts>&) { return nullptr; }
  static bool apart(const Scores& v) { return v.length() <= most_on; }
  static double own(const Scores& v, std::size_t m, std::size_t label) { return v.unary(m, label); }
  static double decode(Decoder&, const Scores& v, PaddedRows<const double> unary, std::span<std::int32_t> y) {
    double off = 0;
    for (std::size_t m = 0; m < v.length(); ++m) off += unary(m, 0);
    return off + decode_at_most_two(
                     v.length(), [&](std::size_t m) { return unary(m, 1) - unary(m, 0); }, y);
  }
};

class AtMostTwoSpace {
 public:
  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    std::copy(y.begin(), y.end(), mu.begin());
  }
  double score(std::span<const double> v, LabelView y) const {
    double sum = 0;
    for (std::size_t m = 0; m < y.size(); ++m) sum += y[m] == 1 ? v[m] : 0;
    return sum;
  }
};

// What both surrogates have in common; the loss is the mean over the labels of cost[true][predicted].
class AtMostTwoSurrogate {
 public:
  using StateUnit = std::uint8_t;
  AtMostTwoSurrogate(const CostMatrix& cost, std::size_t labels) : cost_(cost), labels_(labels) {}
  std::size_t state_size() const { return 0; }
  const AtMostTwoSpace& space() const { return space_; }
  double scale() const { return cost_.range(); }

 protected:
  double share(double sum) const { return sum / static_cast<double>(labels_); }
  const CostMatrix& cost_;
  std::size_t labels_;
  AtMostTwoSpace space_;
};

// M4N: -Omega(mu) = mean_m min(cost of "off" under mu_m, cost of "on"); argmax and value are those of the game.
class AtMostTwoMaxMin : public AtMostTwoSurrogate {
 public:
  struct Workspace {
    LabellingGame<AtMostTwoProblem>::Workspace game;
    GameSeeds seeds;
    PaddedMatrix<double> unary;
  };
  AtMostTwoMaxMin(const CostMatrix& cost, std::size_t labels) : AtMostTwoSurrogate(cost, labels), game_(cost) {}
  Workspace workspace() const { return {}; }
  std::size_t work() const { return 1000 * labels_; }

  double neg_omega(MarginalView mu, LabelView, Workspace&) const {
    double sum = 0;
    for (std::size_t m = 0; m < labels_; ++m) sum += std::min(cost_(1, 0) * mu[m], cost_(0, 1) * (1 - mu[m]));
    return share(sum);
  }
  double conjugate(ScoreView v, LabelView, std::span<StateUnit>, Workspace& ws) const {
    return solve(v, ws).bounds.upper;
  }
  void argmax(ScoreView v, LabelView, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    const GameAnswer answer = solve(v, ws);
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t j = 0; j < answer.size(); ++j)
      for (std::size_t m = 0; m < labels_; ++m) mu[m] += answer.labels(j)[m] == 1 ? answer.weight[j] : 0;
  }

 private:
  GameAnswer solve(ScoreView v, Workspace& ws) const {
    const PaddedRows<double> unary = ws.unary.shape(labels_, 2);
    std::fill_n(unary.data(), labels_ * unary.stride(), 0.0);
    for (std::size_t m = 0; m < labels_; ++m) unary(m, 1) = v[m];
    ws.seeds.clear();
    return game_.solve({unary}, {.gap = 1e-9}, ws.seeds, ws.game);
  }
  LabellingGame<AtMostTwoProblem> game_;
};

// M3N: -Omega(mu) = mean_m cost[y_m] . mu_m, so that argmax decodes scores with costs added.
class AtMostTwoMargin : public AtMostTwoSurrogate {
 public:
  struct Workspace {
    std::vector<std::int32_t> y;
  };
  using AtMostTwoSurrogate::AtMostTwoSurrogate;
  Workspace workspace() const { return {std::vector<std::int32_t>(labels_)}; }
  std::size_t work() const { return 8 * labels_; }

  double neg_omega(MarginalView mu, LabelView y, Workspace&) const {
    double sum = 0;
    for (std::size_t m = 0; m < labels_; ++m) sum += cost(y, m, 0) + rise(y, m) * mu[m];
    return share(sum);
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace& ws) const {
    double off = 0;
    for (std::size_t m = 0; m < labels_; ++m) off += cost(y, m, 0);
    return share(off) + decode(v, y, ws);
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit>, Workspace& ws) const {
    decode(v, y, ws);
    space_.embed(ws.y, mu);
  }

 private:
  double cost(LabelView y, std::size_t m, std::size_t predicted) const {
    return cost_(static_cast<std::size_t>(y[m]), predicted);
  }
  double rise(LabelView y, std::size_t m) const { return cost(y, m, 1) - cost(y, m, 0); }
  double decode(ScoreView v, LabelView y, Workspace& ws) const {
    return decode_at_most_two(
        labels_, [&](std::size_t m) { return v[m] + share(rise(y, m)); }, ws.y);
  }
};

}  // namespace m4n::detail

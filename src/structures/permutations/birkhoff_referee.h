// What every max-min oracle over the Birkhoff polytope (the doubly stochastic matrices, the means of permutations)
// begins and ends with. The game, for scores S and a position loss L = c0 + <Q, A P> (losses/position_loss.h):
//
//     max over P   min over Q    <S, P> + c0 + <Q, A P>         P: means of the truth,  Q: of the prediction
//
// Scores are first reduced by the duals of their best permutation, C[i][j] = S[i][j] - u_i - w_j <= 0: that takes
// sum u + sum w =: top from every P. A cell below -range(L) is in no permutation that could pay, so C may be cut off
// further down without changing the value, and scores of any size leave numbers of the size of the loss. Bounds:
//
//     lower = top + c0 + <C, P> + min_Q <Q, A P>,      upper = top + c0 + max_P <C + A^T Q, P>
//
// each one assignment, taken at its duals, so that rounding makes them wider and never false. Where scores differ by
// more than twice the range of the loss, `lower` counts those cells at the cut: a bound of the value, which the rest of
// P's mass, if any there, does not attain.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/assignment.h"
#include "core/views.h"
#include "games/matrix_game.h"
#include "losses/position_loss.h"

namespace m4n::detail {

// When to stop: upper - lower <= gap * range(L), or after as many rounds (iterations), or when `stop` says so. The
// bounds are true whatever ended it.
struct BirkhoffLimits {
  double gap = 1e-6;
  int rounds = 200;
  const std::function<bool()>* stop = nullptr;
  bool stopped() const { return stop != nullptr && (*stop)(); }
};

// What an oracle found; views of its workspace, valid until the next call. P and Q are M x M by rows, doubly
// stochastic to rounding.
struct BirkhoffAnswer {
  Bounds bounds;
  double risk = 0;  // h(P) = c0 + min_Q <Q, A P>, from below
  std::span<const double> p, q;
  int rounds = 0;
};

// The better of two answers to the same question: each bound with the point that attains it; the rounds of both.
void take_better(const BirkhoffAnswer& other, BirkhoffAnswer& best);

class BirkhoffReferee {
 public:
  // Throws Error for scores that are not finite. `loss` must outlive the rest. Cells are cut off at -cut.
  void start(std::span<const double> scores, const PositionLoss& loss, double cut);
  void start(std::span<const double> scores, const PositionLoss& loss) { start(scores, loss, 2 * loss.range()); }

  const PositionLoss& loss() const { return *loss_; }
  std::size_t size() const { return loss_->size(); }
  double top() const { return top_; }                                            // sum u + sum w + c0
  std::span<const double> scores() const { return reduced_; }                    // C, cut
  std::span<const std::int32_t> best() const { return {best_.data(), size()}; }  // the best permutation of the scores

  // h(P) - c0, from below; the best prediction is left in prediction().
  double risk(std::span<const double> p);
  // <C, P>.
  double linear(std::span<const double> p) const;
  // upper - top; the best truth is left in truth().
  double upper(std::span<const double> q);
  std::span<const std::int32_t> prediction() const { return prediction_.position(); }
  std::span<const std::int32_t> truth() const { return truth_.position(); }

  // Bounds at P and Q.
  BirkhoffAnswer judge(std::span<const double> p, std::span<const double> q);

 private:
  const PositionLoss* loss_ = nullptr;
  double top_ = 0;
  Assignment scorer_, prediction_, truth_;
  AlignedVector<std::int32_t> best_;
  AlignedVector<double> reduced_, work_, prediction_dual_, truth_dual_;
};

}  // namespace m4n::detail

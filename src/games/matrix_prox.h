// Exact proximal block step on the simplex for any cost matrix (docs/algorithms.md).
//
//     mu <- argmax over the simplex of  h(mu) + v.mu - (c/2) |mu - mu_old|^2,     h(mu) = min_y (A mu)_y
//
// Written with the level t = h(mu) it is a quadratic program: max t + v.mu - (c/2) |mu - mu_old|^2, A mu >= t 1. A
// primal active-set method keeps a support S (free classes) and active rows Y (A_y mu = t) and in each inner solve
// moves toward the maximum over the face they span:
//
//     d = (projection of  v - c (mu - mu_old) + A_y0  onto  {d in R^S: sum d = 0, (A_y - A_y0) d = 0, y in Y}) / c
//
// It stops at the first class that reaches zero (it leaves S) or the first row that reaches t (it enters Y); at the
// maximum of the face the class with the largest gain enters or the row with the most negative multiplier leaves. Every
// inner solve increases the objective, so a visit may be cut short. Cost of an inner solve:
// O(|Y|^2 |S| + k (|S| + |Y|)).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/padded_cost.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

// Bit of the warm start that belongs to the proximal step: the row (prediction) is active.
inline constexpr std::uint8_t state_prox_row = 4;

class MatrixProx {
 public:
  explicit MatrixProx(const CostMatrix& cost);
  // Other costs of the same size.
  void read(const CostMatrix& cost) { padded_.read(cost); }

  // Scratch for one thread; step() allocates nothing.
  struct Workspace {
    explicit Workspace(std::size_t k);

    std::vector<std::uint32_t> support, rows;  // S and Y; rows[0] = y0
    std::vector<std::uint8_t> in_support, in_rows;
    AlignedVector<double> pull, gain;  // v - c (mu - mu_old), and that plus A^T nu
    AlignedVector<double> risk, rate;  // A mu and A d
    std::vector<double> old;           // mu_old
    std::vector<double> weight;        // mu on S at the start
    std::vector<double> direction;     // d, by position in S
    std::vector<double> multiplier;    // nu, by position in Y
    // A_y - A_y0 = sum_l factor_l normal_l: rows of a lower triangle and orthonormal rows over S, by position in Y.
    std::vector<double> normal, factor;
    std::size_t independent = 0;  // normals of that many first rows of Y are up to date
  };

  // mu: mu_old on entry (a distribution), the result on exit. nu: the multipliers of the active rows, a distribution
  // over predictions that is meaningful when the step was solved to optimality. `state`: k bytes of warm start of this
  // example. max_solves caps the inner solves that move mu (solves of zero length only exchange constraints; a visit
  // that stopped among them would repeat them for ever). Returns whether the result is optimal. c > 0.
  bool step(std::span<const double> v, double c, std::span<double> mu, std::span<double> nu,
            std::span<std::uint8_t> state, int max_solves, Workspace& ws) const;

 private:
  struct Block;
  struct Violation;

  void start(std::span<const double> mu, std::span<const std::uint8_t> state, Workspace& ws) const;
  void orthogonalise(Workspace& ws) const;
  double face_direction(std::span<const double> v, double c, std::span<const double> mu, Workspace& ws) const;
  void loosen(Workspace& ws) const;
  Block first_block(std::span<const double> mu, Workspace& ws) const;
  Violation worst_violation(std::span<const double> v, double c, std::span<const double> mu, double noise, int stalls,
                            Workspace& ws) const;
  void finish(std::span<double> mu, std::span<double> nu, std::span<std::uint8_t> state, const Workspace& ws) const;

  PaddedCost padded_;
};

}  // namespace m4n::detail

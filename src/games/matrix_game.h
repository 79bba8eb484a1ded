// The max-min game of classes for any cost matrix: the bounds that every oracle promises, the basis of the simplex
// method, and the oracle itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/padded_cost.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

// What an oracle promises: the max-min value lies between the two numbers, both evaluated at feasible points.
struct Bounds {
  double lower = 0, upper = 0;  // lower <= max-min value <= upper
};

// The basis of the simplex method for the matrix game, with its explicit inverse.
//
// A basis is a support S (classes that carry mass) and as many active rows Y (predictions whose risk equals t):
//
//     B = [  0   1^T  ]   row 0: sum of mu          column 0: the level t
//         [ -1   A_YS ]   rows 1..m: A_y mu - t     columns 1..m: mu_j, j in S
//
// and the basic solution is (t, mu_S) = B^{-1} (1, 0, ..., 0), the first column of the inverse W. A pivot changes S and
// Y by one class or one row each; W follows by a rank-one update in O(m^2). m is small (often 2 to 6), so the explicit
// inverse is cheaper than any factorisation; invert() rebuilds it from A when rounding has built up.

class GameBasis {
 public:
  explicit GameBasis(std::size_t k);

  std::size_t size() const { return size_; }  // m = |S| = |Y|
  // Positions run from 1 to m, like the rows and columns of B; position 0 is (t, sum).
  std::size_t support(std::size_t position) const { return support_[position]; }
  std::size_t row(std::size_t position) const { return rows_[position]; }
  // S and Y in the order of the positions.
  std::span<const std::uint32_t> support() const { return {support_.data() + 1, size_}; }
  std::span<const std::uint32_t> rows() const { return {rows_.data() + 1, size_}; }
  // B^{-1}: rows are indexed by (t, S), columns by (sum, Y).
  double* inverse(std::size_t position) { return inverse_.data() + position * stride_; }
  const double* inverse(std::size_t position) const { return inverse_.data() + position * stride_; }
  double level() const { return inverse(0)[0]; }
  double mass(std::size_t position) const { return inverse(position)[0]; }

  // S = {j}, Y = {y}.
  void set_single(std::size_t j, std::size_t y, double cost);
  // Takes S and Y from the bits of `state`; false unless they are equally many and at least one.
  bool read(std::span<const std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit);
  void write(std::span<std::uint8_t> state, std::uint8_t support_bit, std::uint8_t row_bit) const;
  // Recomputes W from S and Y (Gauss-Jordan, partial pivoting); false if B is singular to working precision.
  bool invert(const CostMatrix& cost);

  // The four pivots. image = W (1, A_Yj) for the class j that enters; border = (-1, A_yS) W for the row y that enters;
  // pivot = A_yj - (-1, A_yS) image. q is the position in S, p the position in Y of what leaves.
  void replace_class(std::size_t q, std::size_t j, const double* image);
  void replace_row(std::size_t p, std::size_t y, const double* border);
  void grow(std::size_t j, std::size_t y, const double* image, const double* border, double pivot);
  void shrink(std::size_t q, std::size_t p);

 private:
  std::size_t k_, stride_, size_ = 0;
  std::vector<double> inverse_;
  std::vector<std::uint32_t> support_, rows_, order_;
};

// Exact max-min oracle for any cost matrix on the simplex (docs/algorithms.md).
//
//     max over mu in the simplex of  min_y (A mu)_y + v.mu     =   max  t + v.mu   s.t.  A mu >= t 1,  sum mu = 1
//
// Primal simplex method on the right-hand side. The scores enter the objective only, so the basis of the last visit
// (support S of mu, active rows Y) stays feasible whatever v has become: a visit costs one small inversion, O(m^3), and
// usually none or few pivots of O(m k), with m = |S| = |Y| (2 to 6 on scores met in training).
//
// The answer is certified by construction: lower and upper are evaluated at the feasible mu and nu that are returned.

// Bits of the warm start that belong to the game: the class is in the support S, the row (prediction) is active.
inline constexpr double price_tolerance = 1e-12;  // optimality of prices, relative to the range of the costs
inline constexpr std::uint8_t state_support = 1;
inline constexpr std::uint8_t state_row = 2;

class MatrixGame {
 public:
  explicit MatrixGame(const CostMatrix& cost);  // keeps a pointer; cost must outlive it
  // Reads the numbers of the cost matrix again.
  void read() { padded_.read(*cost_); }

  // Scratch for one thread; solve() allocates nothing.
  struct Workspace {
    explicit Workspace(std::size_t k);

    GameBasis basis;
    AlignedVector<double> scores;   // v - max v, not below -2 (max A - min A)
    AlignedVector<double> reduced;  // v + A^T nu - theta: what a class would gain by entering the support
    AlignedVector<double> slack;    // A mu - t
    AlignedVector<double> rate;     // change of the slack per unit of what enters
    std::vector<double> mass;       // x or its direction, by position of the basis (0 = t)
    std::vector<double> weight;     // multipliers, by position of the basis (0 = theta)
    std::vector<double> border;
    std::vector<double> other_mu, other_nu;
  };

  // Writes an optimal mu and the adversary's optimal nu (a distribution over predictions). `state` is the warm start of
  // this example, k bytes kept between visits, all zero = cold; garbage in it costs time, never correctness.
  Bounds solve(std::span<const double> v, std::span<double> mu, std::span<double> nu, std::span<std::uint8_t> state,
               Workspace& ws) const;

 private:
  enum class Care { fast, refined, careful };  // refined multipliers; and a fresh inverse at every pivot
  struct Entering;
  struct Leaving;

  double load_scores(std::span<const double> v, Workspace& ws) const;
  void start_cold(Workspace& ws) const;
  bool start_warm(std::span<const std::uint8_t> state, Workspace& ws) const;
  void compute_slack(Workspace& ws) const;
  bool feasible(const Workspace& ws) const;
  void price(Care care, Workspace& ws) const;
  Entering choose_entering(bool bland, const Workspace& ws) const;
  void compute_rates(const Entering& entering, Workspace& ws) const;
  Leaving choose_leaving(Care care, bool bland, const Workspace& ws) const;
  void pivot(const Entering& entering, const Leaving& leaving, Workspace& ws) const;
  bool optimise(Care care, Workspace& ws) const;
  Bounds certify(std::span<const double> v, double top, std::span<double> mu, std::span<double> nu,
                 Workspace& ws) const;
  Bounds trivial_bounds(double top, std::span<double> mu, std::span<double> nu, const Workspace& ws,
                        Bounds bounds) const;

  const CostMatrix* cost_;
  PaddedCost padded_;
};

}  // namespace m4n::detail

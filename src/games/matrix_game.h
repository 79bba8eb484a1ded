// Exact max-min oracle for any cost matrix on the simplex (docs/algorithms.md).
//
//     max over mu in the simplex of  min_y (A mu)_y + v.mu     =   max  t + v.mu   s.t.  A mu >= t 1,  sum mu = 1
//
// Primal simplex method on the right-hand side. The scores enter the objective only, so the basis of the last visit
// (support S of mu, active rows Y) stays feasible whatever v has become: a visit costs one small inversion, O(m^3), and
// usually none or few pivots of O(m k), with m = |S| = |Y| (2 to 6 on scores met in training).
//
// The answer is certified by construction: lower and upper are evaluated at the feasible mu and nu that are returned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "games/bounds.h"
#include "games/game_basis.h"
#include "games/padded_cost.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

// Bits of the warm start that belong to the game: the class is in the support S, the row (prediction) is active.
inline constexpr std::uint8_t state_support = 1;
inline constexpr std::uint8_t state_row = 2;

class MatrixGame {
 public:
  explicit MatrixGame(const CostMatrix& cost);  // keeps a pointer; cost must outlive it

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

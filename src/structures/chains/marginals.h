// The Gibbs distribution p(y) ~ exp(score(y)) of a chain: log of its partition function, the marginals of every
// position and the expected number of every transition, that is the gradient of the log-partition function. O(M R^2).
//
// In linear space, each position scaled to sum 1, with the exponentials of T prepared: multiply-adds only. Nothing
// underflows while spread(T) + spread(unary row) stays below 600: then every label keeps at least e^-600 of the mass of
// its position whatever came before. Beyond that the recursion runs on logarithms, several times slower.
#pragma once
#include <vector>

#include "core/padded_rows.h"
#include "structures/chains/chain.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once the longest chain was seen.
class SumProduct {
 public:
  // Returns log sum_y exp(score(y)). `exp` was prepared from v.transitions.
  double solve(const ChainScores& v, const ExpTransitions& exp);

  // Of the chain solved last. Rows are padded with 0. The start and end scores have the marginals of the first and the
  // last position as their gradient.
  PaddedRows<const double> marginals() const { return marginal_.view(); }
  // Writes count[j][k] = expected number of transitions from j to k (R x R; all 0 for one position).
  void transition_counts(const ChainScores& v, const ExpTransitions& exp, PaddedRows<double> count);

  // Of the chain solved last: whether it needed logarithms.
  bool used_logarithms() const { return logarithmic_; }

 private:
  double solve_linear(const ExpTransitions& exp);
  double solve_logarithmic(const ChainScores& v);

  bool logarithmic_ = false;
  PaddedMatrix<double> unary_;    // with the start and end scores
  PaddedMatrix<double> weight_;   // exp(unary - maximum of the row)
  PaddedMatrix<double> forward_;  // alpha; or its logarithm, less the log-partition function
  PaddedMatrix<double> arrival_;  // q of structures/chains/kernels.h; or log (unary weight x beta)
  PaddedMatrix<double> marginal_, edge_;
  std::vector<double> scale_;
  double top_ = 0;  // sum of the maxima of the rows
};

}  // namespace m4n::detail

// The Gibbs distribution over permutations, exactly:  p(y) = exp(sum_i S[i][y_i]) / Z.
//
// Items take positions one after the other; what counts of the past is the set of positions taken. With A = exp(S), the
// sums over all ways to fill a set U with the first |U| items, and all the rest with the others, are
//
//     F[U] = sum_{j in U} A[|U|-1][j] F[U - j],       B[U] = sum_{j not in U} A[|U|][j] B[U + j]
//     Z = F[all] = B[{}],       P[i][j] = A[i][j] sum over |U| = i, j not in U of  F[U] B[U + j] / Z
//
// Only positive terms: stable. The scores are first reduced by the duals of their best permutation, so that A <= 1 and
// 1 <= Z <= M!, however large they are. O(M 2^M) time, O(2^M) memory: up to M = 16.
#pragma once
#include <cstddef>
#include <span>

#include "core/assignment.h"
#include "core/views.h"

namespace m4n::detail {

class PermutationGibbs {
 public:
  static constexpr std::size_t largest_size = 16;

  // Writes the marginals P, M x M by rows (row: item), and returns log Z. Throws UsageError beyond largest_size, Error
  // for scores that are not finite. Allocates only when M is larger than before.
  double marginals(std::span<const double> scores, std::size_t size, std::span<double> p);

 private:
  Assignment assignment_;
  AlignedVector<double> weight_, forward_, backward_;
};

}  // namespace m4n::detail

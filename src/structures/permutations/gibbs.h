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
#include <cstdint>
#include <span>
#include <vector>

#include "core/assignment.h"
#include "core/views.h"

namespace m4n::detail {

// F and B by blocks of 8 sets, those that differ in the first three positions only (the low ones; the others are high).
// For a high position all 8 sums of a block are one vector operation. Within a block a set needs those below it; what
// comes from other blocks is multiplied by the sums over all ways from one set of the block to another instead, a
// triangular 8 x 8 matrix. Everything is compiled once for every vector width.
struct SubsetSums {
  static constexpr std::size_t low = 3, block = std::size_t{1} << low;

  std::size_t size = 0, high = 0;           // M, and how many positions are high
  std::vector<std::uint16_t> order;         // the blocks, those with fewer positions first
  std::vector<std::size_t> layers;          // where those of a number of positions begin
  AlignedVector<double> weight;             // A by rows, with 0 for positions and items that are not there
  AlignedVector<double> forward, backward;  // F and B of all sets
  AlignedVector<double> rows, ups, downs;   // for every number of high positions taken; see below
  AlignedVector<double> both;  // sums of F[U] B[U + j], by the number of high positions in U and the low ones

  // Allocates only when M is larger than before.
  void shape(std::size_t m);
  double* row_weights(std::size_t item) { return weight.data() + item * (high + low); }
  // Writes P from the weights of the rows and returns Z.
  double solve(std::span<double> p);

  std::span<const std::uint16_t> layer(std::size_t taken) const {
    return std::span(order).subspan(layers[taken], layers[taken + 1] - layers[taken]);
  }
  std::uint32_t all_blocks() const { return (std::uint32_t{1} << high) - 1; }
  // The largest set of positions that are there, in the last block.
  std::size_t last() const { return ((std::size_t{1} << size) - 1) % block; }
  // A[taken + |U|][j] of the sets U of low positions, for every high j.
  const double* row(std::size_t taken) const { return rows.data() + taken * high * block; }
  // The sums over all ways from set to set within a block, by columns: for F and for B.
  const double* up(std::size_t taken) const { return ups.data() + taken * block * block; }
  const double* down(std::size_t taken) const { return downs.data() + taken * block * block; }
  double* both_row(std::size_t taken) { return both.data() + taken * (high + low) * block; }
  double* both_low(std::size_t taken) { return both_row(taken) + high * block; }

 private:
  void tabulate();
};

class PermutationGibbs {
 public:
  static constexpr std::size_t largest_size = 16;

  // Writes the marginals P, M x M by rows (row: item), and returns log Z. Throws UsageError beyond largest_size, Error
  // for scores that are not finite. Allocates only when M is larger than before.
  double marginals(std::span<const double> scores, std::size_t size, std::span<double> p);

 private:
  Assignment assignment_;
  SubsetSums sums_;
};

}  // namespace m4n::detail

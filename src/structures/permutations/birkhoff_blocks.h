// The matrices of the interior-point oracle that couple the cells of a row (birkhoff_interior.h): for row i with
// p = P / (R + kappa P), d = Q / T and the costs B = w_i (B - min B) of its item, in units,
//
//     al = (1/p + B d B^T)^-1,      ga = (1/d + B^T p B)^-1,      be = -al B d        (p and d as diagonal matrices)
//
// computed from X = p^1/2 B d^1/2 as p^1/2 (1 + X X^T)^-1 p^1/2 and so on, where nothing cancels. O(M^3) a row, O(M^4)
// in all. For Hamming losses B is -w_i times the identity but for a constant: there all are diagonal and nothing of
// this is needed.
#pragma once
#include <cstddef>
#include <span>

#include "core/aligned.h"
#include "structures/permutations/birkhoff_newton.h"

namespace m4n::detail {

struct BirkhoffBlocks {
  std::size_t size = 0;
  AlignedVector<double> costs;               // B of an item of weight 1, by rows of true positions
  AlignedVector<double> alpha, beta, gamma;  // M matrices each
  AlignedVector<double> x, xx, wx, root_p, root_d;

  void shape(std::size_t m);
};

// All matrices, and what the Newton system wants to know of them. p, d: by rows of M; weight: one a row.
void compute_blocks(BirkhoffBlocks& blocks, std::span<const double> p, std::span<const double> d,
                    std::span<const double> weight, BirkhoffNewton& newton);
// Row by row  out_p = al x - be y,  out_q = be^T x + ga y.
void apply_blocks(const BirkhoffBlocks& blocks, std::span<const double> x, std::span<const double> y,
                  std::span<double> out_p, std::span<double> out_q);

}  // namespace m4n::detail

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
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"

namespace m4n::detail {

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

}  // namespace m4n::detail

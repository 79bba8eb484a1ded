// A matrix game whose players learn new moves: payoffs K[r][c] > 0, rows to the player who pays, columns to the one who
// is paid. Solved as the linear program of the payer,
//
//     max sum_r x_r    s.t.   sum_r K[r][c] x_r + z_c = 1  for every c,   x, z >= 0;      value of the game = 1 / sum x
//
// whose dictionary (basic variables in terms of the others) is carried along: a new column is a new constraint, dealt
// with by dual simplex steps, a new row is a new variable, dealt with by primal ones. A pivot and an addition cost
// O(rows * columns).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/views.h"

namespace m4n::detail {

class GrowingGame {
 public:
  // Forgets all moves and makes room for `room` moves of each player.
  void clear(std::size_t room);
  std::size_t room() const { return room_; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  // payoff[r] for every row so far; payoff[c] for every column so far.
  void add_column(std::span<const double> payoff);
  void add_row(std::span<const double> payoff);
  // To the optimum; false if rounding or ties have used up the pivots.
  bool solve();
  // The players' mixtures at the optimum; distributions even if solve() failed. There must be moves.
  void row_weights(std::span<double> out) const;
  void column_weights(std::span<double> out) const;

 private:
  // Variables: x_r is r, z_c is room_ + c. where_[variable] = its row in the dictionary if basic, ~column if not.
  double* line(std::size_t basic) { return table_.data() + basic * stride_; }
  const double* line(std::size_t basic) const { return table_.data() + basic * stride_; }
  void pivot(std::size_t basic, std::size_t entering);
  bool primal_step(bool& moved);
  bool dual_step(bool& moved);

  std::size_t room_ = 0, stride_ = 0, rows_ = 0, columns_ = 0;
  // One line per basic variable, its value in the last place: basic = value - sum of coefficients times nonbasics. The
  // line after the room for all columns is that of the objective.
  AlignedVector<double> table_;
  AlignedVector<std::int32_t> basic_, nonbasic_, where_;
};

}  // namespace m4n::detail

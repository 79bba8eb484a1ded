// The assignment problem: the best permutation of M items over M positions (class Assignment), and the search behind
// it, compiled once for every vector width. The answers do not depend on the width.
//
// The search works on reduced costs price_j - S[i][j], with the column duals as prices of the positions: an item likes
// the position best where S[i][j] - price_j is largest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernels.h"
#include "core/views.h"

namespace m4n::detail {

struct AssignmentTable {
  std::size_t size = 0, stride = 0;           // stride: size padded to whole vectors
  AlignedVector<double> scores;               // by rows of `stride`; padded with -infinity
  AlignedVector<double> price;                // padded with 0
  AlignedVector<double> open_price;           // infinite where a search has settled
  AlignedVector<double> distance, parent;     // of a search, by position; `parent` is the item before it on the path
  AlignedVector<double> settled_at;           // distances of the settled positions, in the order in which they were
  AlignedVector<std::int32_t> settled, free;  // those positions; items that wait for one
  AlignedVector<std::int32_t> position, item;
};

// Makes room and copies the scores; returns the sum of their absolute values, NaN if one is.
double load_scores(const double* scores, std::size_t size, AssignmentTable& table);
// price_j = the largest score of column j.
void reduce_columns(AssignmentTable& table);
// From any prices to the best permutation and prices that prove it.
void search_assignment(AssignmentTable& table);
// sum_j price_j + sum_i max_j (S[i][j] - price_j).
double dual_value(const AssignmentTable& table);

// The best permutation of M items over M positions, by the shortest augmenting paths of Jonker and Volgenant:
//
//     max over permutations y of  sum_i S[i][y_i]      =      min  sum_i u_i + sum_j w_j   s.t.   u_i + w_j >= S[i][j]
//
// S is M x M by rows, one row per item; y_i is the position of item i. Column reduction, one sweep of augmenting row
// reduction over all rows, then a Dijkstra search for every row that is still without a position: O(M^3) at worst. Any
// column duals w are a valid start: those of the last call save most of the work when the scores have changed a little.
// Ties are broken by index: equal input, equal answer.

class Assignment {
 public:
  // Scores beyond this are refused: sums and differences of M of them must be finite.
  static constexpr double largest_score = 1e300;

  // Returns the value. Throws Error for a score that is not finite or beyond largest_score, before anything is read by
  // it. Allocates only when M is larger than ever before.
  double solve(std::span<const double> scores, std::size_t size);
  // The same, started from column duals, which may be anything: those that are not finite count as zero. They may be
  // the ones of this object.
  double solve(std::span<const double> scores, std::size_t size, std::span<const double> column_duals);

  std::size_t size() const { return table_.size; }
  std::span<const std::int32_t> position() const { return {table_.position.data(), size()}; }  // of every item
  std::span<const std::int32_t> item() const { return {table_.item.data(), size()}; }          // at every position
  // u_i + w_j = S[i][j] on the permutation and >= elsewhere, to rounding.
  std::span<const double> row_duals() const { return {row_dual_.data(), size()}; }
  std::span<const double> column_duals() const { return {table_.price.data(), size()}; }
  // sum_j w_j + sum_i max_j (S[i][j] - w_j) at the scores of the last call: no permutation scores more, whatever
  // rounding did to the duals.
  double bound() const { return dual_value(table_); }

 private:
  void load(std::span<const double> scores, std::size_t size);
  double search();

  AssignmentTable table_;
  AlignedVector<double> row_dual_;
};

}  // namespace m4n::detail

// The search behind structures/permutations/assignment.h, compiled once for every vector width; the answers do not
// depend on the width.
//
// It works on reduced costs price_j - S[i][j], with the column duals as prices of the positions: an item likes the
// position best where S[i][j] - price_j is largest.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/aligned.h"
#include "core/kernels.h"

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

}  // namespace m4n::detail

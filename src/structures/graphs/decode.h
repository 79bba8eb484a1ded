// The best labelling of a graph: max-product on its junction tree, O(sum of the tables) additions and maxima, values
// only; the labelling is found by going back through the order of elimination.
//
// Ties: of several best labellings the one in which the node eliminated last has the smallest label, then the node
// eliminated before it, and so on. In a chain with equally many labels everywhere that is Viterbi's rule: the last
// position decides first. (Sums that are equal on paper but not in double are no ties.)
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once a shape as large was seen.
class GraphDecoder {
 public:
  // Writes the best labelling into y (a label a node) and returns its score.
  double solve(const GraphScores& v, std::span<std::int32_t> y);

 private:
  AlignedVector<double> arena_;
  std::vector<const double*> outside_;
};

}  // namespace m4n::detail

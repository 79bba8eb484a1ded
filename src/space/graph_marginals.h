// The Gibbs distribution p(y) ~ exp(score(y)) of a graph: log of its partition function and the marginals of all nodes
// and edges, that is the gradient of the log-partition function. Sum-product on the junction tree, O(sum of the tables)
// exponentials. It runs on logarithms: exact up to rounding for scores of any size.
#pragma once
#include <vector>

#include "core/aligned.h"
#include "core/padded_rows.h"
#include "space/junction_tree.h"

namespace m4n {

// One object a thread; nothing is allocated once a shape as large was seen.
class GraphSumProduct {
 public:
  // Returns log sum_y exp(score(y)). The tree must stay for as long as marginals are asked for.
  double solve(const GraphScores& v);
  // The same without marginals: leaves those of the last solve() undefined.
  double log_partition(const GraphScores& v);

  // Of the graph solved last: a row a node, padded with 0, and the table of an edge, labels(u) x labels(v).
  PaddedRows<const double> nodes() const { return node_.view(); }
  PaddedRows<const double> edge(std::size_t e) const;

 private:
  const JunctionTree* tree_ = nullptr;
  AlignedVector<double> arena_, tables_, mass_;
  std::vector<const double*> outside_;
  PaddedMatrix<double> node_;
};

}  // namespace m4n

// The Gibbs distribution p(y) ~ exp(score(y)) of a graph: log of its partition function and the marginals of all nodes
// and edges, that is the gradient of the log-partition function. Sum-product on the junction tree, O(sum of the
// tables).
//
// In linear space every table of scores is exponentiated once, relative to its largest entry, and every message is
// scaled to the largest entry 1: multiply-adds only. All factors of a product are then at most 1, so that nothing is
// lost as long as no sum over x falls below 1e-250; if one does, all is done again on logarithms, with an exponential
// for every entry of every table: exact up to rounding for scores of any size.
#pragma once
#include <vector>

#include "core/aligned.h"
#include "core/padded_rows.h"
#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

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

  // Of the graph solved last: whether it needed logarithms.
  bool used_logarithms() const { return logarithmic_; }

 private:
  bool up_linear(const GraphScores& v, double& log_partition);
  double up_logarithmic(const GraphScores& v);
  double exponentiate(const GraphScores& v);
  void down(const GraphScores& v);

  const JunctionTree* tree_ = nullptr;
  bool logarithmic_ = false;
  AlignedVector<double> arena_, tables_, mass_;
  std::vector<const double*> outside_;
  PaddedMatrix<double> node_;
  // Exponentials of the scores, and views of them.
  PaddedMatrix<double> unary_;
  AlignedVector<double> pairwise_;
  std::vector<PaddedRows<const double>> view_;
  std::vector<double> largest_;  // by node: the largest sum of its bucket
};

}  // namespace m4n::detail

// How far a predicted permutation is from the true one. Both give the position of every item, from 0: item i is truly
// at t_i and predicted at y_i, i = 1..M.
//
//   hamming          1/M sum_i [t_i != y_i]                                        share of items misplaced
//   match accuracy   1 - hamming
//   footrule         1/M sum_i |t_i - y_i|
//   kendall tau      (pairs in the same order - pairs in the other) / (M (M-1) / 2)                       in [-1, 1]
//   spearman rho     1 - 6 sum_i (t_i - y_i)^2 / (M (M^2 - 1)), the correlation of t and y               in [-1, 1]
//   top 1            1 if the item that is truly first is predicted first, otherwise 0
//   ndcg             sum_i g(t_i) / log2(2 + y_i), gains g(t) = M - 1 - t, over its largest value: that of y = t
//
// A single item is always right: M = 1 has tau = rho = ndcg = 1. Time O(M log M), by the pairs of Kendall.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "structures/structure.h"

namespace m4n::detail {

using PermutationView = std::span<const std::int32_t>;

// Of two permutations of the same M >= 1 items.
double hamming_distance(PermutationView truth, PermutationView predicted);
double footrule(PermutationView truth, PermutationView predicted);
double kendall_tau(PermutationView truth, PermutationView predicted);
double spearman_rho(PermutationView truth, PermutationView predicted);
double top1(PermutationView truth, PermutationView predicted);
double ndcg(PermutationView truth, PermutationView predicted);

struct PermutationMetrics {
  double hamming = 0, footrule = 0, kendall_tau = 0, spearman_rho = 0, top1 = 0, ndcg = 0;
  double match_accuracy() const { return 1 - hamming; }
};
PermutationMetrics permutation_metrics(PermutationView truth, PermutationView predicted);

// Their weighted means over examples, whatever the numbers of items.
class PermutationMeans {
 public:
  void add(PermutationView truth, PermutationView predicted, double weight = 1);
  std::size_t examples() const { return examples_; }
  // Of at least one example of positive weight.
  PermutationMetrics mean() const;

 private:
  PermutationMetrics sum_;
  double weight_ = 0;
  std::size_t examples_ = 0;
};

// One row per example: the loss, then the metrics that metrics(m) shows under these names. What is wanted are their
// means.
std::unique_ptr<Evaluator> permutation_evaluator(
    const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
    std::vector<std::string> names, const std::function<std::vector<double>(const PermutationMetrics&)>& metrics);

}  // namespace m4n::detail

// Which labels of a multi-label problem depend on each other: as a file says, or along a tree found in the data.
//
// The file has one line per edge: two names of labels (or their numbers from 1) separated by a comma, a
// semicolon, blanks or a tab.
// Blank lines and lines that start with # mean nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "structures/graphs/factor_graph.h"

namespace m4n::detail {

// Refuses unknown labels, a label joined with itself, and an edge that occurs twice, with file and line.
std::vector<GraphEdge> read_label_edges(const std::string& path, const std::vector<std::string>& labels);

// Which labels of a multi-label problem depend on each other: the tree of pairs with the largest sum of mutual
// informations (Chow and Liu). Of all distributions in which the labels hang together by a tree, the one fitted along
// it gives the data the largest likelihood.
//
//     I(u, v) = sum_ab p(a, b) log (p(a, b) / (p_u(a) p_v(b))),   p the frequencies in the data
//
// O(n M^2) to count, O(M^2) for the tree (Prim).

// `labels` has n >= 1 rows of M labels, label m of a row between 0 and counts[m] - 1. Throws Error otherwise, with the
// row and the label in the message.
class LabelCounts {
 public:
  LabelCounts(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts);

  // I(u, v) in nats, not below zero.
  double mutual_information(std::size_t u, std::size_t v) const;
  std::size_t parts() const { return counts_.size(); }

 private:
  std::span<const std::int32_t> labels_;
  std::span<const std::uint32_t> counts_;
  std::size_t rows_;
  std::vector<double> negative_entropy_;  // of every label: sum_a c_a log c_a, c the counts
};

// The M - 1 edges of the tree, u < v, in ascending order. Where several pairs are equally informative, the smaller
// numbers are preferred.
std::vector<GraphEdge> label_tree(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts);

}  // namespace m4n::detail

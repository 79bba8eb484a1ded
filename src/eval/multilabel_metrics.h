// How good predicted labels are, M an example, each on (1) or off (0). Ratios of which nothing is counted (a label that
// is never predicted has no precision) are 0.
//
//   hamming           share of labels that are wrong
//   subset_accuracy   share of examples with all labels right
//   f1 of a label     2 TP / (2 TP + FP + FN): TP on and predicted, FP predicted but off, FN on but missed
//   micro_f1          the same with the counts of all labels added up
//   macro_f1          the mean of the f1 of the labels
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "m4n/dataset.h"

namespace m4n {

struct LabelMetrics {
  double precision = 0, recall = 0, f1 = 0;
  double support = 0, predicted = 0;  // examples in which the label is on, and is predicted to be
};

struct MultilabelMetrics {
  double hamming = 0, subset_accuracy = 0, micro_f1 = 0, macro_f1 = 0;
  std::vector<LabelMetrics> label;
};

// All that is needed, summed over examples: adding up the counts of examples gives those of the set.
class MultilabelCounts {
 public:
  explicit MultilabelCounts(std::size_t labels) : label_(labels) {}
  void add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted, double weight = 1);
  MultilabelMetrics metrics() const;

 private:
  struct Label {
    double hit = 0, actual = 0, predicted = 0;
  };
  std::vector<Label> label_;
  double examples_ = 0, wrong_ = 0, whole_ = 0;
};

// At least one example; weighted unless `weight` is empty.
MultilabelMetrics multilabel_metrics(std::size_t labels, std::span<const std::int32_t> truth,
                                     std::span<const std::int32_t> predicted, std::span<const double> weight = {});

struct GraphMetrics {
  double node_accuracy = 0;   // share of nodes, of all graphs together
  double graph_accuracy = 0;  // share of graphs with all nodes right
};
GraphMetrics graph_metrics(const Groups& nodes, std::span<const std::int32_t> truth,
                           std::span<const std::int32_t> predicted);

}  // namespace m4n

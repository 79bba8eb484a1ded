#include "eval/multilabel_metrics.h"

#include <algorithm>

namespace m4n {
namespace {

double ratio(double part, double all) { return all > 0 ? part / all : 0; }

}  // namespace

void MultilabelCounts::add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                           double weight) {
  bool whole = true;
  for (std::size_t j = 0; j < label_.size(); ++j) {
    const bool on = truth[j] == 1, announced = predicted[j] == 1;
    label_[j].actual += on ? weight : 0;
    label_[j].predicted += announced ? weight : 0;
    label_[j].hit += on && announced ? weight : 0;
    wrong_ += on != announced ? weight : 0;
    whole = whole && on == announced;
  }
  examples_ += weight;
  whole_ += whole ? weight : 0;
}

MultilabelMetrics MultilabelCounts::metrics() const {
  MultilabelMetrics out;
  const double m = static_cast<double>(label_.size());
  out.hamming = ratio(wrong_, examples_ * m);
  out.subset_accuracy = ratio(whole_, examples_);
  Label sum;
  for (const Label& l : label_) {
    const double f1 = ratio(2 * l.hit, l.actual + l.predicted);
    out.label.push_back({ratio(l.hit, l.predicted), ratio(l.hit, l.actual), f1, l.actual, l.predicted});
    out.macro_f1 += f1 / m;
    sum.hit += l.hit;
    sum.actual += l.actual;
    sum.predicted += l.predicted;
  }
  out.micro_f1 = ratio(2 * sum.hit, sum.actual + sum.predicted);
  return out;
}

MultilabelMetrics multilabel_metrics(std::size_t labels, std::span<const std::int32_t> truth,
                                     std::span<const std::int32_t> predicted, std::span<const double> weight) {
  MultilabelCounts counts(labels);
  for (std::size_t i = 0; i < truth.size() / labels; ++i)
    counts.add(truth.subspan(i * labels, labels), predicted.subspan(i * labels, labels),
               weight.empty() ? 1 : weight[i]);
  return counts.metrics();
}

GraphMetrics graph_metrics(const Groups& nodes, std::span<const std::int32_t> truth,
                           std::span<const std::int32_t> predicted) {
  double right = 0, whole = 0;
  for (std::size_t i = 0; i < nodes.count(); ++i) {
    std::size_t own = 0;
    for (std::size_t m = nodes.begin(i); m < nodes.end(i); ++m) own += truth[m] == predicted[m] ? 1 : 0;
    right += static_cast<double>(own);
    whole += own == nodes.end(i) - nodes.begin(i) ? 1 : 0;
  }
  return {ratio(right, static_cast<double>(truth.size())), ratio(whole, static_cast<double>(nodes.count()))};
}

}  // namespace m4n

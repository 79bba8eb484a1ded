// How good predictions are: the task loss and the customary metrics.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "m4n/context.h"
#include "m4n/model.h"
#include "m4n/read.h"

namespace m4n {

// Of a kind of thing, a label or a type of chunk: how many there are, how many were predicted, how many of these
// rightly.
struct M4N_API FoundCounts {
  std::uint64_t actual = 0, predicted = 0, found = 0;
  double precision() const;
  double recall() const;
  double f1() const;
};

struct Evaluation {
  std::size_t n = 0;                                    // examples, whatever their weights
  double loss = 0;                                      // mean cost; an unseen label counts as the largest cost
  std::vector<std::pair<std::string, double>> metrics;  // name, value: error, balanced_accuracy, macro_f1, ...
  std::vector<std::uint64_t> confusion;                 // k x K, [true * K + predicted]; unseen labels are not in it
  std::size_t unseen = 0;                               // labels the model has never seen
  std::size_t parts = 0;                                // tokens, nodes: where examples have many; else 0
  std::vector<std::pair<std::string, FoundCounts>> labels{};  // by label, where examples have several
  std::vector<std::pair<std::string, FoundCounts>> chunks{};  // by type, where the labels are tags of chunks
};

// The loss is the mean over examples, weighted by examples.data.weight if there are any, of the mean cost of their
// parts; the metrics are those of the task (docs/cli.md). n, unseen and the confusion matrix count whatever the
// weights.
M4N_API Evaluation evaluate(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted);

// The same for a dataset whose labels are those of the model's classes, or unknown_label for those it has never seen.
M4N_API Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::int32_t> predicted);

// How far a value would move with other examples of the same kind: between the percentiles 2.5 and 97.5 of its values
// on resamples, with their standard deviation. One example does not say how far others may lie from it: all three are
// not a number then.
struct Interval {
  double low = 0, high = 0, se = 0;
  bool known() const { return low <= high; }
};

struct Bootstrap {
  static constexpr double confidence = 0.95;
  std::uint64_t replicates = 0, seed = 0;
  Interval loss;
  std::vector<std::pair<std::string, Interval>> metrics;  // the names of Evaluation::metrics, in their order
};

// The intervals over `replicates` >= 2 resamples of the examples: n draws with replacement, each with its weight.
// Examples of weight zero are not there. Cost O(replicates n); the result depends on the seed, never on the number of
// threads.
M4N_API Bootstrap bootstrap(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                            std::uint64_t replicates, std::uint64_t seed, const Context& context = {});

}  // namespace m4n

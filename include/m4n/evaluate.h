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
struct FoundCounts {
  std::uint64_t actual = 0, predicted = 0, found = 0;
  double precision() const;
  double recall() const;
  double f1() const;
};

struct Evaluation {
  std::size_t n = 0;                                    // rows (sequences), whatever their weights
  double loss = 0;                                      // mean cost; an unseen label counts as the largest cost
  std::vector<std::pair<std::string, double>> metrics;  // name, value: error, balanced_accuracy, macro_f1, ...
  std::vector<std::uint64_t> confusion;                 // k x k, [true * k + predicted]; unseen labels are not in it
  std::size_t unseen = 0;                               // rows (tokens) with labels the model has never seen
  // Of sequences and graphs; `labels` of label sets too.
  std::size_t tokens = 0, nodes = 0;
  std::vector<std::pair<std::string, FoundCounts>> labels{};  // by label
  std::vector<std::pair<std::string, FoundCounts>> chunks{};  // by type, where the labels are tags of chunks
};

// truth may hold unknown_label (unseen in training): always an error, never in the confusion matrix.
// weight: empty, or one a row; every mean is then weighted. n, unseen and the confusion matrix count rows.
Evaluation evaluate(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight = {});

// Sequences: the loss is the mean over sequences of the mean cost of their tokens; the metrics are token_accuracy,
// sequence_accuracy and, where the labels are tags of chunks, chunk_precision, chunk_recall and chunk_f1 as conlleval
// counts. Every label of `sequences` must be known to the file.
Evaluation evaluate(const Model& model, const LabelledSequences& sequences, std::span<const std::int32_t> predicted);

// Outputs with several parts; `groups` says which parts belong to which example. The loss is the mean over examples.
// Rankings and matchings (positions or partners from 0): hamming, kendall_tau, spearman_rho, footrule, top1 and ndcg;
// match_accuracy and hamming. Label sets (marks 0 and 1): hamming, subset_accuracy, micro_f1, macro_f1, and a table of
// labels. Graphs (truth may hold unknown_label): node_accuracy, graph_accuracy, and a table of labels.
Evaluation evaluate(const Model& model, const Groups& groups, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight = {});

// How far a value would move with other examples of the same kind: between the percentiles 2.5 and 97.5 of its values
// on resamples, with their standard deviation.
struct Interval {
  double low = 0, high = 0, se = 0;
};

struct Bootstrap {
  static constexpr double confidence = 0.95;
  std::uint64_t replicates = 0, seed = 0;
  Interval loss;
  std::vector<std::pair<std::string, Interval>> metrics;  // the names of Evaluation::metrics, in their order
};

// The intervals over `replicates` >= 2 resamples of the examples: n draws with replacement, each with its weight. Rows
// of weight zero are not there. Cost O(replicates n); the result depends on the seed, never on the number of threads.
Bootstrap bootstrap(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight, std::uint64_t replicates, std::uint64_t seed,
                    const Context& context = {});

// The same of outputs with several parts.
Bootstrap bootstrap(const Model& model, const Groups& groups, std::span<const std::int32_t> truth,
                    std::span<const std::int32_t> predicted, std::span<const double> weight, std::uint64_t replicates,
                    std::uint64_t seed, const Context& context = {});

// The same over resamples of sequences.
Bootstrap bootstrap(const Model& model, const LabelledSequences& sequences, std::span<const std::int32_t> predicted,
                    std::uint64_t replicates, std::uint64_t seed, const Context& context = {});

}  // namespace m4n

// Sets of labels to learn from: none depending on another, or joined by edges that are the same in every example.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/label_costs.h"
#include "structures/graphs/predictor.h"
#include "structures/label_sets/solve.h"
#include "structures/training_set.h"

namespace m4n::detail {

// The costs that options ask for: all 1 (hamming), of a file, or of a program (all misses, then all false alarms).
LabelCosts chosen_label_costs(const TrainOptions& options, const std::vector<std::string>& labels);
inline const char* loss_name(const LabelCosts& costs) { return costs.hamming() ? "hamming" : "costs"; }

// Whether labels are to depend on each other.
bool has_edges(const TrainOptions& options);
// The same for these data: a tree of a single label has no edges.
bool has_edges(const TrainOptions& options, const Dataset& data);
// The edges that options ask for between the labels of these data: none, a tree of what they tell about each other, or
// those of a file or of a program.
std::vector<GraphEdge> chosen_edges(const TrainOptions& options, const Dataset& data);

// Throws Error on sizes that do not fit together, labels that are neither 0 nor 1, and weights that are none.
Dataset checked_label_sets(Dataset data);

// Labels apart.
class LabelSetTrainingSet : public RowTrainingSet {
 public:
  LabelSetTrainingSet(Dataset data, const TrainOptions& options, const Context& context);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  double train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                    const Context& context) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  std::size_t outputs() const override { return costs_.labels(); }
  double mean_loss(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                   const TrainOptions& options, Decoder decode, const Context& context) const override;

  LabelCosts costs_;
};

// Labels with edges: a graph of M nodes with two labels each that share the features of an example.
class JoinedLabelTrainingSet : public RowTrainingSet {
 public:
  JoinedLabelTrainingSet(Dataset data, const TrainOptions& options, const Context& context);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  std::size_t outputs() const override { return 2 * costs_.labels(); }
  double mean_loss(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                   const TrainOptions& options, Decoder decode, const Context& context) const override;

  LabelCosts costs_;
  std::vector<CostMatrix> matrices_;  // one by label
  std::vector<GraphEdge> edges_;
  GraphStructure structure_;
};

// A solution of labels with edges, or of graphs: weights of rows, and of edges.
struct JoinedSolution : RowSolution {
  std::vector<double> edge_weights;
};

// Scores of every example, 2 by label (off, on), to labels and probabilities, with edges that all examples share.
GraphPredictor joined_predictor(const LabelCosts& costs, Decoder decode, std::vector<double> edge_weights);
std::vector<std::int32_t> decode_joined(const GraphPredictor& predictor, std::span<const double> scores,
                                        std::size_t labels, const std::vector<GraphEdge>& edges,
                                        const Context& context);

}  // namespace m4n::detail

// Training of label sets: solvers for labels without edges, the costs and edges that options ask for, and the training
// sets with and without edges.
//
// From options to a solver of multi-label problems without dependencies between the labels, one call for a path of
// lambdas: each is started from the solution of the one before. Every label j of an example is on or off and has one
// score s_j, its scores "on" and "off" being s_j and -s_j (OnOffSpace in structures/label_sets/surrogates.h). What is
// minimised over all weights:
//
//   P(w) = sum_i p_i S(s_i, y_i) + lambda/2 |w|^2,     |w|^2 = 2 |W|^2 with s = W^T Phi(x)
//
//   M4N   S = max over m of h(m) + s.m  -  s.phi(y)                  proximal block ascent
//   M3N   S = max over y' of loss(y, y') + s.phi(y')  -  s.phi(y)    proximal block ascent
//   CRF   S = sum_j log(1 + exp(-2 s_j phi(y)_j))                    proximal block ascent, then L-BFGS
//   QS    S = sum_j (s_j - t_j)^2, t_j = miss_j/2 if on, -false_alarm_j/2 if off     Cholesky or conjugate gradients
//
// A problem is M independent ones that share lambda; they are solved together because one look at the features of an
// example serves all labels.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/label_costs.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "solvers/kernel_scorer.h"
#include "structures/graphs/predictor.h"
#include "structures/training_set.h"

namespace m4n::detail {

struct MultilabelRequest {
  FeaturesView x;          // after transforms
  const GramMatrix* gram;  // of an exact kernel, or null: linear in x
  bool bias;
  std::span<const std::int32_t> label;  // 0 or 1, M per example
  std::span<const double> weight;       // p_i, summing to 1
  const LabelCosts* costs;              // of M labels
  std::span<const double> lambdas;
  Decoder decode;  // of the training examples; automatic: they are not predicted
  const TrainOptions* options;
  const Context* context;
};

// Weights (features + bias) x M, or n x M coefficients of a kernel.
struct MultilabelSolution : RowSolution {
  std::vector<std::int32_t> predicted;  // for the training examples, where asked for
};

// Hands over one solution per lambda, in their order. Throws Error for labels that are neither 0 nor 1 and sizes that
// do not fit together, UsageError for what cannot be trained.
void solve_multilabel(const MultilabelRequest& request,
                      const std::function<void(std::unique_ptr<MultilabelSolution>)>& emit);

// Sets of labels to learn from: none depending on another, or joined by edges that are the same in every example.

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
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                      const TrainOptions& options, Decoder decode,
                                      const Context& context) const override;
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override;

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
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                      const TrainOptions& options, Decoder decode,
                                      const Context& context) const override;
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override;

  LabelCosts costs_;
  std::vector<CostMatrix> matrices_;  // one per label
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

// From the score of a label that is on or off to its prediction.

// A label is predicted on where its score is above `high`, off where it is not above `low`, and unsure in between. The
// two are the same unless there is a third answer that pays:
//   argmax     0
//   adversary  (false_alarm - miss) / (4 M), the score at which the min player of M4N is undecided;
//              else -miss / (4 M) and false_alarm / (4 M), where it is undecided between unsure and another
//   expected   log(false_alarm / miss) / 2, the score at which a CRF expects both mistakes to cost the same;
//              else the scores at which the label is on with the probability unsure / miss, off with unsure /
//              false_alarm
// and of QS, whose score estimates (p miss - (1 - p) false_alarm) / 2, those of the same probabilities.
// Throws UsageError for decoders that do not go with the surrogate.
struct LabelThreshold {
  double low = 0, high = 0;
  std::int32_t decide(double score) const {
    return score > high ? LabelCosts::on : score > low ? LabelCosts::not_sure : LabelCosts::off;
  }
};
std::vector<LabelThreshold> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs);

// Scores are those of all labels, example by example.
std::vector<std::int32_t> by_thresholds(std::span<const double> scores, std::span<const LabelThreshold> threshold);

}  // namespace m4n::detail

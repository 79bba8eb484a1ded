// Sets of labels to learn from, none depending on another, checked and mapped to features once: what TrainingSet is for
// classes and grades. Labels that depend on each other are for GraphTrainingSet.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "losses/label_costs.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "structures/label_sets/solve.h"
#include "features/prepared.h"

namespace m4n {

// The costs that options ask for: all 1 (hamming), of a file, or of a program (all misses, then all false alarms).
LabelCosts chosen_label_costs(const TrainOptions& options, const std::vector<std::string>& labels);

// Of multi-label data. Throws Error on sizes that do not fit together, labels that are neither 0 nor 1, and weights
// that are none.
void check_label_sets(const Dataset& data);

class MultilabelTrainingSet {
 public:
  using Solution = MultilabelSolution;
  // Throws Error on data that cannot be learnt from.
  MultilabelTrainingSet(Dataset data, const TrainOptions& options, const Context& context);

  const Dataset& data() const { return data_; }  // without its features, which have been transformed
  const PreparedFeatures& features() const { return features_; }
  Decoder decoder(const TrainOptions& options) const;
  // What a model says of data and loss.
  void describe(Model& model) const;

  // Hands over one solution a lambda, each started from the one before; `decode` is how the training examples are
  // predicted. Throws Error where the numbers leave the range of doubles.
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const std::function<void(MultilabelSolution)>& emit) const;
  double train_loss(const MultilabelSolution& solution, Decoder decode, const Context& context) const;
  // On other examples, whose rows were mapped by RowMap.
  double mean_loss(const Features& mapped, const Dataset& examples, const MultilabelSolution& solution,
                   SurrogateKind surrogate, Decoder decode, const Context& context) const;
  // Puts the weights into the model's terms.
  void keep(MultilabelSolution solution, Model& model) const;

 private:
  Dataset data_;
  LabelCosts costs_;
  std::vector<double> share_;  // p_i, summing to 1
  bool bias_;
  PreparedFeatures features_;
};

}  // namespace m4n

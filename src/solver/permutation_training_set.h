// Rankings or matchings to learn from, checked and mapped to features once, and solved for as many surrogates and
// lambdas as are wanted: what TrainingSet is for classes and grades.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "loss/position_loss_choice.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "solver/solve_permutations.h"
#include "transform/prepared.h"

namespace m4n {

// The loss that options ask for; Hamming where they ask for none.
PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items);

class PermutationTrainingSet {
 public:
  // Throws Error on data that cannot be learnt from.
  PermutationTrainingSet(Dataset data, const TrainOptions& options, const Context& context);

  const Dataset& data() const { return data_; }  // without its features, which have been transformed
  const PositionLossChoice& loss() const { return loss_; }
  const PreparedFeatures& features() const { return features_; }
  std::size_t largest() const { return largest_; }  // number of items
  // The one that is asked for, or the usual one of the surrogate and the loss.
  Decoder decoder(const TrainOptions& options) const;

  // Hands over one solution a lambda, each started from the one before. `options` may differ from those of the
  // constructor in surrogate, decoder, tolerance and solver. Throws Error where the numbers leave the range of doubles.
  void solve(const TrainOptions& options, std::span<const double> lambdas, const Context& context,
             const std::function<void(PermutationSolution)>& emit) const;

  // Mean loss of the solver's weights on examples whose rows are mapped as those of training (RowMap); all labels are
  // known. Throws Error where a score is not finite.
  double mean_loss(const Features& mapped, const Dataset& examples, const std::vector<double>& weights, Decoder decode,
                   const Context& context) const;
  // On the training examples.
  double train_loss(const std::vector<double>& weights, Decoder decode, const Context& context) const {
    return mean_loss(features_.x, data_, weights, decode, context);
  }

 private:
  bool matching_;
  Dataset data_;
  PositionLossChoice loss_;
  std::vector<double> share_;  // p_i, summing to 1
  bool bias_;
  PreparedFeatures features_;
  std::size_t largest_ = 0;
};

}  // namespace m4n

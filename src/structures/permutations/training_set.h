// Rankings or matchings to learn from, checked and mapped to features once, and solved for as many surrogates and
// lambdas as are wanted: what TrainingSet is for classes and grades.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "losses/position_loss_choice.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "structures/permutations/solve.h"
#include "features/prepared.h"

namespace m4n {

// The loss that options ask for; Hamming where they ask for none.
PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items);

class PermutationTrainingSet {
 public:
  using Solution = PermutationSolution;
  // Throws Error on data that cannot be learnt from.
  PermutationTrainingSet(Dataset data, const TrainOptions& options, const Context& context);

  const Dataset& data() const { return data_; }  // without its features, which have been transformed
  const PreparedFeatures& features() const { return features_; }
  // The one that is asked for, or the usual one of the surrogate and the loss.
  Decoder decoder(const TrainOptions& options) const;

  // What a model says of data and loss.
  void describe(Model& model) const;

  // Hands over one solution a lambda, each started from the one before. `options` may differ from those of the
  // constructor in surrogate, decoder, tolerance and solver. Throws Error where the numbers leave the range of doubles.
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const std::function<void(PermutationSolution)>& emit) const;
  double train_loss(const PermutationSolution& solution, Decoder decode, const Context& context) const;
  // On other examples, whose rows were mapped by RowMap; all labels are known. Throws Error where a score is not
  // finite.
  double mean_loss(const Features& mapped, const Dataset& examples, const PermutationSolution& solution,
                   SurrogateKind surrogate, Decoder decode, const Context& context) const;
  // Puts the weights into the model's terms.
  void keep(PermutationSolution solution, Model& model) const;

 private:
  Model shape() const;
  double loss_of(const std::vector<double>& scores, const Dataset& examples, Decoder decode,
                 const Context& context) const;

  bool matching_;
  Dataset data_;
  PositionLossChoice loss_;
  std::vector<double> share_;  // p_i, summing to 1
  bool bias_;
  PreparedFeatures features_;
  std::size_t largest_ = 0;  // number of items
};

}  // namespace m4n

// Rankings or matchings to learn from: data and options to solutions.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/position_loss_choice.h"
#include "structures/training_set.h"

namespace m4n::detail {

enum class Permuted { items, points };  // rankings have one row of features, matchings one by pair of points

// The loss that options ask for; Hamming where they ask for none. `items`: their names; none for matchings.
PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items);

class PermutationTrainingSet : public RowTrainingSet {
 public:
  PermutationTrainingSet(Dataset data, const TrainOptions& options, Permuted permuted, const Context& context);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  std::size_t outputs() const override;
  double mean_loss(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                   const TrainOptions& options, Decoder decode, const Context& context) const override;

  bool matching_;
  PositionLossChoice loss_;
  std::size_t largest_ = 0;  // number of items
};

}  // namespace m4n::detail

// Sequences to learn from: data and options to solutions.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "structures/chains/solve.h"
#include "structures/training_set.h"

namespace m4n::detail {

class ChainTrainingSet : public TrainingSet {
 public:
  // Attributes that fewer than options.min_count tokens have are not learnt from; dense rows are standardised where
  // asked for.
  ChainTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  double train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                    const Context& context) const override;
  std::unique_ptr<HeldOut> hold_out(Dataset examples, std::span<const std::size_t> numbers) const override;
  std::vector<LossesByDecoder> mean_losses(const HeldOut& examples,
                                           std::span<const std::unique_ptr<Solution>> solutions,
                                           const TrainOptions& options, std::span<const Decoder> decoders,
                                           const Context& context) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  // The weights are for the rows of `sequences`.
  double mean_loss(const Dataset& sequences, const ChainWeights& weights, Decoder decode, const Context& context) const;
  // Weights for rows as they came, from weights for rows as they are solved: standardising is folded in.
  ChainWeights for_raw_rows(ChainWeights weights) const;

  Dataset data_;  // as it is solved
  CostMatrix cost_;
  std::vector<double> weight_;  // p_i, summing to 1
  Standardizer standardizer_;   // of dense rows, where asked for
};

}  // namespace m4n::detail

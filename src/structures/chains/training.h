// From options to a solver of chains, one call for a path of lambdas: each is started from the solution of the one
// before. What is minimised over all weights w of structures/chains/scorer.h:
//
//   P(w) = sum_i p_i S(v_i, y_i) + lambda/2 |w|^2
//
//   M4N   S = max over mu of h(mu) + v.mu  -  score(y),   loss averaged over positions       atoms, or the paper's way
//   M3N   S = max over y' of loss(y, y') + score(y')  -  score(y)                            atoms
//   CRF   S = log sum over y' of exp score(y')  -  score(y)            exponentiated gradient in the dual, or L-BFGS
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/chains/predictor.h"
#include "structures/training_set.h"

namespace m4n::detail {

struct ChainRequest {
  FeaturesView x;        // a row per token, after transforms; sparse ones without values have ones everywhere
  const Groups* tokens;  // which rows, and which labels, belong to which sentence; none is empty
  bool bias;
  std::span<const std::int32_t> label;
  std::span<const double> weight;  // p_i, summing to 1
  const CostMatrix* cost;
  const ChainConstraints* constraints;
  std::span<const double> lambdas;
  const TrainOptions* options;
  const Context* context;

  PathRequest path() const { return {lambdas, options, context}; }
};

struct ChainSolution : Solution {
  ChainWeights weights;
};

// Hands over one solution per lambda, in their order.
void solve_chains(const ChainRequest& request, const std::function<void(std::unique_ptr<ChainSolution>)>& emit);

// Sequences to learn from: data and options to solutions.

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
  std::vector<LossesByDecoder> mean_losses(const HeldOut& held_out,
                                           std::span<const std::unique_ptr<Solution>> solutions,
                                           const TrainOptions& options, std::span<const Decoder> decoders,
                                           const Context& context) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  // The weights are for the rows of `sequences`.
  PartLoss loss_on(const Dataset& sequences, const ChainWeights& weights, Decoder decode, const Context& context) const;
  // Weights for rows as they came, from weights for rows as they are solved: standardising is folded in.
  ChainWeights for_raw_rows(ChainWeights weights) const;

  Dataset data_;  // as it is solved
  CostMatrix cost_;
  ChainConstraints constraints_;
  std::vector<double> weight_;  // p_i, summing to 1
  Standardizer standardizer_;   // of dense rows, where asked for
};

}  // namespace m4n::detail

// Sequences to learn from, checked once and solved for as many surrogates and lambdas as are wanted: what TrainingSet
// is for classes and grades.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/chains/solve.h"

namespace m4n {

class ChainTrainingSet {
 public:
  // Throws Error on data that cannot be learnt from. Attributes that fewer than options.min_count tokens have are not
  // learnt from; dense rows are standardised where asked for.
  ChainTrainingSet(Dataset data, const TrainOptions& options);

  const Dataset& data() const { return data_; }  // as it is solved
  const CostMatrix& cost() const { return cost_; }
  // The one that is asked for, or the usual one of the surrogate and the costs.
  Decoder decoder(const TrainOptions& options) const;

  // Hands over one solution a lambda, each started from the one before. `options` may differ from those of the
  // constructor in surrogate, decoder, tolerance and solver. Throws Error where the numbers leave the range of doubles.
  void solve(const TrainOptions& options, std::span<const double> lambdas, const Context& context,
             const std::function<void(ChainSolution)>& emit) const;

  // Weights for rows as they came, from weights for rows as they are solved: standardising is folded in.
  ChainWeights for_raw_rows(ChainWeights weights) const;

  // Mean over the sequences of the mean cost of their tokens. The weights are for the rows of `sequences`.
  double mean_loss(const Dataset& sequences, const ChainWeights& weights, Decoder decode, const Context& context) const;

 private:
  Dataset data_;
  CostMatrix cost_;
  std::vector<double> share_;  // p_i, summing to 1
  Standardizer standardizer_;  // of dense rows, where asked for
};

}  // namespace m4n

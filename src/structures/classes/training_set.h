// Training data, checked, weighted and mapped to features ONCE; then solved for as many surrogates and lambdas as are
// wanted. Cross-validation compares surrogates on the very same features; fit() is the case of one.
#pragma once
#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/fit.h"
#include "m4n/options.h"
#include "structures/classes/solve.h"
#include "features/prepared.h"

namespace m4n {

// The cost matrix that options ask for: a matrix, a named loss, a file, or the task's usual loss.
CostMatrix chosen_cost(const TrainOptions& options, const std::vector<std::string>& classes);

// With what follows from other options filled in (spmp is an oracle of gbcfw), and refused where they do not go
// together.
TrainOptions completed(TrainOptions options);

// The lambda of those who ask for none: 1/n. On outputs with several parts m4n and m3n average the loss over the M
// parts: it is 1/M of the sum, the scores that reach its margins are 1/M, |w|^2 is 1/M^2, so lambda is M
// times as large, M the mean length.
double usual_lambda(const TrainOptions& options, const Dataset& data);

class TrainingSet {
 public:
  // Of the options only those about labels, costs, weights and features count here. Throws Error on data that cannot
  // be learnt from.
  TrainingSet(Dataset data, const TrainOptions& options, const Context& context);

  const CostMatrix& cost() const { return cost_; }
  const PreparedFeatures& features() const { return features_; }
  const Dataset& data() const { return data_; }  // without its features, which have been transformed

  // One solution a lambda, each started from the one before. `options` may differ from those of the constructor in
  // surrogate, smoothing, decoder, tolerance and solver. Training examples are predicted where `decode` is a decoder,
  // not where it is `automatic`. Throws Error where the numbers leave the range of doubles.
  std::vector<Solution> solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                              const Context& context) const;

 private:
  Dataset data_;
  CostMatrix cost_;
  std::vector<double> share_;  // p_i: example weights times class weights, summing to 1
  PreparedFeatures features_;
};

}  // namespace m4n

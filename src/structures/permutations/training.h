// From options to a solver of permutations, one call for a path of lambdas: each is started from the solution of the
// one before. What is minimised over all weights w:
//
//   P(w) = sum_i p_i S(v_i, y_i) + lambda/2 |w|^2
//
//   M4N   S = max over mu of h(mu) + v.mu  -  v.phi(y)                         atoms, or the paper's way
//   M3N   S = max over y' of loss(y, y') + v.phi(y')  -  v.phi(y)              atoms
//   CRF   S = log sum over y' of exp v.phi(y')  -  v.phi(y)                    L-BFGS; up to 16 items
//   QS    S = |v - target(y)|^2                                                Cholesky or conjugate gradients; L-BFGS
//
// Ranking: one feature row per example, M items in all of them, v = W x has a score for every cell (item, position), or
// for every item where the loss is of rank one. Matching: a feature row for every pair (i, j) of an example, v_ij = w .
// x_ij, no bias; sizes may differ.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/position_loss.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/training_set.h"

namespace m4n::detail {

struct PermutationRequest {
  FeaturesView x;       // after transforms
  const Groups* pairs;  // matching: which rows belong to which example, pair (i, j) in row i M + j. Null: ranking
  bool bias;            // ranking only
  const Groups* items;  // which positions belong to which example
  std::span<const std::int32_t> position;  // of every item, from 0: a permutation in every example
  std::span<const double> weight;          // p_i, summing to 1
  PositionLosses::Make loss;               // for a number of items
  std::span<const double> lambdas;
  const TrainOptions* options;
  const Context* context;
  const GramMatrix* gram = nullptr;  // rankings by an exact kernel, bias included, in place of x and bias

  PathRequest path() const { return {lambdas, options, context}; }
};

// Hands over one solution per lambda, in their order. Throws UsageError for what cannot be trained, Error for positions
// that are no permutation. Weights of rankings: (features + bias) x parts, or n x parts coefficients of a
// kernel; of matchings: one per feature.
void solve_permutations(const PermutationRequest& request,
                        const std::function<void(std::unique_ptr<RowSolution>)>& emit);

// Rankings or matchings to learn from: data and options to solutions.

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
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                      const TrainOptions& options, Decoder decode,
                                      const Context& context) const override;
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override;

  bool matching_;
  PositionLossChoice loss_;
  std::size_t largest_ = 0;  // number of items
};

}  // namespace m4n::detail

// Classes and grades to learn from: data and options to solutions.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "losses/example_costs.h"
#include "structures/classes/solve.h"
#include "structures/training_set.h"

namespace m4n::detail {

// The costs that options ask for: a matrix, a named loss, a file, or the usual loss. Of classes, and of the labels of
// tokens and nodes.
CostMatrix chosen_cost(const TrainOptions& options, const Dataset& data, const std::string& usual_loss);

// The same where all examples have the same costs: refuses others.
CostMatrix chosen_fixed_cost(const TrainOptions& options, const Dataset& data, const std::string& usual_loss);

// What a model remembers of its costs.
void describe_costs(const CostMatrix& cost, ModelCommon& common);

class ClassTrainingSet : public RowTrainingSet {
 public:
  ClassTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss, const Context& context);

  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  double train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                    const Context& context) const override;
  // Rows are mapped to features once for a whole path of lambdas and all decoders, which for kernels is most of the
  // work, a slab of them at a time.
  std::unique_ptr<HeldOut> hold_out(Dataset examples, std::span<const std::size_t> numbers) const override;
  std::vector<LossesByDecoder> mean_losses(const HeldOut& held_out,
                                           std::span<const std::unique_ptr<Solution>> solutions,
                                           const TrainOptions& options, std::span<const Decoder> decoders,
                                           const Context& context) const override;
  std::size_t scoring_batch() const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

  const CostMatrix& cost() const { return cost_; }

 private:
  std::size_t outputs() const override { return cost_.k(); }
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                                      const TrainOptions& options, Decoder decode,
                                      const Context& context) const override;
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override;

  CostMatrix cost_;
  std::optional<ExampleCosts> examples_;  // where costs differ from example to example
  std::vector<double> weight_of_costs_;   // p_i times the scale of the example's costs, summing to 1
};

}  // namespace m4n::detail

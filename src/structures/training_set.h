// Training data, checked, weighted and mapped to features ONCE; then solved for as many surrogates and lambdas as are
// wanted. Cross-validation compares surrogates on the very same features; fit() is the case of one.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "features/prepared.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "solvers/problem.h"

namespace m4n::detail {

// What a solver found for one lambda. Structures keep their weights in classes of their own.
struct Solution {
  SolveResult result;
  double norm_squared = 0;
  virtual ~Solution() = default;
};

// Examples that were not learnt from, mapped to features once.
class HeldOut {
 public:
  virtual ~HeldOut() = default;
};

// How predictions did on a part of the data.
struct PartLoss {
  double mean = std::numeric_limits<double>::quiet_NaN();
  bool constant = false;  // every example of the part got the same prediction
};
// One by decoder.
using LossesByDecoder = std::vector<PartLoss>;

class TrainingSet {
 public:
  using Emit = std::function<void(std::unique_ptr<Solution>)>;
  virtual ~TrainingSet() = default;

  // Hands over one solution by lambda, each started from the one before. `options` may differ from those the set was
  // made with in surrogate, smoothing, decoder, tolerance and solver. `decode` is how train_loss() will be asked for,
  // automatic if it will not be. Throws Error where the numbers leave the range of doubles.
  virtual void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                     const Context& context, const Emit& emit) const = 0;
  // The loss on the training examples themselves.
  virtual double train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                            const Context& context) const = 0;

  // `numbers`: of the examples in all the data, for messages. The set must outlive what it returns.
  virtual std::unique_ptr<HeldOut> hold_out(Dataset examples, std::span<const std::size_t> numbers) const = 0;
  virtual std::vector<LossesByDecoder> mean_losses(const HeldOut& held_out,
                                                   std::span<const std::unique_ptr<Solution>> solutions,
                                                   const TrainOptions& options, std::span<const Decoder> decoders,
                                                   const Context& context) const = 0;
  // How many solutions are best scored together; they are kept in memory until then.
  virtual std::size_t scoring_batch() const { return 1; }

  // What a model of these data says, whatever its weights: loss, costs, features. Everything that does not depend on
  // the structure is there already.
  virtual void describe(ModelCommon& common) const = 0;
  virtual std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const = 0;
};

// ---- for all training sets

// Throws Error unless there is one weight per example, positive and finite, or none.
void check_weights(const Dataset& data);
// Throws Error on sparse rows without values, which only sequences have.
void require_values(const Features& x);
// p_i: the weights of the examples, summing to 1; times `factor`, one per example, unless that is empty.
std::vector<double> normalised_weights(const Dataset& data, std::span<const double> factor = {});

// Every row of features weighs what its example does; none: all weigh the same.
std::vector<double> weights_of_rows(const Dataset& data);
// Data or options so extreme that doubles cannot hold the answer give no model.
void check_finite(const Solution& solution, std::span<const double> weights);
void check_finite(const Solution& solution, std::span<const float> weights);
// Whether all examples are given the same labels; of examples of several sizes, the same label everywhere. One example
// tells nothing.
bool same_for_all(const Groups& labels, std::span<const std::int32_t> predicted);
// Throws Error where a score is beyond what can be computed with.
void require_scores(std::span<const double> scores);

// ---- examples whose scores are those of rows of features

struct RowSolution : Solution {
  std::vector<double> weights;  // (features + bias) x outputs, or n x outputs coefficients of a kernel
};

class MappedRows : public HeldOut {
 public:
  Dataset examples;  // without their features
  Features rows;
};

// Brings everything but the loss of scores.
class RowTrainingSet : public TrainingSet {
 public:
  double train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                    const Context& context) const override;
  std::unique_ptr<HeldOut> hold_out(Dataset examples, std::span<const std::size_t> numbers) const override;
  std::vector<LossesByDecoder> mean_losses(const HeldOut& held_out,
                                           std::span<const std::unique_ptr<Solution>> solutions,
                                           const TrainOptions& options, std::span<const Decoder> decoders,
                                           const Context& context) const override;
  void describe(ModelCommon& common) const override;

  const Dataset& data() const { return data_; }
  const PreparedFeatures& features() const { return features_; }

 protected:
  // `data` has been checked.
  RowTrainingSet(Dataset data, const TrainOptions& options, bool bias, const Context& context, KernelForm form);

  // How many scores the weights give a row.
  virtual std::size_t outputs() const = 0;
  // What `scores`, rows x outputs, say of these examples, as Dataset::label holds it.
  virtual std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset& examples,
                                              const Solution& solution, const TrainOptions& options, Decoder decode,
                                              const Context& context) const = 0;
  // Mean cost of predictions for these examples.
  virtual double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const = 0;
  // Weights as a model has them.
  RowWeights row_weights(std::vector<double> weights) const {
    return finished_weights(features_, std::move(weights), outputs(), bias_);
  }
  // The solution's weights of rows.
  virtual const std::vector<double>& weights_of(const Solution& solution) const {
    return static_cast<const RowSolution&>(solution).weights;
  }

  Dataset data_;                // without its features, which have been transformed
  std::vector<double> weight_;  // p_i, summing to 1
  bool bias_;
  PreparedFeatures features_;
};

}  // namespace m4n::detail

#include "selection/split_learner.h"

#include <algorithm>
#include <utility>

#include "structures/classes/held_out.h"
#include "losses/cost_matrix.h"
#include "structures/chains/training_set.h"
#include "structures/graphs/training_set.h"
#include "structures/label_sets/training_set.h"
#include "structures/permutations/training_set.h"
#include "structures/classes/training_set.h"
#include "structures/chains/predictor.h"
#include "structures/classes/decoder.h"
#include "structures/label_sets/thresholds.h"
#include "structures/permutations/decoder.h"

namespace m4n {
namespace {

class ClassLearner : public SplitLearner {
 public:
  ClassLearner(SplitData data, const TrainOptions& options, const Context& context)
      : set_(std::move(data.train), options, context),
        validation_(std::move(data.validation)),
        test_(std::move(data.test)),
        examples_(data.examples) {}

  std::vector<LearntPoint> learn(const TrainOptions& options, const std::vector<Decoder>& decoders,
                                 std::span<const double> lambdas, const Context& context) const override {
    const std::vector<Solution> solutions = set_.solve(options, Decoder::automatic, lambdas, context);
    if (context.cancelled && context.cancelled()) return {};
    const auto on_validation =
        predict_held_out(set_, options, solutions, decoders, validation_.x, examples_->validation);
    const auto on_test = predict_held_out(set_, options, solutions, decoders, test_.x, examples_->test);
    std::vector<LearntPoint> out;
    for (std::size_t l = 0; l < solutions.size(); ++l) {
      out.push_back({solutions[l].result, {}, {}});
      for (std::size_t d = 0; d < decoders.size(); ++d) {
        const std::size_t at = l * decoders.size() + d;
        out.back().validation.push_back(
            mean_cost(set_.cost(), validation_.label, on_validation[at], validation_.weight));
        out.back().test.push_back(mean_cost(set_.cost(), test_.label, on_test[at], test_.weight));
      }
    }
    return out;
  }

 private:
  TrainingSet set_;
  Dataset validation_, test_;
  const Split* examples_;
};

class SequenceLearner : public SplitLearner {
 public:
  SequenceLearner(SplitData data, const TrainOptions& options)
      : set_(std::move(data.train), options), validation_(std::move(data.validation)), test_(std::move(data.test)) {}

  std::vector<LearntPoint> learn(const TrainOptions& options, const std::vector<Decoder>& decoders,
                                 std::span<const double> lambdas, const Context& context) const override {
    std::vector<LearntPoint> out;
    set_.solve(options, lambdas, context, [&](ChainSolution solution) {
      if (context.cancelled && context.cancelled()) return;
      const ChainWeights weights = set_.for_raw_rows(std::move(solution.weights));
      out.push_back({solution.result, {}, {}});
      for (const Decoder decode : decoders) {
        out.back().validation.push_back(set_.mean_loss(validation_, weights, decode, context));
        out.back().test.push_back(set_.mean_loss(test_, weights, decode, context));
      }
    });
    return out;
  }

 private:
  ChainTrainingSet set_;
  Dataset validation_, test_;
};

// Outputs with several parts whose examples are rows of features: permutations, label sets, graphs.
template <class Set>
class PartsLearner : public SplitLearner {
 public:
  PartsLearner(SplitData data, const TrainOptions& options, const Context& context)
      : set_(std::move(data.train), options, context),
        validation_(std::move(data.validation)),
        test_(std::move(data.test)) {
    const RowMap map(set_.features(), options.bias);
    validation_rows_ = map.apply(std::exchange(validation_.x, Features{}));
    test_rows_ = map.apply(std::exchange(test_.x, Features{}));
  }

  std::vector<LearntPoint> learn(const TrainOptions& options, const std::vector<Decoder>& decoders,
                                 std::span<const double> lambdas, const Context& context) const override {
    std::vector<LearntPoint> out;
    set_.solve(options, Decoder::automatic, lambdas, context, [&](const typename Set::Solution& solution) {
      if (context.cancelled && context.cancelled()) return;
      const auto loss = [&](const Features& rows, const Dataset& examples, Decoder decode) {
        return set_.mean_loss(rows, examples, solution, options.surrogate, decode, context);
      };
      out.push_back({solution.result, {}, {}});
      for (const Decoder decode : decoders) {
        out.back().validation.push_back(loss(validation_rows_, validation_, decode));
        out.back().test.push_back(loss(test_rows_, test_, decode));
      }
    });
    return out;
  }

 private:
  Set set_;
  Dataset validation_, test_;
  Features validation_rows_, test_rows_;
};

bool is_permutation(const TrainOptions& options) {
  return options.task == Task::ranking || options.task == Task::matching;
}

// For as many items as there are; two where their number varies.
PositionLoss position_loss(const TrainOptions& options, const std::vector<std::string>& items) {
  return chosen_position_loss(options, items).make(std::max<std::size_t>(items.size(), 2));
}

}  // namespace

std::unique_ptr<SplitLearner> make_split_learner(SplitData data, const TrainOptions& options, const Context& context) {
  if (options.task == Task::sequence) return std::make_unique<SequenceLearner>(std::move(data), options);
  if (is_permutation(options))
    return std::make_unique<PartsLearner<PermutationTrainingSet>>(std::move(data), options, context);
  if (options.task == Task::graph || (options.task == Task::multilabel && has_edges(options, data.train)))
    return std::make_unique<PartsLearner<GraphTrainingSet>>(std::move(data), options, context);
  if (options.task == Task::multilabel)
    return std::make_unique<PartsLearner<MultilabelTrainingSet>>(std::move(data), options, context);
  return std::make_unique<ClassLearner>(std::move(data), options, context);
}

LossSummary chosen_loss(const TrainOptions& options, const std::vector<std::string>& classes) {
  if (options.task == Task::multilabel) {
    const LabelCosts costs = chosen_label_costs(options, classes);
    return {costs.hamming() ? "hamming" : "costs", kept_costs(costs), costs.symmetric()};
  }
  if (!is_permutation(options)) {
    const CostMatrix cost = chosen_cost(options, classes);
    return {cost.name(), cost.values(), cost.symmetric()};
  }
  const PositionLossChoice loss = chosen_position_loss(options, classes);
  const Decoder usual = permutation_decoder(Decoder::automatic, SurrogateKind::m4n, position_loss(options, classes));
  return {loss.name(), loss.values(), usual == Decoder::argmax};
}

Decoder chosen_decoder(const TrainOptions& options, const std::vector<std::string>& classes) {
  if (is_permutation(options))
    return permutation_decoder(options.decode, options.surrogate, position_loss(options, classes));
  if (options.task == Task::multilabel && !has_edges(options)) {
    const LabelCosts costs = chosen_label_costs(options, classes);
    label_thresholds(options.surrogate, options.decode, costs);  // refuses what does not go together
    return options.decode == Decoder::automatic ? default_label_decoder(options.surrogate, costs) : options.decode;
  }
  if (options.task == Task::multilabel || options.task == Task::graph)
    return parts_decoder(options.decode, options.surrogate, chosen_loss(options, classes).symmetric, "labels");
  const CostMatrix cost = chosen_cost(options, classes);
  if (options.task == Task::sequence) return chain_decoder(options.decode, options.surrogate, cost);
  return options.decode == Decoder::automatic ? default_decoder(options.surrogate, options.smoothing, cost)
                                              : options.decode;
}

}  // namespace m4n

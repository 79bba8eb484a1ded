#include "structures/permutations/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "structures/permutations/predictor.h"
#include "structures/permutations/solve.h"
#include "structures/permutations/structure.h"

namespace m4n::detail {
namespace {

// What solve_permutations does not look at: weights, and items that are there to be ranked.
Dataset checked(Dataset data, bool matching) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (!matching && data.class_names.size() < 2)
    throw Error(say("{} item in the rankings; there is nothing to rank below two", data.class_names.size()));
  if (data.label.size() != data.labels.end(n - 1))
    throw Error(say("{} labels for {} items do not belong together", data.label.size(), data.labels.end(n - 1)));
  if (std::find(data.label.begin(), data.label.end(), unknown_label) != data.label.end())
    throw Error(
        "some examples have no labels; learning needs the true permutation of each: add them, or leave these examples "
        "out");
  if (matching && (data.feature_rows.count() != n || data.feature_rows.end(n - 1) != rows(data.x)))
    throw Error(say("{} rows of features do not belong to {} matchings", rows(data.x), n));
  check_weights(data);
  require_values(data.x);
  return data;
}

}  // namespace

PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(say("both position costs and --loss {} are given; give one of them", options.loss));
  if (!options.cost.empty()) return PositionLossChoice::from_values(options.cost, items.size(), "the position costs");
  return PositionLossChoice::parse(options.loss.empty() ? "hamming" : options.loss, items);
}

// A bias would add the same to every matching.
PermutationTrainingSet::PermutationTrainingSet(Dataset data, const TrainOptions& options, Permuted permuted,
                                               const Context& context)
    : RowTrainingSet(
          checked(std::move(data), permuted == Permuted::points), options, options.bias && permuted == Permuted::items,
          permuted == Permuted::points ? RowsWeigh::equally : RowsWeigh::as_examples, context, KernelForm::rows),
      matching_(permuted == Permuted::points),
      loss_(chosen_position_loss(options, data_.class_names)) {
  for (std::size_t i = 0; i < data_.examples(); ++i)
    largest_ = std::max(largest_, data_.labels.end(i) - data_.labels.begin(i));
}

std::size_t PermutationTrainingSet::outputs() const {
  return matching_ ? 1 : ranking_outputs(loss_, data_.class_names.size());
}

void PermutationTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                                   const Context& context, const Emit& emit) const {
  solve_permutations({.x = view(features_.x),
                      .pairs = matching_ ? &data_.feature_rows : nullptr,
                      .bias = bias_,
                      .items = &data_.labels,
                      .position = data_.label,
                      .weight = weight_,
                      .loss = [this](std::size_t size) { return loss_.make(size); },
                      .lambdas = lambdas,
                      .options = &options,
                      .context = &context},
                     [&](std::unique_ptr<RowSolution> solution) {
                       check_finite(*solution, solution->weights);
                       emit(std::move(solution));
                     });
}

double PermutationTrainingSet::mean_loss(std::span<const double> scores, const Dataset& examples, const Solution&,
                                         const TrainOptions&, Decoder decode, const Context& context) const {
  require_scores(scores);
  const PermutationPredictor predictor(loss_, matching_ ? 0 : data_.class_names.size(), decode);
  const std::vector<std::int32_t> predicted =
      matching_ ? predictor.matchings(scores, examples.feature_rows, context) : predictor.rankings(scores, context);
  return mean_position_loss(loss_, examples.labels, examples.label, predicted, examples.weight);
}

void PermutationTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  common.loss_name = loss_.name();
  common.cost = loss_.values();
}

std::shared_ptr<const ModelPart> PermutationTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<PermutationPart>();
  part->rows = row_weights(std::move(static_cast<RowSolution&>(*solution).weights));
  part->points = matching_ ? largest_ : 0;
  return part;
}

}  // namespace m4n::detail

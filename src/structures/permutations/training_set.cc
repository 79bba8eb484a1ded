#include "structures/permutations/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/kernels.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "structures/shares.h"
#include "structures/permutations/predictor.h"

namespace m4n {
namespace {

// What solve_permutations does not look at: weights, and items that are there to be ranked.
Dataset checked(Dataset data, bool matching) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (!matching && data.class_names.size() < 2)
    throw Error(fmt::format("{} item in the rankings; there is nothing to rank below two", data.class_names.size()));
  if (data.label.size() != data.labels.end(n - 1))
    throw Error(
        fmt::format("{} labels for {} items do not belong together", data.label.size(), data.labels.end(n - 1)));
  for (std::size_t e = 0; e < data.label.size(); ++e)
    if (data.label[e] == unknown_label)
      throw Error(
          "some examples have no labels; learning needs the true permutation of each: add them, or leave these "
          "examples out");
  if (matching && (data.feature_rows.count() != n || data.feature_rows.end(n - 1) != rows(data.x)))
    throw Error(fmt::format("{} rows of features do not belong to {} matchings", rows(data.x), n));
  check_weights(data);
  if (const auto* sparse = std::get_if<SparseMatrix>(&data.x); sparse && sparse->value.size() != sparse->column.size())
    throw Error("sparse rows without values are for sequences; give every entry its value");
  return data;
}

}  // namespace

PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(fmt::format("both position costs and the loss {} are given; give one of them", options.loss));
  if (!options.cost.empty()) return PositionLossChoice::from_values(options.cost, items.size(), "the position costs");
  return PositionLossChoice::parse(options.loss.empty() ? "hamming" : options.loss, items);
}

// A bias would add the same to every matching.
PermutationTrainingSet::PermutationTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : matching_(options.task == Task::matching),
      data_(checked(std::move(data), matching_)),
      loss_(chosen_position_loss(options, data_.class_names)),
      share_(shares(data_)),
      bias_(options.bias && !matching_),
      features_(prepare(std::exchange(data_.x, Features{}), matching_ ? std::vector<double>{} : data_.weight, options,
                        context, KernelForm::rows)) {
  for (std::size_t i = 0; i < data_.examples(); ++i)
    largest_ = std::max(largest_, data_.labels.end(i) - data_.labels.begin(i));
}

Decoder PermutationTrainingSet::decoder(const TrainOptions& options) const {
  return permutation_decoder(options.decode, options.surrogate, loss_.make(largest_));
}

void PermutationTrainingSet::describe(Model& model) const {
  model.loss_name = loss_.name();
  model.cost = loss_.values();
  model.bias = bias_;
  model.tokens = data_.label.size();
  model.points = matching_ ? largest_ : 0;
}

void PermutationTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                                   const Context& context, const std::function<void(PermutationSolution)>& emit) const {
  solve_permutations({.x = view(features_.x),
                      .pairs = matching_ ? &data_.feature_rows : nullptr,
                      .bias = bias_,
                      .items = &data_.labels,
                      .position = data_.label,
                      .weight = share_,
                      .loss = [this](std::size_t size) { return loss_.make(size); },
                      .lambdas = lambdas,
                      .options = &options,
                      .context = &context},
                     [&](PermutationSolution solution) {
                       check_finite(solution.result.certificate, solution.norm_squared, solution.weights);
                       emit(std::move(solution));
                     });
}

// What the scores of a model are of.
Model PermutationTrainingSet::shape() const {
  Model out;
  out.task = matching_ ? Task::matching : Task::ranking;
  out.classes = data_.class_names;
  describe(out);
  return out;
}

double PermutationTrainingSet::train_loss(const PermutationSolution& solution, Decoder decode,
                                          const Context& context) const {
  return loss_of(training_scores(features_, solution.weights, shape(), context), data_, decode, context);
}

double PermutationTrainingSet::mean_loss(const Features& mapped, const Dataset& examples,
                                         const PermutationSolution& solution, SurrogateKind, Decoder decode,
                                         const Context& context) const {
  Model linear = shape();  // of the mapped rows
  linear.d = cols(mapped);
  linear.weights = solution.weights;
  return loss_of(linear.scores(view(mapped), context), examples, decode, context);
}

double PermutationTrainingSet::loss_of(const std::vector<double>& scores, const Dataset& examples, Decoder decode,
                                       const Context& context) const {
  if (!std::all_of(scores.begin(), scores.end(), kernels::is_score))
    throw Error(
        "some scores are beyond what can be computed with: a value of the data is too large beside those of training; "
        "correct "
        "it, or leave the example out");
  const PermutationPredictor predictor(loss_, matching_ ? 0 : data_.class_names.size(), decode);
  const std::vector<std::int32_t> predicted =
      matching_ ? predictor.matchings(scores, examples.feature_rows, context) : predictor.rankings(scores, context);
  return mean_position_loss(loss_, examples.labels, examples.label, predicted, examples.weight);
}

void PermutationTrainingSet::keep(PermutationSolution solution, Model& model) const {
  finish(features_, std::move(solution.weights), model);
}

}  // namespace m4n

#include "structures/label_sets/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/kernels.h"
#include "m4n/error.h"
#include "structures/shares.h"

namespace m4n {
namespace {

Dataset checked(Dataset data) {
  check_label_sets(data);
  return data;
}

}  // namespace

void check_label_sets(const Dataset& data) {
  const std::size_t n = data.examples(), labels = data.class_names.size();
  if (n == 0) throw Error("there are no examples to learn from");
  if (labels == 0) throw Error("there are no labels to learn");
  if (rows(data.x) != n || data.label.size() != n * labels || data.labels.end(n - 1) != n * labels)
    throw Error(fmt::format("{} rows of features, {} examples and {} marks for {} labels do not belong together",
                            rows(data.x), n, data.label.size(), labels));
  for (std::size_t e = 0; e < data.label.size(); ++e)
    if (data.label[e] != 0 && data.label[e] != 1)
      throw Error(fmt::format("example {}: {} is {}, expected 0 or 1", e / labels + 1, data.class_names[e % labels],
                              data.label[e]));
  check_weights(data);
  if (const auto* sparse = std::get_if<SparseMatrix>(&data.x); sparse && sparse->value.size() != sparse->column.size())
    throw Error("sparse rows without values are for sequences; give every entry its value");
}

LabelCosts chosen_label_costs(const TrainOptions& options, const std::vector<std::string>& labels) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(fmt::format("both costs and the loss {} are given; give one of them", options.loss));
  if (!options.cost.empty()) return remembered_costs(options.cost, labels);
  if (options.loss.empty() || options.loss == "hamming") return LabelCosts::hamming(labels.size());
  return LabelCosts::read(options.loss, labels);
}

MultilabelTrainingSet::MultilabelTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
    : data_(checked(std::move(data))),
      costs_(chosen_label_costs(options, data_.class_names)),
      share_(shares(data_)),
      bias_(options.bias),
      features_(prepare(std::exchange(data_.x, Features{}), data_.weight, options, context)) {}

Decoder MultilabelTrainingSet::decoder(const TrainOptions& options) const {
  label_thresholds(options.surrogate, options.decode, costs_);  // refuses what does not go together
  return options.decode == Decoder::automatic ? default_label_decoder(options.surrogate, costs_) : options.decode;
}

void MultilabelTrainingSet::describe(Model& model) const {
  model.loss_name = costs_.hamming() ? "hamming" : "costs";
  model.cost = kept_costs(costs_);
  model.bias = bias_;
}

void MultilabelTrainingSet::solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                                  const Context& context, const std::function<void(MultilabelSolution)>& emit) const {
  solve_multilabel({.x = view(features_.x),
                    .gram = features_.kernel ? &features_.gram : nullptr,
                    .bias = bias_,
                    .label = data_.label,
                    .weight = share_,
                    .costs = &costs_,
                    .lambdas = lambdas,
                    .decode = decode,
                    .options = &options,
                    .context = &context},
                   [&](MultilabelSolution solution) {
                     check_finite(solution.result.certificate, solution.norm_squared, solution.weights);
                     emit(std::move(solution));
                   });
}

double MultilabelTrainingSet::train_loss(const MultilabelSolution& solution, Decoder, const Context&) const {
  return mean_label_cost(costs_, data_.label, solution.predicted, data_.weight);
}

double MultilabelTrainingSet::mean_loss(const Features& mapped, const Dataset& examples,
                                        const MultilabelSolution& solution, SurrogateKind surrogate, Decoder decode,
                                        const Context& context) const {
  Model linear;  // of the mapped rows; kernel values have the bias in them
  linear.task = Task::multilabel;
  linear.classes = data_.class_names;
  linear.surrogate = surrogate;
  linear.decode = decode;
  linear.d = cols(mapped);
  linear.weights = solution.weights;
  describe(linear);
  linear.bias = bias_ && !features_.kernel;
  const std::vector<double> scores = linear.scores(view(mapped), context);
  if (!std::all_of(scores.begin(), scores.end(), kernels::is_score))
    throw Error(
        "some scores are beyond what can be computed with: a value of the data is too large beside those of training; "
        "correct it, or "
        "leave the example out");
  return mean_label_cost(costs_, examples.label, linear.decode_scores(scores, context), examples.weight);
}

void MultilabelTrainingSet::keep(MultilabelSolution solution, Model& model) const {
  finish(features_, std::move(solution.weights), model);
}

}  // namespace m4n

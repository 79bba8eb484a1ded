#include "structures/chains/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/message.h"
#include "features/standardize.h"
#include "structures/chains/structure.h"
#include "structures/classes/training.h"

namespace m4n::detail {
namespace {

Dataset checked(Dataset data) {
  const std::size_t n = data.examples(), k = data.class_names.size();
  if (n == 0) throw Error("there are no sequences to learn from");
  const std::size_t tokens = data.labels.end(n - 1);
  if (rows(data.x) != tokens || data.label.size() != tokens || data.feature_rows.count() != n ||
      data.feature_rows.end(n - 1) != tokens)
    throw Error(say("{} rows of features and {} labels for {} tokens do not belong together", rows(data.x),
                    data.label.size(), tokens));
  if (k < 2) throw Error(say("only {} label in the data; learning needs at least two", k));
  for (std::size_t i = 0; i < n; ++i) {
    if (data.feature_rows.end(i) != data.labels.end(i))
      throw Error(say("sequence {} has another number of rows than of labels", i + 1));
    if (data.labels.begin(i) >= data.labels.end(i)) throw Error(say("sequence {} has no tokens", i + 1));
    for (std::size_t t = data.labels.begin(i); t < data.labels.end(i); ++t)
      if (data.label[t] < 0 || static_cast<std::size_t>(data.label[t]) >= k)
        throw Error(say("token {} of sequence {} has the label {}, expected 0 to {}", t - data.labels.begin(i) + 1,
                        i + 1, data.label[t], k - 1));
  }
  if (!data.weight.empty()) throw Error("weights of sequences are not supported");
  return data;
}

// Entries of columns that fewer than `least` rows have are taken out; their weights then stay zero.
void drop_rare(SparseMatrix& x, std::uint64_t least) {
  std::vector<std::uint64_t> count(x.cols);
  for (const std::uint32_t column : x.column) ++count[column];
  std::size_t kept = 0, read = 0;
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (const std::size_t end = x.row_start[i + 1]; read < end; ++read) {
      if (count[x.column[read]] < least) continue;
      x.column[kept] = x.column[read];
      if (!x.value.empty()) x.value[kept] = x.value[read];
      ++kept;
    }
    x.row_start[i + 1] = kept;
  }
  x.column.resize(kept);
  if (!x.value.empty()) x.value.resize(kept);
}

class HeldOutSequences : public HeldOut {
 public:
  Dataset sequences;
};

}  // namespace

// The attributes of a file were counted when it was read; those of a part of it are counted again.
ChainTrainingSet::ChainTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss)
    : data_(checked(std::move(data))),
      cost_(chosen_cost(options, data_.class_names, usual_loss)),
      weight_(data_.examples(), 1 / static_cast<double>(data_.examples())) {
  if (auto* sparse = std::get_if<SparseMatrix>(&data_.x)) {
    if (options.standardize.value_or(false))
      throw UsageError(
          say("--standardize yes is for dense rows of numbers; attributes of texts and products of pixels are sparse, "
              "and taken as they are. Leave it out"));
    const SequenceInput* const input = input_of(data_);
    const bool counted = input != nullptr && input->counted_tokens == data_.label.size();
    if (options.min_count > 1 && !counted) drop_rare(*sparse, options.min_count);
  } else if (options.standardize.value_or(false)) {
    standardizer_ = fit_standardizer(view(data_.x), {});
    apply_in_place(standardizer_, data_.x);
  }
}

void ChainTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                             const Context& context, const Emit& emit) const {
  solve_chains({.x = view(data_.x),
                .tokens = &data_.labels,
                .bias = options.bias,
                .label = data_.label,
                .weight = weight_,
                .cost = &cost_,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](std::unique_ptr<ChainSolution> solution) {
                 const ChainWeights& w = solution->weights;
                 std::visit([&](const auto& features) { check_finite(*solution, std::span(features)); }, w.features);
                 for (const std::vector<double>* part : {&w.bias, &w.transitions, &w.start, &w.end})
                   check_finite(*solution, *part);
                 emit(std::move(solution));
               });
}

ChainWeights ChainTrainingSet::for_raw_rows(ChainWeights weights) const {
  if (standardizer_.inverse_scale.empty()) return weights;
  weights.bias.resize(cost_.k(), 0.0);
  fold_standardizer(standardizer_, std::get<std::vector<double>>(weights.features), cost_.k(), weights.bias);
  return weights;
}

double ChainTrainingSet::mean_loss(const Dataset& sequences, const ChainWeights& weights, Decoder decode,
                                   const Context& context) const {
  const ChainPredictor predictor(weights, cost_, decode);
  const std::vector<std::int32_t> predicted =
      predict_sequences(predictor, view(sequences.x), sequences.feature_rows, context);
  return mean_sequence_cost(cost_, sequences.labels, sequences.label, predicted);
}

double ChainTrainingSet::train_loss(const Solution& solution, const TrainOptions&, Decoder decode,
                                    const Context& context) const {
  return mean_loss(data_, static_cast<const ChainSolution&>(solution).weights, decode, context);
}

std::unique_ptr<HeldOut> ChainTrainingSet::hold_out(Dataset examples, std::span<const std::size_t>) const {
  auto out = std::make_unique<HeldOutSequences>();
  out->sequences = std::move(examples);
  return out;
}

std::vector<LossesByDecoder> ChainTrainingSet::mean_losses(const HeldOut& held_out,
                                                           std::span<const std::unique_ptr<Solution>> solutions,
                                                           const TrainOptions&, std::span<const Decoder> decoders,
                                                           const Context& context) const {
  const Dataset& sequences = static_cast<const HeldOutSequences&>(held_out).sequences;
  std::vector<LossesByDecoder> out;
  for (const std::unique_ptr<Solution>& solution : solutions) {
    const ChainWeights weights = for_raw_rows(static_cast<const ChainSolution&>(*solution).weights);
    out.emplace_back();
    for (const Decoder decode : decoders) out.back().push_back(mean_loss(sequences, weights, decode, context));
  }
  return out;
}

void ChainTrainingSet::describe(ModelCommon& common) const {
  common.loss_name = cost_.name();
  common.cost = cost_.values();
  common.d = cols(data_.x);
  common.sparse = std::holds_alternative<SparseMatrix>(data_.x);
  common.parts = data_.label.size();
}

std::shared_ptr<const ModelPart> ChainTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<ChainPart>();
  part->weights = for_raw_rows(std::move(static_cast<ChainSolution&>(*solution).weights));
  part->input = std::static_pointer_cast<const SequenceInput>(data_.input);
  return part;
}

}  // namespace m4n::detail

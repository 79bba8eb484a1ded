#include "structures/chains/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "m4n/error.h"
#include "structures/classes/training_set.h"
#include "structures/chains/predictor.h"
#include "features/standardize.h"

namespace m4n {
namespace {

void check(const Dataset& data) {
  const std::size_t n = data.examples(), k = data.class_names.size();
  if (n == 0) throw Error("there are no sequences to learn from");
  const std::size_t tokens = data.labels.end(n - 1);
  if (rows(data.x) != tokens || data.label.size() != tokens || data.feature_rows.count() != n ||
      data.feature_rows.end(n - 1) != tokens)
    throw Error(fmt::format("{} rows of features and {} labels for {} tokens do not belong together", rows(data.x),
                            data.label.size(), tokens));
  if (k < 2) throw Error(fmt::format("only {} label in the data; learning needs at least two", k));
  for (std::size_t i = 0; i < n; ++i) {
    if (data.feature_rows.end(i) != data.labels.end(i))
      throw Error(fmt::format("sequence {} has another number of rows than of labels", i + 1));
    if (data.labels.begin(i) >= data.labels.end(i)) throw Error(fmt::format("sequence {} has no tokens", i + 1));
    for (std::size_t t = data.labels.begin(i); t < data.labels.end(i); ++t)
      if (data.label[t] < 0 || static_cast<std::size_t>(data.label[t]) >= k)
        throw Error(fmt::format("token {} of sequence {} has the label {}, expected 0 to {}",
                                t - data.labels.begin(i) + 1, i + 1, data.label[t], k - 1));
  }
  if (!data.weight.empty()) throw Error("weights of sequences are not supported");
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

Dataset checked(Dataset data) {
  check(data);
  return data;
}

void check(const ChainSolution& solution) {
  const Certificate& c = solution.result.certificate;
  const auto finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto w) { return std::isfinite(w); });
  };
  const ChainWeights& w = solution.weights;
  if (!std::isfinite(c.primal) || !std::isfinite(c.dual) || !std::isfinite(solution.norm_squared) ||
      c.gap() < -1e-9 * std::abs(c.primal) || !std::visit(finite, w.features) || !finite(w.bias) ||
      !finite(w.transitions) || !finite(w.start) || !finite(w.end))
    throw Error(
        fmt::format("the numbers leave the range of double precision (objective {}, bound {}): use features and costs "
                    "of ordinary size, or a lambda nearer to 1/n",
                    c.primal, c.dual));
}

}  // namespace

ChainTrainingSet::ChainTrainingSet(Dataset data, const TrainOptions& options)
    : data_(checked(std::move(data))),
      cost_(chosen_cost(options, data_.class_names)),
      share_(data_.examples(), 1 / static_cast<double>(data_.examples())) {
  if (auto* sparse = std::get_if<SparseMatrix>(&data_.x)) {
    if (options.standardize.value_or(false))
      throw UsageError(
          "--standardize yes is for dense rows of numbers; attributes of texts and products of pixels are sparse, and "
          "taken as they are. Leave it out");
    if (options.min_count > 1) drop_rare(*sparse, options.min_count);
  } else if (options.standardize.value_or(false)) {
    standardizer_ = fit_standardizer(view(data_.x), {});
    apply_in_place(standardizer_, data_.x);
  }
}

Decoder ChainTrainingSet::decoder(const TrainOptions& options) const {
  return chain_decoder(options.decode, options.surrogate, cost_);
}

void ChainTrainingSet::solve(const TrainOptions& options, std::span<const double> lambdas, const Context& context,
                             const std::function<void(ChainSolution)>& emit) const {
  solve_chains({.x = view(data_.x),
                .tokens = &data_.labels,
                .bias = options.bias,
                .label = data_.label,
                .weight = share_,
                .cost = &cost_,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](ChainSolution solution) {
                 check(solution);
                 emit(std::move(solution));
               });
}

// w . (x - mean) s  =  (w s) . x  -  (w s) . mean
ChainWeights ChainTrainingSet::for_raw_rows(ChainWeights weights) const {
  if (standardizer_.inverse_scale.empty()) return weights;
  auto& w = std::get<std::vector<double>>(weights.features);
  const std::size_t k = cost_.k();
  weights.bias.resize(k, 0.0);
  for (std::size_t e = 0; e < w.size(); ++e) {
    w[e] *= standardizer_.inverse_scale[e / k];
    if (!standardizer_.mean.empty()) weights.bias[e % k] -= w[e] * standardizer_.mean[e / k];
  }
  return weights;
}

double ChainTrainingSet::mean_loss(const Dataset& sequences, const ChainWeights& weights, Decoder decode,
                                   const Context& context) const {
  const ChainPredictor predictor(weights, cost_, decode);
  const std::vector<std::int32_t> predicted =
      predict_sequences(predictor, view(sequences.x), sequences.feature_rows, context);
  return mean_sequence_cost(cost_, sequences.labels, sequences.label, predicted);
}

}  // namespace m4n

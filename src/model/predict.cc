// Scores and predictions of a trained model, in parallel over rows.
#include <fmt/format.h>

#include "core/parallel.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "scorer/linear.h"
#include "surrogate/decoder.h"
#include "transform/standardize.h"

namespace m4n {
namespace {

constexpr std::size_t chunk = 512;  // rows a thread takes at a time

// The model's weights in the layout of the kernels.
struct PaddedWeights {
  std::size_t stride;
  AlignedVector<double> w;
  const double* bias;
  explicit PaddedWeights(const Model& model)
      : stride(kernels::padded(model.k())), w((model.d + (model.bias ? 1 : 0)) * stride, 0.0), bias(nullptr) {
    for (std::size_t row = 0; row * stride < w.size(); ++row)
      for (std::size_t j = 0; j < model.k(); ++j) w[row * stride + j] = model.weights[row * model.k() + j];
    if (model.bias) bias = w.data() + model.d * stride;
  }
};

void score_row(const Model& model, const PaddedWeights& weights, std::span<const double> row, std::span<double> scratch,
               std::span<double> v) {
  standardize_row(model.standardizer, row, scratch);
  kernels::dense_scores(scratch.first(row.size()), weights.w.data(), weights.bias, v);
}

// Centred columns are not zero where the row has no entry, so a sparse row is filled up first.
void score_row(const Model& model, const PaddedWeights& weights, SparseRow row, std::span<double> scratch,
               std::span<double> v) {
  if (model.standardizer.mean.empty()) {
    standardize_row(model.standardizer, row, scratch);
    kernels::sparse_scores(row.column, scratch.first(row.column.size()), weights.w.data(), weights.bias, v);
    return;
  }
  const std::span<double> dense = scratch.first(model.d);
  std::fill(dense.begin(), dense.end(), 0.0);
  for (std::size_t e = 0; e < row.column.size(); ++e) dense[row.column[e]] = row.value[e];
  standardize_row(model.standardizer, std::span<const double>(dense), dense);
  kernels::dense_scores(dense, weights.w.data(), weights.bias, v);
}

}  // namespace

std::vector<double> Model::scores(const FeaturesView& features, const Context& context) const {
  return std::visit(
      [&](const auto& x) {
        if (x.cols != d) throw Error(fmt::format("the data have {} features, the model was trained on {}", x.cols, d));
        const PaddedWeights padded(*this);
        std::vector<double> out(x.rows * k());
        parallel_chunks(x.rows, chunk, context.threads,
                        [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                          std::vector<double> scratch(d);
                          AlignedVector<double> v(padded.stride);
                          for (std::size_t i = first; i < last; ++i) {
                            score_row(*this, padded, x.row(i), scratch, v);
                            std::copy_n(v.begin(), k(), out.begin() + static_cast<std::ptrdiff_t>(i * k()));
                          }
                        });
        return out;
      },
      features);
}

std::vector<std::int32_t> Model::decode_scores(std::span<const double> scores, const Context& context) const {
  const std::size_t examples = scores.size() / k();
  const CostMatrix matrix = CostMatrix::from_values(cost, k(), loss_name, classes, "the model's cost matrix");
  std::vector<std::int32_t> out(examples);
  parallel_chunks(examples, chunk, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    const auto decoder = make_decoder(surrogate, decode, smoothing, matrix);
    AlignedVector<double> v(kernels::padded(k()), kernels::padding_score);
    for (std::size_t i = first; i < last; ++i) {
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * k()), k(), v.begin());
      out[i] = decoder->decode(v);
    }
  });
  return out;
}

std::vector<std::int32_t> Model::predict(const FeaturesView& x, const Context& context) const {
  return decode_scores(scores(x, context), context);
}

std::vector<double> Model::marginals(std::span<const double> scores) const {
  if (surrogate != SurrogateKind::crf)
    throw UsageError(fmt::format("a model of the surrogate '{}' defines no probabilities; train with --surrogate crf",
                                 to_string(surrogate)));
  std::vector<double> out(scores.size());
  AlignedVector<double> v(kernels::padded(k()), kernels::padding_score), mu(v.size());
  for (std::size_t i = 0; i < scores.size(); i += k()) {
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i), k(), v.begin());
    kernels::softmax(v, mu);
    std::copy_n(mu.begin(), k(), out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

}  // namespace m4n

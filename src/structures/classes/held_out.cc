#include "structures/classes/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/kernels.h"
#include "m4n/error.h"
#include "structures/classes/decoder.h"

namespace m4n {
namespace {

constexpr std::size_t slab_doubles = std::size_t{1} << 24;  // of mapped rows kept at a time: 128 MB
constexpr std::size_t block = 32;                           // columns whose weights stay in the first cache

// Weights in the layout of the kernels, k padded.
AlignedVector<double> padded(const std::vector<double>& weights, std::size_t k) {
  const std::size_t stride = kernels::padded(k), count = weights.size() / k;
  AlignedVector<double> out(count * stride, 0.0);
  for (std::size_t row = 0; row < count; ++row)
    std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(row * k), k,
                out.begin() + static_cast<std::ptrdiff_t>(row * stride));
  return out;
}

// v += x w, block by block of columns.
void add_scores(const DenseView& x, const double* w, std::size_t stride, std::span<double> v) {
  for (std::size_t first = 0; first < x.cols; first += block)
    for (std::size_t i = 0; i < x.rows; ++i) {
      const std::span<double> own = v.subspan(i * stride, stride);
      kernels::dense_scores(x.row(i).subspan(first, std::min(block, x.cols - first)), w + first * stride, own.data(),
                            own);
    }
}

void add_scores(const SparseView& x, const double* w, std::size_t stride, std::span<double> v) {
  for (std::size_t i = 0; i < x.rows; ++i) {
    const std::span<double> own = v.subspan(i * stride, stride);
    const SparseRow row = x.row(i);
    kernels::sparse_scores(row.column, row.value, w, own.data(), own);
  }
}

}  // namespace

std::vector<std::vector<std::int32_t>> predict_held_out(const TrainingSet& set, const TrainOptions& options,
                                                        const std::vector<Solution>& solutions,
                                                        const std::vector<Decoder>& decoders, const Features& x,
                                                        std::span<const std::size_t> examples) {
  const std::size_t n = rows(x), k = set.cost().k(), stride = kernels::padded(k);
  const RowMap map(set.features(), options.bias);
  const std::size_t slab = std::clamp<std::size_t>(slab_doubles / std::max<std::size_t>(map.width(), 1), 1, n);
  std::vector<std::unique_ptr<ScoreDecoder>> decode;
  for (const Decoder d : decoders) decode.push_back(make_decoder(options.surrogate, d, options.smoothing, set.cost()));
  std::vector<std::vector<std::int32_t>> out(solutions.size() * decoders.size(), std::vector<std::int32_t>(n));

  for (std::size_t first = 0; first < n; first += slab) {
    std::vector<std::size_t> index(std::min(slab, n - first));
    std::iota(index.begin(), index.end(), first);
    const Features mapped = map.apply(take_rows(x, index));
    AlignedVector<double> v(index.size() * stride);
    for (std::size_t s = 0; s < solutions.size(); ++s) {
      const AlignedVector<double> w = padded(solutions[s].weights, k);
      // A row of weights beyond the features is the bias.
      const bool bias = w.size() / stride > map.width();
      for (std::size_t i = 0; i < index.size(); ++i)
        for (std::size_t j = 0; j < stride; ++j) v[i * stride + j] = bias ? w[map.width() * stride + j] : 0.0;
      std::visit([&](const auto& m) { add_scores(m.view(), w.data(), stride, v); }, mapped);
      for (std::size_t i = 0; i < index.size(); ++i) {
        const std::span<double> own = std::span(v).subspan(i * stride, stride);
        if (!std::all_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(k), kernels::is_score))
          throw Error(
              fmt::format("the scores of example {} (validation or test, counted from 1) are beyond what can be "
                          "computed with: one of "
                          "its values is too large beside the training part; correct it, or leave the example out",
                          examples[first + i] + 1));
        std::fill(own.begin() + static_cast<std::ptrdiff_t>(k), own.end(), kernels::padding_score);
        for (std::size_t d = 0; d < decode.size(); ++d)
          out[s * decoders.size() + d][first + i] = decode[d]->decode(own);
      }
    }
  }
  return out;
}

}  // namespace m4n

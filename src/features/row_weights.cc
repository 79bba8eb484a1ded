// Scores of rows of features under the weights of a model (row_weights.h).
#include "features/row_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "core/views.h"
#include "features/feature_map.h"
#include "features/standardize.h"

namespace m4n::detail {

template <>
std::span<const EnumName<KernelKind>> enum_names() {
  static constexpr EnumName<KernelKind> names[] = {
      {KernelKind::rbf, "rbf"}, {KernelKind::laplacian, "laplacian"}, {KernelKind::poly, "poly"}};
  return names;
}
const char* to_string(KernelKind kind) { return name_of(kind); }

// Weights in the layout of the kernels.
struct PaddedRowWeights {
  std::size_t stride;
  AlignedVector<double> w;
  const double* bias = nullptr;

  PaddedRowWeights(const RowWeights& rows, std::size_t width, std::size_t outputs)
      : stride(kernels::padded(outputs)), w((width + (rows.bias ? 1 : 0)) * stride, 0.0) {
    for (std::size_t row = 0; row * stride < w.size(); ++row)
      for (std::size_t j = 0; j < outputs; ++j) w[row * stride + j] = rows.weights[row * outputs + j];
    if (rows.bias) bias = w.data() + width * stride;
  }
};

namespace {

constexpr std::size_t rows_scored_at_once = 512;  // rows a thread takes at a time

// Scores one row at a time, with scratch memory of its own.
class RowScorer {
 public:
  RowScorer(const RowWeights& rows, std::size_t d, const PaddedRowWeights& weights, const MapEvaluator* map)
      : rows_(rows), weights_(weights), map_(map), input_(d), features_(map != nullptr ? map->width() : 0) {}

  void score(std::span<const double> row, std::span<double> v) {
    standardize_row(rows_.standardizer, row, input_);
    score_input(v);
  }
  // Centred columns, and the distances of a kernel, are not zero where the row has no entry: it is filled up then.
  void score(SparseRow row, std::span<double> v) {
    if (map_ == nullptr && rows_.standardizer.mean.empty()) {
      standardize_row(rows_.standardizer, row, input_);
      kernels::sparse_scores(row.column, std::span(input_).first(row.column.size()), weights_.w.data(), weights_.bias,
                             v);
      return;
    }
    std::fill(input_.begin(), input_.end(), 0.0);
    for (std::size_t e = 0; e < row.column.size(); ++e) input_[row.column[e]] = row.value[e];
    standardize_row(rows_.standardizer, std::span<const double>(input_), input_);
    score_input(v);
  }

 private:
  void score_input(std::span<double> v) {
    if (map_ != nullptr) map_->evaluate(input_, features_);
    kernels::dense_scores(map_ != nullptr ? features_ : input_, weights_.w.data(), weights_.bias, v);
  }

  const RowWeights& rows_;
  const PaddedRowWeights& weights_;
  const MapEvaluator* map_;
  std::vector<double> input_, features_;
};

}  // namespace

struct RowScores::Ready {
  const RowWeights& rows;
  std::size_t d, outputs;
  PaddedRowWeights weights;
  std::optional<MapEvaluator> map;
};

RowScores::RowScores(const RowWeights& rows, std::size_t d, std::size_t outputs) {
  const std::size_t width = rows.width(d);
  if (rows.weights.size() != (width + (rows.bias ? 1 : 0)) * outputs)
    throw Error(say("the model has {} weights for {} features and {} scores", rows.weights.size(), width, outputs));
  std::optional<MapEvaluator> map;
  if (rows.map.kind != FeatureKind::linear) map.emplace(rows.map);
  ready_ =
      std::unique_ptr<const Ready>(new Ready{rows, d, outputs, PaddedRowWeights(rows, width, outputs), std::move(map)});
}
RowScores::RowScores(RowScores&&) noexcept = default;
RowScores::~RowScores() = default;

std::vector<double> RowScores::of(const FeaturesView& x, const Context& context) const {
  return std::visit(
      [&](const auto& data) {
        const Ready& ready = *ready_;
        if (data.cols != ready.d)
          throw Error(say("the data have {} features, the model was trained on {}", data.cols, ready.d));
        std::vector<double> out(data.rows * ready.outputs);
        parallel_chunks(data.rows, rows_scored_at_once, context.threads,
                        [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                          RowScorer scorer(ready.rows, ready.d, ready.weights, ready.map ? &*ready.map : nullptr);
                          AlignedVector<double> v(ready.weights.stride);
                          for (std::size_t i = first; i < last; ++i) {
                            scorer.score(data.row(i), v);
                            std::copy_n(v.begin(), ready.outputs,
                                        out.begin() + static_cast<std::ptrdiff_t>(i * ready.outputs));
                          }
                        });
        return out;
      },
      x);
}

std::vector<double> row_scores(const RowWeights& rows, std::size_t d, std::size_t outputs, const FeaturesView& x,
                               const Context& context) {
  return RowScores(rows, d, outputs).of(x, context);
}

}  // namespace m4n::detail

// The training set of classes and grades: checked, weighted, solved, and judged on held-out examples (training.h).
#include "structures/classes/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/kernels.h"
#include "core/message.h"
#include "structures/classes/labels.h"
#include "structures/classes/structure.h"

namespace m4n::detail {
namespace {

Dataset checked(Dataset data) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (rows(data.x) != n || data.label.size() != n)
    throw Error(say("{} rows of features and {} labels do not belong together", rows(data.x), data.label.size()));
  require_values(data.x);
  if (data.class_names.size() < 2)
    throw Error(say("only {} class in the data; learning needs at least two", data.class_names.size()));
  for (std::size_t i = 0; i < n; ++i)
    if (data.label[i] < 0 || static_cast<std::size_t>(data.label[i]) >= data.class_names.size())
      throw Error(
          say("example {} has the label {}, expected 0 to {}", i + 1, data.label[i], data.class_names.size() - 1));
  check_weights(data);
  return data;
}

// What class weights make of the weight of every example; empty: nothing.
std::vector<double> factors(const Dataset& data, const std::string& class_weight) {
  std::vector<double> out;
  if (class_weight.empty()) return out;
  const std::vector<double> by_class = read_class_weights(class_weight, data);
  for (const std::int32_t label : data.label) out.push_back(by_class[static_cast<std::size_t>(label)]);
  return out;
}

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

class HeldOutClasses : public HeldOut {
 public:
  Dataset examples;
  std::vector<std::size_t> numbers;
};

}  // namespace

CostMatrix chosen_cost(const TrainOptions& options, const Dataset& data, const std::string& usual_loss) {
  const std::vector<std::string>& classes = data.class_names;
  const ColumnMean mean = column_means(data);
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(say("both a cost matrix and --loss {} are given; => give one of them", options.loss));
  std::vector<double> values = options.cost;
  for (std::size_t entry = 0; entry < options.cost_columns.size() && entry < values.size(); ++entry)
    if (const std::string& column = options.cost_columns[entry]; !column.empty()) {
      const std::optional<double> found = mean(column);
      if (!found)
        throw Error(say("the costs name the column {}, which the examples do not have; => give it with the examples",
                        shown(column)));
      values[entry] = *found;
    }
  const CostMatrix cost =
      !options.cost.empty()
          ? CostMatrix::from_values(std::move(values), classes.size(), "matrix", classes, "the cost matrix",
                                    options.predictions, options.cost_columns)
          : CostMatrix::parse(options.loss.empty() ? usual_loss : options.loss, classes, options.inner, mean);
  return options.reject ? cost.with_reject(*options.reject, classes) : cost;
}

CostMatrix chosen_fixed_cost(const TrainOptions& options, const Dataset& data, const std::string& usual_loss) {
  CostMatrix cost = chosen_cost(options, data, usual_loss);
  if (cost.varies())
    throw UsageError(
        say("--loss {}: its costs name columns of the data, which examples of --task {} do not have; => "
            "write numbers",
            options.loss, options.task));
  return cost;
}

void describe_costs(const CostMatrix& cost, ModelCommon& common) {
  common.loss_name = cost.name();
  common.cost = cost.values();
  common.predictions = cost.prediction_names();
  common.cost_columns = cost.columns();
}

ClassTrainingSet::ClassTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss,
                                   const Context& context)
    : RowTrainingSet(checked(std::move(data)), options, options.bias, context, KernelForm::pairs),
      cost_(chosen_cost(options, data_, usual_loss)) {
  std::vector<double> factor = factors(data_, options.class_weight);
  weight_ = normalised_weights(data_, factor);
  if (!cost_.varies()) return;
  examples_.emplace(cost_, data_.costs, data_.examples());
  factor.resize(data_.examples(), 1.0);
  for (std::size_t i = 0; i < factor.size(); ++i) factor[i] *= examples_->scale(i);
  weight_of_costs_ = normalised_weights(data_, factor);
}

void ClassTrainingSet::solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas,
                             const Context& context, const Emit& emit) const {
  if ((cost_.has_actions() || examples_) && options.oracle == OracleKind::spmp)
    throw UsageError(
        say("--oracle spmp is for predictions that are the classes and costs that are the same for all "
            "examples; => use --oracle exact"));
  // The likelihood knows nothing of costs.
  const bool by_costs = examples_ && options.surrogate != SurrogateKind::crf;
  const ClassRequest request{view(features_.x),
                             features_.kernel ? &features_.gram : nullptr,
                             bias_,
                             data_.label,
                             by_costs ? weight_of_costs_ : weight_,
                             &cost_,
                             lambdas,
                             decode,
                             &options,
                             &context,
                             examples_ ? &*examples_ : nullptr};
  const auto checked_emit = [&](std::unique_ptr<ClassSolution> solution) {
    check_finite(*solution, solution->weights);
    emit(std::move(solution));
  };
  switch (options.surrogate) {
    case SurrogateKind::m4n:
      return solve_m4n(request, checked_emit);
    case SurrogateKind::m3n:
      return solve_m3n(request, checked_emit);
    case SurrogateKind::crf:
      return solve_crf(request, checked_emit);
    case SurrogateKind::qs:
      return solve_qs(request, checked_emit);
  }
}

double ClassTrainingSet::train_loss(const Solution& solution, const TrainOptions&, Decoder, const Context&) const {
  return mean_cost(data_, static_cast<const ClassSolution&>(solution).predicted);
}

std::unique_ptr<HeldOut> ClassTrainingSet::hold_out(Dataset examples, std::span<const std::size_t> numbers) const {
  auto out = std::make_unique<HeldOutClasses>();
  out->examples = std::move(examples);
  out->numbers.assign(numbers.begin(), numbers.end());
  return out;
}

std::size_t ClassTrainingSet::scoring_batch() const { return std::numeric_limits<std::size_t>::max(); }

std::vector<LossesByDecoder> ClassTrainingSet::mean_losses(const HeldOut& held_out,
                                                           std::span<const std::unique_ptr<Solution>> solutions,
                                                           const TrainOptions& options,
                                                           std::span<const Decoder> decoders, const Context&) const {
  const auto& part = static_cast<const HeldOutClasses&>(held_out);
  const Features& x = part.examples.x;
  const std::size_t n = rows(x), k = score_count(options.surrogate, cost_), stride = kernels::padded(k);
  const RowMap map(features_, bias_);
  const std::size_t slab = std::clamp<std::size_t>(slab_doubles / std::max<std::size_t>(map.width(), 1), 1, n);
  std::optional<ExampleCosts> costs;
  if (cost_.varies()) costs.emplace(cost_, part.examples.costs, n);
  std::vector<std::unique_ptr<ScoreDecoder>> decode;
  for (const Decoder d : decoders)
    decode.push_back(make_decoder({options.surrogate, d, options.smoothing, &cost_, costs ? &*costs : nullptr}));
  std::vector<std::vector<std::int32_t>> predicted(solutions.size() * decoders.size(), std::vector<std::int32_t>(n));

  for (std::size_t first = 0; first < n; first += slab) {
    std::vector<std::size_t> index(std::min(slab, n - first));
    std::iota(index.begin(), index.end(), first);
    const Features mapped = map.apply(take_rows(x, index));
    AlignedVector<double> v(index.size() * stride);
    for (std::size_t s = 0; s < solutions.size(); ++s) {
      const AlignedVector<double> w = padded(weights_of(*solutions[s]), k);
      // A row of weights beyond the features is the bias.
      const bool bias = w.size() / stride > map.width();
      for (std::size_t i = 0; i < index.size(); ++i)
        for (std::size_t j = 0; j < stride; ++j) v[i * stride + j] = bias ? w[map.width() * stride + j] : 0.0;
      std::visit([&](const auto& m) { add_scores(m.view(), w.data(), stride, v); }, mapped);
      for (std::size_t i = 0; i < index.size(); ++i) {
        const std::span<double> own = std::span(v).subspan(i * stride, stride);
        if (!std::all_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(k), kernels::is_score))
          throw Error(
              say("the scores of example {} (validation or test, counted from 1) are beyond what can be computed with: "
                  "one of its values is too large beside the training part; => correct it, or leave the example out",
                  part.numbers[first + i] + 1));
        std::fill(own.begin() + static_cast<std::ptrdiff_t>(k), own.end(), kernels::padding_score);
        for (std::size_t d = 0; d < decode.size(); ++d)
          predicted[s * decoders.size() + d][first + i] = decode[d]->decode(own, first + i);
      }
    }
  }
  std::vector<LossesByDecoder> out(solutions.size());
  for (std::size_t s = 0; s < solutions.size(); ++s)
    for (std::size_t d = 0; d < decoders.size(); ++d)
      out[s].push_back({mean_cost(part.examples, predicted[s * decoders.size() + d]),
                        same_for_all(part.examples.labels, predicted[s * decoders.size() + d])});
  return out;
}

std::vector<std::int32_t> ClassTrainingSet::predicted(std::span<const double> scores, const Dataset& examples,
                                                      const Solution&, const TrainOptions& options, Decoder decode,
                                                      const Context& context) const {
  std::optional<ExampleCosts> costs;
  if (cost_.varies()) costs.emplace(cost_, examples.costs, examples.examples());
  return decode_rows(scores, {options.surrogate, decode, options.smoothing, &cost_, costs ? &*costs : nullptr},
                     context);
}

double ClassTrainingSet::mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const {
  return detail::mean_cost(ExampleCosts(cost_, examples.costs, examples.examples()), examples.label, predicted,
                           examples.weight);
}

void ClassTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  describe_costs(cost_, common);
}

std::shared_ptr<const ModelPart> ClassTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<ClassPart>();
  auto& own = static_cast<ClassSolution&>(*solution);
  part->rows = finished_weights(features_, std::move(own.weights), own.outputs, bias_);
  part->bins = data_.bins;
  return part;
}

}  // namespace m4n::detail

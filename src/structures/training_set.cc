// Checks of training data and of solutions, and training sets made of rows (training_set.h).
#include "structures/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/kernels.h"
#include "core/message.h"

namespace m4n::detail {
namespace {

template <class Real>
void check_all_finite(const Solution& solution, std::span<const Real> weights) {
  const Certificate& c = solution.result.certificate;
  if (!std::isfinite(c.primal) || !std::isfinite(c.dual) || !std::isfinite(solution.norm_squared) ||
      c.gap() < -1e-9 * std::abs(c.primal) ||
      !std::all_of(weights.begin(), weights.end(), [](Real w) { return std::isfinite(w); }))
    throw Error(
        say("the numbers leave the range of double precision (objective {}, bound {}): use --standardize yes, features "
            "and costs of ordinary size, or a lambda nearer to 1/n",
            c.primal, c.dual));
}

}  // namespace

void check_weights(const Dataset& data) {
  if (!data.weight.empty() && data.weight.size() != data.examples())
    throw Error(say("{} weights for {} examples", data.weight.size(), data.examples()));
  for (std::size_t i = 0; i < data.weight.size(); ++i)
    if (!(data.weight[i] > 0) || !std::isfinite(data.weight[i]))
      throw Error(say("example {} has the weight {}; weights must be positive and finite", i + 1, data.weight[i]));
}

void require_values(const Features& x) {
  if (const auto* sparse = std::get_if<SparseMatrix>(&x); sparse && sparse->value.size() != sparse->column.size())
    throw Error("sparse rows without values are for sequences; give every entry its value");
}

std::vector<double> normalised_weights(const Dataset& data, std::span<const double> factor) {
  std::vector<double> p = data.weight.empty() ? std::vector<double>(data.examples(), 1.0) : data.weight;
  if (!factor.empty())
    for (std::size_t i = 0; i < p.size(); ++i) p[i] *= factor[i];
  const double largest = *std::max_element(p.begin(), p.end());  // out first, so that no sum overflows
  double total = 0;
  for (double& x : p) total += x /= largest;
  for (double& x : p) x /= total;
  return p;
}

void check_finite(const Solution& solution, std::span<const double> weights) { check_all_finite(solution, weights); }
void check_finite(const Solution& solution, std::span<const float> weights) { check_all_finite(solution, weights); }

void require_scores(std::span<const double> scores) {
  if (!std::all_of(scores.begin(), scores.end(), kernels::is_score))
    throw Error(
        "some scores are beyond what can be computed with: a value of the data is too large beside those of training; "
        "correct it, or leave the example out");
}

bool same_for_all(const Groups& labels, std::span<const std::int32_t> predicted) {
  if (labels.count() < 2) return false;
  if (std::all_of(predicted.begin(), predicted.end(), [&](std::int32_t label) { return label == predicted[0]; }))
    return true;
  const auto own = [&](std::size_t i) { return predicted.subspan(labels.begin(i), labels.end(i) - labels.begin(i)); };
  for (std::size_t i = 1; i < labels.count(); ++i)
    if (!std::equal(own(i).begin(), own(i).end(), own(0).begin(), own(0).end())) return false;
  return true;
}

std::vector<double> weights_of_rows(const Dataset& data) {
  if (data.weight.empty() || data.weight.size() == rows(data.x)) return data.weight;
  std::vector<double> out;
  out.reserve(rows(data.x));
  for (std::size_t i = 0; i < data.weight.size(); ++i)
    out.insert(out.end(), data.feature_rows.end(i) - data.feature_rows.begin(i), data.weight[i]);
  return out;
}

RowTrainingSet::RowTrainingSet(Dataset data, const TrainOptions& options, bool bias, const Context& context,
                               KernelForm form)
    : data_(std::move(data)), weight_(normalised_weights(data_)), bias_(bias), features_([&] {
        const std::vector<double> weight = weights_of_rows(data_);
        return prepare(std::exchange(data_.x, Features{}), weight, options, context, form);
      }()) {}

double RowTrainingSet::train_loss(const Solution& solution, const TrainOptions& options, Decoder decode,
                                  const Context& context) const {
  const std::vector<double> scores = training_scores(features_, weights_of(solution), outputs(), bias_, context);
  return mean_cost(data_, predicted(scores, data_, solution, options, decode, context));
}

std::unique_ptr<HeldOut> RowTrainingSet::hold_out(Dataset examples, std::span<const std::size_t>) const {
  auto out = std::make_unique<MappedRows>();
  out->rows = RowMap(features_, bias_).apply(std::exchange(examples.x, Features{}));
  out->examples = std::move(examples);
  return out;
}

std::vector<LossesByDecoder> RowTrainingSet::mean_losses(const HeldOut& held_out,
                                                         std::span<const std::unique_ptr<Solution>> solutions,
                                                         const TrainOptions& options, std::span<const Decoder> decoders,
                                                         const Context& context) const {
  const auto& part = static_cast<const MappedRows&>(held_out);
  std::vector<LossesByDecoder> out;
  for (const std::unique_ptr<Solution>& solution : solutions) {
    // Kernel values have the bias in them.
    const RowWeights plain{{}, {}, bias_ && !features_.kernel, weights_of(*solution)};
    const std::vector<double> scores = row_scores(plain, cols(part.rows), outputs(), view(part.rows), context);
    require_scores(scores);
    out.emplace_back();
    for (const Decoder decode : decoders) {
      const std::vector<std::int32_t> labels = predicted(scores, part.examples, *solution, options, decode, context);
      out.back().push_back({mean_cost(part.examples, labels), same_for_all(part.examples.labels, labels)});
    }
  }
  return out;
}

void RowTrainingSet::describe(ModelCommon& common) const {
  common.d = features_.d;
  common.sparse = features_.sparse;
  common.parts = data_.label.size();
}

}  // namespace m4n::detail

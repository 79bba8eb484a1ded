// A structure's part in training where no machine has all the examples (api/fit_parted.h): what a TrainingSet is to a
// fit in memory. It holds no examples, so that every machine can make its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "features/row_weights.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "solvers/linear_scorer.h"
#include "solvers/rounds.h"

namespace m4n::detail {

// Some of the examples: standardised rows, labels, and their weights p_i, which sum to 1 over all parts.
struct Part {
  FeaturesView x;
  std::span<const std::int32_t> label;
  std::span<const double> weight;
};

// The centres of smoothing of a part's examples, and what the surrogate keeps of them; empty: the centres are phi(y_i).
struct PartCentres {
  std::vector<double> mu;
  std::vector<std::uint8_t> state;
};

class PartedTraining {
 public:
  virtual ~PartedTraining() = default;
  // Scores of a row.
  virtual std::size_t outputs() const = 0;
  // What the solver begins with; 0: the surrogate is smooth itself.
  virtual double smoothing() const = 0;
  // The sums of a part at w, (features + bias) x outputs: a function of its arguments alone. `moving`: the centres move
  // first, as in SmoothPass::sum.
  virtual RoundSums round(const Part& part, std::span<const double> w, std::optional<double> moving, double smoothing,
                          PartCentres& centres, unsigned threads) const = 0;
  // The costs, as a model remembers them.
  virtual void describe(ModelCommon& common) const = 0;
  virtual std::shared_ptr<const ModelPart> finish(RowWeights rows) const = 0;
};

// round() of a surrogate with linear scores, where an example has one label.
template <ProxSurrogate S>
RoundSums round_of(const S& surrogate, const Part& part, bool bias, std::span<const double> w,
                   std::optional<double> moving, double smoothing, PartCentres& centres, unsigned threads) {
  const std::size_t outputs = surrogate.space().parts();
  LinearScorer scorer(part.x, outputs, bias);
  const std::size_t n = scorer.examples(), stride = scorer.largest_padded_parts();
  if (part.label.size() != n || part.weight.size() != n || w.size() * stride != scorer.raw().size() * outputs)
    throw Error("labels, weights or scores do not fit the rows of a part");
  for (std::size_t e = 0; e < w.size(); ++e) scorer.raw()[e / outputs * stride + e % outputs] = w[e];
  const Problem<LinearScorer> problem{&scorer, part.label, Groups(n), part.weight, 0};
  DualPoint<S> dual(problem, surrogate);
  if (!centres.mu.empty()) {
    if (centres.mu.size() != dual.mu.size() || centres.state.size() != dual.state.size())
      throw Error("the centres are not those of this part");
    dual.mu = centres.mu;
    dual.state = centres.state;
  }
  SmoothPass pass(problem, surrogate, dual, threads);
  RoundSums out;
  AlignedVector<double> gradient;
  pass.sum(nullptr, moving, smoothing, out.values, gradient);
  out.gradient.resize(w.size());
  for (std::size_t e = 0; e < w.size(); ++e) out.gradient[e] = gradient[e / outputs * stride + e % outputs];
  if (moving) centres = {std::move(dual.mu), std::move(dual.state)};
  return out;
}

}  // namespace m4n::detail

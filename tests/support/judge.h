// Evaluations of labels that a test has at hand, without a file.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "m4n/evaluate.h"

namespace m4n::detail::test {

using Labels = std::span<const std::int32_t>;

inline Examples examples_of(const Model& model, const Groups& groups, Labels truth, std::span<const double> weight) {
  Examples out;
  out.data.labels = out.data.feature_rows = groups;
  out.data.label.assign(truth.begin(), truth.end());
  out.data.class_names = out.names = model.classes();
  out.data.weight.assign(weight.begin(), weight.end());
  out.truth = out.data.label;
  return out;
}

// Outputs with several parts; `groups` says which parts belong to which example.
inline Evaluation evaluate(const Model& model, const Groups& groups, Labels truth, Labels predicted,
                           std::span<const double> weight = {}) {
  return m4n::evaluate(model, examples_of(model, groups, truth, weight), predicted);
}
inline Bootstrap bootstrap(const Model& model, const Groups& groups, Labels truth, Labels predicted,
                           std::span<const double> weight, std::uint64_t replicates, std::uint64_t seed,
                           const Context& context = {}) {
  return m4n::bootstrap(model, examples_of(model, groups, truth, weight), predicted, replicates, seed, context);
}

// One label by example.
inline Evaluation evaluate(const Model& model, Labels truth, Labels predicted, std::span<const double> weight = {}) {
  return evaluate(model, Groups(truth.size()), truth, predicted, weight);
}
inline Bootstrap bootstrap(const Model& model, Labels truth, Labels predicted, std::span<const double> weight,
                           std::uint64_t replicates, std::uint64_t seed, const Context& context = {}) {
  return bootstrap(model, Groups(truth.size()), truth, predicted, weight, replicates, seed, context);
}

}  // namespace m4n::detail::test

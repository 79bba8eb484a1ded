// Small random multi-label data for tests.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "losses/label_costs.h"
#include "m4n/dataset.h"

namespace m4n::detail::test {

struct MultilabelSet {
  DenseMatrix x;
  std::size_t labels = 0;
  std::vector<std::int32_t> label;  // n x labels
  std::vector<double> share;        // p_i
  std::size_t examples() const { return x.rows; }
};

// Noisy labels of random linear rules, and examples of different weight.
inline MultilabelSet random_multilabel(Rng& rng, std::size_t n, std::size_t d, std::size_t labels) {
  MultilabelSet out{{n, d, {}}, labels, {}, {}};
  std::vector<double> rule(d * labels);
  for (double& r : rule) r = rng.normal();
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) out.x.values.push_back(rng.below(3) == 0 ? 0.0 : rng.normal());
    for (std::size_t m = 0; m < labels; ++m) {
      double score = rng.normal();
      for (std::size_t j = 0; j < d; ++j) score += rule[j * labels + m] * out.x.values[i * d + j];
      out.label.push_back(score > 0.3 ? 1 : 0);
    }
    out.share.push_back(1 + rng.uniform());
    total += out.share.back();
  }
  for (double& p : out.share) p /= total;
  return out;
}

inline LabelCosts random_label_costs(Rng& rng, std::size_t labels) {
  std::vector<double> miss, alarm;
  for (std::size_t j = 0; j < labels; ++j) {
    miss.push_back(rng.uniform(0.2, 4));
    alarm.push_back(rng.uniform(0.2, 4));
  }
  return {miss, alarm, "test"};
}

}  // namespace m4n::detail::test

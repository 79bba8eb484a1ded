// What training sets of structured outputs have in common: weights of examples, and solutions that are numbers.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/error.h"
#include "m4n/report.h"

namespace m4n {

inline void check_weights(const Dataset& data) {
  if (!data.weight.empty() && data.weight.size() != data.examples())
    throw Error(fmt::format("{} weights for {} examples", data.weight.size(), data.examples()));
  for (std::size_t i = 0; i < data.weight.size(); ++i)
    if (!(data.weight[i] > 0) || !std::isfinite(data.weight[i]))
      throw Error(
          fmt::format("example {} has the weight {}; weights must be positive and finite", i + 1, data.weight[i]));
}

// p_i: the weights of the examples, summing to 1.
inline std::vector<double> shares(const Dataset& data) {
  std::vector<double> p = data.weight.empty() ? std::vector<double>(data.examples(), 1.0) : data.weight;
  const double largest = *std::max_element(p.begin(), p.end());  // out first, so that no sum overflows
  double total = 0;
  for (double& x : p) total += x /= largest;
  for (double& x : p) x /= total;
  return p;
}

// Data or options so extreme that doubles cannot hold the answer give no model.
inline void check_finite(const Certificate& c, double norm_squared, const std::vector<double>& weights) {
  if (!std::isfinite(c.primal) || !std::isfinite(c.dual) || !std::isfinite(norm_squared) ||
      c.gap() < -1e-9 * std::abs(c.primal) ||
      !std::all_of(weights.begin(), weights.end(), [](double w) { return std::isfinite(w); }))
    throw Error(
        fmt::format("the numbers leave the range of double precision (objective {}, bound {}): use --standardize yes, "
                    "features and costs of ordinary size, or a lambda nearer to 1/n",
                    c.primal, c.dual));
}

}  // namespace m4n

// Families of cost matrices and scores for the tests of the matrix oracles: smooth, tied and nearly degenerate.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"

namespace m4n::detail::test {

enum class CostFamily {
  asymmetric,
  symmetric,
  integer,
  zero_one,
  absolute,
  squared,
  one_dear,
  near_duplicate,
  shifted,
  negative,
  minus_identity
};
inline constexpr CostFamily cost_families[] = {CostFamily::asymmetric, CostFamily::symmetric,      CostFamily::integer,
                                               CostFamily::zero_one,   CostFamily::absolute,       CostFamily::squared,
                                               CostFamily::one_dear,   CostFamily::near_duplicate, CostFamily::shifted,
                                               CostFamily::negative,   CostFamily::minus_identity};

// A random member of the family, times `scale`.
inline CostMatrix random_cost(CostFamily family, std::size_t k, double scale, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  std::uniform_int_distribution<int> small(1, 3);
  std::vector<double> cost(k * k);
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t p = 0; p < k; ++p) {
      const double distance = std::abs(static_cast<double>(t) - static_cast<double>(p));
      double& c = cost[t * k + p];
      switch (family) {
        case CostFamily::asymmetric:
        case CostFamily::near_duplicate:
        case CostFamily::shifted:
          c = uniform(random);
          break;
        case CostFamily::symmetric:
          c = p < t ? cost[p * k + t] : uniform(random);
          break;
        case CostFamily::integer:
          c = small(random);
          break;
        case CostFamily::zero_one:
          c = 1;
          break;
        case CostFamily::absolute:
          c = distance;
          break;
        case CostFamily::squared:
          c = distance * distance;
          break;
        case CostFamily::one_dear:
          c = t == 0 ? 10 : 1;
          break;
        case CostFamily::negative:
          c = -uniform(random);
          break;
        case CostFamily::minus_identity:
          c = 0;
          break;
      }
      if (t == p)
        c = family == CostFamily::negative ? -1 - uniform(random) : family == CostFamily::minus_identity ? -1 : 0;
    }
  }
  if (family == CostFamily::near_duplicate && k > 2) {  // classes 0 and 1 are told apart by 1e-7 only
    for (std::size_t t = 0; t < k; ++t) cost[t * k + 1] = cost[t * k];
    for (std::size_t p = 0; p < k; ++p) cost[k + p] = cost[p];
    cost[0] = cost[k + 1] = 0;
    cost[1] = cost[k] = 1e-7;
  }
  for (double& c : cost) c = (family == CostFamily::shifted ? c + 5 : c) * scale;
  return CostMatrix::from_values(cost, k, "matrix", {}, "test");
}

inline double spread(const std::vector<double>& v) {
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return *high - *low;
}
inline double magnitude(const std::vector<double>& v) {
  double largest = 0;
  for (const double x : v) largest = std::max(largest, std::abs(x));
  return largest;
}
// The unit of a game at scores v, in which errors are judged: what the costs and the scores can tell apart. Never 1 for
// its own sake, so that costs of 1e-6 are held to their own digits.
inline double unit_of(const CostMatrix& cost, const std::vector<double>& v) {
  const double range = spread(cost.values());
  return (range > 0 ? range : magnitude(cost.values())) + spread(v);
}

// Scores with the given spread: normal, all equal, integer multiples (ties), or one class far below the rest.
inline std::vector<double> random_scores(std::size_t k, double spread, int style, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> v(k);
  for (double& x : v) x = spread * normal(random);
  if (style == 1) v.assign(k, spread);
  if (style == 2)
    for (double& x : v) x = spread * std::round(x / spread);
  if (style == 3) v[k / 2] -= 1e3 * spread;
  return v;
}

}  // namespace m4n::detail::test

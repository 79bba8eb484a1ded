// Families of cost matrices and scores for the tests of the matrix oracles: smooth, tied and nearly degenerate.
#pragma once
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "loss/cost_matrix.h"

namespace m4n::test {

enum class CostFamily {
  asymmetric,
  symmetric,
  integer,
  zero_one,
  absolute,
  squared,
  one_dear,
  near_duplicate,
  shifted
};
inline constexpr CostFamily cost_families[] = {CostFamily::asymmetric, CostFamily::symmetric,      CostFamily::integer,
                                               CostFamily::zero_one,   CostFamily::absolute,       CostFamily::squared,
                                               CostFamily::one_dear,   CostFamily::near_duplicate, CostFamily::shifted};

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
      }
      if (t == p) c = 0;
    }
  }
  if (family == CostFamily::near_duplicate && k > 2) {  // classes 0 and 1 are told apart by 1e-7 only
    for (std::size_t t = 0; t < k; ++t) cost[t * k + 1] = cost[t * k];
    for (std::size_t p = 0; p < k; ++p) cost[k + p] = cost[p];
    cost[0] = cost[k + 1] = 0;
    cost[1] = cost[k] = 1e-7;
  }
  for (double& c : cost) c = (family == CostFamily::shifted ? c + 5 : c) * scale;
  if (k == 1) cost[0] = family == CostFamily::shifted ? 5 * scale : 0;
  return CostMatrix::from_values(cost, k, "matrix", {}, "test");
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

}  // namespace m4n::test

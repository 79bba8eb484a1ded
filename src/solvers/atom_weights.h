// The weights of the atoms of one block, re-optimised without looking at features:
//
//   max over d beta of  sum_a d beta_a gain_a - (c/2) d beta^T G d beta      beta + d beta on the simplex
//
// by moving weight between two atoms at a time, from the one of least slope that has weight to the one of largest
// slope, until the spread of the slopes is small. Returns the value; `change` is d beta. O(atoms) per step.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace m4n::detail {

// An atom has a weight and counts in `idle` its visits without one; gram(a, b) = G_ab.
template <class Atom, class Gram>
double reweigh_atoms(std::vector<Atom>& atoms, const Gram& gram, double c, const std::vector<double>& gain,
                     std::vector<double>& slope, std::vector<double>& change) {
  constexpr double enough = 0.02;  // of the spread at the start
  constexpr int most_steps = 200;
  const std::size_t count = atoms.size();
  slope.assign(gain.begin(), gain.end());
  change.assign(count, 0.0);
  double first_spread = 0, value = 0;
  for (int step = 0; step < most_steps; ++step) {
    std::size_t up = 0, down = count;
    for (std::size_t a = 0; a < count; ++a) {
      if (slope[a] > slope[up]) up = a;
      if (atoms[a].weight > 0 && (down == count || slope[a] < slope[down])) down = a;
    }
    if (down == count) break;  // only where weights are no numbers
    const double spread = slope[up] - slope[down];
    if (step == 0) first_spread = spread;
    if (!(spread > enough * first_spread)) break;
    const double curvature = c * (gram(up, up) + gram(down, down) - 2 * gram(up, down));
    double t = atoms[down].weight;
    const bool all = !(curvature * t > spread);
    if (!all) t = spread / curvature;
    value += t * (spread - 0.5 * t * curvature);
    atoms[up].weight += t;
    atoms[down].weight = all ? 0 : atoms[down].weight - t;
    change[up] += t;
    change[down] -= t;
    for (std::size_t a = 0; a < count; ++a) slope[a] -= c * t * (gram(a, up) - gram(a, down));
  }
  for (auto& atom : atoms) atom.idle = atom.weight > 0 ? 0 : atom.idle + 1;
  return value;
}

// Whether the weights are a distribution; they may come from a file.
template <class Atom>
bool is_mixture(const std::vector<Atom>& atoms) {
  double sum = 0;
  for (const Atom& atom : atoms) {
    if (!(atom.weight >= 0)) return false;
    sum += atom.weight;
  }
  return std::abs(sum - 1) < 1e-6;
}

}  // namespace m4n::detail

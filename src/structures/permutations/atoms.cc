// Atoms of permutations: appended, weighed again, dropped (atoms.h).
#include "structures/permutations/atoms.h"

#include <algorithm>

#include "core/kernels.h"
#include "solvers/atom_weights.h"

namespace m4n::detail {

double PermutationAtoms::risk() const {
  double sum = 0;
  for (const Atom& atom : atoms_) sum += atom.weight * atom.risk;
  return sum;
}

void PermutationAtoms::combine(std::span<const double> amount, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t a = 1; a < size(); ++a) {
    if (amount[a] == 0) continue;
    const double* from = image_.data() + a * length_;
    for (std::size_t j = 0; j < length_; ++j) out[j] += amount[a] * from[j];
  }
}

void PermutationAtoms::combine(std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t a = 1; a < size(); ++a) {
    if (atoms_[a].weight == 0) continue;
    const double* from = image_.data() + a * length_;
    for (std::size_t j = 0; j < length_; ++j) out[j] += atoms_[a].weight * from[j];
  }
}

double PermutationAtoms::gains(std::span<const double> against, Scratch& scratch) const {
  scratch.gain.resize(size());
  scratch.gain[0] = atoms_[0].risk;
  double current = atoms_[0].weight * atoms_[0].risk;
  for (std::size_t a = 1; a < size(); ++a) {
    scratch.gain[a] = atoms_[a].risk + kernels::dot(image(a), against);
    current += atoms_[a].weight * scratch.gain[a];
  }
  return current;
}

void PermutationAtoms::append(double risk, std::span<const double> image, double gain, Scratch& scratch) {
  atoms_.push_back({risk, 0, 0});
  image_.insert(image_.end(), image.begin(), image.end());
  for (std::size_t a = 0; a < size(); ++a) gram_.push_back(kernels::dot(this->image(a), image));
  scratch.gain.push_back(gain);
}

double PermutationAtoms::reweigh(double c, Scratch& scratch) {
  return reweigh_atoms(
      atoms_, [&](std::size_t a, std::size_t b) { return gram(a, b); }, c, scratch.gain, scratch.slope, scratch.change);
}

void PermutationAtoms::forget(unsigned visits) {
  // The truth stays.
  const auto stays = [&](std::size_t a) { return a == 0 || atoms_[a].weight > 0 || atoms_[a].idle < visits; };
  std::size_t kept = 0, entry = 0;
  while (kept < size() && stays(kept)) ++kept;
  if (kept == size()) return;
  for (std::size_t a = 0; a < size(); ++a)
    for (std::size_t b = 0; stays(a) && b <= a; ++b)
      if (stays(b)) gram_[entry++] = gram(a, b);
  gram_.resize(entry);
  for (std::size_t a = kept; a < size(); ++a) {
    if (!stays(a)) continue;
    std::copy_n(image_.begin() + static_cast<std::ptrdiff_t>(a * length_), length_,
                image_.begin() + static_cast<std::ptrdiff_t>(kept * length_));
    atoms_[kept++] = atoms_[a];
  }
  atoms_.resize(kept, atoms_[0]);
  image_.resize(kept * length_);
}

}  // namespace m4n::detail

// The dual variable of one ranking or matching as a convex combination of atoms, the answers its oracle gave so far:
//
//   mu_i = sum_a beta_a mu_a,    -Omega(mu_i) >= sum_a beta_a risk_a
//
// As with chains (solvers/labelling_atoms.h), but permutations have few parts, so an atom is a dense vector: the image
// of mu_a - phi(y_i) that its scorer asks for (parts, or sums of features; structures/permutations/scorer.h). The truth
// is the first atom, its image zero. With G_ab = <image_a, image_b> the weights are re-optimised without features:
//
//   max over d beta of  sum_a d beta_a gain_a - (c/2) d beta^T G d beta,    gain_a = risk_a + v.(mu_a - phi(y_i))
//
// by moving weight between two atoms at a time. The dual changes by p_i times that maximum: it never falls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "solvers/atom_weights.h"

namespace m4n::detail {

class PermutationAtoms {
 public:
  // Of every atom; shared by all blocks.
  struct Scratch {
    std::vector<double> gain, slope, change;
  };

  // The truth alone, with its risk. Images have `length` numbers, a whole number of lane blocks.
  explicit PermutationAtoms(double risk_of_truth = 0, std::size_t length = 0)
      : length_(length), atoms_{{risk_of_truth, 1, 0}}, image_(length, 0.0), gram_{0.0} {}

  std::size_t size() const { return atoms_.size(); }
  std::size_t length() const { return length_; }
  double weight(std::size_t a) const { return atoms_[a].weight; }
  std::span<const double> image(std::size_t a) const { return std::span(image_).subspan(a * length_, length_); }
  // sum_a beta_a risk_a
  double risk() const;
  // sum_a amount_a image_a
  void combine(std::span<const double> amount, std::span<double> out) const;
  // sum_a beta_a image_a
  void combine(std::span<double> out) const;
  // gain_a of every atom into scratch.gain, given what images are multiplied with; returns sum_a beta_a gain_a.
  double gains(std::span<const double> against, Scratch& scratch) const;

  // Takes an atom at weight zero. Its own gain goes to scratch.gain.
  void append(double risk, std::span<const double> image, double gain, Scratch& scratch);
  // Re-optimises the weights given scratch.gain; the changes go to scratch.change. Returns the value of the maximum.
  double reweigh(double c, Scratch& scratch);
  // Forgets atoms that have had no weight for `visits` visits in a row.
  void forget(unsigned visits);
  template <class Archive>
  void archive(Archive& a) {
    a(length_, atoms_, image_, gram_);
    a.expect(!atoms_.empty() && image_.size() % size() == 0 && image_.size() / size() == length_ &&
             gram_.size() == size() * (size() + 1) / 2 && is_mixture(atoms_));
  }

 private:
  struct Atom {
    double risk, weight;
    std::uint32_t idle;  // visits without weight
  };
  double gram(std::size_t a, std::size_t b) const {
    return a >= b ? gram_[a * (a + 1) / 2 + b] : gram_[b * (b + 1) / 2 + a];
  }

  std::size_t length_;
  std::vector<Atom> atoms_;
  AlignedVector<double> image_;
  std::vector<double> gram_;  // lower triangle, row by row
};

}  // namespace m4n::detail

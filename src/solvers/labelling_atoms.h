// The dual variable of one chain or graph as a convex combination of atoms, the answers that its oracle gave so far:
//
//   mu_i = sum_a beta_a mu_a,    -Omega(mu_i) >= sum_a beta_a risk_a
//
// An atom is kept as its difference from the truth, delta_a = mu_a - phi(y_i), a few parts where the two disagree; the
// truth itself is the first atom and has none. With the block's Gram matrix G_ab = <Psi_i delta_a, Psi_i delta_b> the
// weights are re-optimised without looking at features:
//
//   max over d beta of  sum_a d beta_a gain_a - (c/2) d beta^T G d beta,
//   gain_a = risk_a + v.delta_a,   c = p_i / lambda
//
// by moving weight between two atoms at a time. The dual changes by p_i times that maximum: it never falls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"

namespace m4n::detail {

// A part of a chain or graph (structures/chains/scorer.h and structures/graphs/scorer.h number them) and what an atom
// has of it beyond the truth.
struct AtomPart {
  double amount;
  std::uint32_t part;
};

// Scratch shared by all blocks: dense images of an atom, zero between uses.
struct AtomScratch {
  AtomScratch(std::size_t unary_size, std::size_t tail_size) : unary(unary_size), tail(tail_size), image(unary_size) {}
  AlignedVector<double> unary, tail, image;
  std::vector<std::uint32_t> touched_unary, touched_tail;
  std::vector<AtomPart> parts;  // unary parts first
  std::size_t unary_parts = 0;
  std::vector<double> gram;                 // of a new atom with every atom and itself
  std::vector<double> gain, slope, change;  // of every atom
};

// To gather an atom: add up its parts in scratch.unary and scratch.tail, noting which were touched, then collect them
// into scratch.parts.
void add_part(AlignedVector<double>& dense, std::vector<std::uint32_t>& touched, std::size_t part, double amount);
void collect_parts(AtomScratch& scratch);

class AtomBlock {
 public:
  // The truth alone, with its risk.
  explicit AtomBlock(double risk_of_truth = 0) : atoms_{{risk_of_truth, 1, 0, 0, 0, 0}}, gram_{0.0} {}

  std::size_t size() const { return atoms_.size(); }
  std::size_t parts() const { return parts_.size(); }
  double weight(std::size_t a) const { return atoms_[a].weight; }
  std::span<const AtomPart> unary_parts(std::size_t a) const {
    return {parts_.data() + atoms_[a].first, atoms_[a].middle - atoms_[a].first};
  }
  std::span<const AtomPart> tail_parts(std::size_t a) const {
    return {parts_.data() + atoms_[a].middle, atoms_[a].last - atoms_[a].middle};
  }
  // The positions at which any atom disagrees with the truth, in no order.
  std::span<const std::uint32_t> contested() const { return contested_; }
  // sum_a beta_a risk_a
  double risk() const;
  // gain_a = risk_a + v.delta_a of every atom into scratch.gain; returns sum_a beta_a gain_a.
  double gains(const double* unary, const double* tail, AtomScratch& scratch) const;

  // Takes the atom that is in scratch.parts, with its Gram entries in scratch.gram, at weight zero.
  void append(double risk, std::size_t stride, const AtomScratch& scratch);
  // For atoms of an earlier block: the risk of one, and its weight here.
  double risk(std::size_t a) const { return atoms_[a].risk; }
  void set_weight(std::size_t a, double weight) { atoms_[a].weight = weight; }
  // Re-optimises the weights given scratch.gain; the changes go to scratch.change. Returns the value of the maximum.
  double reweigh(double c, AtomScratch& scratch);
  // Forgets atoms that have had no weight for `visits` visits in a row.
  void forget(unsigned visits, std::size_t stride);
  // Whether all its parts are among so many unary ones, `stride` for each row, and so many of the tail.
  bool fits(std::size_t rows, std::size_t stride, std::size_t tail) const;
  template <class Archive>
  void archive(Archive& a) {
    a(atoms_, parts_, gram_, contested_, is_contested_);
    a.expect(holds_together());
  }

 private:
  struct Atom {
    double risk, weight;
    std::uint32_t first, middle, last;  // parts: unary, then tail
    std::uint32_t idle;                 // visits without weight
  };
  double gram(std::size_t a, std::size_t b) const {
    return a >= b ? gram_[a * (a + 1) / 2 + b] : gram_[b * (b + 1) / 2 + a];
  }
  void contest(std::size_t a, std::size_t stride);
  bool holds_together() const;
  bool mark(std::uint32_t m);

  std::vector<Atom> atoms_;
  std::vector<AtomPart> parts_;
  std::vector<double> gram_;  // lower triangle, row by row
  std::vector<std::uint32_t> contested_;
  std::vector<std::uint8_t> is_contested_;  // by position
};

// Gram entries of the atom in scratch.parts with those of the block and with itself, into scratch.gram. `image` are the
// inner products of its unary parts with all unary parts, Psi^T Psi delta.
void gram_of_new(const AtomBlock& block, const double* image, AtomScratch& scratch);
// The image from kernel(m, m'), the inner products of the features of two rows of unary parts (the sentence's tokens).
// O(parts x M)
template <class Kernel>
void gram_of_new(const AtomBlock& block, std::size_t length, std::size_t labels, Kernel&& kernel,
                 AtomScratch& scratch) {
  const std::size_t stride = row_stride<double>(labels);
  const std::span<const AtomPart> unary = std::span<const AtomPart>(scratch.parts).first(scratch.unary_parts);
  for (const AtomPart& p : unary) {
    const std::size_t own = p.part / stride, k = p.part % stride;
    for (std::size_t m = 0; m < length; ++m) scratch.image[m * stride + k] += kernel(own, m) * p.amount;
  }
  gram_of_new(block, scratch.image.data(), scratch);
  for (const AtomPart& p : unary)
    for (std::size_t m = 0; m < length; ++m) scratch.image[m * stride + p.part % stride] = 0;
}

// Inner products of the rows of features of every example, Inner(i, a, b) of a scorer: kept for all examples where they
// fit into `most_kept` numbers, computed when asked for otherwise.
template <class Scorer, auto Inner>
class KeptGram {
 public:
  static constexpr std::size_t most_kept = std::size_t{1} << 21;

  // rows(i): how many rows example i has.
  template <class Rows>
  KeptGram(const Scorer& scorer, const Rows& rows) : scorer_(&scorer) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < scorer.examples(); ++i) {
      begin_.push_back(total);
      total += pairs(rows(i));
    }
    if (total > most_kept) return;
    kept_.reserve(total);
    for (std::size_t i = 0; i < scorer.examples(); ++i)
      for (std::size_t a = 0; a < rows(i); ++a)
        for (std::size_t b = 0; b <= a; ++b) kept_.push_back((scorer.*Inner)(i, a, b));
  }
  bool kept() const { return !kept_.empty(); }
  double operator()(std::size_t i, std::size_t a, std::size_t b) const {
    return kept_.empty() ? (scorer_->*Inner)(i, a, b) : kept_[begin_[i] + (a >= b ? pairs(a) + b : pairs(b) + a)];
  }

 private:
  static std::size_t pairs(std::size_t count) { return count * (count + 1) / 2; }

  const Scorer* scorer_;
  std::vector<std::size_t> begin_;
  std::vector<double> kept_;
};

}  // namespace m4n::detail

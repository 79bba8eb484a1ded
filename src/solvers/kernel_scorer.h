// Scores of an exact kernel: v_i = sum_j K(x_i, x_j) a_j with one coefficient row a_j per example; the bias adds 1 to
// K. The solver sees the same Scorer as for linear features. A score is kept as the sum of three parts,
//
//   v_i = base_i + change_i + sum over late p of K(x_i, x_p) step_p,
//
//   update(i, delta)         a_i += scale delta, remembered as a late step. After 32 of them ONE pass over their
//                            rows of K adds them to `change`: the same iterates as updating every time. Steps touch few
//                            classes, and only those are computed: n multiply-adds per class that moved.
//   scores(i)                at most 32 x k.
//   open(group), close()     in between, the scores of up to 32 examples are kept up to date at every step of one of
//                            them, 32 multiply-adds per class that moved, so that they can be visited often before
//                            their rows of K are read.
//   set_coefficients(a)      base = K a in double, change = 0: n multiply-adds per coefficient that is not 0.
//
// K is kept in float (n^2 x 4 bytes), a and base in double. `change` is in float: its rounding is relative to how far
// the scores have moved since set_coefficients, so it vanishes as a solver converges. Certificates are taken right
// after set_coefficients, where everything is double. |w|^2 = sum_i a_i . v_i.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels.h"
#include "core/rng.h"
#include "core/views.h"
#include "features/point_kernel.h"

namespace m4n::detail {

class KernelScorer {
 public:
  KernelScorer(const GramMatrix& gram, std::size_t k);

  std::size_t examples() const { return gram_->n(); }
  std::size_t parts(std::size_t /*i*/) const { return k_; }
  std::size_t padded_parts(std::size_t /*i*/) const { return stride_; }
  std::size_t largest_padded_parts() const { return stride_; }
  std::size_t work(std::size_t /*i*/) const { return (gram_->n() + block) * stride_; }
  // Multiply-adds of a score or a step where steps touch few classes.
  std::size_t step_work() const { return (gram_->n() / few + block) * stride_; }

  void scores(std::size_t i, std::span<double> v) const;
  void update(std::size_t i, std::span<const double> delta, double scale);

  // Examples that are solved together. Scores and steps are asked of them alone until close().
  static constexpr std::size_t group = 32;
  void open(std::span<const std::uint32_t> examples);
  void close();
  // Asks for what open(next) will read of its example at `place`, if there is one.
  void prefetch(std::span<const std::uint32_t> next, std::size_t place) const;
  // Reorders examples so that every `group` of them are near each other, and the groups come in random order.
  void arrange(std::span<std::uint32_t> examples, Rng& rng) const;

  double squared_norm(std::size_t i) const { return gram_->row(i)[i]; }
  double norm_squared() const;
  void reset();

  // Not while a group is open.
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(base_, a_, change_, late_);
    a(changed_, late_rows_);
    a.expect(late_rows_.size() < block &&
             std::all_of(late_rows_.begin(), late_rows_.end(), [&](std::size_t i) { return i < examples(); }));
  }
  // a: n padded rows.
  void set_coefficients(AlignedVector<double> a, unsigned threads);
  const AlignedVector<double>& coefficients() const { return a_; }
  const GramMatrix& gram() const { return *gram_; }
  // The coefficients without padding, n x k.
  std::vector<double> weights() const;

 private:
  static constexpr std::size_t block = group, tile = kernels::row_tile<float>, few = 8;

  void apply_late_steps();
  // Where `change` of example i and class 0 lies; the next class is one tile further.
  std::size_t place(std::size_t i) const { return i / tile * tile * k_ + i % tile; }

  const GramMatrix* gram_;
  std::size_t k_, stride_;
  AlignedVector<double> base_, a_;                // n x stride
  AlignedVector<float> change_;                   // tile after tile of examples, each k x tile
  bool changed_ = false;                          // change_ is not 0 everywhere
  AlignedVector<double> late_;                    // block x stride
  std::vector<std::size_t> late_rows_;            // the examples they belong to
  std::vector<kernels::ScaledRow<float>> moves_;  // late steps class by class, scratch
  std::vector<std::size_t> class_begin_;          // into moves_, scratch
  std::vector<std::uint32_t> group_;              // the examples between open() and close()
  std::vector<std::uint8_t> group_place_;         // of every example in the group, from 1; 0: it is not in it
  AlignedVector<double> group_pairs_;             // their values of K, group x group
  AlignedVector<double> group_v_, group_step_;    // their scores and the sums of their steps, group x stride
};

}  // namespace m4n::detail

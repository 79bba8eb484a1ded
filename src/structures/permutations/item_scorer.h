// Linear scores of rankings, those of solvers/linear_scorer.h with one class a part: a cell (item, position) of the
// score matrix, or an item where the loss is of rank one. Atoms (structures/permutations/atoms.h) are kept as parts:
// with one feature row an example, <Phi(x) a^T, Phi(x) b^T> = |Phi(x)|^2 a.b.
#pragma once
#include "solvers/linear_scorer.h"

namespace m4n::detail {

template <class View>
class ItemScorer : public LinearScorer<View> {
 public:
  using Base = LinearScorer<View>;
  ItemScorer(View x, std::size_t parts, bool bias) : Base(x, parts, bias) {
    for (std::size_t i = 0; i < x.rows; ++i) scale_.push_back(Base::squared_norm(i));
  }

  std::size_t image_size(std::size_t i) const { return Base::padded_parts(i); }
  std::size_t largest_image() const { return Base::largest_padded_parts(); }
  double image_scale(std::size_t i) const { return scale_[i]; }
  void image(std::size_t i, std::span<const double> delta, std::span<double> out) const {
    std::copy_n(delta.begin(), Base::parts(i), out.begin());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(Base::parts(i)), out.end(), 0.0);
  }
  // What the image of an atom is multiplied with to give its score.
  std::span<const double> against(std::size_t i, std::span<double> scratch) const {
    Base::scores(i, scratch);
    return scratch;
  }
  void update_image(std::size_t i, std::span<const double> image, double scale) { Base::update(i, image, scale); }
  std::size_t image_work(std::size_t i) const { return Base::work(i); }

 private:
  std::vector<double> scale_;
};

}  // namespace m4n::detail

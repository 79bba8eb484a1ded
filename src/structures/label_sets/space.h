// The output space of M labels that are on or off. A label has two scores, (v_0, v_1), of which only the difference
// matters; since every step in the dual adds as much to one as it takes from the other, w_0 = -w_1 throughout, and
//
//   v = (-s, s),   v.mu = s m  with  m = mu_1 - mu_0 in [-1, 1],   |w_0|^2 + |w_1|^2 = 2 |w_1|^2.
//
// So one score s a label is all that is kept, phi(y)_j = +1 (on) or -1 (off), and lambda/2 |w|^2 is (2 lambda)/2
// |w_1|^2: the problem that solvers see has twice the lambda.
#pragma once
#include <cstddef>
#include <span>

#include "structures/classes/space.h"
#include "structures/label_sets/kernels.h"

namespace m4n::detail {

class OnOffSpace {
 public:
  explicit OnOffSpace(std::size_t labels) : labels_(labels) {}
  std::size_t parts() const { return labels_; }
  std::size_t padded_parts() const { return kernels::padded(labels_); }

  // m = phi(y)
  void embed(LabelView y, std::span<double> m) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < labels_; ++j) m[j] = sign(y[j]);
  }
  // s . phi(y)
  double score(std::span<const double> s, LabelView y) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_; ++j) sum += sign(y[j]) * s[j];
    return sum;
  }
  // m = gradient of log sum_y exp(s . phi(y)); returns that logarithm.
  double marginals(std::span<const double> s, std::span<double> m) const {
    return kernels::on_off_log_sum(s, labels_, m);
  }

 private:
  static double sign(std::int32_t label) { return label == 1 ? 1 : -1; }
  std::size_t labels_;
};

}  // namespace m4n::detail

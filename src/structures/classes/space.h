// What is predicted when there is one label out of k: phi(y) is the y-th unit vector, the marginal polytope is the
// probability simplex. Vectors are padded (core/kernels.h).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernels.h"
#include "core/views.h"

namespace m4n::detail {

class Simplex {
 public:
  explicit Simplex(std::size_t k) : k_(k) {}
  std::size_t parts() const { return k_; }
  std::size_t padded_parts() const { return kernels::padded(k_); }

  // mu = phi(y)
  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    mu[static_cast<std::size_t>(y[0])] = 1;
  }
  // v . phi(y)
  double score(std::span<const double> v, LabelView y) const { return v[static_cast<std::size_t>(y[0])]; }
  // argmax_y v . phi(y); the first of several.
  std::int32_t decode(std::span<const double> v) const {
    return static_cast<std::int32_t>(std::max_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k_)) -
                                     v.begin());
  }
  // mu = gradient of log sum_y exp(theta . phi(y)); returns that logarithm.
  double marginals(std::span<const double> theta, std::span<double> mu) const { return kernels::softmax(theta, mu); }

 private:
  std::size_t k_;
};

}  // namespace m4n::detail

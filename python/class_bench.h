// A surrogate of classes with what one thread needs to use it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/kernels.h"
#include "structures/classes/surrogates.h"

namespace m4n::python {

template <class S>
struct ClassBench {
  explicit ClassBench(const S& s)
      : surrogate(s),
        workspace(s.workspace()),
        v(s.space().padded_parts(), detail::kernels::padding_score),
        mu(v.size()),
        nu(v.size()),
        state(s.state_size()) {}
  // Every example starts cold, so that answers do not depend on the company it is in.
  template <class Real>
  void read(const Real* row) {
    std::copy_n(row, surrogate.space().parts(), v.begin());
    std::fill(state.begin(), state.end(), typename S::StateUnit{});
  }
  double linear() const {
    const std::size_t k = surrogate.space().parts();
    return detail::kernels::dot(std::span<const double>(v).first(k), std::span<const double>(mu).first(k));
  }
  const S& surrogate;
  typename S::Workspace workspace;
  detail::AlignedVector<double> v, mu, nu;
  std::vector<typename S::StateUnit> state;
};

}  // namespace m4n::python

// Shapes of the batches that m4n.torch hands over, in the precision of the network, and what is checked of them.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/kernels.h"
#include "losses/cost_matrix.h"
#include "oracles.h"
#include "starts.h"

namespace m4n::python {

template <class Real, int Axes>
using RealBatch = nb::ndarray<const Real, nb::ndim<Axes>, nb::c_contig, nb::device::cpu>;
using Whole = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeRows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::span<const std::int64_t> span_of(const Whole& a) { return {a.data(), a.size()}; }

// The numbers of the examples, where starts are kept for them.
inline std::span<const std::int64_t> checked_index(const Starts* starts, const Whole& index, std::size_t n) {
  if (starts == nullptr) return {};
  if (index.size() != n) throw Error(fmt::format("index has {} numbers for a batch of {}", index.size(), n));
  for (std::size_t i = 0; i < n; ++i)
    if (index.data()[i] < 0 || index.data()[i] > 2'147'483'647)
      throw Error(fmt::format("index[{}] is {}; expected the number of an example, from 0", i, index.data()[i]));
  return span_of(index);
}

// The place of entry e in an array of this shape, as messages show it.
inline std::string place(std::size_t e, const std::vector<std::size_t>& shape) {
  std::string out;
  for (std::size_t axis = shape.size(); axis-- > 0; e /= shape[axis])
    out = fmt::format("{}{}{}", e % shape[axis], out.empty() ? "" : ", ", out);
  return "[" + out + "]";
}

template <class Real>
void require_score(Real value, const char* name, std::size_t e, const std::vector<std::size_t>& shape) {
  if (!detail::kernels::is_score(static_cast<double>(value)))
    throw Error(fmt::format("{}{} is {}; expected a finite number of at most {} in size", name, place(e, shape), value,
                            detail::kernels::largest_score));
}

// k x K, [true][prediction].
inline detail::CostMatrix rectangular_cost(const Square& costs, std::size_t k) {
  if (costs.shape(0) != k) throw Error(fmt::format("the costs are of {} classes, the scores of {}", costs.shape(0), k));
  if (costs.shape(1) == k) return cost_matrix(costs, k);
  std::vector<std::string> classes, predictions;
  for (std::size_t c = 0; c < k; ++c) classes.push_back(std::to_string(c));
  for (std::size_t p = 0; p < costs.shape(1); ++p)
    predictions.push_back(costs.shape(1) > k && p < k ? classes[p] : fmt::format("action{}", p));
  return detail::CostMatrix::from_values({costs.data(), costs.data() + costs.size()}, k, "matrix", classes,
                                         "the cost matrix", std::move(predictions));
}

}  // namespace m4n::python

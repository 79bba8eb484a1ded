// Shapes of what the oracles are given: batches of vectors and of matrices, in double and by rows.
#pragma once
#include <cstddef>

#include "arrays.h"
#include "losses/cost_matrix.h"

namespace m4n::python {

using Batch2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Batch3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// k x k, cost[true][predicted].
detail::CostMatrix cost_matrix(const Square& costs, std::size_t k);

}  // namespace m4n::python

// Transitions, start and end shared by a batch of chains.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/kernels.h"
#include "oracles.h"
#include "structures/chains/space.h"

namespace m4n::python {

inline void require_scores(std::span<const double> values, const char* what) {
  for (const double value : values)
    if (!detail::kernels::is_score(value))
      throw Error(fmt::format("{} hold {}; expected finite numbers of at most {} in size", what, value,
                              detail::kernels::largest_score));
}

inline detail::Transitions prepared_transitions(const Square& from_to, const RealVector& start, const RealVector& end,
                                                std::size_t labels) {
  if (from_to.shape(0) != labels || from_to.shape(1) != labels || start.size() != labels || end.size() != labels)
    throw Error(fmt::format("transitions must be {0} x {0}, start and end have {0} entries", labels));
  require_scores({from_to.data(), from_to.size()}, "transitions");
  require_scores({start.data(), labels}, "scores of the start");
  require_scores({end.data(), labels}, "scores of the end");
  detail::PaddedMatrix<double> rows;
  const detail::PaddedRows<double> padded = rows.shape(labels, labels);
  for (std::size_t a = 0; a < labels; ++a) {
    std::fill_n(padded.row(a), padded.stride(), 0.0);
    std::copy_n(from_to.data() + a * labels, labels, padded.row(a));
  }
  detail::Transitions out;
  out.prepare(padded, {start.data(), labels}, {end.data(), labels});
  return out;
}

}  // namespace m4n::python

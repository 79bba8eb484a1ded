// What the oracle of an output with several labels answers, whatever joins them (chains, graphs): a point mu of the
// marginal polytope as a convex combination of labellings.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace m4n::detail {

struct LabellingAnswer {
  double upper = 0, lower = 0;              // bounds of Omega_y*(v); lower = risk + v.mu
  double risk = 0;                          // -Omega_y(mu)
  int paths = 0;                            // labellings asked of the decoder
  std::span<const double> weight;           // of every labelling
  std::span<const std::int32_t> labelling;  // M labels each
};

// How well an answer has to be known: upper - lower <= max(gap, relative (upper - current)), unless `stop` says before
// that it will do as it is.
struct LabellingAccuracy {
  double gap = 0, relative = 0, current = -std::numeric_limits<double>::infinity();
  const std::function<bool()>* stop = nullptr;
};

}  // namespace m4n::detail

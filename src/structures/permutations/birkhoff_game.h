// The max-min oracle over the Birkhoff polytope that others use: it chooses among the methods. First the double oracle
// (birkhoff_double.h), for it is the fastest where few permutations carry weight, as they do on most scores met in
// training; when its sets grow too large, the interior point (birkhoff_interior.h); and where that stops short, which
// degenerate losses can bring about, the double oracle with more room. The best bounds of all are returned, each with
// the point that attains it.
#pragma once
#include <cstddef>
#include <span>

#include "structures/permutations/birkhoff_double.h"
#include "structures/permutations/birkhoff_interior.h"
#include "structures/permutations/birkhoff_referee.h"

namespace m4n::detail {

class BirkhoffGame {
 public:
  // `seeds` are those of this example, kept between visits. Scratch for one thread.
  BirkhoffAnswer solve(std::span<const double> scores, const PositionLoss& loss, const BirkhoffLimits& limits,
                       BirkhoffSeeds& seeds);

 private:
  BirkhoffReferee referee_;
  BirkhoffDouble double_, roomy_;
  BirkhoffInterior interior_;
};

}  // namespace m4n::detail

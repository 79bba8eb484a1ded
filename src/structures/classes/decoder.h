// From scores to a prediction (docs/math.md):
//
//   argmax     argmax_y v_y. The paper's rule; for QS, whose v estimates minus the expected costs, it is the best one.
//   adversary  argmax_y nu_y, nu the min player's optimal strategy of the game at v. For M4N with asymmetric costs.
//   expected   argmin_y (A mu)_y with mu the surrogate's distribution at v: softmax for CRF, the maximiser of the
//              smoothed max-min problem for smoothed M4N (of several best ones, the min player's most likely).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/options.h"

namespace m4n::detail {

// The number of scores: one per class, or for QS one per prediction.
std::size_t score_count(SurrogateKind surrogate, const CostMatrix& cost);

// Decodes one padded score vector at a time; each thread makes its own.
class ScoreDecoder {
 public:
  virtual ~ScoreDecoder() = default;
  virtual std::int32_t decode(std::span<const double> v) = 0;
};
// cost must outlive the decoder.
std::unique_ptr<ScoreDecoder> make_decoder(SurrogateKind surrogate, Decoder decode, double smoothing,
                                           const CostMatrix& cost);
// The distribution at every row of k scores: softmax for CRF, the maximiser of the smoothed game for smoothed M4N.
std::vector<double> row_marginals(std::span<const double> scores, double smoothing, const CostMatrix& cost);
// The same for rows of scores. Throws Error on scores beyond what can be computed with.
std::vector<std::int32_t> decode_rows(std::span<const double> scores, SurrogateKind surrogate, Decoder decode,
                                      double smoothing, const CostMatrix& cost, const Context& context);

}  // namespace m4n::detail

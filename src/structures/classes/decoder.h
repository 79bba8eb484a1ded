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

#include "losses/cost_matrix.h"
#include "m4n/options.h"

namespace m4n {

// The decoder a user gets who asks for none.
Decoder default_decoder(SurrogateKind surrogate, double smoothing, const CostMatrix& cost);

// Decodes one padded score vector at a time; each thread makes its own.
class ScoreDecoder {
 public:
  virtual ~ScoreDecoder() = default;
  virtual std::int32_t decode(std::span<const double> v) = 0;
};
// cost must outlive the decoder.
std::unique_ptr<ScoreDecoder> make_decoder(SurrogateKind surrogate, Decoder decode, double smoothing,
                                           const CostMatrix& cost);

// Outputs with several parts are decoded by argmax, by the adversary of m4n, or by the least expected cost under a crf.
bool goes_with(Decoder decoder, SurrogateKind surrogate);
// The one that is asked for, or the usual one: expected for crf, adversary for m4n with costs that are not symmetric.
// `what` is decoded, for the message of the UsageError where decoder and surrogate do not go together.
Decoder parts_decoder(Decoder asked, SurrogateKind surrogate, bool symmetric_costs, const char* what);

}  // namespace m4n

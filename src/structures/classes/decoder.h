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
#include "losses/example_costs.h"
#include "m4n/context.h"
#include "m4n/options.h"

namespace m4n::detail {

// The number of scores: one per class, or for QS one per prediction.
std::size_t score_count(SurrogateKind surrogate, const CostMatrix& cost);

// Decodes one padded score vector at a time; each thread makes its own.
class ScoreDecoder {
 public:
  virtual ~ScoreDecoder() = default;
  // `example`: which one it is, where costs differ from one to the other.
  virtual std::int32_t decode(std::span<const double> v, std::size_t example) = 0;
};

// How scores are decoded. What it points to must outlive the decoders.
struct DecodingRule {
  SurrogateKind surrogate;
  Decoder decode;
  double smoothing;
  const CostMatrix* cost;
  const ExampleCosts* examples = nullptr;  // their costs where these differ
};
std::unique_ptr<ScoreDecoder> make_decoder(const DecodingRule& rule);
// Whether a decoder looks at the costs: all but the largest score.
bool knows_costs(SurrogateKind surrogate, Decoder decode);
// The distribution at every row of k scores: softmax for CRF, the maximiser of the smoothed game for smoothed M4N.
std::vector<double> row_marginals(std::span<const double> scores, const DecodingRule& rule);
// The same for rows of scores. Throws Error on scores beyond what can be computed with.
std::vector<std::int32_t> decode_rows(std::span<const double> scores, const DecodingRule& rule, const Context& context);

}  // namespace m4n::detail

// From the score of a label that is on or off to its prediction.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "losses/label_costs.h"
#include "m4n/options.h"

namespace m4n::detail {

// A label is predicted on where its score is above its threshold:
//   argmax     0
//   adversary  (false_alarm - miss) / (4 M), the score at which the min player of M4N is undecided
//   expected   log(false_alarm / miss) / 2, the score at which a CRF expects both mistakes to cost the same
// Throws UsageError for decoders that do not go with the surrogate.
std::vector<double> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs);

// 1 where a score is above its label's threshold, 0 elsewhere; scores are those of all labels, example by example.
std::vector<std::int32_t> above_thresholds(std::span<const double> scores, const std::vector<double>& threshold);

}  // namespace m4n::detail

// From the score of a label that is on or off to its prediction.
#pragma once
#include <vector>

#include "losses/label_costs.h"
#include "m4n/options.h"

namespace m4n {

// The decoder a user gets who asks for none: `expected` for CRF, `adversary` for M4N where misses and false alarms cost
// differently, `argmax` otherwise (where they cost the same, all three are the same).
Decoder default_label_decoder(SurrogateKind surrogate, const LabelCosts& costs);

// A label is predicted on where its score is above its threshold:
//   argmax     0
//   adversary  (false_alarm - miss) / (4 M), the score at which the min player of M4N is undecided
//   expected   log(false_alarm / miss) / 2, the score at which a CRF expects both mistakes to cost the same
// Throws UsageError for decoders that do not go with the surrogate.
std::vector<double> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs);

}  // namespace m4n

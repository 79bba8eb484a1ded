// What is minimised: one row per surrogate, read by options, help, model checks, decoders, candidates of a search and
// Python. A structure has an oracle for it, or refuses it.
#pragma once
#include <span>
#include <string>

#include "m4n/options.h"

namespace m4n::detail {

struct SurrogateRow {
  const char* name;
  const char* help;
  SurrogateKind kind;
  bool contains_costs = false;  // its loss does, as a mean over the parts of an output; lambda goes by them
  bool smoothing = false;       // the max-min game can be smoothed
  bool probabilities = false;   // its scores define a distribution over outputs
  bool closed_form = false;     // no solver to choose
};

// In the order in which they are shown.
std::span<const SurrogateRow> surrogate_rows();
const SurrogateRow& surrogate_row(SurrogateKind kind);

// Whether scores define a distribution over outputs: those of crf, and of smoothed m4n.
bool defines_probabilities(SurrogateKind surrogate, double smoothing);

// Whether predictions can be made so:
//   argmax (viterbi)  from any scores
//   adversary         the min player of the max-min game: m4n
//   expected          the least expected cost under a distribution: crf; smoothed m4n; of classes also qs, whose scores
//                     are minus the expected costs themselves
bool goes_with(Decoder decoder, SurrogateKind surrogate, double smoothing, bool classes);
// The default decoder. `largest`: what the largest score is called.
Decoder usual_decoder(SurrogateKind surrogate, double smoothing, bool symmetric_costs, Decoder largest);

}  // namespace m4n::detail

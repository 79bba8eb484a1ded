// The thresholds of the three decoders of label sets (thresholds.h).
#include "structures/label_sets/thresholds.h"

#include <fmt/format.h>

#include <cmath>

#include "core/message.h"
#include "surrogates/registry.h"

namespace m4n::detail {

std::vector<double> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs) {
  const std::size_t labels = costs.labels();
  std::vector<double> out(labels, 0.0);
  if (decode == Decoder::automatic) decode = usual_decoder(surrogate, 0, costs.symmetric(), Decoder::argmax);
  if (decode == Decoder::argmax) return out;
  const bool adversary = decode == Decoder::adversary && surrogate == SurrogateKind::m4n,
             expected = decode == Decoder::expected && surrogate == SurrogateKind::crf;
  if (!adversary && !expected)
    throw UsageError(say("--decode {} does not go with --surrogate {} on labels that are on or off; use argmax",
                         to_string(decode), to_string(surrogate)));
  for (std::size_t j = 0; j < labels; ++j)
    out[j] = adversary ? (costs.false_alarm(j) - costs.miss(j)) / (4 * static_cast<double>(labels))
                       : 0.5 * std::log(costs.false_alarm(j) / costs.miss(j));
  return out;
}

std::vector<std::int32_t> above_thresholds(std::span<const double> scores, const std::vector<double>& threshold) {
  std::vector<std::int32_t> out(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) out[e] = scores[e] > threshold[e % threshold.size()] ? 1 : 0;
  return out;
}

}  // namespace m4n::detail

#include "structures/label_sets/thresholds.h"

#include <fmt/format.h>

#include <cmath>

#include "m4n/error.h"

namespace m4n {

Decoder default_label_decoder(SurrogateKind surrogate, const LabelCosts& costs) {
  if (surrogate == SurrogateKind::crf) return Decoder::expected;
  return surrogate == SurrogateKind::m4n && !costs.symmetric() ? Decoder::adversary : Decoder::argmax;
}

std::vector<double> label_thresholds(SurrogateKind surrogate, Decoder decode, const LabelCosts& costs) {
  const std::size_t labels = costs.labels();
  std::vector<double> out(labels, 0.0);
  if (decode == Decoder::automatic) decode = default_label_decoder(surrogate, costs);
  if (decode == Decoder::argmax) return out;
  const bool adversary = decode == Decoder::adversary && surrogate == SurrogateKind::m4n,
             expected = decode == Decoder::expected && surrogate == SurrogateKind::crf;
  if (!adversary && !expected)
    throw UsageError(fmt::format("--decode {} does not go with --surrogate {} on labels that are on or off; use argmax",
                                 to_string(decode), to_string(surrogate)));
  for (std::size_t j = 0; j < labels; ++j)
    out[j] = adversary ? (costs.false_alarm(j) - costs.miss(j)) / (4 * static_cast<double>(labels))
                       : 0.5 * std::log(costs.false_alarm(j) / costs.miss(j));
  return out;
}

}  // namespace m4n

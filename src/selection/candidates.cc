// What cross-validation chooses among, by the names users give.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/message.h"
#include "core/option_values.h"
#include "m4n/cross_validate.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n {

using detail::parse_choice;
using detail::say;
using detail::Structure;
using detail::structure_named;

std::string name_of(const Candidate& candidate, std::span<const Candidate> all) {
  const auto twin = [&](const Candidate& other) {
    return other.surrogate == candidate.surrogate && other.smoothing == candidate.smoothing &&
           other.decode != candidate.decode;
  };
  std::string out = candidate.smoothing > 0 ? "smoothed " : "";
  out += to_string(candidate.surrogate);
  if (std::any_of(all.begin(), all.end(), twin)) out += fmt::format("/{}", to_string(candidate.decode));
  return out;
}

std::vector<Candidate> automatic_candidates(const TrainOptions& options, const Dataset& data,
                                            std::vector<std::string>* notes) {
  const Structure& structure = structure_named(options.task);
  const Decoder largest = structure.traits().largest;
  const detail::LossSummary loss = structure.loss(options, data);
  const bool actions = !loss.predictions.empty();  // which only decoders that know the costs can choose
  std::vector<Candidate> out;
  if (!actions) out.push_back({SurrogateKind::m4n, 0, largest});
  if (!loss.symmetric) out.push_back({SurrogateKind::m4n, 0, Decoder::adversary});
  if (structure.takes("smoothing"))
    out.push_back({SurrogateKind::m4n, options.smoothing > 0 ? options.smoothing : usual_smoothing, Decoder::expected});
  for (const auto& [surrogate, decode] :
       {std::pair{SurrogateKind::m3n, largest}, {SurrogateKind::crf, Decoder::expected}}) {
    if (actions && surrogate == SurrogateKind::m3n) {
      if (notes != nullptr) notes->emplace_back("m3n is left out: it scores classes, and some predictions are none");
      continue;
    }
    const std::string obstacle = structure.obstacle(surrogate, data);
    if (obstacle.empty())
      out.push_back({surrogate, 0, decode});
    else if (notes != nullptr)
      notes->push_back(fmt::format("{} is left out: {}", to_string(surrogate), obstacle));
  }
  return out;
}

std::vector<Candidate> listed_candidates(const std::vector<std::string>& names, const TrainOptions& options,
                                         const Dataset& data, std::vector<std::string>* notes) {
  if (names.empty()) return {{options.surrogate, options.smoothing, options.decode}};
  if (names == std::vector<std::string>{"auto"}) {
    if (options.decode != Decoder::automatic)
      throw UsageError(say("--surrogates auto chooses the decoder too. => Leave out --decode, or list the surrogates"));
    return automatic_candidates(options, data, notes);
  }
  std::vector<std::string> valid;
  std::vector<Candidate> known;
  const double smoothing = options.smoothing > 0 ? options.smoothing : usual_smoothing;
  for (const detail::SurrogateRow& row : detail::surrogate_rows()) {
    valid.emplace_back(row.name);
    known.push_back({row.kind, 0, options.decode});
    if (!row.smoothing) continue;
    valid.emplace_back("smoothed");
    known.push_back({row.kind, smoothing, options.decode});
  }
  std::vector<Candidate> out;
  bool smoothed = false;
  for (const std::string& word : names) {
    const Candidate candidate = known[parse_choice("surrogates", word, valid)];
    for (const Candidate& other : out)
      if (other.surrogate == candidate.surrogate && other.smoothing == candidate.smoothing)
        throw UsageError(say("--surrogates: '{}' stands twice in '{}'", word, fmt::join(names, ",")));
    smoothed = smoothed || candidate.smoothing > 0;
    out.push_back(candidate);
  }
  if (options.smoothing > 0 && !smoothed)
    throw UsageError(
        say("--smoothing is for the surrogate `smoothed`, which is not in --surrogates. => Add it, or leave it out"));
  return out;
}

}  // namespace m4n

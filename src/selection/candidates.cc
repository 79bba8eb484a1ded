// What cross-validation chooses among, by the names users give.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/option_values.h"
#include "selection/split_learner.h"
#include "m4n/cross_validate.h"
#include "m4n/error.h"
#include "structures/permutations/gibbs.h"

namespace m4n {

std::size_t largest_example(const Dataset& data) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < data.examples(); ++i) out = std::max(out, data.labels.end(i) - data.labels.begin(i));
  return out;
}

std::vector<double> usual_lambdas() {
  constexpr int smallest_power = -16;
  std::vector<double> out;
  for (int power = 0; power >= smallest_power; --power) out.push_back(std::ldexp(1.0, power));
  return out;
}

std::size_t first_usual_lambdas(Task task) { return task == Task::multiclass || task == Task::ordinal ? 9 : 6; }

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

std::vector<Candidate> automatic_candidates(const TrainOptions& options, const Dataset& data) {
  const Task task = options.task.value_or(Task::multiclass);
  const bool permutation = task == Task::ranking || task == Task::matching;
  const Decoder largest = task == Task::sequence ? Decoder::viterbi : Decoder::argmax;
  std::vector<Candidate> out{{SurrogateKind::m4n, 0, largest}};
  if (!chosen_loss(options, data.class_names).symmetric) out.push_back({SurrogateKind::m4n, 0, Decoder::adversary});
  if (task == Task::multiclass || task == Task::ordinal)
    out.push_back({SurrogateKind::m4n, options.smoothing > 0 ? options.smoothing : usual_smoothing, Decoder::expected});
  out.push_back({SurrogateKind::m3n, 0, largest});
  if (!permutation || largest_example(data) <= PermutationGibbs::largest_size)
    out.push_back({SurrogateKind::crf, 0, Decoder::expected});
  return out;
}

std::vector<Candidate> listed_candidates(const std::vector<std::string>& names, const TrainOptions& options,
                                         const Dataset& data) {
  if (names.empty()) return {{options.surrogate, options.smoothing, options.decode}};
  if (names == std::vector<std::string>{"auto"}) {
    if (options.decode != Decoder::automatic)
      throw UsageError("--surrogates auto chooses the decoder too. Leave out --decode, or list the surrogates");
    return automatic_candidates(options, data);
  }
  const std::vector<std::string> valid{"m4n", "smoothed", "m3n", "crf", "qs"};
  constexpr SurrogateKind kinds[] = {SurrogateKind::m4n, SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf,
                                     SurrogateKind::qs};
  const double smoothing = options.smoothing > 0 ? options.smoothing : usual_smoothing;
  std::vector<Candidate> out;
  bool smoothed = false;
  for (const std::string& word : names) {
    const std::size_t which = parse_choice("surrogates", word, valid);
    const Candidate candidate{kinds[which], word == "smoothed" ? smoothing : 0, options.decode};
    for (const Candidate& other : out)
      if (other.surrogate == candidate.surrogate && other.smoothing == candidate.smoothing)
        throw UsageError(fmt::format("--surrogates: '{}' stands twice in '{}'", word, fmt::join(names, ",")));
    smoothed = smoothed || word == "smoothed";
    out.push_back(candidate);
  }
  if (options.smoothing > 0 && !smoothed)
    throw UsageError(
        "--smoothing is for the surrogate `smoothed`, which is not in --surrogates. Add it, or leave it out");
  return out;
}

}  // namespace m4n

// Percentile bootstrap (Efron) of the loss and the metrics. A replicate draws n of the n examples with replacement,
// each with its weight, and evaluates them; intervals.h has what follows from the values.
//
// All metrics follow from the total weight of each pair (truth, prediction). So a replicate costs n random numbers and
// additions, one for each draw, and then a pass over the distinct pairs, of which there are few.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"
#include "api/intervals.h"
#include "structures/classes/totals.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"

namespace m4n {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // truth (k: unseen), prediction

// The examples as resampling sees them: of which distinct pair, and how heavy.
struct Examples {
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> pair_of;
  std::vector<double> weight;
};

// Weights relative to the largest, which changes no mean and lets no sum of n of them overflow.
Examples examples_of(std::size_t k, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                     std::span<const double> weight) {
  Examples out;
  const double heaviest = weight.empty() ? 1 : *std::max_element(weight.begin(), weight.end());
  std::vector<Pair> pair;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double relative = weight.empty() ? 1 : weight[i] / heaviest;
    if (relative <= 0) continue;
    out.weight.push_back(relative);
    pair.emplace_back(truth[i] == unknown_label ? k : static_cast<std::size_t>(truth[i]),
                      static_cast<std::size_t>(predicted[i]));
  }
  out.pairs = pair;
  std::sort(out.pairs.begin(), out.pairs.end());
  out.pairs.erase(std::unique(out.pairs.begin(), out.pairs.end()), out.pairs.end());
  for (const Pair& p : pair)
    out.pair_of.push_back(
        static_cast<std::uint32_t>(std::lower_bound(out.pairs.begin(), out.pairs.end(), p) - out.pairs.begin()));
  return out;
}

// The weights of the pairs in one resample.
void draw(const Examples& examples, Rng rng, std::span<double> pair_weight) {
  std::fill(pair_weight.begin(), pair_weight.end(), 0.0);
  const std::size_t n = examples.weight.size();
  for (std::size_t drawn = 0; drawn < n; ++drawn) {
    const std::size_t i = rng.below(n);
    pair_weight[examples.pair_of[i]] += examples.weight[i];
  }
}

}  // namespace

Bootstrap bootstrap(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight, std::uint64_t replicates, std::uint64_t seed,
                    const Context& context) {
  if (replicates < 2) throw Error(fmt::format("bootstrap: {} replicates, expected at least 2", replicates));
  const Evaluation whole = evaluate(model, truth, predicted, weight);  // refuses what does not fit
  const Examples examples = examples_of(model.k(), truth, predicted, weight);
  const std::size_t metrics = whole.metrics.size();
  // Row 0: the loss of every replicate; then a row a metric.
  std::vector<double> value((1 + metrics) * replicates);
  const Totals nothing(model);
  constexpr std::size_t chunk = 16;
  parallel_chunks(replicates, chunk, context.threads, [&](std::size_t, std::size_t begin, std::size_t end, unsigned) {
    Totals totals = nothing;
    std::vector<double> pair_weight(examples.pairs.size());
    for (std::size_t r = begin; r < end; ++r) {
      draw(examples, Rng(seed, r), pair_weight);
      totals.clear();
      for (std::size_t c = 0; c < pair_weight.size(); ++c)
        if (pair_weight[c] > 0) totals.add(examples.pairs[c].first, examples.pairs[c].second, pair_weight[c]);
      value[r] = totals.loss();
      const auto measured = totals.metrics();
      for (std::size_t m = 0; m < metrics; ++m) value[(1 + m) * replicates + r] = measured[m].second;
    }
  });
  return intervals_of(whole.metrics, value, replicates, seed);
}

}  // namespace m4n

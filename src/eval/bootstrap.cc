// Percentile bootstrap (Efron) of the loss and the metrics. A replicate draws n of the n examples with replacement,
// each with its weight, and evaluates them: v_r. Of v_1..v_N in increasing order v_(0)..v_(N-1),
//   low = q(0.025), high = q(0.975), q(u) = v_(h) interpolated linearly at h = u (N - 1),
//   se  = sqrt(sum_r (v_r - mean v)^2 / (N - 1)).
//
// All metrics follow from the total weight of each pair (truth, prediction). So a replicate costs n random numbers and
// additions, one for each draw, and then a pass over the distinct pairs, of which there are few.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "core/rng.h"
#include "eval/totals.h"
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

// v_(h) at h = u (N - 1), between its neighbours where h is not whole. `values` are sorted.
double quantile(std::span<const double> values, double u) {
  const double position = u * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

Interval interval_of(std::span<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / count;
  for (const double v : values) squares += (v - mean) * (v - mean);
  constexpr double tail = (1 - Bootstrap::confidence) / 2;
  // Of equal values the mean differs from each by rounding; their spread is nothing all the same.
  const bool one_value = values.front() == values.back();
  return {quantile(values, tail), quantile(values, 1 - tail), one_value ? 0 : std::sqrt(squares / (count - 1))};
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
  Bootstrap out;
  out.replicates = replicates;
  out.seed = seed;
  const auto row = [&](std::size_t m) { return std::span(value).subspan(m * replicates, replicates); };
  out.loss = interval_of(row(0));
  for (std::size_t m = 0; m < metrics; ++m) out.metrics.emplace_back(whole.metrics[m].first, interval_of(row(1 + m)));
  return out;
}

}  // namespace m4n

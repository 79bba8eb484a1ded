// See m4n/evaluate.h: the structure brings loss and metrics, resampling is the same for all.
//
// From the values v_1..v_N of a loss or a metric on N resamples, in increasing order v_(0)..v_(N-1):
//   low = q(0.025), high = q(0.975), q(u) = v_(h) interpolated linearly at h = u (N - 1),
//   se  = sqrt(sum_r (v_r - mean v)^2 / (N - 1)).
#include "m4n/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/interval.h"
#include "core/message.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "structures/structure.h"

namespace m4n {

double FoundCounts::precision() const {
  return predicted > 0 ? static_cast<double>(found) / static_cast<double>(predicted) : 0;
}
double FoundCounts::recall() const { return actual > 0 ? static_cast<double>(found) / static_cast<double>(actual) : 0; }
double FoundCounts::f1() const {
  return actual + predicted > 0 ? 2 * static_cast<double>(found) / static_cast<double>(actual + predicted) : 0;
}

Evaluation evaluate(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted) {
  return detail::structure_of(model).evaluator(model, examples, predicted)->evaluate();
}

Evaluation evaluate(const Model& model, const Dataset& data, std::span<const std::int32_t> predicted) {
  Examples examples;  // what is judged needs no features
  examples.data.label = examples.truth = data.label;
  examples.data.labels = data.labels;
  examples.data.weight = data.weight;
  examples.data.costs = data.costs;
  examples.data.class_names = examples.names = model.classes();
  return evaluate(model, examples, predicted);
}

Bootstrap bootstrap(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                    std::uint64_t replicates, std::uint64_t seed, const Context& context) {
  if (replicates < 2) throw Error(detail::say("bootstrap: {} replicates, expected at least 2", replicates));
  const auto evaluator = detail::structure_of(model).evaluator(model, examples, predicted);
  const Evaluation whole = evaluator->evaluate();
  const std::size_t n = evaluator->examples(), count = 1 + whole.metrics.size();
  // A row of values for the loss, then one for each metric.
  std::vector<double> value(count * replicates);
  constexpr std::size_t chunk = 16;
  detail::parallel_chunks(replicates, chunk, context.threads,
                          [&](std::size_t, std::size_t begin, std::size_t end, unsigned) {
                            const auto tally = evaluator->tally();
                            for (std::size_t r = begin; r < end; ++r) {
                              detail::Rng rng(seed, r);
                              tally->clear();
                              for (std::size_t drawn = 0; drawn < n; ++drawn) tally->add(rng.below(n));
                              const std::vector<double> measured = tally->values();
                              for (std::size_t c = 0; c < count; ++c) value[c * replicates + r] = measured[c];
                            }
                          });
  Bootstrap out;
  out.replicates = replicates;
  out.seed = seed;
  const auto interval = [&](std::size_t c) {
    return n < 2 ? detail::no_interval : detail::interval_of(std::span(value).subspan(c * replicates, replicates));
  };
  out.loss = interval(0);
  for (std::size_t m = 0; m < whole.metrics.size(); ++m)
    out.metrics.emplace_back(whole.metrics[m].first, interval(1 + m));
  return out;
}

}  // namespace m4n

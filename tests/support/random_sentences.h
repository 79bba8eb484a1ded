// Small random sentences for tests: noisy labels of a random chain, dense features with zeros among them.
#pragma once
#include <utility>
#include <vector>

#include "core/rng.h"
#include "structures/chains/training.h"
#include "support/random_dataset.h"

namespace m4n::detail::test {

struct Sentences {
  Features x;
  Groups tokens;
  std::vector<std::int32_t> label;
  std::vector<double> share;
  std::size_t labels = 0;

  std::size_t examples() const { return tokens.count(); }
  std::size_t length(std::size_t i) const { return tokens.end(i) - tokens.begin(i); }
  LabelView y(std::size_t i) const { return LabelView(label).subspan(tokens.begin(i), length(i)); }
};

// `zeros` of ten entries are zero.
inline Sentences random_sentences(Rng& rng, std::size_t n, std::size_t d, std::size_t labels, std::size_t longest,
                                  std::size_t zeros = 3) {
  Sentences out;
  out.labels = labels;
  DenseMatrix x;
  x.cols = d;
  std::vector<double> rule(d * labels);
  for (double& r : rule) r = rng.normal();
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t length = 1 + rng.below(longest);
    for (std::size_t m = 0; m < length; ++m) {
      std::vector<double> score(labels, 0.0);
      for (std::size_t j = 0; j < d; ++j) {
        x.values.push_back(rng.below(10) < zeros ? 0.0 : rng.normal());
        for (std::size_t k = 0; k < labels; ++k) score[k] += rule[j * labels + k] * x.values.back();
      }
      if (m > 0) score[(static_cast<std::size_t>(out.label.back()) + 1) % labels] += 1;
      std::size_t best = 0;
      for (std::size_t k = 1; k < labels; ++k)
        if (score[k] > score[best]) best = k;
      if (rng.uniform() < 0.2) best = rng.below(labels);
      out.label.push_back(static_cast<std::int32_t>(best));
    }
    offsets.push_back(out.label.size());
    out.share.push_back(1 / static_cast<double>(n));
  }
  x.rows = out.label.size();
  out.x = std::move(x);
  out.tokens = Groups(std::move(offsets));
  return out;
}

inline std::vector<ChainSolution> solve_path(const Sentences& set, const CostMatrix& cost,
                                             const std::vector<double>& lambdas, const TrainOptions& options,
                                             const Context& context = {}) {
  std::vector<ChainSolution> out;
  solve_chains({.x = view(set.x),
                .tokens = &set.tokens,
                .bias = options.bias,
                .label = set.label,
                .weight = set.share,
                .cost = &cost,
                .constraints = nullptr,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](std::unique_ptr<ChainSolution> solution) { out.push_back(std::move(*solution)); });
  return out;
}
inline ChainSolution solve(const Sentences& set, const CostMatrix& cost, double lambda, const TrainOptions& options,
                           const Context& context = {}) {
  return solve_path(set, cost, {lambda}, options, context).front();
}

// All weights in one vector: features, bias, transitions, start, end.
inline std::vector<double> flat(const ChainWeights& w) {
  std::vector<double> out;
  std::visit([&](const auto& rows) { out.assign(rows.begin(), rows.end()); }, w.features);
  for (const std::vector<double>* part : {&w.bias, &w.transitions, &w.start, &w.end})
    out.insert(out.end(), part->begin(), part->end());
  return out;
}

}  // namespace m4n::detail::test

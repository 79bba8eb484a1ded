// Small rankings and matchings, and their objectives from the definition: a sum over all M! permutations.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/rng.h"
#include "games/matrix_game.h"
#include "losses/cost_matrix.h"
#include "structures/permutations/training.h"

namespace m4n::detail::test {

struct PermutationSet {
  Features x;
  bool matching = false, bias = false;
  Groups pairs, items;
  std::vector<std::int32_t> position;
  std::vector<double> share;

  std::size_t examples() const { return items.count(); }
  std::size_t size(std::size_t i) const { return items.end(i) - items.begin(i); }
  LabelView y(std::size_t i) const { return LabelView(position).subspan(items.begin(i), size(i)); }
};

inline void add_permutation(Rng& rng, std::size_t size, PermutationSet& set) {
  std::vector<std::int32_t> y(size);
  std::iota(y.begin(), y.end(), 0);
  rng.shuffle(std::span(y));
  set.position.insert(set.position.end(), y.begin(), y.end());
}

inline void add_shares(Rng& rng, std::size_t n, PermutationSet& set) {
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += set.share.emplace_back(0.5 + rng.uniform());
  for (double& p : set.share) p /= total;
}

inline PermutationSet random_rankings(Rng& rng, std::size_t n, std::size_t d, std::size_t size, bool bias) {
  PermutationSet set;
  DenseMatrix x{n, d, {}};
  for (std::size_t e = 0; e < n * d; ++e) x.values.push_back(rng.normal());
  for (std::size_t i = 0; i < n; ++i) add_permutation(rng, size, set);
  set.x = x;
  set.bias = bias;
  set.items = Groups(n, size);
  add_shares(rng, n, set);
  return set;
}

inline PermutationSet random_matchings(Rng& rng, std::size_t n, std::size_t d, std::size_t largest) {
  PermutationSet set;
  set.matching = true;
  std::vector<std::size_t> pairs{0}, items{0};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t size = 1 + rng.below(largest);
    pairs.push_back(pairs.back() + size * size);
    items.push_back(items.back() + size);
    add_permutation(rng, size, set);
  }
  DenseMatrix x{pairs.back(), d, {}};
  for (std::size_t e = 0; e < x.rows * d; ++e) x.values.push_back(rng.normal());
  set.x = x;
  set.pairs = Groups(pairs);
  set.items = Groups(items);
  add_shares(rng, n, set);
  return set;
}

inline std::vector<RowSolution> solve_path(const PermutationSet& set, const PositionLosses::Make& loss,
                                           std::vector<double> lambdas, const TrainOptions& options,
                                           const Context& context = {1, {}, {}}) {
  std::vector<RowSolution> out;
  solve_permutations({view(set.x), set.matching ? &set.pairs : nullptr, set.bias, &set.items, set.position, set.share,
                      loss, lambdas, &options, &context},
                     [&](std::unique_ptr<RowSolution> s) { out.push_back(std::move(*s)); });
  return out;
}

// P(w) and a subgradient, by listing every permutation: a class each, with v_y the sum of its cells.
class ListedObjective {
 public:
  ListedObjective(const PermutationSet& set, const PositionLosses::Make& loss, SurrogateKind surrogate, double lambda)
      : set_(&set), make_(loss), surrogate_(surrogate), lambda_(lambda) {}

  double operator()(const std::vector<double>& w, std::vector<double>* gradient = nullptr) const {
    const auto& x = std::get<DenseMatrix>(set_->x);
    double value = 0;
    if (gradient != nullptr) gradient->assign(w.size(), 0.0);
    for (std::size_t j = 0; j < w.size(); ++j) {
      value += 0.5 * lambda_ * w[j] * w[j];
      if (gradient != nullptr) (*gradient)[j] = lambda_ * w[j];
    }
    for (std::size_t i = 0; i < set_->examples(); ++i) {
      const std::size_t size = set_->size(i);
      const PositionLoss loss = make_(size);
      const bool of_items = !set_->matching && loss.form() == PositionLoss::Form::rank_one;
      const std::size_t parts = of_items ? size : size * size;
      // Psi: the features that a cell's unit of mass adds, as (place in w, amount).
      const auto each = [&](std::size_t item, std::size_t place, auto&& body) {
        if (set_->matching) {
          const std::size_t row = set_->pairs.begin(i) + item * size + place;
          for (std::size_t j = 0; j < x.cols; ++j) body(j, x.values[row * x.cols + j]);
          return;
        }
        const std::size_t part = of_items ? item : item * size + place;
        const double amount = of_items ? loss.gains()[place] : 1;
        for (std::size_t j = 0; j < x.cols; ++j) body(j * parts + part, amount * x.values[i * x.cols + j]);
        if (set_->bias) body(x.cols * parts + part, amount);
      };
      std::vector<std::vector<std::int32_t>> list;
      std::vector<std::int32_t> y(size);
      std::iota(y.begin(), y.end(), 0);
      do list.push_back(y);
      while (std::next_permutation(y.begin(), y.end()));
      const std::size_t k = list.size();
      const auto truth = static_cast<std::size_t>(
          std::find_if(list.begin(), list.end(), [&](const auto& l) { return std::ranges::equal(l, set_->y(i)); }) -
          list.begin());
      std::vector<double> v(k, 0.0), mu(k, 0.0);
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t item = 0; item < size; ++item)
          each(item, static_cast<std::size_t>(list[c][item]),
               [&](std::size_t j, double amount) { v[c] += amount * w[j]; });
      value += set_->share[i] * (conjugate(loss, list, truth, v, mu) - v[truth]);
      if (gradient == nullptr) continue;
      mu[truth] -= 1;
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t item = 0; item < size; ++item)
          each(item, static_cast<std::size_t>(list[c][item]),
               [&](std::size_t j, double amount) { (*gradient)[j] += set_->share[i] * mu[c] * amount; });
    }
    return value;
  }

 private:
  // max over distributions mu of v.mu - Omega(mu), with a maximiser.
  double conjugate(const PositionLoss& loss, const std::vector<std::vector<std::int32_t>>& list, std::size_t truth,
                   const std::vector<double>& v, std::vector<double>& mu) const {
    const std::size_t k = list.size();
    if (surrogate_ == SurrogateKind::crf) {
      const double top = *std::max_element(v.begin(), v.end());
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) sum += mu[c] = std::exp(v[c] - top);
      for (double& m : mu) m /= sum;
      return top + std::log(sum);
    }
    if (surrogate_ == SurrogateKind::m3n || k == 1) {
      std::size_t best = 0;
      const auto augmented = [&](std::size_t c) { return v[c] + loss(list[truth], list[c]); };
      for (std::size_t c = 1; c < k; ++c)
        if (augmented(c) > augmented(best)) best = c;
      mu[best] = 1;
      return augmented(best);
    }
    std::vector<double> costs, padded(kernels::padded(k), kernels::padding_score), p(padded.size()), q(padded.size());
    std::vector<std::string> names;
    for (std::size_t t = 0; t < k; ++t) {
      names.push_back(std::to_string(t));
      for (std::size_t c = 0; c < k; ++c) costs.push_back(loss(list[t], list[c]) - loss.minimum());
    }
    const CostMatrix matrix = CostMatrix::from_values(costs, k, "matrix", names, "test");
    std::copy(v.begin(), v.end(), padded.begin());
    MatrixGame::Workspace ws(k);
    std::vector<std::uint8_t> cold(k, 0);
    const Bounds bounds = MatrixGame(matrix).solve(padded, p, q, cold, ws);
    std::copy_n(p.begin(), k, mu.begin());
    return bounds.upper + loss.minimum();
  }

  const PermutationSet* set_;
  PositionLosses::Make make_;
  SurrogateKind surrogate_;
  double lambda_;
};

}  // namespace m4n::detail::test

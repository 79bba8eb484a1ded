// Evaluation of classes and grades; the formulas are in totals.cc. Cost: O(n), and O(k^2) for the confusion matrix.
//
// All metrics follow from the total weight of each pair (truth, prediction). So a resample costs an addition a draw,
// and then a pass over the distinct pairs, of which there are few.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/message.h"
#include "structures/classes/structure.h"
#include "structures/classes/totals.h"

namespace m4n::detail {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;  // truth (k: unseen), prediction

void check_inputs(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                  std::span<const double> weight) {
  const std::size_t n = truth.size(), k = model.k();
  if (k < 1 || model.cost().size() != k * k)
    throw Error(say("evaluation: the model has {} classes but {} costs", k, model.cost().size()));
  if (n == 0) throw Error("evaluation: there are no examples");
  if (predicted.size() != n) throw Error(say("evaluation: {} true labels but {} predictions", n, predicted.size()));
  if (!weight.empty() && weight.size() != n)
    throw Error(say("evaluation: {} examples but {} weights", n, weight.size()));
  const auto limit = static_cast<std::int64_t>(k);
  for (std::size_t i = 0; i < n; ++i) {
    if (truth[i] < unknown_label || truth[i] >= limit)
      throw Error(say("evaluation: true label {} of example {} is not below {}", truth[i], i + 1, k));
    if (predicted[i] < 0 || predicted[i] >= limit)
      throw Error(say("evaluation: prediction {} of example {} is not within 0..{}", predicted[i], i + 1, k - 1));
    if (!weight.empty() && !(std::isfinite(weight[i]) && weight[i] >= 0))
      throw Error(say("evaluation: weight {} of example {} is not a finite number >= 0", weight[i], i + 1));
  }
}

class ClassEvaluator : public Evaluator {
 public:
  ClassEvaluator(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight, bool grades)
      : model_(model), truth_(truth), predicted_(predicted), weight_(weight), grades_(grades) {
    check_inputs(model, truth, predicted, weight);
    // Weights relative to the largest, which changes no mean and lets no sum of n of them overflow.
    const double heaviest = weight.empty() ? 1 : *std::max_element(weight.begin(), weight.end());
    std::vector<Pair> pair;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double relative = weight.empty() ? 1 : weight[i] / heaviest;
      if (relative <= 0) continue;
      relative_.push_back(relative);
      pair.push_back(pair_of(i));
    }
    pairs_ = pair;
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    for (const Pair& p : pair)
      number_.push_back(static_cast<std::uint32_t>(std::lower_bound(pairs_.begin(), pairs_.end(), p) - pairs_.begin()));
  }

  Evaluation evaluate() const override {
    const std::size_t k = model_.k();
    Evaluation result;
    result.n = truth_.size();
    result.confusion.resize(k * k);
    Totals totals(model_.cost(), k, grades_);
    for (std::size_t i = 0; i < truth_.size(); ++i) {
      const auto [t, p] = pair_of(i);
      if (t < k)
        ++result.confusion[t * k + p];
      else
        ++result.unseen;
      totals.add(t, p, weight_.empty() ? 1 : weight_[i]);
    }
    if (!(totals.weight() > 0) || !std::isfinite(totals.weight()))
      throw Error(say("evaluation: the weights sum to {}; expected a positive number", totals.weight()));
    result.loss = totals.loss();
    result.metrics = totals.metrics();
    return result;
  }
  std::size_t examples() const override { return relative_.size(); }
  std::unique_ptr<Tally> tally() const override { return std::make_unique<Pairs>(*this); }

 private:
  // The weights of the pairs in one resample.
  class Pairs : public Tally {
   public:
    explicit Pairs(const ClassEvaluator& all)
        : all_(all), totals_(all.model_.cost(), all.model_.k(), all.grades_), weight_(all.pairs_.size()) {}
    void clear() override { std::fill(weight_.begin(), weight_.end(), 0.0); }
    void add(std::size_t example) override { weight_[all_.number_[example]] += all_.relative_[example]; }
    std::vector<double> values() const override {
      totals_.clear();
      for (std::size_t c = 0; c < weight_.size(); ++c)
        if (weight_[c] > 0) totals_.add(all_.pairs_[c].first, all_.pairs_[c].second, weight_[c]);
      std::vector<double> out{totals_.loss()};
      for (const auto& [name, value] : totals_.metrics()) out.push_back(value);
      return out;
    }

   private:
    const ClassEvaluator& all_;
    mutable Totals totals_;
    std::vector<double> weight_;
  };

  Pair pair_of(std::size_t i) const {
    return {truth_[i] == unknown_label ? model_.k() : static_cast<std::size_t>(truth_[i]),
            static_cast<std::size_t>(predicted_[i])};
  }

  const Model& model_;
  std::span<const std::int32_t> truth_, predicted_;
  std::span<const double> weight_;
  bool grades_;
  // Of the examples with a positive weight.
  std::vector<double> relative_;
  std::vector<std::uint32_t> number_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Evaluator> class_evaluator(const Model& model, const Examples& examples,
                                           std::span<const std::int32_t> predicted, bool grades) {
  return std::make_unique<ClassEvaluator>(model, examples.data.label, predicted, examples.data.weight, grades);
}

}  // namespace m4n::detail

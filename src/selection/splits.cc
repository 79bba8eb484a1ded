// Random splits and folds of the examples, and checks of folds that were given.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/message.h"
#include "core/rng.h"
#include "m4n/cross_validate.h"

namespace m4n {
namespace {

using detail::Rng;
using detail::say;

constexpr std::uint64_t split_stream = 1000, fold_stream = 999;
constexpr int fewest_folds = 3;  // training, validation, test

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(seed, stream).shuffle(std::span(order));
  return order;
}

std::vector<std::size_t> part(const std::vector<std::size_t>& order, std::size_t first, std::size_t last) {
  std::vector<std::size_t> out(order.begin() + static_cast<std::ptrdiff_t>(first),
                               order.begin() + static_cast<std::ptrdiff_t>(last));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Split> random_splits(std::size_t n, const SplitPlan& plan, std::uint64_t seed) {
  const double total = plan.ratio[0] + plan.ratio[1] + plan.ratio[2];
  for (const double share : plan.ratio)
    if (!(share > 0) || !std::isfinite(total))
      throw UsageError(say("--ratio {},{},{}: expected three positive numbers, as 60,20,20", plan.ratio[0],
                           plan.ratio[1], plan.ratio[2]));
  if (plan.splits < 1) throw UsageError(say("--splits {}: expected at least 1", plan.splits));
  if (static_cast<std::size_t>(plan.splits) > n)
    throw Error(say("--splits {}: the data have only {} examples; => use at most as many splits, or more data",
                    plan.splits, n));
  const auto count = [&](double share) {
    return static_cast<std::size_t>(std::lround(static_cast<double>(n) * share / total));
  };
  const std::size_t train = count(plan.ratio[0]), validation = count(plan.ratio[1]);
  if (train < 1 || validation < 1 || train + validation >= n)
    throw Error(
        say("{} examples cut {},{},{} leave {} for training, {} for validation and {} for testing; each part "
            "needs at least one: use another --ratio, or more data",
            n, plan.ratio[0], plan.ratio[1], plan.ratio[2], train, validation, n - std::min(n, train + validation)));
  std::vector<Split> out;
  for (int s = 0; s < plan.splits; ++s) {
    const std::vector<std::size_t> order = shuffled(n, seed, split_stream + static_cast<std::uint64_t>(s));
    out.push_back({part(order, 0, train), part(order, train, train + validation), part(order, train + validation, n)});
  }
  return out;
}

std::vector<std::int32_t> random_folds(std::size_t n, int folds, std::uint64_t seed) {
  if (static_cast<std::size_t>(folds) > n)
    throw Error(say("--folds {}: the data have only {} examples; => use at most as many folds", folds, n));
  const std::vector<std::size_t> order = shuffled(n, seed, fold_stream);
  std::vector<std::int32_t> out(n);
  for (std::size_t place = 0; place < n; ++place)
    out[order[place]] = static_cast<std::int32_t>(place % static_cast<std::size_t>(folds));
  return out;
}

std::vector<Split> checked(const std::vector<Split>& splits, std::size_t n) {
  for (std::size_t s = 0; s < splits.size(); ++s)
    for (const std::vector<std::size_t>* part : {&splits[s].train, &splits[s].validation, &splits[s].test}) {
      if (part->empty() && part != &splits[s].test)
        throw Error(say("split {} has an empty part; training and validation need an example", s + 1));
      for (const std::size_t i : *part)
        if (i >= n) throw Error(say("split {} names example {} of {}, counted from 0", s + 1, i, n));
    }
  return splits;
}

}  // namespace

std::vector<Split> make_splits(std::size_t examples, const SplitPlan& plan, std::uint64_t seed) {
  if (!plan.given.empty()) return checked(plan.given, examples);
  constexpr double most_places = 2e8;  // of examples in splits, 8 bytes each
  const int asked = plan.fold_of.empty() ? (plan.folds > 0 ? plan.folds : plan.splits)
                                         : 1 + *std::max_element(plan.fold_of.begin(), plan.fold_of.end());
  if (static_cast<double>(asked) * static_cast<double>(examples) > most_places)
    throw Error(
        say("{} splits of {} examples are too many to keep; => use fewer --splits or --folds", asked, examples));
  if (plan.folds == 0 && plan.fold_of.empty()) return random_splits(examples, plan, seed);
  std::vector<std::int32_t> fold_of = plan.fold_of;
  if (fold_of.empty()) fold_of = random_folds(examples, plan.folds, seed);
  if (fold_of.size() != examples) throw Error(say("{} fold numbers for {} examples", fold_of.size(), examples));
  const int folds = 1 + *std::max_element(fold_of.begin(), fold_of.end());
  std::vector<bool> used(static_cast<std::size_t>(std::max(folds, 0)));
  for (const std::int32_t f : fold_of) {
    if (f < 0) throw Error(say("a fold has the number {}; expected numbers from 0", f));
    used[static_cast<std::size_t>(f)] = true;
  }
  if (std::find(used.begin(), used.end(), false) != used.end())
    throw Error(say("no example is in fold {}; number the folds without gaps",
                    std::find(used.begin(), used.end(), false) - used.begin()));
  if (folds < fewest_folds)
    throw Error(say("{} folds; at least {} are needed: one to test, one to validate, the others to train", folds,
                    fewest_folds));
  std::vector<Split> out(static_cast<std::size_t>(folds));
  for (int f = 0; f < folds; ++f)
    for (std::size_t i = 0; i < examples; ++i) {
      Split& split = out[static_cast<std::size_t>(f)];
      (fold_of[i] == f ? split.test : fold_of[i] == (f + 1) % folds ? split.validation : split.train).push_back(i);
    }
  return out;
}

}  // namespace m4n

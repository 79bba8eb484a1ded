// Random splits and folds of the examples, and checks of folds that were given.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "core/message.h"
#include "core/rng.h"
#include "m4n/cross_validate.h"
#include "structures/structure.h"

namespace m4n {
namespace {

using detail::Rng;
using detail::say;

constexpr std::uint64_t split_stream = 1000, fold_stream = 999;
constexpr int fewest_folds = 3;  // training, validation, test

std::vector<std::size_t> shuffled(std::size_t n, Rng& rng) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(std::span(order));
  return order;
}

// The part of every example, part p getting sizes[p] of them.
//
// Iterative stratification (Sechidis, Tsoumakas, Vlahavas 2011): the rarest label first, its examples in random order,
// each to the part that lacks most of this label; of several to the one that lacks most examples. A part that is full
// gets no more, so that sizes are exact. Examples without labels, and all where there are none, fill what is left.
std::vector<std::int32_t> assigned(std::size_t n, const std::vector<std::size_t>& sizes, const Strata& strata,
                                   Rng& rng) {
  constexpr std::int32_t nowhere = -1;
  const std::vector<std::size_t> order = shuffled(n, rng);
  std::vector<std::int32_t> part_of(n, nowhere);
  std::vector<std::size_t> room = sizes;
  if (!strata.tag.empty()) {
    const auto tags = static_cast<std::size_t>(1 + *std::max_element(strata.tag.begin(), strata.tag.end()));
    std::vector<std::vector<std::size_t>> having(tags);  // the examples of a tag, in random order
    for (const std::size_t i : order)
      for (std::size_t l = strata.tags.begin(i); l < strata.tags.end(i); ++l)
        having[static_cast<std::size_t>(strata.tag[l])].push_back(i);
    std::vector<std::vector<double>> lacks(tags, std::vector<double>(sizes.size()));
    std::set<std::pair<std::size_t, std::size_t>> rarest;  // examples left, tag
    std::vector<std::size_t> left(tags);
    for (std::size_t t = 0; t < tags; ++t) {
      left[t] = having[t].size();
      rarest.emplace(left[t], t);
      for (std::size_t p = 0; p < sizes.size(); ++p)
        lacks[t][p] = static_cast<double>(left[t]) * static_cast<double>(sizes[p]) / static_cast<double>(n);
    }
    while (!rarest.empty()) {
      const std::size_t t = rarest.begin()->second;
      for (const std::size_t i : having[t]) {
        if (part_of[i] != nowhere) continue;
        std::size_t best = 0;
        for (std::size_t p = 1; p < sizes.size(); ++p)
          if (room[best] == 0 ||
              (room[p] > 0 && std::make_pair(lacks[t][p], room[p]) > std::make_pair(lacks[t][best], room[best])))
            best = p;
        part_of[i] = static_cast<std::int32_t>(best);
        --room[best];
        for (std::size_t l = strata.tags.begin(i); l < strata.tags.end(i); ++l) {
          const auto own = static_cast<std::size_t>(strata.tag[l]);
          lacks[own][best] -= 1;
          if (own == t) continue;
          rarest.erase({left[own], own});
          rarest.emplace(--left[own], own);
        }
      }
      rarest.erase({left[t], t});
    }
  }
  std::size_t p = 0;
  for (const std::size_t i : order) {
    if (part_of[i] != nowhere) continue;
    while (room[p] == 0) ++p;
    part_of[i] = static_cast<std::int32_t>(p);
    --room[p];
  }
  return part_of;
}

std::vector<std::size_t> part(const std::vector<std::int32_t>& part_of, std::int32_t p) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < part_of.size(); ++i)
    if (part_of[i] == p) out.push_back(i);
  return out;
}

std::vector<Split> random_splits(std::size_t n, const SplitPlan& plan, std::uint64_t seed, const Strata& strata) {
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
    Rng rng(seed, split_stream + static_cast<std::uint64_t>(s));
    const std::vector<std::int32_t> part_of = assigned(n, {train, validation, n - train - validation}, strata, rng);
    out.push_back({part(part_of, 0), part(part_of, 1), part(part_of, 2)});
  }
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

Strata strata_of(const std::string& task, const Dataset& data) { return detail::structure_named(task).strata(data); }

std::vector<std::int32_t> random_folds(std::size_t n, int folds, std::uint64_t seed, const Strata& strata) {
  if (folds < 2) throw UsageError(say("--folds {}: expected at least 2", folds));
  const auto count = static_cast<std::size_t>(folds);
  if (count > n) throw Error(say("--folds {}: the data have only {} examples; => use at most as many folds", folds, n));
  std::vector<std::size_t> sizes(count, n / count);
  for (std::size_t f = 0; f < n % count; ++f) ++sizes[f];
  Rng rng(seed, fold_stream);
  return assigned(n, sizes, strata, rng);
}

std::vector<Split> make_splits(std::size_t examples, const SplitPlan& plan, std::uint64_t seed, const Strata& strata) {
  if (!strata.tag.empty() && strata.tags.count() != examples)
    throw Error(say("labels of {} examples to stratify {} examples by", strata.tags.count(), examples));
  if (!plan.given.empty()) return checked(plan.given, examples);
  constexpr double most_places = 2e8;  // of examples in splits, 8 bytes each
  const int asked = plan.fold_of.empty() ? (plan.folds > 0 ? plan.folds : plan.splits)
                                         : 1 + *std::max_element(plan.fold_of.begin(), plan.fold_of.end());
  if (static_cast<double>(asked) * static_cast<double>(examples) > most_places)
    throw Error(
        say("{} splits of {} examples are too many to keep; => use fewer --splits or --folds", asked, examples));
  if (plan.folds == 0 && plan.fold_of.empty()) return random_splits(examples, plan, seed, strata);
  std::vector<std::int32_t> fold_of = plan.fold_of;
  if (fold_of.empty()) fold_of = random_folds(examples, plan.folds, seed, strata);
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

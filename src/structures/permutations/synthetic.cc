// Rankings and matchings drawn, and their best possible loss (synthetic.h).
#include "structures/permutations/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/message.h"
#include "structures/generated.h"
#include "structures/permutations/matching_text.h"

namespace m4n::detail {
namespace {

// Streams of random numbers; solvers use others.
constexpr std::uint64_t weights_stream = 3000, rankings_stream = 3001, matchings_stream = 3002;
constexpr double farthest_move = 0.05;  // h
constexpr double least_distance = 2 * farthest_move * SyntheticMatchings::coordinates;

void check_noise(double noise) {
  if (!(noise >= 0 && noise < 1))
    throw UsageError(say("noise {}: expected a probability of at least 0 and below 1", noise));
}

std::vector<std::int32_t> random_permutation(std::size_t size, Rng& rng) {
  std::vector<std::int32_t> y(size);
  std::iota(y.begin(), y.end(), 0);
  rng.shuffle(std::span(y));
  return y;
}

// The right one, or with probability `noise` any.
void append_label(std::vector<std::int32_t> right, double noise, Rng& rng, std::vector<std::int32_t>& label) {
  if (rng.uniform() < noise) right = random_permutation(right.size(), rng);
  label.insert(label.end(), right.begin(), right.end());
}

double best_loss_of(const PositionLoss& loss, double noise) {
  return (1 - noise) * loss.minimum() + noise * mean_random_loss(loss);
}

}  // namespace

double mean_random_loss(const PositionLoss& loss) {
  const std::size_t size = loss.size();
  const std::span<const double> weights = loss.weights();
  if (std::any_of(weights.begin(), weights.end(), [&](double w) { return w != weights[0]; }))
    throw UsageError("a random permutation costs every prediction the same only where all items weigh the same");
  double sum = 0;
  for (std::size_t k = 0; k < size; ++k)
    for (std::size_t j = 0; j < size; ++j) sum += loss.cost(k, j);
  return loss.constant() + weights[0] * sum / static_cast<double>(size);
}

SyntheticRankings::SyntheticRankings(double noise, std::size_t features, std::size_t items)
    : noise_(noise), features_(features), items_(items) {
  check_noise(noise);
  if (features == 0 || items == 0)
    throw UsageError(say("rankings of {} items with {} features: expected at least one", items, features));
  Rng rng(0, weights_stream);
  for (std::size_t e = 0; e < items * features; ++e) weights_.push_back(rng.normal());
}

std::vector<std::int32_t> SyntheticRankings::best(std::span<const double> x) const {
  std::vector<double> utility(items_, 0.0);
  for (std::size_t i = 0; i < items_; ++i)
    for (std::size_t c = 0; c < features_; ++c) utility[i] += weights_[i * features_ + c] * x[c];
  std::vector<std::size_t> order(items_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return utility[a] > utility[b]; });
  std::vector<std::int32_t> position(items_);
  for (std::size_t j = 0; j < items_; ++j) position[order[j]] = static_cast<std::int32_t>(j);
  return position;
}

double SyntheticRankings::best_loss(const PositionLoss& loss) const { return best_loss_of(loss, noise_); }

SyntheticRankings::Sampler::Sampler(const SyntheticRankings& rankings, std::uint64_t seed)
    : rankings_(rankings), rng_(seed, rankings_stream) {}

Dataset SyntheticRankings::Sampler::next(std::size_t n) {
  const std::size_t d = rankings_.features_;
  DenseMatrix x{n, d, {}};
  Dataset data;
  for (std::size_t c = 0; c < d; ++c) data.feature_names.push_back(fmt::format("x{}", c + 1));
  for (std::size_t i = 0; i < rankings_.items_; ++i) data.class_names.push_back(fmt::format("r{}", i + 1));
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t c = 0; c < d; ++c) x.values.push_back(rng_.normal());
    append_label(rankings_.best(std::span(x.values).last(d)), rankings_.noise_, rng_, data.label);
  }
  data.x = std::move(x);
  data.feature_rows = Groups(n);
  data.labels = Groups(n, rankings_.items_);
  return data;
}

SyntheticMatchings::SyntheticMatchings(double noise, std::size_t smallest, std::size_t largest)
    : noise_(noise), smallest_(smallest), largest_(largest) {
  check_noise(noise);
  // A point keeps others from (2 r)^4 / 4! = 0.017 of the cube at most, r being the least distance: there is room for
  // that many.
  if (smallest == 0 || smallest > largest || largest > largest_size)
    throw UsageError(say("matchings of {} to {} points: expected sizes from 1 to {}, the smallest first", smallest,
                         largest, largest_size));
}

double SyntheticMatchings::best_loss(std::span<const PositionLoss> losses) const {
  double sum = 0;
  for (const PositionLoss& loss : losses) sum += best_loss_of(loss, noise_);
  return sum / static_cast<double>(losses.size());
}

SyntheticMatchings::Sampler::Sampler(const SyntheticMatchings& matchings, std::uint64_t seed)
    : matchings_(matchings), rng_(seed, matchings_stream) {}

// By rejection.
SyntheticMatchings::Sampler::Points SyntheticMatchings::Sampler::points(std::size_t size) {
  Points all;
  while (all.size() < size * coordinates) {
    const std::size_t start = all.size();
    for (std::size_t c = 0; c < coordinates; ++c) all.push_back(rng_.uniform());
    for (std::size_t other = 0; other < start; other += coordinates) {
      double distance = 0;
      for (std::size_t c = 0; c < coordinates; ++c) distance += std::abs(all[other + c] - all[start + c]);
      if (distance > least_distance) continue;
      all.resize(start);
      break;
    }
  }
  return all;
}

void SyntheticMatchings::Sampler::add_pairs(const Points& first, const Points& second, DenseMatrix& x) {
  for (std::size_t i = 0; i < first.size(); i += coordinates)
    for (std::size_t j = 0; j < second.size(); j += coordinates) {
      for (std::size_t c = 0; c < coordinates; ++c) x.values.push_back(std::abs(first[i + c] - second[j + c]));
      for (std::size_t c = 0; c < distractors; ++c) x.values.push_back(rng_.normal());
      ++x.rows;
    }
}

Dataset SyntheticMatchings::Sampler::next(std::size_t n) {
  DenseMatrix x{0, coordinates + distractors, {}};
  Dataset data;
  for (std::size_t c = 0; c < coordinates; ++c) data.feature_names.push_back(fmt::format("d{}", c + 1));
  for (std::size_t c = 0; c < distractors; ++c) data.feature_names.push_back(fmt::format("noise{}", c + 1));
  std::vector<std::size_t> pair_start{0}, point_start{0};
  for (std::size_t e = 0; e < n; ++e) {
    const std::size_t size = matchings_.smallest_ + rng_.below(matchings_.largest_ - matchings_.smallest_ + 1);
    const Points first = points(size);
    const std::vector<std::int32_t> partner = random_permutation(size, rng_);
    Points second(first.size());
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t c = 0; c < coordinates; ++c)
        second[static_cast<std::size_t>(partner[i]) * coordinates + c] =
            first[i * coordinates + c] + rng_.uniform(-farthest_move, farthest_move);
    add_pairs(first, second, x);
    append_label(partner, matchings_.noise_, rng_, data.label);
    pair_start.push_back(x.rows);
    point_start.push_back(point_start.back() + size);
  }
  data.x = std::move(x);
  data.feature_rows = Groups(std::move(pair_start));
  data.labels = Groups(std::move(point_start));
  return data;
}

namespace {

constexpr std::size_t permutations_at_a_time = 1000;

// add(piece, text) for all examples.
template <class Sampler, class Add>
void write_pieces(Sampler sampler, std::size_t n, std::string text, TextSink& sink, Add&& add) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t count = std::min(permutations_at_a_time, n - done);
    add(sampler.next(count), text);
    sink.write(text);
    text.clear();
    done += count;
  }
}

}  // namespace

Generated write_synthetic_rankings(const GenerateRequest& request, TextSink& sink) {
  const std::size_t n = request.n;
  const std::uint64_t seed = request.seed;
  const SyntheticRankings rankings = request.items > 0 ? SyntheticRankings(0.2, 8, request.items) : SyntheticRankings();
  const Dataset one = rankings.sample(1, 0);
  const std::size_t d = cols(one.x), k = rankings.items();
  write_pieces(SyntheticRankings::Sampler(rankings, seed), n,
               fmt::format("{},{}\n", fmt::join(one.feature_names, ","), fmt::join(one.class_names, ",")), sink,
               [](const Dataset& data, std::string& text) {
                 const DenseView x = std::get<DenseMatrix>(data.x).view();
                 for (std::size_t i = 0; i < x.rows; ++i) {
                   text += fmt::format("{}", fmt::join(x.row(i), ","));
                   for (std::size_t e = data.labels.begin(i); e < data.labels.end(i); ++e)
                     text += fmt::format(",{}", data.label[e] + 1);
                   text += '\n';
                 }
               });
  return generated(
      "ranking", n, seed, d, k, rankings.best_loss(PositionLoss::hamming(k)),
      fmt::format("{} items sorted by linear functions of {} features; one ranking in five is random", k, d));
}

Generated write_synthetic_matchings(std::size_t n, std::uint64_t seed, TextSink& sink) {
  const SyntheticMatchings matchings;
  const Dataset one = matchings.sample(1, 0);
  std::string names;
  append_feature_line(one.feature_names, names);
  write_pieces(SyntheticMatchings::Sampler(matchings, seed), n, names, sink,
               [](const Dataset& data, std::string& text) {
                 for (std::size_t e = 0; e < data.examples(); ++e) append_matching(data, e, text);
               });
  std::vector<PositionLoss> losses;
  for (std::size_t m = matchings.smallest(); m <= matchings.largest(); ++m) losses.push_back(PositionLoss::hamming(m));
  return generated("matching", n, seed, cols(one.x), matchings.largest(), matchings.best_loss(losses),
                   fmt::format("two sets of {} to {} points, the second moved and shuffled; one matching in five is "
                               "random",
                               matchings.smallest(), matchings.largest()));
}

}  // namespace m4n::detail

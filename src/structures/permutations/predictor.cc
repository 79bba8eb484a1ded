// Decoding and marginals of rankings and matchings, in parallel (predictor.h).
#include "structures/permutations/predictor.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/message.h"
#include "core/parallel.h"

namespace m4n::detail {

namespace {

bool symmetric(const PositionLoss& loss) {
  for (std::size_t k = 0; k < loss.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (loss.cost(k, j) != loss.cost(j, k)) return false;
  return true;
}

}  // namespace

bool decodes_by_scores(const PositionLoss& loss) {
  return loss.form() != PositionLoss::Form::general || symmetric(loss);
}

void PermutationDecoder::decode(std::span<const double> v, std::span<std::int32_t> position) {
  const std::size_t size = position.size();
  const PositionLoss& loss = losses_->of(size);
  if (parts_.items() && decoder_ != Decoder::expected) return sort(v, position);
  cells_.resize(size * size);
  parts_.cells(v, size, cells_);
  std::span<const double> scores = cells_;
  if (decoder_ == Decoder::expected) {
    marginals_.resize(cells_.size());
    gibbs_.marginals(cells_, size, marginals_);
    loss.apply(marginals_, cells_);
    for (double& x : cells_) x = -x;
  } else if (decoder_ == Decoder::adversary) {
    BirkhoffSeeds cold;
    scores = game_.solve(cells_, loss, BirkhoffLimits{}, cold).q;
  }
  assignment_.solve(scores, size);
  std::copy_n(assignment_.position().begin(), size, position.begin());
}

// Equal scores keep the order of their items.
void PermutationDecoder::sort(std::span<const double> v, std::span<std::int32_t> position) {
  order_.resize(position.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return v[static_cast<std::size_t>(a)] > v[static_cast<std::size_t>(b)];
  });
  for (std::size_t place = 0; place < order_.size(); ++place)
    position[static_cast<std::size_t>(order_[place])] = static_cast<std::int32_t>(place);
}

namespace {

constexpr std::size_t chunk = 64;  // examples a thread takes at a time

std::size_t length(const Groups& groups, std::size_t i) { return groups.end(i) - groups.begin(i); }
std::size_t total(const Groups& groups) { return groups.count() == 0 ? 0 : groups.end(groups.count() - 1); }

template <class T>
std::span<T> run_of(std::span<T> values, const Groups& groups, std::size_t i) {
  return values.subspan(groups.begin(i), length(groups, i));
}

}  // namespace

PermutationPredictor::PermutationPredictor(PositionLossChoice loss, std::size_t items, Decoder decoder)
    : loss_(std::move(loss)), items_(items), decoder_(decoder) {}

PositionLosses PermutationPredictor::losses_for(const Groups& items) const {
  PositionLosses out([this](std::size_t size) { return loss_.make(size); });
  for (std::size_t i = 0; i < items.count(); ++i) out.prepare(length(items, i));
  return out;
}

std::vector<std::int32_t> PermutationPredictor::decode(std::span<const double> scores, const Groups& parts,
                                                       const Groups& items, const Context& context) const {
  std::vector<std::int32_t> out(total(items));
  if (out.empty()) return out;
  const PositionLosses losses = losses_for(items);
  const PermutationParts cells = ranking_parts(losses.of(length(items, 0)), items_ > 0);
  parallel_chunks(items.count(), chunk, context.threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    PermutationDecoder decoder(decoder_, losses, cells);
                    for (std::size_t i = first; i < last; ++i)
                      decoder.decode(run_of(scores, parts, i), run_of(std::span(out), items, i));
                  });
  return out;
}

std::vector<double> PermutationPredictor::marginals(std::span<const double> scores, const Groups& parts,
                                                    const Groups& items, const Context& context) const {
  const PositionLosses losses = losses_for(items);
  std::vector<std::size_t> first_cell{0};
  for (std::size_t i = 0; i < items.count(); ++i) {
    const std::size_t size = length(items, i);
    if (size > PermutationGibbs::largest_size)
      throw Error(
          say("example {} (counted from 1) has {} items; probabilities sum over all permutations, which "
              "is possible for up to {}",
              i + 1, size, PermutationGibbs::largest_size));
    first_cell.push_back(first_cell.back() + size * size);
  }
  std::vector<double> out(first_cell.back());
  if (out.empty()) return out;
  const PermutationParts shape = ranking_parts(losses.of(length(items, 0)), items_ > 0);
  parallel_chunks(items.count(), chunk, context.threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    PermutationGibbs gibbs;
                    std::vector<double> cells;
                    for (std::size_t i = first; i < last; ++i) {
                      const std::size_t size = length(items, i);
                      cells.resize(size * size);
                      shape.cells(run_of(scores, parts, i), size, cells);
                      gibbs.marginals(cells, size, std::span(out).subspan(first_cell[i], size * size));
                    }
                  });
  return out;
}

Groups PermutationPredictor::ranking_parts_of(std::span<const double> scores) const {
  const std::size_t parts = loss_.scores_items() ? items_ : items_ * items_;
  return Groups(scores.size() / parts, parts);
}

std::vector<std::int32_t> PermutationPredictor::rankings(std::span<const double> scores, const Context& context) const {
  const Groups parts = ranking_parts_of(scores);
  return decode(scores, parts, Groups(parts.count(), items_), context);
}

std::vector<std::int32_t> PermutationPredictor::matchings(std::span<const double> scores, const Groups& pairs,
                                                          const Context& context) const {
  return decode(scores, pairs, points_of(pairs), context);
}

std::vector<double> PermutationPredictor::ranking_marginals(std::span<const double> scores,
                                                            const Context& context) const {
  const Groups parts = ranking_parts_of(scores);
  return marginals(scores, parts, Groups(parts.count(), items_), context);
}

std::vector<double> PermutationPredictor::matching_marginals(std::span<const double> scores, const Groups& pairs,
                                                             const Context& context) const {
  return marginals(scores, pairs, points_of(pairs), context);
}

Groups points_of(const Groups& pairs) {
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < pairs.count(); ++i) {
    const std::size_t count = length(pairs, i);
    const auto side = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(count))));
    if (side == 0 || side * side != count)
      throw Error(say("matching {} (counted from 1) has {} rows of features; expected M x M for M points a side", i + 1,
                      count));
    offsets.push_back(offsets.back() + side);
  }
  return Groups(std::move(offsets));
}

double mean_position_loss(const PositionLossChoice& loss, const Groups& items, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted, std::span<const double> weight) {
  PositionLosses losses([&](std::size_t size) { return loss.make(size); });
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < items.count(); ++i) {
    losses.prepare(length(items, i));
    const double share = weight.empty() ? 1 : weight[i];
    sum += share * losses.of(length(items, i))(run_of(truth, items, i), run_of(predicted, items, i));
    all += share;
  }
  return sum / all;
}

}  // namespace m4n::detail

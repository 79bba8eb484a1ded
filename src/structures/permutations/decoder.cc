#include "structures/permutations/decoder.h"

#include <algorithm>
#include <numeric>

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

}  // namespace m4n::detail

// The bootstrap of sums (resample.h): O(examples) to add up, O(replicates * groups * columns) to draw.
#include "reports/resample.h"

#include <algorithm>

#include "core/rng.h"

namespace m4n::detail {

Resample::Resample(std::size_t examples, std::span<const double> weight, std::size_t columns, std::uint64_t seed)
    : groups_(std::min(examples, most_groups)),
      width_(columns + 1),
      dealt_(examples > most_groups),
      seed_(seed),
      weight_(weight),
      sums_(groups_ * width_) {
  for (std::size_t i = 0; i < examples; ++i) add(i, 0, 1);
}

// A hash, so that examples that stand side by side in a file are not in one group.
std::size_t Resample::group(std::size_t example) const {
  if (!dealt_) return example;
  std::uint64_t x = example + seed_ + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<std::size_t>((x ^ (x >> 31)) % groups_);
}

double Resample::total(std::size_t column) const {
  double sum = 0;
  for (std::size_t g = 0; g < groups_; ++g) sum += sums_[g * width_ + column];
  return sum;
}

double Resample::ratio(std::size_t over, std::size_t under) const {
  const double below = total(under);
  return below > 0 ? total(over) / below : 0;
}

std::vector<Interval> Resample::intervals(std::span<const std::pair<std::size_t, std::size_t>> ratios) const {
  std::size_t with_weight = 0;
  for (std::size_t g = 0; g < groups_; ++g) with_weight += sums_[g * width_] > 0 ? 1U : 0U;
  if (with_weight < 2) return std::vector<Interval>(ratios.size(), no_interval);
  std::vector<double> values(ratios.size() * replicates), sum(width_);
  for (std::size_t r = 0; r < replicates; ++r) {
    Rng rng(seed_, r);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t drawn = 0; drawn < groups_; ++drawn) {
      const double* const own = sums_.data() + rng.below(groups_) * width_;
      for (std::size_t c = 0; c < width_; ++c) sum[c] += own[c];
    }
    for (std::size_t v = 0; v < ratios.size(); ++v) {
      const double below = sum[ratios[v].second];
      values[v * replicates + r] = below > 0 ? sum[ratios[v].first] / below : 0;
    }
  }
  std::vector<Interval> out;
  for (std::size_t v = 0; v < ratios.size(); ++v)
    out.push_back(interval_of(std::span(values).subspan(v * replicates, replicates)));
  return out;
}

}  // namespace m4n::detail

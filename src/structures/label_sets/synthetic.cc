#include "structures/label_sets/synthetic.h"

#include <algorithm>
#include <array>

namespace m4n {
namespace {

constexpr std::size_t region_count = 6, label_count = 6;
constexpr std::array<std::array<int, label_count>, region_count> percents{{
    {80, 65, 10, 30, 5, 40},
    {30, 20, 70, 90, 15, 60},
    {60, 85, 35, 20, 70, 25},
    {15, 40, 60, 75, 90, 80},
    {45, 35, 25, 10, 60, 65},
    {90, 70, 80, 60, 30, 10},
}};
constexpr std::uint64_t stream = 2300;  // of random numbers; solvers use others

}  // namespace

SyntheticLabels::SyntheticLabels(std::uint64_t seed) : rng_(seed, stream) {}

SyntheticLabels::Draw SyntheticLabels::next() {
  Draw out{rng_.below(region_count), {}};
  int u = 0;
  for (std::size_t j = 0; j < label_count; ++j) {
    if (j % 2 == 0) u = static_cast<int>(rng_.below(100));
    out.label.push_back(u < percents[out.region][j] ? 1 : 0);
  }
  return out;
}

std::size_t SyntheticLabels::regions() { return region_count; }
std::size_t SyntheticLabels::labels() { return label_count; }
int SyntheticLabels::percent(std::size_t region, std::size_t label) { return percents[region][label]; }

double SyntheticLabels::best_loss(const LabelCosts& costs) {
  double sum = 0;
  for (const auto& row : percents)
    for (std::size_t j = 0; j < label_count; ++j)
      sum += std::min(costs.miss(j) * row[j], costs.false_alarm(j) * (100 - row[j])) / 100;
  return sum / static_cast<double>(region_count * label_count);
}

}  // namespace m4n

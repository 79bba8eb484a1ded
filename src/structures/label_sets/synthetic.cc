// The table of probabilities, and sets of labels drawn from it (synthetic.h).
#include "structures/label_sets/synthetic.h"
#include "structures/generated.h"

#include <algorithm>
#include <array>

namespace m4n::detail {
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

Generated write_synthetic_labels(std::size_t n, std::uint64_t seed, TextSink& sink) {
  SyntheticLabels problem(seed);
  const std::size_t regions = SyntheticLabels::regions(), labels = SyntheticLabels::labels();
  const std::vector<std::string> beginnings = indicator_lines(regions);
  const auto numbered = [](const char* letter, std::size_t count) {
    std::vector<std::string> out;
    for (std::size_t j = 1; j <= count; ++j) out.push_back(letter + std::to_string(j));
    return fmt::format("{}", fmt::join(out, ","));
  };
  PiecewiseText out(sink, 50'000);
  out.text = fmt::format("{},{}\n", numbered("x", regions), numbered("y", labels));
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticLabels::Draw draw = problem.next();
    out.text += fmt::format("{}{}\n", beginnings[draw.region], fmt::join(draw.label, ","));
    out.end_example();
  }
  out.flush();
  return generated("multilabel", n, seed, regions, labels, SyntheticLabels::best_loss(LabelCosts::hamming(labels)),
                   fmt::format("{} labels, on or off; x1..x{} say in which of {} equally likely regions the input lies",
                               labels, regions, regions));
}

}  // namespace m4n::detail

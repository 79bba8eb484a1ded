// See synthetic.h. The tables were found by hand and checked with linear programs: for each region and cost, the set of
// minimisers of the expected M3N loss was compared with the best answer.
#include "structures/classes/synthetic.h"

#include <fmt/format.h>

#include "structures/generated.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

namespace m4n::detail {
namespace {

constexpr std::size_t region_count = 8;

// Rows are regions, columns classes; only in the last two does one class outweigh all the others together.
constexpr std::array<int, region_count * 4> multiclass_percent{
    40, 25, 20, 15,  //
    15, 45, 25, 15,  //
    20, 25, 40, 15,  //
    15, 20, 25, 40,  //
    45, 10, 15, 30,  //
    25, 45, 20, 10,  //
    60, 15, 15, 10,  //
    10, 15, 60, 15,
};

// Columns are grades. Beside each region: median, rounded mean, 3/4-quantile.
constexpr std::array<int, region_count * 5> ordinal_percent{
    60, 5,  15, 10, 10,  // 0 1 2
    5,  10, 10, 15, 60,  // 4 3 4
    60, 20, 5,  5,  10,  // 0 1 1
    35, 30, 15, 10, 10,  // 1 1 2
    10, 20, 35, 25, 10,  // 2 2 3
    5,  15, 40, 25, 15,  // 2 2 3
    10, 15, 15, 20, 40,  // 3 3 4
    25, 40, 20, 10, 5,   // 1 1 2
};

// The stream of random numbers of each task; solvers use others, so data and solver are independent for equal seeds.
constexpr std::uint64_t first_stream = 1000;

void append_indicator(SparseMatrix& x, std::size_t region) {
  x.column.push_back(static_cast<std::uint32_t>(region));
  x.value.push_back(1);
  x.row_start.push_back(x.column.size());
  ++x.rows;
}

}  // namespace

SyntheticProblem::SyntheticProblem(Order order)
    : order_(order),
      regions_(region_count),
      k_(order == Order::grades ? 5 : 4),
      percent_(order == Order::grades ? std::span<const int>(ordinal_percent)
                                      : std::span<const int>(multiclass_percent)) {}

SyntheticProblem::Sampler::Sampler(const SyntheticProblem& problem, std::uint64_t seed)
    : problem_(problem), rng_(seed, first_stream + (problem.order() == Order::grades ? 1 : 0)) {}

SyntheticProblem::Draw SyntheticProblem::Sampler::next() {
  const auto region = static_cast<std::size_t>(rng_.below(problem_.regions()));
  auto left = static_cast<int>(rng_.below(100));
  std::size_t label = 0;
  while ((left -= problem_.percent(region, label)) >= 0) ++label;
  return {region, static_cast<std::int32_t>(label)};
}

CostMatrix SyntheticProblem::usual_cost() const {
  return CostMatrix::named(order_ == Order::grades ? "absolute" : "zero-one", k_);
}

double SyntheticProblem::cost_in_percent(const CostMatrix& cost, std::size_t region, std::size_t p) const {
  double sum = 0;
  for (std::size_t t = 0; t < k_; ++t) sum += percent(region, t) * cost(t, p);
  return sum;
}

double SyntheticProblem::risk(const CostMatrix& cost, std::span<const std::int32_t> answer) const {
  double sum = 0;
  for (std::size_t r = 0; r < regions_; ++r) sum += cost_in_percent(cost, r, static_cast<std::size_t>(answer[r]));
  return sum / (100 * static_cast<double>(regions_));
}

std::vector<std::int32_t> SyntheticProblem::best_rule(const CostMatrix& cost) const {
  std::vector<std::int32_t> rule(regions_);
  for (std::size_t r = 0; r < regions_; ++r) {
    std::size_t best = 0;
    for (std::size_t p = 1; p < k_; ++p)
      if (cost_in_percent(cost, r, p) < cost_in_percent(cost, r, best)) best = p;
    rule[r] = static_cast<std::int32_t>(best);
  }
  return rule;
}

std::vector<std::string> SyntheticProblem::feature_names() const {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < regions_; ++r) names.push_back(fmt::format("x{}", r + 1));
  return names;
}

std::vector<std::string> SyntheticProblem::class_names() const {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < k_; ++t) names.push_back(std::to_string(t));
  return names;
}

Dataset SyntheticProblem::sample(std::size_t n, std::uint64_t seed) const {
  Sampler sampler(*this, seed);
  SparseMatrix x;
  x.cols = regions_;
  Dataset data;
  data.feature_names = feature_names();
  data.class_names = class_names();
  data.feature_rows = data.labels = Groups(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Draw draw = sampler.next();
    append_indicator(x, draw.region);
    data.label.push_back(draw.label);
  }
  data.x = std::move(x);
  return data;
}

SparseMatrix SyntheticProblem::one_row_per_region() const {
  SparseMatrix x;
  x.cols = regions_;
  for (std::size_t r = 0; r < regions_; ++r) append_indicator(x, r);
  return x;
}

double loans::mean_amount() {
  return std::accumulate(amounts.begin(), amounts.end(), 0.0) / static_cast<double>(amounts.size());
}

double loans::bayes_risk() {
  double sum = 0;
  for (std::size_t r = 0; r < regions; ++r) sum += std::min(risk(r, true), risk(r, false));
  return mean_amount() * sum / static_cast<double>(regions);
}

Generated write_loans(std::size_t n, std::uint64_t seed, TextSink& sink) {
  constexpr int percent = 100;
  const std::vector<std::string> beginnings = indicator_lines(loans::regions);
  Rng rng(seed, first_stream + 2);
  PiecewiseText out_text(sink, 50'000);
  for (std::size_t r = 0; r < loans::regions; ++r) out_text.text += fmt::format("x{},", r + 1);
  out_text.text += "amount,profit,label\n";
  for (std::size_t i = 0; i < n; ++i) {
    const auto region = static_cast<std::size_t>(rng.below(loans::regions));
    const double amount = loans::amounts[static_cast<std::size_t>(rng.below(loans::amounts.size()))];
    const bool lost = static_cast<int>(rng.below(percent)) < std::lround(percent * loans::default_share[region]);
    out_text.text += beginnings[region];
    out_text.text +=
        fmt::format("{:.0f},{:.0f},{}\n", amount, loans::profit_share[region] * amount, lost ? "default" : "repaid");
    out_text.end_example();
  }
  out_text.flush();
  Generated out{loans::regions + 2, 2, loans::bayes_risk(), {}, {}};
  out.costs = loans::costs;
  out.notes = {
      fmt::format("loans: {} examples (seed {}), classes default and repaid; a loan that is not paid back costs "
                  "its amount, one that is declined its profit; x1..x{} say in which of {} equally likely "
                  "regions the applicant lies",
                  n, seed, loans::regions, loans::regions),
      fmt::format("Bayes risk {:.10g}: no rule has a lower expected cost", out.bayes_risk)};
  return out;
}

Generated write_softmax(const GenerateRequest& request, TextSink& sink) {
  constexpr double temperature = 5;
  const std::size_t d = request.features > 0 ? request.features : 10, k = request.classes > 0 ? request.classes : 4;
  Rng rng(0, first_stream + 3);
  std::vector<double> weight(k * d);
  for (double& w : weight) w = rng.normal() / temperature;
  rng = Rng(request.seed, first_stream + 4);
  PiecewiseText out_text(sink, 10'000);
  for (std::size_t j = 0; j < d; ++j) out_text.text += fmt::format("x{},", j + 1);
  out_text.text += "label\n";
  double risk = 0;
  std::vector<double> x(d), p(k);
  for (std::size_t i = 0; i < request.n; ++i) {
    for (double& value : x) {
      value = std::round(1e4 * rng.normal()) / 1e4;
      fmt::format_to(std::back_inserter(out_text.text), "{},", value);
    }
    for (std::size_t y = 0; y < k; ++y)
      p[y] = std::inner_product(x.begin(), x.end(), weight.begin() + static_cast<std::ptrdiff_t>(y * d), 0.0);
    const double top = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - top);
    risk += 1 - 1 / sum;
    double place = rng.uniform() * sum;
    std::size_t label = 0;
    while (label + 1 < k && place >= p[label]) place -= p[label++];
    fmt::format_to(std::back_inserter(out_text.text), "{}\n", label);
    out_text.end_example();
  }
  out_text.flush();
  Generated out{d, k, risk / static_cast<double>(request.n), {}, {}};
  out.notes = {fmt::format("multiclass: {} examples (seed {}), {} classes drawn from a softmax of linear scores of {} "
                           "normal features",
                           request.n, request.seed, k, d),
               fmt::format("Bayes risk (zero-one loss) of these inputs {:.6g}: no rule has a lower expected loss",
                           out.bayes_risk)};
  return out;
}

Generated write_synthetic(const SyntheticProblem& problem, std::size_t n, std::uint64_t seed, TextSink& sink) {
  const std::vector<std::string> beginnings = indicator_lines(problem.regions());
  std::vector<std::string> endings;
  for (const std::string& name : problem.class_names()) endings.push_back(name + "\n");
  SyntheticProblem::Sampler sampler(problem, seed);
  PiecewiseText out_text(sink, 50'000);
  out_text.text = fmt::format("{},label\n", fmt::join(problem.feature_names(), ","));
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticProblem::Draw draw = sampler.next();
    out_text.text += beginnings[draw.region];
    out_text.text += endings[static_cast<std::size_t>(draw.label)];
    out_text.end_example();
  }
  out_text.flush();
  const CostMatrix cost = problem.usual_cost();
  Generated out{problem.regions(), problem.k(), problem.bayes_risk(cost), {}, {}};
  out.notes = {
      fmt::format("{}: {} examples (seed {}), {} {}; x1..x{} say in which of {} equally likely regions the input lies",
                  problem.task(), n, seed, problem.k(), problem.order() == Order::grades ? "grades" : "classes",
                  problem.regions(), problem.regions()),
      fmt::format("Bayes risk ({} loss) {}: no rule has a lower expected loss", cost.name(), out.bayes_risk)};
  return out;
}

}  // namespace m4n::detail

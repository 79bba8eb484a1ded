// Choosing by validation losses, and growing the grid of lambdas (cv_choice.h).
#include "selection/cv_choice.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/message.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n::detail {

namespace {

double loss_of(const CvCell& cell) { return cell.validation; }
double loss_of(const CvPoint& point) { return point.validation_mean; }

// The least loss; of equal ones the earliest gamma, then the middle lambda. All are of one candidate.
template <class Item>
Item least(std::vector<Item> items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::make_tuple(loss_of(a), a.gamma, -a.lambda) < std::make_tuple(loss_of(b), b.gamma, -b.lambda);
  });
  std::size_t equal = 1;
  while (equal < items.size() && loss_of(items[equal]) == loss_of(items[0]) && items[equal].gamma == items[0].gamma)
    ++equal;
  return items[(equal - 1) / 2];
}

// The candidate with the least loss among those that are better than the incumbent by more than `margin(candidate)`;
// the incumbent where there is none.
template <class Margin>
std::size_t winner(const std::vector<double>& loss, std::size_t first, Margin&& margin) {
  std::size_t best = first;
  for (std::size_t c = 0; c < loss.size(); ++c)
    if (c != first && !std::isnan(loss[c]) && loss[c] < loss[first] - margin(c) && loss[c] < loss[best]) best = c;
  return best;
}

double or_zero(double value) { return std::isnan(value) ? 0 : value; }

// Paired differences, over the splits, of the validation losses at one point from those at another.
CvSummary paired(const std::vector<CvCell>& cells, const CvPoint& point, const CvPoint& from, std::size_t splits) {
  std::vector<double> difference(splits);
  const auto add = [&](const CvPoint& of, double sign) {
    for (const CvCell& cell : cells)
      if (cell.candidate == of.candidate && cell.gamma == of.gamma && cell.lambda == of.lambda)
        difference[cell.split] += sign * cell.validation;
  };
  add(point, 1);
  add(from, -1);
  return summary(difference);
}

CvOutcome outcome(std::vector<CvCell> chosen) {
  CvOutcome out;
  std::vector<double> test;
  for (const CvCell& cell : chosen) test.push_back(cell.test);
  out.chosen = std::move(chosen);
  out.test = summary(test);
  return out;
}

}  // namespace

CvSummary summary(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  CvSummary out;
  for (const double x : values) out.mean += x / n;
  double squares = 0;
  for (const double x : values) squares += (x - out.mean) * (x - out.mean);
  out.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : std::numeric_limits<double>::quiet_NaN();
  out.error = out.deviation / std::sqrt(n);
  return out;
}

std::vector<CvPoint> points_of(const std::vector<CvCell>& cells, std::size_t splits) {
  std::map<std::tuple<std::size_t, std::size_t, double>, std::vector<double>> losses;
  for (const CvCell& cell : cells) losses[{cell.candidate, cell.gamma, -cell.lambda}].push_back(cell.validation);
  std::vector<CvPoint> out;
  for (const auto& [key, values] : losses) {
    if (values.size() != splits) continue;
    const CvSummary s = summary(values);
    out.push_back({std::get<0>(key), std::get<1>(key), -std::get<2>(key), s.mean, s.deviation});
  }
  return out;
}

CvPoint best_point(const std::vector<CvPoint>& points) { return least(points); }

CvPoint settled_point(const std::vector<CvCell>& cells, std::size_t splits) {
  const std::vector<CvPoint> all = points_of(cells, splits);
  const CvPoint best = best_point(all);
  std::vector<CvPoint> near;  // within a standard error of the best
  double weights = 0, sum = 0;
  for (const CvPoint& point : all) {
    if (point.gamma != best.gamma) continue;
    const CvSummary worse = paired(cells, point, best, splits);
    // By how many standard errors; of one split, and of equal differences, only ties are near.
    const double distance = worse.mean <= 0 ? 0 : worse.mean / or_zero(worse.error);
    const double weight = std::exp(-2 * distance * distance);
    weights += weight;
    sum += weight * std::log(point.lambda);
    if (distance <= 1) near.push_back(point);
  }
  const double middle = sum / weights;
  const auto off = [&](const CvPoint& point) { return std::abs(std::log(point.lambda) - middle); };
  return *std::min_element(near.begin(), near.end(),
                           [&](const CvPoint& a, const CvPoint& b) { return off(a) < off(b); });
}

std::size_t incumbent(const std::vector<Candidate>& candidates) {
  const auto crf = std::find_if(candidates.begin(), candidates.end(),
                                [](const Candidate& c) { return surrogate_row(c.surrogate).probabilities; });
  return crf == candidates.end() ? 0 : static_cast<std::size_t>(crf - candidates.begin());
}

void choose(CvResult& result) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<CvPoint> points = points_of(result.cells, result.splits);
  const std::size_t count = result.candidates.size(), first = incumbent(result.candidates);
  result.dropped.resize(count, false);
  std::vector<double> mean_loss(count, unknown);
  std::vector<CvSummary> difference(count, CvSummary{unknown, unknown, unknown});
  for (std::size_t c = 0; c < count; ++c) {
    // Of one that was dropped, on as many splits as it was tried on.
    std::vector<CvCell> cells;
    std::copy_if(result.cells.begin(), result.cells.end(), std::back_inserter(cells),
                 [c](const CvCell& cell) { return cell.candidate == c; });
    std::size_t splits = 0;
    for (const CvCell& cell : cells) splits = std::max(splits, cell.split + 1);
    result.best_by_candidate.push_back(settled_point(cells, splits));
    if (result.dropped[c]) {
      result.by_candidate.push_back({{}, {unknown, unknown, unknown}});
      continue;
    }
    mean_loss[c] = result.best_by_candidate.back().validation_mean;
    std::vector<CvCell> chosen;
    for (std::size_t s = 0; s < result.splits; ++s) {
      std::vector<CvCell> here;
      std::copy_if(cells.begin(), cells.end(), std::back_inserter(here),
                   [s](const CvCell& cell) { return cell.split == s; });
      chosen.push_back(least(std::move(here)));
    }
    result.by_candidate.push_back(outcome(std::move(chosen)));
  }
  for (std::size_t c = 0; c < count; ++c)
    if (!result.dropped[c])
      difference[c] = paired(result.cells, result.best_by_candidate[c], result.best_by_candidate[first], result.splits);
  const std::size_t best =
      winner(mean_loss, first, [&](std::size_t c) { return decisive_errors * or_zero(difference[c].error); });
  result.best = result.best_by_candidate[best];
  for (const CvPoint& point : points)
    if (point.candidate == best && point.gamma == result.best.gamma) result.curve.push_back(point);

  std::vector<CvCell> chosen;
  for (std::size_t s = 0; s < result.splits; ++s) {
    std::vector<double> loss;
    for (const CvOutcome& own : result.by_candidate)
      loss.push_back(own.chosen.empty() ? unknown : own.chosen[s].validation);
    const std::size_t c =
        winner(loss, first, [&](std::size_t other) { return decisive_errors * or_zero(difference[other].deviation); });
    chosen.push_back(result.by_candidate[c].chosen[s]);
  }
  result.overall = outcome(std::move(chosen));
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) {
      if (result.dropped[a] || result.dropped[b]) continue;
      std::vector<double> values;
      for (std::size_t s = 0; s < result.splits; ++s)
        values.push_back(result.by_candidate[a].chosen[s].test - result.by_candidate[b].chosen[s].test);
      result.comparisons.push_back({a, b, summary(values)});
    }
}

namespace {

constexpr int most_extensions = 4;          // in each direction
constexpr std::size_t extension_steps = 2;  // lambdas each adds

// The next lambdas beyond an edge, at the ratio of the last two.
std::vector<double> beyond(const std::vector<double>& grid, bool below) {
  const std::size_t n = grid.size();
  const double edge = below ? grid[n - 1] : grid[0];
  const double ratio = below ? grid[n - 1] / grid[n - 2] : grid[0] / grid[1];
  std::vector<double> out{edge * ratio};
  while (out.size() < extension_steps) out.push_back(out.back() * ratio);
  if (!below) std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

LambdaGrid::LambdaGrid(std::vector<double> lambdas, std::size_t first) : lambdas_(std::move(lambdas)) {
  if (first == 0 || first >= lambdas_.size()) return;
  const auto split = lambdas_.begin() + static_cast<std::ptrdiff_t>(first);
  waiting_.assign(split, lambdas_.end());
  lambdas_.erase(split, lambdas_.end());
}

LambdaGrid LambdaGrid::usual(const TrainOptions& options, double unit) {
  constexpr int powers = 17;  // 2^0 to 2^-16
  std::vector<double> lambdas;
  for (int power = 0; power < powers; ++power) {
    const double lambda = std::ldexp(unit, -power);
    if (lambda >= smallest_lambda && lambda <= largest_lambda) lambdas.push_back(lambda);
  }
  if (lambdas.empty()) lambdas.push_back(std::clamp(unit, smallest_lambda, largest_lambda));
  const bool quick = surrogate_row(options.surrogate).probabilities;
  const bool several_parts = structure_named(options.task).traits().several_parts;
  return {std::move(lambdas), several_parts ? std::size_t{6} : quick ? std::size_t{13} : std::size_t{9}};
}

LambdaGrid LambdaGrid::around(double lambda, bool extend) {
  const std::vector<double> inner{4, 1}, all{64, 16, 4, 1, 1. / 4, 1. / 16};
  std::vector<double> lambdas;
  for (const double factor : extend ? inner : all) {
    const double near = std::clamp(factor * lambda, smallest_lambda, largest_lambda);
    if (lambdas.empty() || near < lambdas.back()) lambdas.push_back(near);
  }
  LambdaGrid out(std::move(lambdas), 0);
  out.challengers_ = true;
  return out;
}

// The next lambdas of the grid, while the best one is among the last two.
std::vector<double> LambdaGrid::walk_on(const CvPoint& best, bool reached) {
  const std::size_t n = lambdas_.size();
  if (!reached || best.lambda > lambdas_[n < 2 ? 0 : n - 2]) return {};
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(extension_steps, waiting_.size()));
  std::vector<double> out(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  lambdas_.insert(lambdas_.end(), out.begin(), out.end());
  return out;
}

std::vector<double> LambdaGrid::extend(const std::vector<CvPoint>& points,
                                       const std::function<bool(const CvPoint&)>& reached_at, bool allowed) {
  stuck_ = {};
  CvPoint best = best_point(points);
  flat_ = std::all_of(points.begin(), points.end(),
                      [&](const CvPoint& point) { return point.validation_mean == best.validation_mean; });
  if (flat_ && lambdas_.size() > 1)
    best = *std::find_if(points.begin(), points.end(),
                         [&](const CvPoint& point) { return point.lambda == lambdas_.back(); });
  const bool reached = reached_at(best);
  if (!waiting_.empty()) {
    std::vector<double> out = walk_on(best, reached);
    if (!out.empty() || best.lambda != lambdas_.front()) return out;
  }
  const bool lower = best.lambda == lambdas_.back(), upper = best.lambda == lambdas_.front();
  if (lambdas_.size() < 2 || (!lower && !upper)) return {};
  if (first_edge_ == 0) first_edge_ = best.lambda;
  edge_ = best.lambda;
  int& times = lower ? below_ : above_;
  if (!allowed) stuck_ = say("=> --extend yes goes beyond it");
  if (times == (challengers_ ? 1 : most_extensions)) stuck_ = say("=> give --lambdas that reach farther");
  if (!reached) stuck_ = say("most fits there stop before the tolerance; => allow more --epochs");
  std::vector<double> out = beyond(lambdas_, lower);
  if (out.back() < smallest_lambda || out.front() > largest_lambda) stuck_ = "lambda cannot go farther";
  if (!stuck_.pieces().empty()) return {};
  ++times;
  lambdas_.insert(lower ? lambdas_.end() : lambdas_.begin(), out.begin(), out.end());
  return out;
}

std::string LambdaGrid::note(const std::string& who) const {
  if (challengers_ || below_ + above_ == 0) return "";
  std::string out =
      flat_ ? fmt::format("all lambdas of {} were equally good", who)
            : fmt::format("the best lambda of {} was at the edge of the grid, {}", who, lambda_text(first_edge_));
  if (below_ > 0) out += fmt::format("; extended down to {}", lambda_text(lambdas_.back()));
  if (above_ > 0) out += fmt::format("; extended up to {}", lambda_text(lambdas_.front()));
  return out;
}

Message LambdaGrid::warning(const std::string& who) const {
  const bool stuck = !stuck_.pieces().empty();
  if (flat_ && lambdas_.size() > 1)
    return say(
        "{}: the validation loss is the same for every lambda from {} to {}, so nothing was chosen; => check that the "
        "features tell the labels apart",
        who, lambda_text(lambdas_.front()), lambda_text(lambdas_.back()));
  if (!stuck || challengers_) return {};
  return say("the best lambda of {} is at the edge of the grid, {}: {}", who, lambda_text(edge_), stuck_);
}

}  // namespace m4n::detail

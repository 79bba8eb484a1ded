#include "selection/cv_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/wording.h"

namespace m4n::detail {
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

std::vector<double> LambdaGrid::extend(const CvPoint& best, bool reached, bool allowed) {
  stuck_ = nullptr;
  if (!waiting_.empty()) {
    std::vector<double> out = walk_on(best, reached);
    if (!out.empty() || best.lambda != lambdas_.front()) return out;
  }
  const bool lower = best.lambda == lambdas_.back(), upper = best.lambda == lambdas_.front();
  if (lambdas_.size() < 2 || (!lower && !upper)) return {};
  if (first_edge_ == 0) first_edge_ = best.lambda;
  int& times = lower ? below_ : above_;
  if (!allowed) stuck_ = "--extend yes goes beyond it";
  if (times == most_extensions) stuck_ = "give --lambdas that reach farther";
  if (!reached) stuck_ = "most fits there stop before the tolerance, so it goes no farther";
  std::vector<double> out = beyond(lambdas_, lower);
  if (out.back() < smallest_lambda || out.front() > largest_lambda) stuck_ = "lambda cannot go farther";
  if (stuck_ != nullptr) return {};
  ++times;
  lambdas_.insert(lower ? lambdas_.end() : lambdas_.begin(), out.begin(), out.end());
  return out;
}

std::string LambdaGrid::note(const std::string& who) const {
  if (first_edge_ == 0) return "";
  std::string out = fmt::format("the best lambda of {} was at the edge of the grid, {}", who, lambda_text(first_edge_));
  if (below_ > 0) out += fmt::format("; extended down to {}", lambda_text(lambdas_.back()));
  if (above_ > 0) out += fmt::format("; extended up to {}", lambda_text(lambdas_.front()));
  if (stuck_ != nullptr) out += fmt::format("{}: {}", below_ + above_ > 0 ? ", where it still is" : "", stuck_);
  return out;
}

}  // namespace m4n::detail
